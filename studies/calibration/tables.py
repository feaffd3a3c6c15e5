"""What did the calibration study find? Ratios with standard errors clustered by data set."""

from __future__ import annotations

import numpy as np
import pandas as pd


def ratios(rows: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Rate reached ÷ rate asked for, and its standard error.

    Features of one data set share its label, so data sets, not features, are the independent
    units: with rates x_i of n data sets, the error of their mean is sd(x) / √n.
    """
    rows = rows.assign(ratio=rows["below"] / rows["features"] / rows["alpha"])
    grouped = rows.groupby([*by, "null", "alpha"], sort=False)
    table = grouped.agg(
        ratio=("ratio", "mean"),
        error=("ratio", lambda x: x.std(ddof=1) / np.sqrt(len(x)) if len(x) > 1 else np.nan),
        data_sets=("ratio", "size"),
        features=("features", "sum"),
    )
    return table.reset_index()


def trend(rows: pd.DataFrame, trees: dict[str, int]) -> pd.DataFrame:
    """Slope of log ratio on log trees, with the error of a jackknife over the data sets.

    Least squares, each number of trees weighted by the false positives it had: the variance of a
    log ratio is about one over their number.
    """
    rows = rows[rows["cell"].isin(trees)]
    x = np.log(list(trees.values()))
    out = []
    for (null, alpha), part in rows.groupby(["null", "alpha"], sort=False):
        counted = part.pivot_table(index="seed", columns="cell", values="below")[list(trees)]
        below = counted.dropna().to_numpy()  # data sets that all numbers of trees have met
        n = len(below)
        left_out = [_slope(x, below.sum(0) - one) for one in below]
        out.append(
            {
                "null": null,
                "alpha": f"{alpha:g}",
                "slope": _slope(x, below.sum(0)),
                "error": np.sqrt((n - 1) * np.var(left_out)),
                "data sets": n,
            }
        )
    return pd.DataFrame(out)


def _slope(x: np.ndarray, below: np.ndarray) -> float:
    """Slope of log below on x, weighted by below; cells without a false positive say nothing."""
    some = below > 0
    x, below = x[some], below[some]
    centre = np.average(x, weights=below)
    return float(np.sum(below * (x - centre) * np.log(below)) / np.sum(below * (x - centre) ** 2))


def wide(table: pd.DataFrame, index: str) -> str:
    """A Markdown table: one line per cell and null, one column per alpha."""
    alphas = sorted(table["alpha"].unique(), reverse=True)
    lines = [
        f"| {index} | null | " + " | ".join(f"α = {a:g}" for a in alphas) + " | features |",
        "|---|---|" + "---|" * (len(alphas) + 1),
    ]
    for (cell, null), part in table.groupby([index, "null"], sort=False):
        at = part.set_index("alpha")
        values = [f"{at.loc[a, 'ratio']:.2f} ± {at.loc[a, 'error']:.2f}" for a in alphas]
        lines.append(f"| {cell} | {null} | " + " | ".join(values) + f" | {at['features'].max()} |")
    return "\n".join(lines)
