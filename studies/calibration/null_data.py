"""False positive rates on data in which no feature is related to the target.

Each setting changes one thing about a forest with the default settings: 100 samples, 2 000
features, two balanced classes, trees until the selection has settled (about 8 000 where nothing is
relevant), 20 candidates per node, depth 3, half of the samples per tree without replacement.
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
#: 17 data sets of 2 000 features: 34 000 null features per setting.
DATA_SETS, FEATURES = 17, 2_000
#: The null models and the defaults were developed on data sets with lower seeds.
FIRST_SEED = 20_000

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


def sparse_counts(rng: Rng, S: int, F: int) -> Array:
    """Counts of transcripts in single cells: most genes are expressed in few of them."""
    expression = np.exp(rng.normal(-4.0, 3.0, F))
    return rng.poisson(rng.gamma(1.0, size=(S, F)) * expression).astype(np.float32)


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
#: Settings that differ in the number of trees alone share one stream, so that a trend is one of
#: the trees and not of the data.
_TREES_STREAM = 16
SETTINGS = {
    "base": Setting("default forest", _TREES_STREAM),
    "bag .3": Setting("30 % of the samples per tree", 11, forest={"samples": 0.3}),
    "bag .632": Setting("63.2 % of the samples per tree", 12, forest={"samples": 0.632}),
    "bag .8": Setting("80 % of the samples per tree", 13, forest={"samples": 0.8}),
    "bag 1": Setting("all samples in every tree", 14, forest={"samples": 1.0}),
    "bootstrap": Setting("bootstrap samples", 17, forest={"samples": 1.0, "replace": True}),
    "candidates 5": Setting("5 candidates", 20, forest={"candidates": 5}),
    "candidates F/20": Setting("F/20 = 100 candidates", 19, forest={"candidates": F // 20}),
    "depth 1": Setting("depth 1", 26, forest={"max_depth": 1}),
    "full trees": Setting("full trees", 27, forest={"max_depth": None}),
    "leaf 5": Setting("leaves of at least 5 samples", 23, forest={"min_leaf": 5}),
    "leaf 20": Setting("leaves of at least 20 samples", 22, forest={"min_leaf": 20}),
    "S 40": Setting("40 samples", 7, S=40),
    "S 400": Setting("400 samples", 8, S=400),
    "Strategy II": Setting(
        'one set of 20 candidates per tree (`draw="tree"`, Strategy II)',
        10,
        forest={"draw": "tree"},
    ),
    "pool and candidates": Setting("pool of 400 features per tree", 18, forest={"pool": 400}),
    "balance 90/10": Setting("classes of 90 % and 10 %", 15, y=classes(0.9, 0.1)),
    "3 classes": Setting("three equal classes", 3, y=classes(1 / 3, 1 / 3, 1 / 3)),
    "10 classes": Setting("ten equal classes", 0, y=classes(*[0.1] * 10)),
    "regression, normal": Setting("normal target", 25, y=lambda rng, S: rng.standard_normal(S)),
    "regression, log-normal": Setting(
        "log-normal target", 24, y=lambda rng, S: np.exp(rng.standard_normal(S))
    ),
    "SNPs": Setting("SNP genotypes, allele frequencies .05 to .5", 9, X=snps),
    "sparse counts": Setting(
        "sparse counts, classes of 89 % and 11 %", 28, X=sparse_counts, y=classes(8 / 9, 1 / 9)
    ),
    "identical columns": Setting("400 columns, each of them five times", 21, X=fivefold),
    "300 trees": Setting("300 trees", _TREES_STREAM, forest={"trees": 300}),
    "1 000 trees": Setting("1 000 trees", _TREES_STREAM, forest={"trees": 1_000}),
    "3 000 trees": Setting("3 000 trees", _TREES_STREAM, forest={"trees": 3_000}),
    "30 000 trees": Setting("30 000 trees", _TREES_STREAM, forest={"trees": 30_000}),
    "100 000 trees": Setting("100 000 trees", _TREES_STREAM, forest={"trees": 100_000}),
}
#: Settings of the trend over the number of trees.
TREES = {"300 trees": 300, "1 000 trees": 1_000, "3 000 trees": 3_000}
TREES |= {"30 000 trees": 30_000, "100 000 trees": 100_000}
#: Allele frequencies, and shares of the samples that are not zero, between which features are
#: counted separately.
ALLELES, EXPRESSED = (0.05, 0.15, 0.3, 0.5), (0.0, 0.03, 0.2, 1.0)


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
        X, y, **setting.forest, criterion=criterion, seed=seed, keep_trees=False, oob=False
    )
    subsets = {"all": np.ones(FEATURES, bool)}
    if setting.X is snps:
        frequency = X.mean(axis=0) / 2
        frequency = np.minimum(frequency, 1 - frequency)
        for low, high in pairwise(ALLELES):
            subsets[f"allele frequency {low}-{high}"] = (frequency >= low) & (frequency < high)
    if setting.X is sparse_counts:
        share = (X > 0).mean(axis=0)
        for low, high in pairwise(EXPRESSED):
            subsets[f"above zero in {low:.0%}-{high:.0%}"] = (share > low) & (share <= high)
    return rows_of(forest.tally, {"setting": name, "seed": seed}, rng, subsets)


def run() -> None:
    """All settings, resumable."""
    records = Records("calibration_null", ("setting", "seed"))
    done = records.done()
    # Data set by data set, so that an interrupted study has results for every setting.
    pieces = [(name, seed) for seed in fresh(DATA_SETS) for name in SETTINGS]
    for name, seed in with_progress(
        [piece for piece in pieces if (piece[0], str(piece[1])) not in done], "null data"
    ):
        records.add(run_piece(name, seed))
