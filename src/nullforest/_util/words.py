"""Names in sentences: the first few of many, without characters that control a terminal."""

from __future__ import annotations

from collections.abc import Sequence

#: Names in a list before "and n more".
_NAMED = 3
#: Control characters (C0, DEL, C1) and marks that reverse the direction of writing.
_CONTROL = {*range(32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A)}
_PRINTED = dict.fromkeys(_CONTROL) | dict.fromkeys(map(ord, "\t\n\r"), " ")


def listed(names: Sequence[object]) -> str:
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
