"""Markdown tables of data frames."""

from __future__ import annotations

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
