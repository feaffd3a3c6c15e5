"""Links of the features' names: a web address in which names are filled in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

from nullforest._util.errors import InputError
from nullforest._util.words import printable

_FIELD = re.compile(r"\{([^{}]*)\}")


def check_link(link: str, annotations: Iterable[Any] = ()) -> None:
    """Refuse an address that is not one, or that names no column of the features.

    Examples
    --------
    >>> check_link("https://www.genecards.org/lookup/{feature}")
    """
    if not (isinstance(link, str) and link.startswith(("https://", "http://"))):
        raise InputError(
            f"The link {printable(link)!r:.60} is no web address; begin it with https://."
        )
    known = ["feature", *map(str, annotations)]
    fields = _FIELD.findall(link)
    if not fields:
        raise InputError(
            f"The link {printable(link)!r:.60} names no feature; write {{feature}} where its name "
            "belongs."
        )
    for name in fields:
        if name not in known:
            raise InputError(
                f"The link asks for {{{printable(name):.60}}}, but there is no such column; use "
                f"{' or '.join(f'{{{each}}}' for each in known[:5])}."
            )


def filled(link: str, row: Mapping[str, Any]) -> str:
    """The address for one feature; empty where a column that it needs is.

    Examples
    --------
    >>> filled("https://example.org/{feature}", {"feature": "a/b c"})
    'https://example.org/a%2Fb%20c'
    """
    if any(row[name] in ("", None) for name in _FIELD.findall(link)):
        return ""
    # What JavaScript's encodeURIComponent leaves as it is.
    return _FIELD.sub(lambda field: quote(str(row[field[1]]), safe="!'()*~"), link)
