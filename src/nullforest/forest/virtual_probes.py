"""The virtual probes of a forest, and the importance sampling of their rankings.

A virtual probe is a column of random ranks, independent of the target. At nodes of some trees it is
scored as if it were one of the candidates, and wins or does not; it never splits a node
(`native/probes/probe_evaluator.hpp` is the specification).

The tail of the null distribution is made by the few columns that are associated with the target by
chance in this sample. Rankings with a strong sample association are therefore included with a
larger probability π and have the weight 1/π: the same number of evaluations then shows a tail ten
times as far out.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from nullforest import _native
from nullforest.data.rank_table import RankTable
from nullforest.data.targets import Target
from nullforest.forest.null_column_budget import evaluation_rates
from nullforest.forest.settings import TreeSettings

#: Rankings from which one probe is sampled: of 2 000 probes, 25 have a tail of .001 or less.
SCREENED = 16
#: Sums (rankings × samples × outputs) above which fewer are screened: about 20 ms.
MOST_SUMS = 20_000_000


def make_probes(
    table: RankTable, settings: TreeSettings, target: Target, threads: int = 1
) -> _native.Probes | None:
    """The virtual probes of a forest; None for none."""
    if settings.probes == 0:
        return None
    strata = table.strata
    numbers = strata.allocated(settings.probes)
    if not any(numbers):
        return None
    # A node of the smallest leaves has this many samples, of all, on either side of its split.
    least = math.ceil(settings.min_leaf * table.shape[0] / settings.samples)
    seed = settings.probe_seed
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
        *evaluation_rates(table.n_varying, settings.pool, settings.candidates),
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


def sample_rankings(
    association: NDArray[np.float32], number: int, start: float
) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
    """Systematic sample of rankings with unequal inclusion probabilities, and its weights.

    A ranking whose association is exceeded by a share u of all is included with probability
    π = min(1, c (1 + 1/(2√u))): half of the sample is uniform, and of the other half √u lies in
    the tail u. Weighted by 1/π, sums over the sample are unbiased. No weight exceeds 4/3 of the
    mean (where no π is cut to one), so a sample association that does not predict wins costs a
    quarter of the effective sample size.

    Associations are not negative; `start` is the random start of the systematic sample, from 0 to
    1. The sampled rankings are in ascending order.
    """
    n = len(association)
    # Strongest first, equal ones by number: sorted as whole numbers, of which none are equal.
    falling = np.uint64(0xFFFFFFFF) - association.view(np.uint32).astype(np.uint64)
    keys = np.sort(falling << np.uint64(32) | np.arange(n, dtype=np.uint64))
    order = (keys & np.uint64(0xFFFFFFFF)).astype(np.int64)
    size = 1 + 0.5 / np.sqrt((np.arange(n) + 0.5) / n)
    left = np.cumsum(size[::-1])[::-1]
    factor = (number - np.arange(n)) / left
    inclusion = np.minimum(1.0, factor[np.argmax(factor * size <= 1)] * size)
    steps = np.cumsum(inclusion)
    steps *= number / steps[-1]
    here = np.flatnonzero(np.diff(np.floor(steps + start), prepend=0.0))
    by_number = np.argsort(order[here])
    return order[here][by_number].astype(np.uint32), 1 / inclusion[here][by_number]
