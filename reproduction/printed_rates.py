"""Agreement of our rates with the printed ones: every number, for a stop rule and a pairing.

The captions of the two printed tables look swapped, so both pairings are compared: "as printed"
sets our Strategy I beside the table captioned I, "swapped" beside the table captioned II.

The printed rates are means of 20 runs whose standard deviation is not given; our own, s, is used
instead. The difference then has the variance s²/20 + s²/R + (0.001)²/12: their runs, our R runs,
and the rounding to three digits. A number agrees within two of these standard errors.

Two sentences can be read in two ways, and both readings are compared: the number of nodes per tree
that the model takes (each tree's own, or the mean rounded up to a whole number), and a permutation
that counts against a feature (with a count at least as large, or with a larger one).
"""

from __future__ import annotations

from importlib import resources

import numpy as np
import pandas as pd

from reproduction.comparison_tables import CELL

#: Our strategy for each caption.
PAIRINGS = {"as printed": {"I": "I", "II": "II"}, "swapped": {"I": "II", "II": "I"}}
PRINTED_RUNS = 20
#: Standard deviation of the rounding error, uniform over one unit of the last printed digit.
ROUNDING = 0.001 / 12**0.5
#: The row that is the same in both printed tables, a copying slip.
COPIED = (250, 2000)
#: Our methods for each printed one.
READINGS = {
    "model": ("model", "model_whole"),
    "permutation": ("permutation", "permutation_larger"),
}


def printed_tables() -> pd.DataFrame:
    """The printed rates, one number per row.

    Columns: caption ("I" or "II"), method, n_samples, n_features, relevant_share, alpha, rate
    ("fpr" or "fnr"), printed.

    Examples
    --------
    >>> table = printed_tables()
    >>> len(table), table["rate"].value_counts().to_dict()
    (144, {'fpr': 96, 'fnr': 48})
    """
    path = resources.files("reproduction") / "printed_tables.csv"
    with path.open("r", encoding="utf-8") as file:
        wide = pd.read_csv(file)
    wide["caption"] = wide["printed_strategy"].map({1: "I", 2: "II"})
    long = wide.melt(["caption", *CELL], ["fpr", "fnr"], var_name="rate", value_name="printed")
    return long.dropna().reset_index(drop=True)


def compared(table: pd.DataFrame) -> pd.DataFrame:
    """Printed and our rates side by side, for every stop rule of the table and both pairings.

    One row per printed number that was also computed and reading of it: its cell, `caption` (the
    strategy in the caption), `pairing`, `strategy` (ours), `rule`, `reading` (our method),
    `printed`, `ours`, `ours_se`, `difference`, `difference_se`, `agrees`.
    """
    printed = printed_tables()
    pairings = [
        printed.assign(pairing=pairing, strategy=printed["caption"].map(ours))
        for pairing, ours in PAIRINGS.items()
    ]
    methods = {reading: method for method, readings in READINGS.items() for reading in readings}
    ours = table.rename(columns={"method": "reading"})
    ours["method"] = ours["reading"].map(methods)
    keys = ["strategy", *CELL]
    rates = [
        ours[[*keys, "rule", "reading", rate, f"{rate}_sd", "runs"]]
        .rename(columns={rate: "ours", f"{rate}_sd": "sd"})
        .assign(rate=rate)
        for rate in ("fpr", "fnr")
    ]
    joined = pd.concat(pairings).merge(pd.concat(rates), on=[*keys, "rate"])
    variance = joined["sd"] ** 2 * (1 / PRINTED_RUNS + 1 / joined["runs"]) + ROUNDING**2
    joined["ours_se"] = joined.pop("sd") / np.sqrt(joined["runs"])
    joined["difference_se"] = np.sqrt(variance)
    joined["difference"] = joined["ours"] - joined["printed"]
    joined["agrees"] = joined["difference"].abs() <= 2 * joined["difference_se"]
    return joined


def ranking(numbers: pd.DataFrame) -> pd.DataFrame:
    """Fit of each stop rule and pairing, the best first.

    The columns named after a reading hold the share of its numbers within two standard errors.
    `distance` is the mean squared difference of the model's numbers in standard errors, at most 25
    each so that one odd number does not decide, for the better reading; it ranks the rules.
    """
    keys = ["rule", "pairing"]
    z = ((numbers["difference"] / numbers["difference_se"]) ** 2).clip(upper=25)
    by = numbers.assign(z=z, agrees=numbers["agrees"].astype(float)).groupby([*keys, "reading"])
    ranked = by["agrees"].mean().unstack("reading")
    model = [name for name in READINGS["model"] if name in ranked]
    ranked["distance"] = by["z"].mean().unstack("reading")[model].min(axis=1)
    return ranked.sort_values("distance").rename_axis(columns=None).reset_index()


def best(ranked: pd.DataFrame) -> tuple[str, str]:
    """The stop rule and pairing that fit best, among those whose permutations were run, if any."""
    permuted = [name for name in READINGS["permutation"] if name in ranked]
    whole = ranked.dropna(subset=permuted)
    first = (ranked if whole.empty else whole).iloc[0]
    return first["rule"], first["pairing"]


def best_reading(numbers: pd.DataFrame) -> pd.DataFrame:
    """Of each printed method the reading that agrees in most numbers."""
    share = numbers.groupby(["method", "reading"])["agrees"].mean()
    readings = {str(reading) for _, reading in share.groupby("method").idxmax()}
    return numbers[numbers["reading"].isin(readings)]
