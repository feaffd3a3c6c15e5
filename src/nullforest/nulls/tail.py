"""Stage 3: the tail, extrapolated with the bagged null model beyond the splice point."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from nullforest._util.search import smallest_true
from nullforest.nulls import constants
from nullforest.nulls.binomial_mixture import BinomialMixture, summation_points
from nullforest.nulls.distribution import Floats
from nullforest.nulls.rates import FACTORS, RateModel

# Numerical constants. With another start or number of steps no false positive rate of the study of
# sensitivity changed by more than .01 of the level.
_START = -0.3  # log factor at which the search begins, where many a forest has it
_STEPS = 2  # secant steps: they find the factor to a few percent; probes determine it to about ten
_CLOSE = 0.05  # log factors closer than this give no slope
_FLAT = 0.05  # least slope: below it the couplings hardly move the mean excess
_STRIDE = 1.5  # longest step of the log factor
_TINY = 1e-12  # stands for a mean excess of zero under a logarithm
_RARE = 1e-7  # least share beyond the edge that is used as a divisor


class Spliced:
    """Distribution of a count that follows `bulk` up to the splice point and `tail` beyond it.

    P(n > k) is the bulk's for k ≤ splice point, and P_bulk(n > s) · P_tail(n > k)/P_tail(n > s)
    beyond the splice point s, so that it is continuous, falls, and has the tail's ratios. With a
    splice point of −1 it is the tail alone.

    Examples
    --------
    >>> coin = BinomialMixture([4], [0.5], [1.0])
    >>> bool(np.allclose(Spliced(coin, coin, 1).sf([0, 1, 2, 3]), coin.sf([0, 1, 2, 3])))
    True
    """

    def __init__(self, bulk: BinomialMixture, tail: BinomialMixture, splice_point: int) -> None:
        self.bulk = bulk
        self.tail = tail
        self.splice_point = splice_point
        self.extrapolated_below = 1.0 if splice_point < 0 else float(bulk.sf(splice_point))
        below = 1.0 if splice_point < 0 else float(tail.sf(splice_point))
        # A tail below the smallest normal number tells nothing; its inverse would be infinite.
        self._factor = self.extrapolated_below / below if below > np.finfo(float).tiny else 0.0
        #: Largest possible count.
        self.largest = max(tail.largest, splice_point + 1) if self._factor else bulk.largest

    @cached_property
    def mean(self) -> float:
        """Expected count: E[min(n, s+1)] of the bulk, s the splice, and the sum of P(n > k) beyond.

        The sum has positive terms only; where the tail is scaled up by far, a difference of means
        would lose its digits.
        """
        if self._factor == 0:
            return self.bulk.mean
        at = self.splice_point
        below = self.bulk.mean - self.bulk.beyond(at + 1) * self.bulk.mean_excess(at + 1)
        end = self.tail.quantile(1e-15 * float(self.tail.sf(at)))  # the rest is rounding
        if end <= at:
            return below
        beyond, shares = summation_points(at + 1, end)
        return below + self._factor * float((shares * self.tail.sf(beyond)).sum())

    def sf(self, k: ArrayLike) -> Floats:
        """P(count > k)."""
        return self._choose(k, self.bulk.sf, self.tail.sf)

    def pmf(self, k: ArrayLike) -> Floats:
        """P(count = k)."""
        return self._choose(k, self.bulk.pmf, self.tail.pmf)

    def _choose(
        self, k: ArrayLike, bulk: Callable[[Floats], Floats], tail: Callable[[Floats], Floats]
    ) -> Floats:
        k = np.asarray(k, float)
        if self._factor == 0:
            return bulk(k)
        result, near = np.empty(k.shape), k < self.splice_point + 1
        result[near] = bulk(k[near])
        result[~near] = self._factor * tail(k[~near])
        return result

    def scale_trials(self, factor: float) -> BinomialMixture:
        """The count over `factor` times as many trees: the tail's, which has no sampling noise."""
        return self.tail.scale_trials(factor)

    def scale_rates(self, factor: float) -> Spliced | BinomialMixture:
        """The count of a feature with `factor` times the rate."""
        tail = self.tail.scale_rates(factor)
        if self.splice_point < 0 or factor * float(self.bulk.chances.max()) > 1.0:
            return tail  # a probe cannot win more often than it did; the model of the tail can
        bulk = self.bulk.scale_rates(factor)
        return Spliced(bulk, tail, bulk.quantile(self.extrapolated_below))


