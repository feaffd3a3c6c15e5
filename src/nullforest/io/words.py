"""How are many names said in one sentence? The first few, and how many more."""

from __future__ import annotations

from collections.abc import Sequence

#: Names listed before it says "and so many more".
_NAMED = 3


def listed(names: Sequence[str]) -> str:
    """Quote the first names of a list.

    Examples
    --------
    >>> from nullforest.io.words import listed
    >>> listed(["age", "sex", "height", "weight"])
    "'age', 'sex', 'height' and 1 more"
    """
    shown = ", ".join(repr(str(name)) for name in names[:_NAMED])
    return shown if len(names) <= _NAMED else f"{shown} and {len(names) - _NAMED} more"
