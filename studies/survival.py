"""Survival times: false positive rates by censoring, and power beside ranger's survival forest.

python -m studies.survival [--only PART ...] [--page FILE]

Finished pieces are kept in studies/results, so that an interrupted study resumes where it stopped.
Nothing is set but seeds: trees, candidates and depth are the defaults.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

import nullforest as nf
from nullforest.evaluation.packages import PACKAGES, PackageTask
from nullforest.selection.error_rates import decide
from studies.calibration.null_data import ALPHAS, randomised_pvalues
from studies.records import Records, with_progress

FIRST_SEED = 50_000
FEATURES = 2_000
#: Null data: samples, shares of censored samples, and whether times are rounded to whole numbers
#: of which there are about ten, so that most are tied.
SAMPLES, CENSORING, NULL_SETS = (100, 300), (0.0, 0.3, 0.7), 100
TIED_SETS = 30
#: Proportional hazards: samples, share of censored samples, relevant features, hazard ratio.
HAZARDS = [(150, 0.0, 5, 2.0), (150, 0.3, 5, 2.5), (150, 0.7, 3, 4.0)]
POWER_SETS = 20
#: Trees of ranger's survival forest, whose default is 500.
RANGER_TREES = 1_000


def tied(y: NDArray[Any]) -> NDArray[Any]:
    """The same with times rounded up to tenths of the range in which nine of ten samples lie."""
    y = y.copy()
    y["time"] = np.ceil(y["time"] / (np.quantile(y["time"], 0.9) / 10))
    return y


def null_data() -> None:
    """Features that are independent of the survival times, by samples, censoring and ties."""
    records = Records("survival_null", ("samples", "censoring", "ties", "seed"))
    settings = [
        *product(SAMPLES, CENSORING, (False,), range(NULL_SETS)),
        *product((100,), CENSORING, (True,), range(TIED_SETS)),
    ]
    settings.sort(key=lambda setting: setting[-1])  # every setting, data set by data set
    pieces = [(S, censoring, ties, FIRST_SEED + i) for S, censoring, ties, i in settings]
    for S, censoring, ties, seed in _open(records, pieces, "null data"):
        X, y, _ = nf.simulate.survival(S, FEATURES, 0, 1.0, censoring, seed=seed)
        y = tied(y) if ties else y
        start = perf_counter()
        forest = nf.grow(X, y, seed=seed, oob=False)
        seconds = perf_counter() - start
        null, counts = nf.null(forest.tally), forest.tally.counts
        uniform = randomised_pvalues(null, counts, np.random.default_rng(seed))
        found = int(decide(null.pvalues(counts), 0.05, "fdr").support.sum())
        records.add(
            [
                {"samples": S, "censoring": censoring, "ties": ties, "seed": seed, "alpha": alpha}
                | {"features": FEATURES, "below": int((uniform <= alpha).sum())}
                | {"events": int(y["event"].sum()), "trees": forest.n_trees}
                | {"discoveries": found, "seconds": round(seconds, 3)}
                for alpha in ALPHAS
            ]
        )


def ranger_pvalues(X: NDArray[Any], y: NDArray[Any], seed: int) -> NDArray[np.float64]:
    """p-values of Janitza's test by ranger's survival forest, with 1 000 trees and its defaults."""
    S, F = X.shape
    task = PackageTask(
        X=X,
        y=y,
        classes=False,
        trees=RANGER_TREES,
        candidates=math.isqrt(F),
        samples=S,
        replace=True,
        permutations=0,
        rounds=0,
        alpha=0.05,
        seed=seed,
        n_jobs=-1,
    )
    return PACKAGES["ranger_janitza"].run(task).pvalues


def our_pvalues(X: NDArray[Any], y: NDArray[Any], seed: int) -> NDArray[np.float64]:
    """p-values by the default forest."""
    return nf.select(nf.grow(X, y, seed=seed, oob=False)).pvalues


def hazards() -> None:
    """Ranks of the relevant features, and what is selected, by both forests."""
    records = Records("survival_power", ("samples", "censoring", "relevant", "seed", "test"))
    tests = {"nullforest": our_pvalues, "ranger_janitza": ranger_pvalues}
    if why := PACKAGES["ranger_janitza"].missing():
        raise SystemExit(f"The power study needs ranger: {why}.")
    pieces = [
        (S, censoring, relevant, FIRST_SEED + i, test)
        for i in range(POWER_SETS)
        for S, censoring, relevant, _ in HAZARDS
        for test in tests
    ]
    ratio_of = {setting[:3]: setting[3] for setting in HAZARDS}
    for S, censoring, relevant, seed, test in _open(records, pieces, "proportional hazards"):
        ratio = ratio_of[S, censoring, relevant]
        X, y, truth = nf.simulate.survival(S, FEATURES, relevant, ratio, censoring, seed=seed)
        start = perf_counter()
        pvalues = tests[test](X, y, seed)
        seconds = perf_counter() - start
        support = decide(pvalues, 0.05, "fdr").support
        records.add(
            [
                {"samples": S, "censoring": censoring, "relevant": relevant, "seed": seed}
                | {"test": test, "hazard_ratio": ratio, "events": int(y["event"].sum())}
                | {"selected": int(support.sum()), "true": int((support & truth).sum())}
                # How many relevant features stand before the k-th null feature, for each k: from
                # this the power at any false discovery proportion.
                | {"before": _before(pvalues, truth), "seconds": round(seconds, 3)}
            ]
        )


def _before(pvalues: NDArray[np.float64], truth: NDArray[np.bool_], most: int = 40) -> str:
    """Relevant features that stand before the k-th null feature, k = 1, 2, …, sorted by p-value.

    Tied features are in random order: j / (m + 1) of the tied relevant features are expected
    before the j-th of m tied null features.
    """
    null, own = np.sort(pvalues[~truth]), np.sort(pvalues[truth])
    place = np.arange(len(null)) - np.searchsorted(null, null, "left") + 1
    ties = np.searchsorted(null, null, "right") - np.searchsorted(null, null, "left")
    below, up_to = np.searchsorted(own, null, "left"), np.searchsorted(own, null, "right")
    before = below + (up_to - below) * place / (ties + 1)
    return " ".join(f"{count:.4g}" for count in before[:most])


def _open(records: Records, pieces: list[Any], title: str) -> Any:
    """The pieces that are not finished, with a progress bar."""
    done = records.done()
    return with_progress([p for p in pieces if tuple(map(str, p)) not in done], title)


PARTS: dict[str, Callable[[], None]] = {"null": null_data, "power": hazards}


def main() -> None:
    """Run what is not finished, then write the tables into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", help=f"{' '.join(PARTS)} none")
    parser.add_argument("--page", type=Path, help="write the tables into this Markdown file")
    arguments = parser.parse_args()
    for name, part in PARTS.items():
        if arguments.only is None or name in arguments.only:
            part()


if __name__ == "__main__":
    main()
