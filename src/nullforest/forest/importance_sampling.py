"""Importance sampling of rankings, with inclusion probabilities and Horvitz–Thompson weights.

The tail of the null distribution is made by the few columns that are associated with the target by
chance in this sample. Rankings with a strong sample association are therefore included with a
larger probability π and have the weight 1/π: the same number of evaluations then shows a tail ten
times as far out.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


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

    Examples
    --------
    >>> association = np.random.default_rng(0).random(10_000, np.float32)
    >>> sampled, weights = sample_rankings(association, 500, 0.3)
    >>> len(sampled), int((association[sampled] > 0.99).sum()), round(float(weights.sum()), -2)
    (500, 26, 10000.0)
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
