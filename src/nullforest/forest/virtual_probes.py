"""The virtual probes of a forest, and the tally of their wins.

A virtual probe is a column of random ranks, independent of the target. At nodes of some trees it is
scored as if it were one of the candidates, and wins or does not; it never splits a node
(`native/probes/probe_evaluator.hpp` is the specification).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nullforest import _native
from nullforest.data.correlation import mean_r2
from nullforest.data.rank_table import RankTable
from nullforest.data.targets import Target
from nullforest.forest.importance_sampling import sample_rankings
from nullforest.forest.probe_budget import evaluation_rates, trees_evaluated
from nullforest.forest.settings import ForestSettings, resolved_number
from nullforest.tallies.probe_tally import ProbeTally

#: Rankings from which one probe is sampled: of 2 000 probes, 25 have a tail of .001 or less.
SCREENED = 16
#: Sums (rankings × samples × outputs) above which fewer are screened: about 20 ms.
MOST_SUMS = 20_000_000


def make_probes(
    table: RankTable, settings: ForestSettings, target: Target, threads: int = 1
) -> _native.Probes | None:
    """The virtual probes of a forest with resolved settings; None for none."""
    if settings.probes == 0:
        return None
    strata = table.strata
    numbers = strata.allocated(resolved_number(settings.probes))
    if not any(numbers):
        return None
    # A node of the smallest leaves has this many samples, of all, on either side of its split.
    least = math.ceil(resolved_number(settings.min_leaf) * table.shape[0] / settings.samples)
    seed = resolved_number(settings.probe_seed)
    made = [
        _rankings(table, seed, stratum, n, target, least, threads)
        for stratum, n in enumerate(numbers)
    ]
    sides, rankings, weights = zip(*made, strict=True)
    return _native.Probes(
        table.native,
        strata.features,
        numbers,
        list(strata.copies),
        seed,
        *_rates(table, settings),
        list(sides),
        np.concatenate(rankings),
        np.concatenate(weights),
        threads,
    )


def _rankings(
    table: RankTable,
    seed: int,
    stratum: int,
    number: int,
    target: Target,
    least: int,
    threads: int,
) -> tuple[int, NDArray[np.uint32], NDArray[np.float64]]:
    """Side of the square of rankings, the sampled ones by number, and their weights."""
    strata = table.strata
    plain = np.arange(number, dtype=np.uint32), np.ones(number)
    if number == 0 or strata.missing[stratum]:
        return 0, *plain
    sums = number * len(target.values) * max(target.n_classes, target.values[0].size)
    screened = min(float(SCREENED), MOST_SUMS / sums)
    if target.criterion == "neighbourhood" or screened < 2:  # no association with distances
        return math.isqrt(number - 1) + 1, *plain
    side = math.ceil(math.sqrt(screened * number))
    association = _native.association_of_rankings(
        table.native,
        strata.features,
        list(strata.copies),
        target.kernel_criterion,
        target.values,
        target.n_classes,
        target.weight,
        seed,
        stratum,
        side,
        min(least, len(target.values) // 2),
        threads,
    )
    word = _native.tree_key(seed, 2**64 - 1 - stratum)  # no tree has such a number
    return side, *sample_rankings(association, number, (word >> 11) / 2**53)


def probe_tally(
    probes: _native.Probes,
    settings: ForestSettings,
    table: RankTable,
    target: Target,
    raw: dict[str, Any],
) -> ProbeTally:
    """The wins that the kernel counted, in the order of the probes' identities."""
    order = np.argsort(probes.ids)
    trees = trees_evaluated(int(raw["n_trees"]), _rates(table, settings))
    return ProbeTally(
        ids=probes.ids[order],
        wins=raw["probe_wins"][order],
        trees=np.full(len(order), trees),
        strata=probes.strata[order],
        feature_strata=table.strata.features,
        couplings=raw["probe_couplings"],
        weights=probes.weights[order],
        mean_r2=mean_r2(table, target),
    )


def _rates(table: RankTable, settings: ForestSettings) -> tuple[int, int]:
    pool, candidates = resolved_number(settings.pool), resolved_number(settings.candidates)
    return evaluation_rates(table.native.n_varying, pool, candidates)
