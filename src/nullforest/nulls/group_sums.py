r"""Null distribution of the summed count of a group of features.

Under the paper's null model a group of g features wins a node with probability g/F
(`PaperNull.group`). Under the others every feature has a sample association that all trees share,
so the group's count is a sum of g such counts: the g-th power of the generating function of one.

**Correlated features share their sample association.** Write n_f | z ~ Poisson(μ s(z_f)). Features
of correlation r have associations z of correlation r, and s, which does not depend on the sign of
z, a correlation of r² to leading order. So the part of the group's variance that comes from sample
association grows from g to Q = Σ_{f,f'} r²_{ff'}. The same variance have n = ⌊g²/Q⌋ independent
units of a features each and one of b, with n·a + b = g and n·a² + b² = Q. Without the data, Q = g:
independent features.

**The counts of all features add up.** μ is estimated from the counts that are tested, so the total
of the null counts is given. Given the total, a group's count k has the weight of the other features
making up the difference, which is normal for many: exp(−(k − c)² / 2(F−g)σ²), σ² the variance of
one count, c such that the group expects gμ, its share of the total.

**Tails.** The sum is that of `tilted_sums`, accurate far into its tail. One feature's count is
truncated where its tail is below 1e-18, and that tail, times the number of units, is added to every
probability: no p-value is too small by it.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

from nullforest._util.errors import InputError
from nullforest.nulls import constants
from nullforest.nulls.binomial_mixture import BinomialMixture
from nullforest.nulls.distribution import Floats, NullDistribution, StratifiedNull, quantile
from nullforest.nulls.paper import PaperNull
from nullforest.nulls.stages import Spliced
from nullforest.nulls.tilted_sums import LatticeTable, UnitSum

_CUT = 1e-18  # tail at which one feature's count is truncated; it is added to every probability


class SumNull(NullDistribution):
    """Null distribution of the summed count of a group of features; made by `group_null`.

    Parameters
    ----------
    units : list of (pmf, beyond, number)
        Independent counts that add up to the group's: probabilities of 0 … K, the mass beyond K,
        and how many such counts are summed.
    rest_variance : float
        Variance of the summed count of all other features, whose total with the group's is
        given; infinite where it is not.
    kind : str
        Name of the null model of one feature.
    """

    def __init__(
        self, units: list[tuple[Floats, float, int]], rest_variance: float, kind: str
    ) -> None:
        total = UnitSum(tuple((pmf, number) for pmf, _, number in units))
        self.n_features = 1
        self.kind = kind
        self.largest = total.largest
        self.rest_variance = rest_variance
        self._beyond = float(sum(number * beyond for _, beyond, number in units))
        self._table = LatticeTable(total)
        #: Where the weights are centred, and the logarithm of their sum.
        self._centre, self._log_norm = total.tilted(0.0).mean, 0.0
        self._centre = self._centred(self._centre)
        k, log_pmf = self._weighted()
        self._log_norm = float(np.logaddexp.reduce(log_pmf))
        pmf = np.exp(log_pmf - self._log_norm)
        self._mean = float(pmf @ k)
        self.variance = float(pmf @ (k - self._mean) ** 2)

    @property
    def mean(self) -> float:
        """Expected count of the group."""
        return self._mean

    def _weighted(self, centre: float | None = None) -> tuple[NDArray[np.int64], Floats]:
        """The counts in the table, and the logarithms of their weighted probabilities."""
        k = np.arange(self._table.first, self._table.last + 1)
        apart = k - (self._centre if centre is None else centre)
        return k, self._table.log_pmf - 0.5 * apart**2 / self.rest_variance - self._log_norm

    def _centred(self, mean: float) -> float:
        """Where the weights must be centred for the group to expect its share of the total."""
        if not np.isfinite(self.rest_variance):
            return mean

        def excess(centre: float) -> float:
            k, log_pmf = self._weighted(centre)
            pmf = np.exp(log_pmf - log_pmf.max())
            return float(pmf @ k / pmf.sum()) - mean

        reach = 5 * np.sqrt(self.rest_variance)
        low, high = mean - reach, mean + reach
        if excess(low) > 0 or excess(high) < 0:
            return mean  # nothing but a point; no weight moves it
        return float(brentq(excess, low, high, xtol=1e-12 * reach))

    def _probabilities(self, k: ArrayLike, *, upper: bool) -> Floats:
        """P(n = k), or P(n > k), of whole numbers k."""
        at = np.asarray(k, float)
        self._table.reach(at, tail=True)  # the weights only shorten the tail
        values, log_pmf = self._weighted()
        table = np.append(np.exp(log_pmf), 0.0)
        if upper:
            table = np.cumsum(table[::-1])[::-1]
        place = np.floor(at) - values[0] + upper
        inside = (place >= 0) & (place < len(table))
        chosen = table[np.where(inside, place, 0).astype(np.int64)]
        return np.where(inside, chosen, float(table[0]) if upper else 0.0)

    def pmf(self, k: ArrayLike) -> Floats:
        """Probability that the group is selected exactly k times."""
        at = np.asarray(k, float)
        return np.where(at == np.floor(at), self._probabilities(at, upper=False), 0.0)

    def sf(self, k: ArrayLike) -> Floats:
        """Probability that the group is selected more than k times."""
        at = np.asarray(k, float)
        tail = np.where(at >= self.largest, 0.0, self._probabilities(at, upper=True))
        return np.where(at < 0, 1.0, np.minimum(tail + self._beyond, 1.0))


def group_null(
    null: NullDistribution, members: ArrayLike, shared: float | None = None
) -> NullDistribution:
    """Null distribution of the summed count of some features.

    Parameters
    ----------
    null : NullDistribution
        The null distribution of single features: "paper", "bagged" or "probes".
    members : array-like of int
        The features of the group.
    shared : float, optional
        Q = Σ r² over all pairs of members, each with itself included; the number of members
        (independent features) where not given.

    Examples
    --------
    >>> from nullforest.nulls.paper import PaperNull
    >>> one = PaperNull([50] * 100, [1000] * 100, n_features=1000)
    >>> group_null(one, range(20)).mean
    100.0
    """
    features = np.unique(np.asarray(members, np.int64))
    if len(features) and null.varying is not None:
        features = features[null.varying[features]]
        if len(features) == 0:  # constant features are never selected
            return SumNull([], np.inf, null.kind)
    g, F = len(features), null.n_features
    if not 1 <= g < F:
        raise InputError(
            f"A group of {g} of {F} features cannot be tested; give groups with at least one "
            "feature inside and one left outside."
        )
    if isinstance(null, PaperNull):
        return null.group(g)
    if not isinstance(null, StratifiedNull):
        raise InputError(
            f"There is no null distribution of groups for {null.kind!r}; use the null model "
            "'probes', 'bagged' or 'paper'."
        )
    strata, single = null.feature_strata, null.distributions
    ratio = 1.0 if shared is None else max(float(shared) / g, 1.0)
    units = [
        (*_truncated(single[stratum], size), number)
        for stratum, inside in enumerate(np.bincount(strata[features]))
        for number, size in unit_sizes(int(inside), ratio)
    ]
    varies = np.ones(len(strata), bool) if null.varying is None else null.varying.copy()
    varies[features] = False
    outside = np.bincount(strata[varies], minlength=len(single))
    counts = [UnitSum(((_truncated(d, 1.0)[0], 1),)) for d in single]
    rest = float(outside @ np.array([count.tilted(0.0).deviation ** 2 for count in counts]))
    normal = F - g >= constants.NORMAL_REST and rest > 0
    return SumNull(units, rest if normal else np.inf, null.kind)


def unit_sizes(size: int, ratio: float) -> list[tuple[int, float]]:
    """Independent units (number, features in each) with the shared sample association of a group.

    They add up to `size`, and their squares to `size · ratio` (to `size`² at most).

    Examples
    --------
    >>> unit_sizes(10, 1.0)
    [(10, 1.0)]
    >>> [(n, round(a, 3)) for n, a in unit_sizes(10, 4.0)]
    [(2, 4.387), (1, 1.225)]
    """
    if size == 0:
        return []
    squares = min(size * ratio, float(size) ** 2)
    number = max(1, int(size**2 / squares + 1e-9))  # rounding must not cost a whole unit
    under = size**2 * number**2 - number * (number + 1) * (size**2 - squares)
    one = (size * number + np.sqrt(max(under, 0.0))) / (number * (number + 1))
    left = size - number * one
    if left < 1e-9 * size:
        return [(number, size / number)]
    return [(number, float(one)), (1, float(left))]


@lru_cache(maxsize=256)  # groups repeat their sizes
def _truncated(single: BinomialMixture | Spliced, size: float) -> tuple[Floats, float]:
    """Probabilities of 0 … K of the count of `size` features that share z, and what is beyond."""
    count = single if size == 1.0 else single.scale_rates(size)
    end = quantile(count, _CUT, start=1)
    return count.pmf(np.arange(end + 1)), float(count.sf(end))
