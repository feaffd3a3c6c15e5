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
    """Slope of log ratio on log trees, by least squares weighted by the ratios' errors."""
    table = ratios(rows[rows["cell"].isin(trees)], ["cell"])
    out = []
    for (null, alpha), part in table.groupby(["null", "alpha"], sort=False):
        part = part[part["ratio"] > 0]
        x = np.log([trees[cell] for cell in part["cell"]])
        y, spread = np.log(part["ratio"]), part["error"] / part["ratio"]
        weight = 1 / np.maximum(spread, 1e-3) ** 2
        centre = np.average(x, weights=weight)
        lever = np.sum(weight * (x - centre) ** 2)
        slope = np.sum(weight * (x - centre) * y) / lever
        out.append({"null": null, "alpha": alpha, "slope": slope, "error": lever**-0.5})
    return pd.DataFrame(out)


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
