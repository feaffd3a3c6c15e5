"""False positive rates of forests on binned columns beside those on exact ranks.

Null data with the default settings: independent normal features and labels without any relation
to them, the same data with exact ranks, with 256 bins (the default from 20 000 samples on) and with
32. 5 000 samples, so that bins are what differs, at two numbers of features: with shadows (F < 500)
and with virtual probes. And 20 000 samples, where there are fewer probes. Rates are shares of the
features with p at most the level, divided by it.

    python -m studies.bins [--data-sets 50]

Results: studies/results/bins.csv, one row for each data set and number of bins.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import pandas as pd

import nullforest as nf
from studies.records import Records, with_progress

LEVELS = (0.05, 0.01, 0.001)
#: Samples, features, bins; 0 for none.
SETTINGS = [
    *((5_000, features, bins) for features in (100, 2_000) for bins in (0, 256, 32)),
    (20_000, 1_000, 256),
]
MOST_TREES = 4_000
FIRST_SEED = 90_000


def piece(S: int, F: int, bins: int, seed: int) -> dict[str, Any]:
    """The number of features at or below each level, for one data set."""
    rng = np.random.default_rng([seed, F])
    X = rng.standard_normal((S, F), dtype=np.float32)
    y = rng.integers(0, 2, S)
    forest = nf.grow(
        nf.RankTable(X, bins=bins or None), y, max_trees=MOST_TREES, seed=seed, oob=False
    )
    assert forest.settled is not None
    pvalues = forest.settled.pvalues
    below = {f"below_{level:g}": int(np.sum(pvalues <= level)) for level in LEVELS}
    return {"features": F, "bins": bins, "seed": seed, "samples": S, **below}


def summary(frame: pd.DataFrame) -> str:
    """A table of rate over level, with standard errors, for each number of features and bins."""
    lines = ["| samples | features | bins | " + " | ".join(f"{level:g}" for level in LEVELS) + " |"]
    lines.append("|---|---|---|" + "---|" * len(LEVELS))
    for (S, F, bins), mine in frame.groupby(["samples", "features", "bins"]):
        cells = []
        for level in LEVELS:
            each = mine[f"below_{level:g}"] / (F * level)
            cells.append(f"{each.mean():.2f} ± {each.std(ddof=1) / np.sqrt(len(each)):.2f}")
        lines.append(f"| {S} | {F} | {bins or 'none'} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    """Run the data sets that are not there yet, and print the rates."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-sets", type=int, default=50)
    chosen = parser.parse_args()
    records = Records("bins", ("samples", "features", "bins", "seed"))
    seeds = range(FIRST_SEED, FIRST_SEED + chosen.data_sets)
    pieces = [(*setting, seed) for seed in seeds for setting in SETTINGS]
    done = records.done()
    left = [one for one in pieces if tuple(map(str, one)) not in done]
    for one in with_progress(left, "Null data sets"):
        records.add([piece(*one)])
    print(summary(records.frame()))


if __name__ == "__main__":
    main()
