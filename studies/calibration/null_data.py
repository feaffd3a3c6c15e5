"""Is the false positive rate the one asked for when nothing is related to the label?

Each cell changes one thing about a base forest (S = 100, F = 2 000, 1 000 trees, F/20 candidates,
half of the samples without replacement, leaves of one sample, two balanced classes). A few that
take long have 300 trees.
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
#: 100 data sets of 2 000 features: 200 000 null features per cell.
DATA_SETS, FEATURES = 100, 2_000
#: The methods were developed on data sets of lower seeds.
FIRST_SEED = 5_000

Rng = np.random.Generator
Array = NDArray[Any]


def fresh(number: int, first: int = FIRST_SEED) -> range:
    """Seeds of so many data sets."""
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
class Cell:
    """One setting: how the data are drawn, and what differs from the base forest."""

    S: int = 100
    X: Callable[[Rng, int, int], Array] = normal_features
    y: Callable[[Rng, int], Array] = field(default_factory=lambda: classes(0.5, 0.5))
    forest: dict[str, Any] = field(default_factory=dict)


F = FEATURES
#: Forests whose probes are judged by the general kernel take long; fewer trees make up for it.
FEWER = {"trees": 300}
BASE = {"trees": 1_000, "candidates": F // 20, "samples": 0.5}
CELLS = {
    "base": Cell(),
    "bag .3": Cell(forest={"samples": 0.3}),
    "bag .632": Cell(forest={"samples": 0.632}),
    "bag .8": Cell(forest={"samples": 0.8}),
    "bag 1": Cell(forest={"samples": 1.0}),
    "bootstrap": Cell(forest={"samples": 1.0, "replace": True} | FEWER),
    "candidates √F": Cell(forest={"candidates": round(F**0.5)}),
    "candidates F/3": Cell(forest={"candidates": F // 3}),
    "leaf 5": Cell(forest={"min_leaf": 5}),
    "leaf 20": Cell(forest={"min_leaf": 20}),
    "S 40": Cell(S=40),
    "S 400": Cell(S=400),
    "Strategy II": Cell(forest={"draw": "tree"}),
    "both draws": Cell(forest={"pool": 400, "candidates": 20}),
    "balance 90/10": Cell(y=classes(0.9, 0.1)),
    "3 classes": Cell(y=classes(1 / 3, 1 / 3, 1 / 3), forest=FEWER),
    "10 classes": Cell(y=classes(*[0.1] * 10), forest=FEWER),
    "regression, normal": Cell(y=lambda rng, S: rng.standard_normal(S), forest=FEWER),
    "regression, log-normal": Cell(y=lambda rng, S: np.exp(rng.standard_normal(S)), forest=FEWER),
    "SNPs": Cell(X=snps),
    "columns five times": Cell(X=fivefold),
    "100 trees": Cell(forest={"trees": 100}),
    "300 trees": Cell(forest={"trees": 300}),
    "5 000 trees": Cell(forest={"trees": 5_000}),
    "15 000 trees": Cell(forest={"trees": 15_000}),
    "50 000 trees": Cell(forest={"trees": 50_000}),
}
#: Forests that differ in the number of trees alone. They meet the same data sets, so that a trend
#: is one of the trees and not of the data, and more of them than other cells do: a trend at
#: α = .0001 rests on few features.
TREES = {"100 trees": 100, "300 trees": 300, "base": 1_000}
TREES |= {"5 000 trees": 5_000, "15 000 trees": 15_000, "50 000 trees": 50_000}
TREES_DATA_SETS = 200
#: Allele frequency classes within which SNPs are looked at separately.
ALLELES = (0.05, 0.15, 0.3, 0.5)


def randomised_pvalues(null: nf.nulls.Null, counts: Array, rng: Rng) -> Array:
    """p-values that are exactly uniform if the null is right, though counts are discrete."""
    plain, middle = null.pvalues(counts), null.pvalues(counts, mid=True)
    return plain - rng.random(len(counts)) * 2 * (plain - middle)


def rows_of(
    tally: nf.Tally, keys: dict[str, Any], rng: Rng, parts: dict[str, Array] | None = None
) -> list[dict[str, Any]]:
    """How many of the (null) features fall below each alpha, for each null."""
    rows = []
    uniform = np.random.default_rng(rng.integers(2**32))
    for kind in NULLS:
        try:
            null = nf.null(tally, kind)
        except InputError:
            continue
        p = randomised_pvalues(null, tally.counts, np.random.default_rng(uniform.integers(2**32)))
        for part, mask in (parts or {"all": np.ones(len(p), bool)}).items():
            rows += [
                keys
                | {
                    "part": part,
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
    """One data set of one cell."""
    cell = CELLS[name]
    rng = np.random.default_rng([seed, sorted(CELLS).index("base" if name in TREES else name)])
    X, y = cell.X(rng, cell.S, FEATURES), cell.y(rng, cell.S)
    criterion = "variance" if name.startswith("regression") else "gini"
    forest = nf.grow(
        X, y, **(BASE | cell.forest), criterion=criterion, seed=seed, keep_trees=False, oob=False
    )
    parts = {"all": np.ones(FEATURES, bool)}
    if cell.X is snps:
        frequency = X.mean(axis=0) / 2
        frequency = np.minimum(frequency, 1 - frequency)
        for low, high in pairwise(ALLELES):
            parts[f"allele frequency {low}-{high}"] = (frequency >= low) & (frequency < high)
    return rows_of(forest.tally, {"cell": name, "seed": seed}, rng, parts)


def run() -> None:
    """All cells, resumable."""
    records = Records("calibration_null", ("cell", "seed"))
    done = records.done()
    # Data set by data set, so that an interrupted study has something to say about every cell.
    pieces = [(name, seed) for seed in fresh(DATA_SETS) for name in CELLS]
    pieces += [(name, seed) for seed in fresh(TREES_DATA_SETS)[DATA_SETS:] for name in TREES]
    for name, seed in with_progress(
        [piece for piece in pieces if (piece[0], str(piece[1])) not in done], "null data"
    ):
        records.add(run_piece(name, seed))
