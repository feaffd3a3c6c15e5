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

**Tails.** Products of Fourier transforms are accurate to 1e-15 of the largest value. Where a tail
is below 1e-9, the distribution is first tilted by e^{sk} to have its mean at that count, which
keeps full *relative* accuracy. One feature's count is truncated where its tail is below 1e-18, and
that tail, times the number of units, is added to every probability: no p-value is too small by it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

from nullforest._util.errors import InputError
from nullforest._util.search import smallest_true
from nullforest.nulls import constants
from nullforest.nulls.binomial_mixture import BinomialMixture
from nullforest.nulls.distribution import Floats, NullDistribution, StratifiedNull
from nullforest.nulls.paper import PaperNull
from nullforest.nulls.tail import Spliced

# Numerical constants.
_CUT = 1e-18  # tail at which one feature's count is truncated; it is added to every probability
_TILT = 1e-9  # smaller tails are tilted: the rounding of the Fourier transform is 1e-16 a step
_WRAP = 40.0  # log of what may wrap around the end of a transform: e^-40 = 4e-18


@dataclass(frozen=True)
class Unit:
    """One count on 0 … K, the mass beyond K, and how many independent such counts are summed."""

    pmf: Floats
    beyond: float
    number: int

    @property
    def mean(self) -> float:
        """Expected count."""
        return float(self.pmf @ np.arange(len(self.pmf)))

    @property
    def variance(self) -> float:
        """Variance of the count."""
        return float(self.pmf @ (np.arange(len(self.pmf)) - self.mean) ** 2)

    def _log_tilted(self, s: float) -> Floats:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.pmf) + s * np.arange(len(self.pmf)))

    def log_moment(self, s: float) -> float:
        """Logarithm of E[e^{sn}]."""
        return float(np.logaddexp.reduce(self._log_tilted(s)))

    def tilted(self, s: float) -> Floats:
        """Probabilities proportional to pmf(k) e^{sk}."""
        log = self._log_tilted(s)
        return np.asarray(np.exp(log - np.logaddexp.reduce(log)))


