"""Do our rates agree with the printed ones? Cell by cell, for a stop rule and a pairing.

The captions of the two printed tables look swapped, so both pairings are compared: "as printed"
sets our Strategy I beside the table captioned I, "swapped" beside the table captioned II.

The printed rates are means of 20 runs whose spread is not told; our own spread s between runs
stands in for it. The difference then has the variance s²/20 + s²/R + (0.001)²/12: their runs, our R
runs, and the rounding to three digits. A cell agrees within two of these standard errors.

Two sentences can be read in two ways, and both readings are compared: the number of nodes per tree
that the model takes (each tree's own, or the mean rounded up to a whole number), and a permutation
that counts against a feature (with a count at least as large, or with a larger one).
"""

from __future__ import annotations

from typing import Literal, cast

import numpy as np
import pandas as pd

from nullforest.evaluation.paper.comparison_tables import CELL
from nullforest.evaluation.paper.printed import ROUNDING, printed_tables
from nullforest.evaluation.paper.stop_rules import STOP_RULES, StopRule

Pairing = Literal["as printed", "swapped"]
PAIRINGS: tuple[Pairing, ...] = ("as printed", "swapped")
PRINTED_RUNS = 20
_ROMAN = {1: "I", 2: "II"}
_OTHER = {"I": "II", "II": "I"}
#: Our methods for each printed one.
READINGS = {
    "model": ("model", "model_whole"),
    "permutation": ("permutation", "permutation_larger"),
}


def compared(table: pd.DataFrame, rule: StopRule, pairing: Pairing) -> pd.DataFrame:
    """Printed and our rates side by side.

    Parameters
    ----------
    table : DataFrame
        What `comparison.table` gave.
    rule : StopRule
        Whose forests are compared.
    pairing : {"as printed", "swapped"}

    Returns
    -------
    DataFrame
        One row per printed number that was also computed and reading of it: its cell, `reading`
        (our method), `caption` (the strategy in the caption), `strategy` (ours), `printed`,
        `ours`, `ours_se`, `difference_se`, `agrees`.
    """
    printed = printed_tables().rename(columns={"strategy": "caption"})
    printed["caption"] = printed["caption"].map(_ROMAN)
    swap = pairing == "swapped"
    printed["strategy"] = printed["caption"].map(_OTHER) if swap else printed["caption"]
    ours = table[table["rule"] == str(rule)].rename(columns={"method": "reading"})
    ours["method"] = ours["reading"].map(
        {reading: method for method, readings in READINGS.items() for reading in readings}
    )
    keys = ["strategy", *CELL]
    parts = [
        ours[[*keys, "reading", rate, f"{rate}_sd", "runs"]]
        .rename(columns={rate: "ours", f"{rate}_sd": "sd"})
        .assign(rate=rate)
        for rate in ("fpr", "fnr")
    ]
    joined = printed.merge(pd.concat(parts), on=[*keys, "rate"])
    joined["ours_se"] = joined["sd"] / np.sqrt(joined["runs"])
    joined["difference_se"] = np.sqrt(
        joined["sd"] ** 2 * (1 / PRINTED_RUNS + 1 / joined["runs"]) + ROUNDING**2
    )
    joined["difference"] = joined["ours"] - joined["printed"]
    joined["agrees"] = joined["difference"].abs() <= 2 * joined["difference_se"]
    joined["rule"] = str(rule)
    joined["pairing"] = pairing
    return joined.drop(columns="sd")


def all_compared(table: pd.DataFrame) -> pd.DataFrame:
    """Every stop rule that was run, in both pairings."""
    parts = [compared(table, rule, pairing) for rule in STOP_RULES for pairing in PAIRINGS]
    return pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)


def ranking(cells: pd.DataFrame) -> pd.DataFrame:
    """How well each stop rule and pairing fits, the best first.

    The columns named after a reading hold the share of its cells within two standard errors.
    `distance` is the mean squared difference of the model's cells in standard errors, each held
    to 25 so that one odd cell does not decide, for the reading that fits better; it ranks the
    rules.
    """
    keys = ["rule", "pairing"]
    z = ((cells["difference"] / cells["difference_se"]) ** 2).clip(upper=25)
    by = cells.assign(z=z, agrees=cells["agrees"].astype(float)).groupby([*keys, "reading"])
    ranked = by["agrees"].mean().unstack("reading")
    model = [name for name in READINGS["model"] if name in ranked]
    ranked["distance"] = by["z"].mean().unstack("reading")[model].min(axis=1)
    return ranked.sort_values("distance").rename_axis(columns=None).reset_index()


def best(ranked: pd.DataFrame) -> tuple[StopRule, Pairing]:
    """The stop rule and pairing that fit best, among those whose permutations were run, if any."""
    permuted = [name for name in READINGS["permutation"] if name in ranked]
    whole = ranked.dropna(subset=permuted)
    first = (ranked if whole.empty else whole).iloc[0]
    rule = next(rule for rule in STOP_RULES if str(rule) == first["rule"])
    return rule, cast("Pairing", first["pairing"])


def best_reading(cells: pd.DataFrame) -> pd.DataFrame:
    """Of each printed method the reading that agrees in most cells."""
    share = cells.groupby(["method", "reading"])["agrees"].mean()
    chosen = {str(reading) for _, reading in share.groupby("method").idxmax()}
    return cells[cells["reading"].isin(chosen)]
