"""Computation of one run of one setting: data, forest, outcome; a function per kind.

Everything random derives from the seed of the reproduction, the number of the run and the
parameters of the data: the two strategies and all stop rules meet the same data sets.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nullforest.data.rank_table import RankTable
from nullforest.datasets.simulate import CorticalModel, independent
from nullforest.nulls import Kind
from nullforest.run.growing import grow
from nullforest.tallies.tally import Tally
from reproduction.experiment import Parameters
from reproduction.outcomes import NULLS, RELEVANT, outcome_of
from reproduction.store import Cell, Record

#: Exceedances of the permutation test that are told apart: p up to 25/250 = 0.1.
MOST_EXCEEDANCES = 25
#: Parameters of a forest.
FOREST = ("trees", "candidates", "draw", "samples", "min_leaf", "max_depth", "min_split")


def compute(cell: Cell, seed: int, run: int) -> Record:
    """Compute one run of a cell; also how many seconds of the processor it took."""
    start = time.process_time()
    record = KINDS[cell.kind](cell.parameters, seed, run)
    return {**record, "seconds": round(time.process_time() - start, 3)}


def derived_seed(*numbers: int) -> int:
    """A seed that belongs to these numbers."""
    return int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0]) >> 1


def _independent_data(
    p: Parameters, seed: int, run: int
) -> tuple[RankTable, NDArray[np.int64], dict[str, NDArray[np.bool_]], int]:
    """Ranked data of the independent case, labels, features by truth, and the forests' seed."""
    S, F, N, rho = (p[name] for name in ("n_samples", "n_features", "n_relevant", "relevance"))
    data_seed = derived_seed(seed, run, S, F, N, round(1000 * rho))
    X, y, relevant = independent(S, F, N, rho, seed=data_seed, dtype=np.float32)
    groups = {"irrelevant": ~relevant, RELEVANT: relevant}
    return RankTable(X, n_jobs=1), y, groups, derived_seed(data_seed, 1)


def _tally(X: RankTable, y: Any, p: Parameters, seed: int, first_tree: int = 0) -> Tally:
    return grow(
        X,
        y,
        **{name: p[name] for name in FOREST},
        probes=0,
        seed=seed,
        first_tree=first_tree,
        n_jobs=1,
        backend="threads",  # a run is small; it is the runs that are shared out
        keep_trees=False,
        oob=False,
    ).tally


def one_forest(p: Parameters, seed: int, run: int, nulls: tuple[Kind, ...] = NULLS) -> Record:
    """One forest on independent features, with the tails of some null models."""
    X, y, groups, forest_seed = _independent_data(p, seed, run)
    return asdict(outcome_of(_tally(X, y, p, forest_seed), groups, nulls))


def growing_forest(p: Parameters, seed: int, run: int) -> Record:
    """One forest that grows in blocks of trees; an outcome after each, since tallies add."""
    X, y, groups, forest_seed = _independent_data(p, seed, run)
    outcomes = []
    tally: Tally | None = None
    for first in range(0, p["trees"], p["block"]):
        block = {**p, "trees": min(p["block"], p["trees"] - first)}
        more = _tally(X, y, block, forest_seed, first)
        tally = more if tally is None else tally + more
        outcomes.append(asdict(outcome_of(tally, groups)))
    return {"outcomes": outcomes}


def permuted_forests(p: Parameters, seed: int, run: int) -> Record:
    """One forest for each permutation of the labels, beside that of `one_forest`.

    For every feature two numbers of permutations are kept: those with a count *at least* as
    large (the test as it is meant, Altmann et al.), and those with a *larger* one (as the
    paper's sentence reads), as histograms by truth.
    """
    X, y, groups, forest_seed = _independent_data(p, seed, run)
    observed = _tally(X, y, p, forest_seed).counts
    rng = np.random.default_rng([forest_seed, 2])
    at_least, larger = np.zeros((2, len(observed)), np.int64)
    for permutation in range(p["permutations"]):
        permuted_seed = derived_seed(forest_seed, 3, permutation)
        counts = _tally(X, rng.permutation(y), p, permuted_seed).counts
        at_least += counts >= observed
        larger += counts > observed
    more = MOST_EXCEEDANCES + 1  # the last number stands for all that are larger
    return {
        rule: {
            name: np.bincount(np.minimum(exceeded[mask], more), minlength=more + 1).tolist()
            for name, mask in groups.items()
        }
        for rule, exceeded in (("at_least", at_least), ("larger", larger))
    }


def cortical_maps(p: Parameters, seed: int, run: int) -> Record:
    """One forest on cortical maps; null vertices near the region and far from it."""
    model = _cortical_model(p["source"])
    region = model.region(p["region_share"], p["seed_vertex"])
    near = ~region & (model.distance(region) <= p["near"])
    data_seed = derived_seed(seed, run, p["n_samples"], round(1e6 * p["region_share"]))
    X, y = model.draw(p["n_samples"], region, p["relevance"], data_seed, dtype=np.float32)
    settings = {
        **p,
        "trees": round(model.n_vertices * p["trees_share"]),
        "candidates": round(model.n_vertices * p["candidates_share"]),
    }
    tally = _tally(RankTable(X, n_jobs=1), y, settings, derived_seed(data_seed, 1))
    return asdict(outcome_of(tally, {"far": ~region & ~near, "near": near, RELEVANT: region}))


@lru_cache(maxsize=1)
def _cortical_model(source: str | None) -> CorticalModel:
    return CorticalModel.fit(source)


KINDS: dict[str, Callable[[Parameters, int, int], Record]] = {
    function.__name__: function
    for function in (one_forest, growing_forest, permuted_forests, cortical_maps)
}
