"""What is computed for one run of one setting? Data, forest, outcome; a function per kind.

Everything random derives from the seed of the reproduction, the number of the run and the
parameters of the data: the two strategies and all stop rules meet the same data sets.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nullforest.datasets.simulate import CorticalModel, independent
from nullforest.engine import RankTable, grow
from nullforest.evaluation.paper.outcomes import NULLS, RELEVANT, Outcome, outcome_of
from nullforest.evaluation.paper.store import Cell, Record
from nullforest.nulls import Kind
from nullforest.tallies.tally import Tally

Parameters = Mapping[str, Any]
#: Exceedances of the permutation test that are told apart: p up to 25/250 = 0.1.
MOST_EXCEEDANCES = 25


def compute(cell: Cell, seed: int, run: int) -> Record:
    """Compute one run of a cell; also how many seconds of the processor it took."""
    start = time.process_time()
    record = KINDS[cell.kind](cell.parameters, seed, run)
    return {**record, "seconds": round(time.process_time() - start, 3)}


def derived_seed(*numbers: int) -> int:
    """A seed that belongs to these numbers.

    Examples
    --------
    >>> derived_seed(0, 1) != derived_seed(1, 0)
    True
    """
    return int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0] >> 1)


def _independent_data(
    p: Parameters, seed: int, run: int
) -> tuple[RankTable, NDArray[np.int64], NDArray[np.bool_], int]:
    """Ranked data of the independent case, labels, truth, and the seed of its forests."""
    S, F, N, rho = (p[name] for name in ("n_samples", "n_features", "n_relevant", "relevance"))
    data_seed = derived_seed(seed, run, S, F, N, round(1000 * rho))
    X, y, relevant = independent(S, F, N, rho, seed=data_seed, dtype=np.float32)
    return RankTable(X, n_jobs=1), y, relevant, derived_seed(data_seed, 1)


def _tally(
    X: RankTable, y: Any, p: Parameters, seed: int, trees: int | None = None, first: int = 0
) -> Tally:
    return grow(
        X,
        y,
        trees=p["trees"] if trees is None else trees,
        candidates=p["candidates"],
        draw=p["draw"],
        samples=p["samples"],
        min_leaf=p["min_leaf"],
        max_depth=p["max_depth"],
        min_split=p["min_split"],
        probes=0,
        seed=seed,
        first_tree=first,
        n_jobs=1,
        backend="threads",  # a run is small; it is the runs that are shared out
        keep_trees=False,
        oob=False,
    ).tally


def _by_truth(relevant: NDArray[np.bool_]) -> dict[str, NDArray[np.bool_]]:
    return {"irrelevant": ~relevant, RELEVANT: relevant}


def one_forest(p: Parameters, seed: int, run: int, nulls: tuple[Kind, ...] = NULLS) -> Record:
    """One forest on independent features, judged by some nulls."""
    X, y, relevant, forest_seed = _independent_data(p, seed, run)
    return outcome_of(_tally(X, y, p, forest_seed), _by_truth(relevant), nulls).to_record()


def growing_forest(p: Parameters, seed: int, run: int) -> Record:
    """One forest that grows in blocks of trees; an outcome after each, since tallies add."""
    X, y, relevant, forest_seed = _independent_data(p, seed, run)
    block, outcomes = p["block"], []
    tally: Tally | None = None
    for first in range(0, p["trees"], block):
        more = _tally(X, y, p, forest_seed, trees=min(block, p["trees"] - first), first=first)
        tally = more if tally is None else tally + more
        outcomes.append(outcome_of(tally, _by_truth(relevant)).to_record())
    return {"outcomes": outcomes}


def permuted_forests(p: Parameters, seed: int, run: int) -> Record:
    """One forest for each permutation of the labels, beside that of `one_forest`.

    For every feature two numbers of permutations are kept: those with a count *at least* as
    large (the test as it is meant, Altmann et al.), and those with a *larger* one (as the
    paper's sentence reads), as histograms by truth.
    """
    X, y, relevant, forest_seed = _independent_data(p, seed, run)
    tally = _tally(X, y, p, forest_seed)
    groups = _by_truth(relevant)
    rng = np.random.default_rng([forest_seed, 2])
    at_least = np.zeros(tally.n_features, np.int64)
    larger = np.zeros(tally.n_features, np.int64)
    for permutation in range(p["permutations"]):
        permuted_seed = derived_seed(forest_seed, 3, permutation)
        counts = _tally(X, rng.permutation(y), p, permuted_seed).counts
        at_least += counts >= tally.counts
        larger += counts > tally.counts
    return {
        rule: {name: _few(exceeded[mask]) for name, mask in groups.items()}
        for rule, exceeded in (("at_least", at_least), ("larger", larger))
    }


def _few(exceeded: NDArray[np.int64]) -> list[int]:
    """How many features were exceeded 0, 1, …, 25 times, and more often."""
    kept = np.minimum(exceeded, MOST_EXCEEDANCES + 1)
    return [int(n) for n in np.bincount(kept, minlength=MOST_EXCEEDANCES + 2)]


def cortical_maps(p: Parameters, seed: int, run: int) -> Record:
    """One forest on cortical maps; irrelevant vertices near the region and far from it."""
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
    groups = {"far": ~region & ~near, "near": near, RELEVANT: region}
    return outcome_of(tally, groups).to_record()


@lru_cache(maxsize=1)
def _cortical_model(source: str | None) -> CorticalModel:
    return CorticalModel.fit(source)


def outcome(record: Mapping[str, Any]) -> Outcome:
    """The outcome of a record."""
    return Outcome.from_record(record)


KINDS: dict[str, Callable[[Parameters, int, int], Record]] = {
    "one_forest": one_forest,
    "growing_forest": growing_forest,
    "permuted_forests": permuted_forests,
    "cortical_maps": cortical_maps,
}
