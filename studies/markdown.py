"""Markdown tables of data frames, and pages with parts that are filled in."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pandas as pd


def markdown(frame: pd.DataFrame, digits: str = ".3g") -> str:
    """Table with one column per column of the frame; `digits` is the format of its floats.

    Examples
    --------
    >>> print(markdown(pd.DataFrame({"null model": ["paper"], "rate": [0.0512]}), ".3f"))
    | null model | rate |
    |---|---|
    | paper | 0.051 |
    """

    def shown(value: object) -> str:
        if not isinstance(value, float):
            return str(value)
        return "–" if pd.isna(value) else f"{value:{digits}}"

    lines = ["| " + " | ".join(map(str, frame.columns)) + " |", "|" + "---|" * frame.shape[1]]
    for row in frame.itertuples(index=False):
        lines.append("| " + " | ".join(map(shown, row)) + " |")
    return "\n".join(lines)


def filled(text: str, parts: Mapping[str, str]) -> str:
    r"""The page with each part between its two marks, comments that name it.

    Examples
    --------
    >>> print(filled("<!-- rates -->\nold\n<!-- end of rates -->", {"rates": "new"}))
    <!-- rates -->
    new
    <!-- end of rates -->
    """
    for name, part in parts.items():
        marks = rf"(<!-- {re.escape(name)} -->\n).*?(\n<!-- end (?:of )?{re.escape(name)} -->)"
        found = re.search(marks, text, flags=re.DOTALL)
        if found is None:
            raise ValueError(f"The page lacks the marks of {name!r}.")
        text = f"{text[: found.start()]}{found[1]}{part}{found[2]}{text[found.end() :]}"
    return text
