"""Sentences of the library in the words of the command line: its options and commands."""

from __future__ import annotations

import re
from collections.abc import Iterable

#: Functions that a note may advise, and the commands that do the same.
COMMANDS = {
    "nf.baselines.label_permutation": "nullforest compare",
    "nf.audit": "nullforest audit",
    "nf.grow": "nullforest select",
}
_SETTING = re.compile(
    r"\b(max_(?:trees|seconds)\b(?!=)|[a-z_]+=)(?:\"(\w+)\"|\[\"(\w+)\"\]|(\d+))?"
)


def in_shell(sentence: str) -> str:
    """A sentence with options in the place of arguments.

    Examples
    --------
    >>> in_shell('Grow more trees (max_trees=), or use null="probes" (nf.audit).')
    'Grow more trees (--max-trees), or use --null probes (nullforest audit).'
    """
    for function, command in COMMANDS.items():
        sentence = sentence.replace(function, command)

    def option(found: re.Match[str]) -> str:
        name, *values = found.groups()
        words = [f"--{name.rstrip('=').replace('_', '-')}", *filter(None, values)]
        return " ".join(words)

    return _SETTING.sub(option, sentence)


def all_in_shell(sentences: Iterable[str]) -> tuple[str, ...]:
    """Every sentence with options in the place of arguments."""
    return tuple(map(in_shell, sentences))
