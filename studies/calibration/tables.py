"""Tables of the calibration study: ratios with standard errors clustered by data set."""

from __future__ import annotations

import numpy as np
import pandas as pd


def ratios(rows: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """False positive rate ÷ nominal level, and its standard error.

    Features of one data set share its target, so data sets, not features, are the independent
    units: with rates x_i of n data sets, the standard error of their mean is sd(x) / √n.
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
    """Slope of log ratio on log trees, with a jackknife standard error over the data sets.

    Least squares, each number of trees weighted by its number of false positives: the variance of
    a log ratio is about one over that number.
    """
    rows = rows[rows["setting"].isin(trees)]
    x = np.log(list(trees.values()))
    out = []
    for (null, alpha), part in rows.groupby(["null", "alpha"], sort=False):
        counted = part.pivot_table(index="seed", columns="setting", values="below")[list(trees)]
        below = counted.dropna().to_numpy()  # data sets that every number of trees has
        n = len(below)
        left_out = [_slope(x, below.sum(0) - one) for one in below]
        out.append(
            {
                "null model": null,
                "α": f"{alpha:g}",
                "slope": _slope(x, below.sum(0)),
                "standard error": np.sqrt((n - 1) * np.var(left_out)),
                "data sets": n,
            }
        )
    return pd.DataFrame(out)


def _slope(x: np.ndarray, below: np.ndarray) -> float:
    """Weighted slope of log below on x; points without a false positive are left out."""
    some = below > 0
    x, below = x[some], below[some]
    centre = np.average(x, weights=below)
    return float(np.sum(below * (x - centre) * np.log(below)) / np.sum(below * (x - centre) ** 2))


def wide(table: pd.DataFrame, index: str) -> str:
    """Markdown table: a line per value of `index` and null model, a column per alpha.

    The column of null models is left out where there is only one.
    """
    alphas = sorted(table["alpha"].unique(), reverse=True)
    several = table["null"].nunique() > 1
    names = [index, *(["null model"] if several else []), *(f"α = {a:g}" for a in alphas)]
    lines = ["| " + " | ".join([*names, "features"]) + " |", "|" + "---|" * (len(names) + 1)]
    for (value, null), part in table.groupby([index, "null"], sort=False):
        at = part.set_index("alpha")
        shown = [f"{at.loc[a, 'ratio']:.2f} ± {at.loc[a, 'error']:.2f}" for a in alphas]
        first = [str(value), *([null] if several else [])]
        features = f"{at['features'].max():,}".replace(",", " ")
        lines.append("| " + " | ".join([*first, *shown, features]) + " |")
    return "\n".join(lines)


def ranges(table: pd.DataFrame, index: str) -> pd.DataFrame:
    """Smallest and largest ratio over the settings of a table, per alpha.

    Columns: the number of settings, then one per alpha, from the largest to the smallest.
    """
    found: dict[str, object] = {"settings": table[index].nunique()}
    for alpha in sorted(table["alpha"].unique(), reverse=True):
        ratio = table.loc[table["alpha"] == alpha, "ratio"]
        low, high = f"{ratio.min():.2f}", f"{ratio.max():.2f}"
        found[f"α = {alpha:g}"] = low if low == high else f"{low}–{high}"
    return pd.DataFrame([found])
