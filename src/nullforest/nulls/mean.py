"""Stage 1: the mean of the null distribution, estimated from the bulk of the counts.

Relevant features have large counts. So only the bulk is used, the counts up to the null
distribution's own 90 % quantile κ, and the scale of the distribution is set such that their mean is
E[n | n ≤ κ]. Relevant features above κ then have no influence, whatever their number; a share w of
relevant features among the counts up to κ moves the mean of the bulk by at most w·κ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from nullforest._util.search import bisect
from nullforest.nulls import constants
from nullforest.nulls.binomial_mixture import BinomialMixture
from nullforest.nulls.distribution import Ints

# Numerical constants.
_PRECISION = 1e-5  # of the log scale: a tenth of the noise of 1e8 selections
_STEP = 0.25  # of the way down: a root is not stepped over unless another lies within 28 %
_REACH = 60.0  # a factor of 1e26 either way: more than any forest has nodes

#: How many counts are at most k, and their sum.
Sums = Callable[[int], tuple[int, int]]


def running_sums(counts: Ints) -> Sums:
    """Number and sum of the counts up to k, as a function of k."""
    number = np.bincount(counts)
    up_to_number = np.cumsum(number)
    up_to_total = np.cumsum(number * np.arange(len(number)))

    def up_to(k: int) -> tuple[int, int]:
        place = min(k, len(number) - 1)
        return int(up_to_number[place]), int(up_to_total[place])

    return up_to


def bulk_end(model: BinomialMixture, n_features: int | None = None) -> int:
    """The count κ at which the bulk ends: the 90 % quantile, but at least 1.

    Counts of zero alone would not identify the scale. With few features (`n_features`, where
    given) the bulk is wider, so that all of them inform the mean.
    """
    share = 1.0 if n_features is None else min(1.0, n_features / constants.FEW_FEATURES)
    return max(model.quantile(constants.BULK_TAIL * share), 1)


def _bulk_exceeds(models: Iterable[BinomialMixture], sums: Iterable[Sums], F: int | None) -> bool:
    """Whether the counts in the bulk add to more than the models expect.

    An empty bulk means that the models are far too low.
    """
    number, difference = 0, constants.PSEUDO_COUNT
    for model, up_to in zip(models, sums, strict=True):
        end = bulk_end(model, F)
        n, total = up_to(end)
        number += n
        difference += total - n * model.mean_up_to(end)
    return number == 0 or difference > 0


def estimate_scale(
    models: Callable[[float], list[BinomialMixture]],
    counts: list[Ints],
    start: float,
    n_features: int | None = None,
) -> float:
    """The scale at which the counts in the bulk have the mean that the model expects there.

    Parameters
    ----------
    models : scale -> list of BinomialMixture
        One model for each stratum; expected counts grow with the scale.
    counts : list of (F,) int
        The counts of each stratum.
    start : float
        A positive scale at which the model's mean is near that of all counts.
    n_features : int, optional
        Number of features where the bulk is to be wider if they are few; see `bulk_end`.

    Returns
    -------
    float
        The largest such scale, so that features which can never be selected (constant columns) do
        not lower it. The search ends: upwards the model at last expects more than the largest
        count, downwards less than the pseudo-count, and the bracket between the two is halved.

    Examples
    --------
    >>> counts = np.random.default_rng(0).poisson(3.0, 20_000)
    >>> def model(scale):
    ...     return [BinomialMixture([1000], [scale / 1000], [1.0])]
    >>> round(estimate_scale(model, [counts], 1.0), 1)
    3.0
    """
    sums = [running_sums(each) for each in counts]

    def large_enough(log_scale: float) -> bool:
        return not _bulk_exceeds(models(float(np.exp(log_scale))), sums, n_features)

    first = float(np.log(start))
    high = first
    while not large_enough(high) and high < first + _REACH:
        high += 1.0
    low = high - _STEP
    while large_enough(low) and low > first - _REACH:
        low, high = low - _STEP, low
    return float(np.exp(bisect(large_enough, low, high, _PRECISION)[1]))


def pi0(model: BinomialMixture, counts: Ints) -> float:
    """Estimated proportion of null features: features in the bulk ÷ number expected there."""
    end = bulk_end(model)
    expected = len(counts) * (1.0 - float(model.sf(end)))
    return float(min(1.0, np.count_nonzero(counts <= end) / expected)) if expected > 0 else 1.0