def splice(
    bulk: BinomialMixture,
    effective_sample_size: Callable[[int], float],
    end: int,
    splice_size: float,
    misfit: float,
    rates: RateModel,
) -> Spliced:
    """The bulk up to the splice point, and beyond it the bagged null model with its tail index.

    Parameters
    ----------
    bulk : BinomialMixture
        The distribution to extrapolate; the tail has its mean.
    effective_sample_size : count -> float
        Effective sample size of the tail that the null columns give beyond a count.
    end : int
        A count beyond which no tail is estimated.
    splice_size : float
        Least effective sample size at the splice point.
    misfit : float
        Standard deviation of the log factor on the couplings that the counts further out follow.
    rates : RateModel
        Rates of null features in the bagged null model.

    Notes
    -----
    The couplings are scaled such that the mean excess over the edge, the last count with an
    effective sample size of 200, is the bulk's. (With the variance in its place, much of which
    comes from below the edge, the tail was far too heavy for skewed targets.) The tail is the
    average over the error of the mean excess and the misfit by the three-point Gauss–Hermite rule,
    which makes it heavier. Its parts have their weights beyond the edge.
    """
    edge = max(
        bulk.quantile(constants.BULK_TAIL),
        last_with(constants.EXCESS_SIZE, effective_sample_size, end),
    )
    splice_point = last_with(splice_size, effective_sample_size, end)
    nodes = rates.trees.n_nodes

    def model(factor: float, *, fine: bool = False) -> BinomialMixture:
        relative, weights = replace(rates, factor=factor).rates(bulk.mean, fine=fine)
        return BinomialMixture(np.full(len(relative), nodes), bulk.mean * relative / nodes, weights)

    target = bulk.mean_excess(edge)
    if rates.equal or target == 0:
        return Spliced(bulk, model(1.0, fine=True), splice_point)

    def log_ratio(log_factor: float) -> float:
        return float(np.log(max(model(np.exp(log_factor)).mean_excess(edge), _TINY) / target))

    # Secants on the log scale, on which the mean excess is nearly linear.
    at, ratio = _START, log_ratio(_START)
    slope = max((ratio - log_ratio(0.0)) / at, _FLAT)
    for _ in range(_STEPS):
        before, ratio_before = at, ratio
        step = np.clip(ratio / slope, -_STRIDE, _STRIDE)
        at = float(np.clip(at - step, *np.log(FACTORS)))
        ratio = log_ratio(at)
        if abs(at - before) > _CLOSE:
            slope = max((ratio - ratio_before) / (at - before), _FLAT)
    error = bulk.excess_variation(edge) / np.sqrt(max(effective_sample_size(edge), 1.0))
    apart = min(np.sqrt(3.0) * np.hypot(error / slope, misfit), constants.TAIL_SHIFT)
    outer = (model(np.exp(np.clip(at + x, *np.log(FACTORS)))) for x in (apart, -apart))
    parts = [model(np.exp(at), fine=True), *outer]
    weights = [w / max(part.beyond(edge), _RARE) for w, part in zip((4, 1, 1), parts, strict=True)]
    return Spliced(bulk, BinomialMixture.average(parts, weights), splice_point)


def last_with(size: float, effective_sample_size: Callable[[int], float], end: int) -> int:
    """Last count before `end` whose tail has an effective sample size of `size`; −1 for none."""
    return smallest_true(lambda k: effective_sample_size(k) < size, 0, end, start=0) - 1
