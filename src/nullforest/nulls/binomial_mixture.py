"""Mixtures of binomials: counts of features with unequal rates.

With probability w_i the count is Bin(N_i, p_i). The bagged null model has one component for each
latent rate (N the nodes of the forest, p the feature's share of them), the probe null model one for
each probe (N its wins, p the thinning). All sums have positive terms only, so that a tail of 1e-30
has the relative accuracy of one of .5. All constants here are numerical.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from nullforest._util.search import smallest_true
from nullforest.nulls import _binomial
from nullforest.nulls.distribution import Floats

_NEGLIGIBLE = 1e-12  # where the table ends: the few counts beyond it are computed one by one
_LONGEST_TABLE = 4096  # counts; a longer table costs more than the few counts that are needed
_RARE = 1e-3  # expected counts below it are not distinguished: two such features in 1e6 count two
_TINY = np.finfo(float).tiny
_FEW_COUNTS = 512  # so many probabilities cost less than tails, where these must be computed
_NEAR_ONE = 0.5  # below it a component of 20 trials or more, as merged ones, loses less than 1e-6
_CELL = 0.15  # of √λ + log √λ, within which rates are merged: 0.3 standard deviations of a count


class BinomialMixture:
    """Counts that are Bin(trials[i], chances[i]) with probability weights[i].

    Parameters
    ----------
    trials : (I,) array-like of int
        Number of trials of each component; zero is allowed.
    chances : (I,) array-like of float
        Probability of success of each component; above 1 it is taken for 1.
    weights : (I,) array-like of float
        Non-negative weights; scaled to add to one.

    Examples
    --------
    >>> fair = BinomialMixture([2], [0.5], [1.0])
    >>> fair.sf([0, 1, 2])
    array([0.75, 0.25, 0.  ])
    """

    def __init__(self, trials: ArrayLike, chances: ArrayLike, weights: ArrayLike) -> None:
        number, mass = np.asarray(trials, float), np.asarray(weights, float)
        chance = np.clip(np.asarray(chances, float), 0.0, 1.0)
        order = np.argsort(number * chance, kind="stable")
        order = order[mass[order] > 0]
        self.trials: Floats = number[order]
        self.chances: Floats = chance[order]
        self.weights: Floats = mass[order] / mass[order].sum()
        self.means = self.trials * self.chances  # in rising order
        #: Expected count, and the largest possible one.
        self.mean = float(self.weights @ self.means)
        self.largest = int(self.trials.max(initial=0))
        # Whether the pmf adds to one: with trials that are not whole it does not near p = 1.
        self._exact_table = bool(np.all(self.trials[self.chances > _NEAR_ONE] % 1 == 0))
        self._components = self.trials, self.chances, self.weights

    @classmethod
    def average(cls, parts: Sequence[BinomialMixture], weights: ArrayLike) -> BinomialMixture:
        """The mixture of mixtures."""
        shares = [w * part.weights for w, part in zip(np.asarray(weights), parts, strict=True)]
        return cls(
            np.concatenate([part.trials for part in parts]),
            np.concatenate([part.chances for part in parts]),
            np.concatenate(shares),
        )

    extrapolated_below = 0.0  # the mixture is the model, far into its tail

    def scale_trials(self, factor: float) -> BinomialMixture:
        """The count over `factor` times as many trials."""
        return BinomialMixture(np.round(factor * self.trials), self.chances, self.weights)

    def scale_rates(self, factor: float) -> BinomialMixture:
        """The count with `factor` times the probability of success."""
        return BinomialMixture(self.trials, factor * self.chances, self.weights)

    @property
    def variance(self) -> float:
        """Variance of the count: the mean of the variances and the variance of the means."""
        within = self.means * (1 - self.chances)
        return float(self.weights @ within + self.weights @ (self.means - self.mean) ** 2)

    def sf(self, k: ArrayLike) -> Floats:
        """P(count > k); k may lie anywhere on the line."""
        return self._look_up(k, upper=True)

    def pmf(self, k: ArrayLike) -> Floats:
        """P(count = k), zero where k is no whole number."""
        k = np.asarray(k, float)
        whole = k == np.floor(k)
        return np.asarray(np.where(whole, self._look_up(np.floor(k), upper=False), 0.0))

    def _look_up(self, k: ArrayLike, *, upper: bool) -> Floats:
        k = np.asarray(k, float)
        values, place = np.unique(np.floor(k).ravel(), return_inverse=True)
        pmf, sf = self._table
        table = sf if upper else pmf
        result = np.full(len(values), 1.0 if upper else 0.0)
        near = (values >= 0) & (values < len(table))
        result[near] = table[values[near].astype(int)]
        far = np.flatnonzero((values >= len(table)) & (values <= self.largest))
        if upper:
            result[far] = _binomial.sf(*self._components, values[far])
        else:
            result[far] = [
                _binomial.pmf(*self._components, int(at), int(at))[0] for at in values[far]
            ]
        result[values > self.largest] = 0.0
        return result[place].reshape(k.shape)

    @cached_property
    def _table(self) -> tuple[Floats, Floats]:
        """The pmf and sf of 0, 1, …, to where the tail is negligible.

        The last survival probability comes from the incomplete beta function, the others by
        adding the pmf from the top down.
        """
        limit = min(_LONGEST_TABLE, self.largest)
        end = max(16, 2 * int(self.mean))
        while end < limit and self.beyond(end) > _NEGLIGIBLE:
            end *= 2
        end = min(end, limit)
        pmf = _binomial.pmf(*self._components, 0, end)
        sf = np.cumsum(np.append(self.beyond(end), pmf[:0:-1]))[::-1]
        return pmf, np.minimum(sf, 1.0)

    def beyond(self, k: int) -> float:
        """P(count > k) for one k ≥ 0, without making the table."""
        return float(_binomial.sf(*self._components, np.array([k], float))[0])

    def quantile(self, tail: float) -> int:
        """Smallest k with P(count > k) ≤ tail."""
        if tail >= 1:
            return 0
        if self._exact_table and (sf := self._table[1])[-1] <= tail:
            return len(sf) - int(np.searchsorted(sf[::-1], tail, side="right"))
        normal = self.mean - float(ndtri(max(tail, _TINY))) * np.sqrt(self.variance)
        guess = int(np.clip(normal, 0, self.largest))
        return smallest_true(lambda k: self.beyond(k) <= tail, 0, self.largest, start=guess)

    def cells(self, edges: NDArray[np.int64]) -> Floats:
        """P(edges[i−1] < count ≤ edges[i]) for rising edges, from zero to the first; no tails."""
        if edges[-1] < (_LONGEST_TABLE if self._exact_table else _FEW_COUNTS):
            pmf = _binomial.pmf(*self._components, 0, int(edges[-1]))
            return np.asarray(np.add.reduceat(pmf, np.append(0, edges[:-1] + 1)))
        tails = _binomial.sf(*self._components, edges.astype(float))
        return np.asarray(np.diff(1.0 - tails, prepend=0.0))

    def mean_up_to(self, k: int) -> float:
        """E[count | count ≤ k]; k where no count is so low."""
        if k < 1:
            return 0.0
        total, below = _binomial.lower(*self._components, k)
        return below / total if total > 0 else float(k)

    def mean_excess(self, k: int) -> float:
        """E[count − k | count > k]; zero where no count is larger than k."""
        above = self.beyond(k)
        if above == 0:
            return 0.0
        return (self.mean - (1 - above) * self.mean_up_to(k)) / above - k

    def excess_variation(self, k: int) -> float:
        """Standard deviation ÷ mean of count − k, given count > k; 1 for an exponential tail."""
        last = max(self.quantile(_RARE * self.beyond(k)), k + 1)
        beyond, shares = summation_points(k + 1, last)
        weights = shares * self.pmf(beyond)
        if weights.sum() == 0:
            return 1.0
        mean = np.average(beyond - k, weights=weights)
        return float(np.sqrt(np.average((beyond - k - mean) ** 2, weights=weights)) / mean)


def summation_points(first: int, last: int) -> tuple[NDArray[np.int64], Floats]:
    """Counts from `first` to `last`, and the number of counts for which each stands in a sum.

    Of very many counts every m-th: by the formula of Euler and Maclaurin the sum of a function is
    then off by m²/12 times the change of its slope, which is that of a normal tail with some
    thousand points.

    Examples
    --------
    >>> summation_points(3, 6)
    (array([3, 4, 5, 6]), array([1., 1., 1., 1.]))
    >>> points, shares = summation_points(0, 1_000_000)
    >>> len(points), float(shares[1]), float(shares.sum())
    (4083, 245.0, 1000091.0)
    """
    stride = (last - first) // _LONGEST_TABLE + 1
    points = np.arange(first, last + stride, stride)
    shares = np.full(len(points), float(stride))
    shares[[0, -1]] = (stride + 1) / 2
    return points, shares


def merge_rates(rates: Floats, weights: Floats, mean: float) -> tuple[Floats, Floats]:
    """Merge rates that counts cannot distinguish.

    Counts of mean λ resolve √λ to about ½, and in the tail √λ relatively. So rates for which
    √λ + log √λ lies in the same cell are replaced by the two-point Gauss rule with their mass,
    mean, variance and third moment; the distribution of the counts then differs by the fourth
    order of the cell's width.
    `mean` is the largest expected count at which the result will be used; rates are in units of it.
    """
    order = np.argsort(rates)
    rates, weights = rates[order], weights[order]
    expected = mean * rates
    resolved = np.sqrt(expected) + np.log(np.maximum(expected, _RARE)) / 2
    cell = np.floor(resolved / _CELL).astype(np.int64)
    start = np.flatnonzero(np.concatenate([[True], np.diff(cell) > 0]))
    size = np.diff(np.append(start, len(rates)))
    mass = np.add.reduceat(weights, start)
    occupied = np.repeat(mass > 0, size)
    rates, weights, size, mass = rates[occupied], weights[occupied], size[mass > 0], mass[mass > 0]
    start = np.cumsum(size) - size
    centre = np.add.reduceat(weights * rates, start) / mass
    deviations = rates - np.repeat(centre, size)
    spread = np.sqrt(np.add.reduceat(weights * deviations**2, start) / mass)
    scale = np.where(spread > 1e-12 * centre, spread, np.inf)  # smaller is rounding
    skew = np.add.reduceat(weights * (deviations / np.repeat(scale, size)) ** 3, start) / mass
    root = np.sqrt(skew**2 + 4)
    upper, lower = centre + spread * (skew + root) / 2, centre + spread * (skew - root) / 2
    share = (1 - skew / root) / 2
    return (
        np.maximum(np.concatenate([upper, lower]), 0.0),
        np.concatenate([mass * share, mass * (1 - share)]),
    )
