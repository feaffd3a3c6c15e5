"""Tables of the page on other libraries' forests, from the results of `studies.libraries`."""

from __future__ import annotations

import numpy as np
import pandas as pd

from studies.libraries import ALPHAS, LIBRARIES
from studies.markdown import filled, markdown
from studies.records import RESULTS

#: Ranges of false positive rate ÷ level that a null model is to keep.
RANGES = {0.05: (0.8, 1.25), 0.01: (0.6, 1.5)}


def rates() -> pd.DataFrame:
    """False positive rate ÷ level of each setting, with its standard error."""
    table = pd.read_csv(RESULTS / "libraries.csv")
    rows = []
    for library in LIBRARIES:
        part = table[(table["library"] == library.name) & (table["setting"] == library.setting)]
        if len(part) < 2:
            continue
        row = {
            "library": library.name,
            "setting": library.setting,
            "null": part["null"].iloc[0],
            "data sets": len(part),
            "trend": part["trend"].mean(),
        }
        for alpha in ALPHAS:
            ratio = part[f"at {alpha:g}"] / part["features"] / alpha
            row[f"{alpha:g}"] = ratio.mean()
            row[f"{alpha:g} error"] = ratio.std(ddof=1) / np.sqrt(len(part))
        rows.append(row)
    return pd.DataFrame(rows)


def outside(row: pd.Series) -> list[float]:
    """Levels at which the rate lies outside of its range."""
    return [a for a, (low, high) in RANGES.items() if not low <= round(row[f"{a:g}"], 2) <= high]


def _shown(row: pd.Series) -> dict[str, object]:
    beyond = outside(row)

    def rate(alpha: float) -> str:
        mark = "**" if alpha in beyond else ""
        return f"{mark}{row[f'{alpha:g}']:.2f}{mark} ± {row[f'{alpha:g} error']:.2f}"

    return {
        "library": row["library"],
        "setting": row["setting"],
        "null model (`auto`)": row["null"],
        **{f"α = {alpha:g}": rate(alpha) for alpha in ALPHAS},
        "data sets": row["data sets"],
    }


def with_tables(text: str) -> str:
    """The page with the tables between their markers."""
    table = rates()
    beyond = table[[bool(outside(row)) for _, row in table.iterrows()]]
    named = "; ".join(f"{row['library']} ({row['setting']})" for _, row in beyond.iterrows())
    in_order = table[table["setting"].str.contains("in order")]
    shown = markdown(pd.DataFrame([_shown(row) for _, row in table.iterrows()]))
    parts = {
        "rates": f"{shown}\n\nOutside of these ranges: {named or 'none'}.",
        "trend": "The trend was significant in "
        + " and ".join(f"{row['trend']:.0%} ({row['library']})" for _, row in in_order.iterrows())
        + " of the data sets above with columns in order.",
    }
    return filled(text, parts)
