"""Names in sentences: the first few of many, without characters that control a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

#: Names in a list before "and n more".
_NAMED = 3
#: Control characters (C0, DEL, C1) and marks that reverse the direction of writing.
_CONTROL = {*range(32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A)}
_PRINTED = dict.fromkeys(_CONTROL) | dict.fromkeys(map(ord, "\t\n\r"), " ")


def listed(names: Any) -> str:
    """The first names of a list, in quotes.

    Examples
    --------
    >>> from nullforest._util.words import listed
    >>> listed(["age", "sex", "height", "weight"])
    "'age', 'sex', 'height' and 1 more"
    """
    shown = ", ".join(repr(str(name)) for name in names[:_NAMED])
    return shown if len(names) <= _NAMED else f"{shown} and {len(names) - _NAMED} more"


def printable(text: object) -> str:
    r"""Text without control characters; line breaks and tabs become spaces.

    Examples
    --------
    >>> from nullforest._util.words import printable
    >>> printable("gene\n\x1b[2J 7")
    'gene [2J 7'
    """
    return str(text).translate(_PRINTED)


@dataclass(frozen=True)
class Setting:
    """A setting that a sentence names: an argument in Python, an option in the shell.

    Examples
    --------
    >>> Setting("max_trees").python, Setting("max_trees").shell({})
    ('max_trees=', '--max-trees')
    >>> Setting("null", "probes").python, Setting("null", "probes").shell({})
    ('null="probes"', '--null probes')
    """

    name: str
    value: Any = None
    equals: str = "="

    @property
    def python(self) -> str:
        """As an argument."""
        if self.value is None:
            return f"{self.name}{self.equals}"
        quoted = isinstance(self.value, str) and self.equals == "="
        return f'{self.name}="{self.value}"' if quoted else f"{self.name}{self.equals}{self.value}"

    def shell(self, options: Mapping[str, str]) -> str:
        """As an option, which has another name in the command line where `options` says so."""
        option = options.get(self.name, f"--{self.name.replace('_', '-')}")
        if self.value is None:
            return option.removesuffix("=")
        return f"{option}{'' if option.endswith('=') else ' '}{self.value}"


@dataclass(frozen=True)
class Command:
    """A function that a sentence advises, and the command that does the same."""

    python: str
    command: str

    def shell(self, options: Mapping[str, str]) -> str:
        """As a command."""
        return self.command


class Sentence(str):
    """A sentence for whoever reads it: it speaks Python as text, and of options `in_shell`.

    Parameters
    ----------
    *parts : str, Setting, Command or Sentence
        The sentence, piece by piece.

    Examples
    --------
    >>> advice = Sentence("Grow more trees (", Setting("max_trees"), ").")
    >>> str(advice), advice.in_shell({})
    ('Grow more trees (max_trees=).', 'Grow more trees (--max-trees).')
    """

    parts: tuple[str | Setting | Command, ...]

    def __new__(cls, *parts: str | Setting | Command) -> Sentence:
        """Join the pieces."""
        pieces: list[str | Setting | Command] = []
        for part in parts:
            pieces += part.parts if isinstance(part, Sentence) else (part,)
        text = "".join(piece if isinstance(piece, str) else piece.python for piece in pieces)
        self = super().__new__(cls, text)
        self.parts = tuple(pieces)
        return self

    def in_shell(self, options: Mapping[str, str]) -> str:
        """The sentence with options and commands in the place of arguments and functions."""
        return "".join(
            piece if isinstance(piece, str) else piece.shell(options) for piece in self.parts
        )

    def __reduce__(self) -> Any:
        return Sentence, self.parts


#: What notes advise, in Python and in the shell.
AUDIT = Command("nf.audit", "nullforest audit")
GROW = Command("nf.grow", "nullforest select")
PERMUTATION_TEST = Command("nf.baselines.label_permutation", "nullforest compare")
MORE_TREES = Sentence("Grow more trees (", Setting("trees"), ").")