class SumNull(NullDistribution):
    """Null distribution of the summed count of a group of features; made by `group_null`.

    Parameters
    ----------
    units : list of Unit
        Independent counts that add up to the group's.
    rest_variance : float
        Variance of the summed count of all other features, whose total with the group's is
        given; infinite where it is not.
    kind : str
        Name of the null model of one feature.
    """

    def __init__(self, units: list[Unit], rest_variance: float, kind: str) -> None:
        self.units = units
        self.rest_variance = rest_variance
        self.kind = kind
        self.n_features = 1
        self.largest = sum(unit.number * (len(unit.pmf) - 1) for unit in units)
        self._beyond = float(sum(unit.number * unit.beyond for unit in units))

    @cached_property
    def _free_mean(self) -> float:
        """Mean when the total is not given."""
        return float(sum(unit.number * unit.mean for unit in self.units))

    def _log_moment(self, s: float) -> float:
        return sum(unit.number * unit.log_moment(s) for unit in self.units)

    def _length(self, s: float) -> int:
        """Where the distribution tilted by s may end: Chernoff's bound on what lies beyond."""
        here = self._log_moment(s)
        steps = np.geomspace(1e-4, 5.0, 24)
        ends = [(self._log_moment(s + t) - here + _WRAP) / t for t in steps]
        return int(min(min(ends), self.largest)) + 1

    def _window(self, s: float) -> Floats:
        """Log of pmf(0), pmf(1), … before it is weighted, accurate near the mean tilted by s."""
        length = self._length(s)
        size = 1 << (length - 1).bit_length() if length > 1 else 1
        transform = np.ones(size // 2 + 1, complex)
        for unit in self.units:
            tilted = unit.tilted(s)
            # Counts beyond the end of the transform are part of what may wrap around it.
            folded = np.bincount(np.arange(len(tilted)) % size, tilted, size)
            transform *= np.fft.rfft(folded) ** unit.number
        pmf = np.fft.irfft(transform, size)[:length]
        with np.errstate(divide="ignore"):
            log = np.log(np.maximum(pmf, 0.0))
        return np.asarray(log + self._log_moment(s) - s * np.arange(length))

    def _log_weights(self, k: NDArray[Any], centre: float) -> Floats:
        if not np.isfinite(self.rest_variance):
            return np.zeros(len(k))
        return np.asarray(-0.5 * (k - centre) ** 2 / self.rest_variance)

    def _centre(self, log: Floats) -> float:
        """Where the weights must be centred for the group to expect its share of the total."""
        if not np.isfinite(self.rest_variance):
            return self._free_mean
        k = np.arange(len(log))

        def excess(centre: float) -> float:
            weighted = log + self._log_weights(k, centre)
            pmf = np.exp(weighted - weighted.max())
            return float(pmf @ k / pmf.sum()) - self._free_mean

        reach = 5 * np.sqrt(self.rest_variance)
        low, high = self._free_mean - reach, self._free_mean + reach
        if excess(low) > 0 or excess(high) < 0:
            return self._free_mean  # nothing but a point; no weight moves it
        return float(brentq(excess, low, high, xtol=1e-6 * reach))

    @cached_property
    def _table(self) -> tuple[Floats, Floats, float, float]:
        """The pmf and sf of 0, 1, …, the log of the weights' sum, and the weights' centre."""
        log = self._window(0.0)
        centre = self._centre(log)
        log = log + self._log_weights(np.arange(len(log)), centre)
        norm = float(np.logaddexp.reduce(log))
        pmf = np.exp(log - norm)
        sf = np.append(np.cumsum(pmf[:0:-1])[::-1], 0.0)
        return pmf, sf, norm, centre

    @cached_property
    def mean(self) -> float:
        """Expected count of the group."""
        pmf = self._table[0]
        return float(pmf @ np.arange(len(pmf)))

    @cached_property
    def variance(self) -> float:
        """Variance of the group's count."""
        pmf = self._table[0]
        return float(pmf @ (np.arange(len(pmf)) - self.mean) ** 2)

    def pmf(self, k: ArrayLike) -> Floats:
        """Probability that the group is selected exactly k times."""
        at = np.asarray(k, float)
        table = self._table[0]
        inside = (at >= 0) & (at < len(table)) & (at == np.floor(at))
        return np.where(inside, table[np.where(inside, at, 0).astype(int)], 0.0)

    def sf(self, k: ArrayLike) -> Floats:
        """Probability that the group is selected more than k times."""
        at = np.floor(np.asarray(k, float))
        table = self._table[1]
        inside = (at >= 0) & (at < len(table))
        result = np.where(inside, table[np.where(inside, at, 0).astype(int)], 0.0)
        result = np.atleast_1d(np.where(at < 0, 1.0, result))
        places = np.atleast_1d(at)
        for i in zip(*np.nonzero((result < _TILT) & (places >= 0)), strict=True):
            result[i] = self._far(int(places[i]))
        return np.minimum(result.reshape(at.shape) + self._beyond, 1.0)

    def _far(self, k: int) -> float:
        """P(n > k) far out, from the distribution tilted to a mean of k."""
        if k >= self.largest:
            return 0.0

        def excess(s: float) -> float:
            mean = sum(u.number * float(u.tilted(s) @ np.arange(len(u.pmf))) for u in self.units)
            return mean - min(k + 1, self.largest - 0.5)

        most = 0.01
        while excess(most) < 0 and most < 1e3:
            most *= 2
        s = float(brentq(excess, 0.0, most, xtol=1e-6)) if excess(0.0) < 0 else 0.0
        log = self._window(s)
        j = np.arange(len(log))
        _, _, norm, centre = self._table
        tail = (log + self._log_weights(j, centre))[k + 1 :]
        return float(np.exp(np.logaddexp.reduce(tail) - norm)) if len(tail) else 0.0

    def describe(self) -> dict[str, Any]:
        """Parameters of the null distribution."""
        return {**super().describe(), "units": sum(unit.number for unit in self.units)}


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
        Unit(*_truncated(single[stratum], size), number)
        for stratum, inside in enumerate(np.bincount(strata[features]))
        for number, size in unit_sizes(int(inside), ratio)
    ]
    varies = np.ones(len(strata), bool) if null.varying is None else null.varying.copy()
    varies[features] = False
    outside = np.bincount(strata[varies], minlength=len(single))
    variances = [Unit(*_truncated(d, 1.0), 1).variance for d in single]
    rest = float(outside @ np.array(variances))
    known = F - g >= constants.NORMAL_REST and rest > 0
    return SumNull(units, rest if known else np.inf, null.kind)


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
    end = smallest_true(lambda k: float(count.sf(k)) <= _CUT, 0, count.largest, start=1)
    return count.pmf(np.arange(end + 1)), float(count.sf(end))
