"""False positive rates on data in which no feature is related to the target.

Each setting changes one thing about a forest with the default settings for its data: 100 samples,
2 000 features, two balanced classes, 1 000 trees, F/20 = 100 candidates per node, half of the
samples per tree without replacement, leaves of one sample. A few slow ones have 300 trees.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

import nullforest as nf
from nullforest._util.errors import InputError
from studies.records import Records, with_progress

ALPHAS = (0.05, 0.01, 0.001, 0.0001)
NULLS = ("auto", "bagged", "paper")
#: 100 data sets of 2 000 features: 200 000 null features per setting.
DATA_SETS, FEATURES = 100, 2_000
#: The null models were developed on data sets with lower seeds.
FIRST_SEED = 5_000

Rng = np.random.Generator
Array = NDArray[Any]


def fresh(number: int, first: int = FIRST_SEED) -> range:
    """Seeds of a number of data sets."""
    return range(first, first + number)


def normal_features(rng: Rng, S: int, F: int) -> Array:
    """Independent standard normal columns."""
    return rng.standard_normal((S, F), dtype=np.float32)


def snps(rng: Rng, S: int, F: int) -> Array:
    """Genotypes 0, 1, 2 with allele frequencies .05 to .5."""
    return rng.binomial(2, rng.uniform(0.05, 0.5, F), (S, F)).astype(np.float32)


def fivefold(rng: Rng, S: int, F: int) -> Array:
    """Every column five times."""
    return np.repeat(normal_features(rng, S, F // 5), 5, axis=1)


def classes(*shares: float) -> Callable[[Rng, int], Array]:
    """Labels in the given proportions, in random order."""

    def draw(rng: Rng, S: int) -> Array:
        ends = np.round(np.cumsum(shares) * S)
        return rng.permutation(np.searchsorted(ends, np.arange(S), side="right"))

    return draw


@dataclass(frozen=True)
class Setting:
    """Data, and what differs from the default forest.

    Attributes
    ----------
    label : str
        The setting in words, as the page prints it.
    stream : int
        Its random stream: data sets of different settings are independent.
    """

    label: str
    stream: int
    S: int = 100
    X: Callable[[Rng, int, int], Array] = normal_features
    y: Callable[[Rng, int], Array] = field(default_factory=lambda: classes(0.5, 0.5))
    forest: dict[str, Any] = field(default_factory=dict)


F = FEATURES
#: The general kernel scores probes slowly; fewer trees make up for it.
FEWER = {"trees": 300}
BASE = {"trees": 1_000, "candidates": F // 20, "samples": 0.5}
#: Settings that differ in the number of trees alone share one stream, so that a trend is one of
#: the trees and not of the data.
_TREES_STREAM = 16
SETTINGS = {
    "base": Setting("default forest", _TREES_STREAM),
    "bag .3": Setting("30 % of the samples per tree", 11, forest={"samples": 0.3}),
    "bag .632": Setting("63.2 % of the samples per tree", 12, forest={"samples": 0.632}),
    "bag .8": Setting("80 % of the samples per tree", 13, forest={"samples": 0.8}),
    "bag 1": Setting("all samples in every tree", 14, forest={"samples": 1.0}),
    "bootstrap": Setting(
        "bootstrap samples; 300 trees", 17, forest={"samples": 1.0, "replace": True} | FEWER
    ),
    "candidates √F": Setting("√F = 45 candidates", 20, forest={"candidates": round(F**0.5)}),
    "candidates F/3": Setting("F/3 = 666 candidates", 19, forest={"candidates": F // 3}),
    "leaf 5": Setting("leaves of at least 5 samples", 23, forest={"min_leaf": 5}),
    "leaf 20": Setting("leaves of at least 20 samples", 22, forest={"min_leaf": 20}),
    "S 40": Setting("40 samples", 7, S=40),
    "S 400": Setting("400 samples", 8, S=400),
    "Strategy II": Setting(
        'one set of 100 candidates per tree (`draw="tree"`, Strategy II)',
        10,
        forest={"draw": "tree"},
    ),
    "pool and candidates": Setting(
        "pool of 400 features per tree, 20 candidates per node",
        18,
        forest={"pool": 400, "candidates": 20},
    ),
    "balance 90/10": Setting("classes of 90 % and 10 %", 15, y=classes(0.9, 0.1)),
    "3 classes": Setting(
        "three equal classes; 300 trees", 3, y=classes(1 / 3, 1 / 3, 1 / 3), forest=FEWER
    ),
    "10 classes": Setting("ten equal classes; 300 trees", 0, y=classes(*[0.1] * 10), forest=FEWER),
    "regression, normal": Setting(
        "normal numeric target; 300 trees",
        25,
        y=lambda rng, S: rng.standard_normal(S),
        forest=FEWER,
    ),
    "regression, log-normal": Setting(
        "log-normal numeric target; 300 trees",
        24,
        y=lambda rng, S: np.exp(rng.standard_normal(S)),
        forest=FEWER,
    ),
    "SNPs": Setting("SNP genotypes, allele frequencies .05 to .5", 9, X=snps),
    "identical columns": Setting("400 columns, each of them five times", 21, X=fivefold),
    "100 trees": Setting("100 trees", _TREES_STREAM, forest={"trees": 100}),
    "300 trees": Setting("300 trees", _TREES_STREAM, forest={"trees": 300}),
    "5 000 trees": Setting("5 000 trees", _TREES_STREAM, forest={"trees": 5_000}),
    "15 000 trees": Setting("15 000 trees", _TREES_STREAM, forest={"trees": 15_000}),
    "50 000 trees": Setting("50 000 trees", _TREES_STREAM, forest={"trees": 50_000}),
}
#: Settings of the trend over the number of trees. They have more data sets than the others: the
#: trend at α = .0001 rests on few features.
TREES = {"100 trees": 100, "300 trees": 300, "base": 1_000}
TREES |= {"5 000 trees": 5_000, "15 000 trees": 15_000, "50 000 trees": 50_000}
TREES_DATA_SETS = 200
#: Allele frequency classes within which SNPs are counted separately.
ALLELES = (0.05, 0.15, 0.3, 0.5)


def randomised_pvalues(null: nf.nulls.Null, counts: Array, rng: Rng) -> Array:
    """p-values that are exactly uniform if the null model is right, though counts are discrete."""
    plain, middle = null.pvalues(counts), null.pvalues(counts, mid=True)
    return plain - rng.random(len(counts)) * 2 * (plain - middle)


def rows_of(
    tally: nf.Tally, keys: dict[str, Any], rng: Rng, subsets: dict[str, Array] | None = None
) -> list[dict[str, Any]]:
    """Number of null features with a p-value of at most alpha, per null model and alpha."""
    rows = []
    uniform = np.random.default_rng(rng.integers(2**32))
    for kind in NULLS:
        try:
            null = nf.null(tally, kind)
        except InputError:
            continue
        p = randomised_pvalues(null, tally.counts, np.random.default_rng(uniform.integers(2**32)))
        for subset, mask in (subsets or {"all": np.ones(len(p), bool)}).items():
            rows += [
                keys
                | {
                    "subset": subset,
                    "null": kind,
                    "used": null.kind,
                    "alpha": alpha,
                    "features": int(mask.sum()),
                    "below": int((p[mask] <= alpha).sum()),
                }
                for alpha in ALPHAS
            ]
    return rows


def run_piece(name: str, seed: int) -> list[dict[str, Any]]:
    """One data set of one setting."""
    setting = SETTINGS[name]
    rng = np.random.default_rng([seed, setting.stream])
    X, y = setting.X(rng, setting.S, FEATURES), setting.y(rng, setting.S)
    criterion = "variance" if name.startswith("regression") else "gini"
    forest = nf.grow(
        X, y, **(BASE | setting.forest), criterion=criterion, seed=seed, keep_trees=False, oob=False
    )
    subsets = {"all": np.ones(FEATURES, bool)}
    if setting.X is snps:
        frequency = X.mean(axis=0) / 2
        frequency = np.minimum(frequency, 1 - frequency)
        for low, high in pairwise(ALLELES):
            subsets[f"allele frequency {low}-{high}"] = (frequency >= low) & (frequency < high)
    return rows_of(forest.tally, {"setting": name, "seed": seed}, rng, subsets)


def run() -> None:
    """All settings, resumable."""
    records = Records("calibration_null", ("setting", "seed"))
    done = records.done()
    # Data set by data set, so that an interrupted study has results for every setting.
    pieces = [(name, seed) for seed in fresh(DATA_SETS) for name in SETTINGS]
    pieces += [(name, seed) for seed in fresh(TREES_DATA_SETS)[DATA_SETS:] for name in TREES]
    for name, seed in with_progress(
        [piece for piece in pieces if (piece[0], str(piece[1])) not in done], "null data"
    ):
        records.add(run_piece(name, seed))
