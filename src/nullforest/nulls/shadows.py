"""Shadow null model: each feature is tested against its own permuted copies in the same forest.

The forest grew on the table together with k copies of it, the rows of each copy permuted as a whole
(within blocks, where there are any). If nothing is related to the target, the table and its copies
are exchangeable, so that the counts of the copies have the null distribution. In the three stages:

1. *Mean.* That of the feature's own shadows, shrunk towards the mean of its stratum by as much as
   the means of the stratum differ no more than chance allows. Features whose shadows are selected
   clearly more often form a stratum of their own: with blocks, those that differ between blocks.
2. *Overdispersion.* The variance of the own shadows, shrunk towards that of the stratum, m + φm².
3. *Tail.* Counts are standardised: replaced by those with the same tail probability in a gamma
   distribution of common mean and variance. The standardised counts of all shadows of the stratum
   are the null distribution; beyond an effective sample size of 10 the bagged null model
   extrapolates. Shadows of one copy share their rows, so the copies, not the shadows, are taken for
   independent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaincc, gammainccinv

from nullforest._util.errors import InputError
from nullforest._util.words import Command
from nullforest.nulls import constants
from nullforest.nulls.binomial_mixture import BinomialMixture
from nullforest.nulls.distribution import Floats, Ints, StratifiedNull, quantile
from nullforest.nulls.rates import RateModel, TreeLoads
from nullforest.nulls.stages import Spliced, splice
from nullforest.tallies.tally import Tally

# Numerical constants.
_REFERENCE = 20.0  # least mean of the standardised counts, which are whole numbers
_ROUNDS = 10  # in which features are set apart; most end after two
_TINY = np.finfo(float).tiny
_LEAST_TAIL = 1e-300  # of a gamma distribution


def from_tally(tally: Tally) -> StratifiedNull:
    """The null distributions of the features of a forest with shadows.

    Parameters
    ----------
    tally : Tally
        With shadows, candidates and couplings.

    Examples
    --------
    >>> import numpy as np, nullforest as nf
    >>> from nullforest.nulls import shadows
    >>> X = np.random.default_rng(0).normal(size=(100, 20))
    >>> null = shadows.from_tally(nf.grow(X, X[:, 3] > 0, trees=2000, shadows=20).tally)
    >>> null.kind, null.describe()["copies"]
    ('shadows', 20)
    """
    if tally.shadows is None or tally.candidates is None:
        raise InputError(
            "This tally holds no shadows; grow the forest with nullforest.grow(..., shadows=20), "
            'or use null="auto".'
        )
    shadows, varying = tally.shadows, tally.varying
    wins, couplings = shadows.wins[:, varying], shadows.couplings[varying]
    by_ties = shadows.feature_strata[varying]
    moments = moments_of(wins, divided(wins, by_ties))
    won = float(np.clip(wins.mean() * tally.n_columns / max(tally.n_nodes, 1), 0.0, 1.0)) or 1.0
    trees, n = TreeLoads.of(tally), tally.n_varying
    # Strata with few shadows share a tail, number 0, which is that of all features.
    large = np.bincount(by_ties) * len(shadows) >= constants.STRATUM_SHADOWS
    group = np.where(large, np.cumsum(large), 0)[by_ties]
    tails, distributions = [], np.empty(n, object)
    for number in np.unique(group).tolist():
        members = np.flatnonzero(group == number)
        columns = members if number else np.arange(n)
        rates = RateModel(couplings[columns].sum(0), trees, won)
        base, base_scale = _standardised(wins, moments, columns, rates)
        scales = Scale(moments.mean[members], moments.deviation[members])
        tails.append((members, Rescaled(base, base_scale, scales)))
        for i, *scale in zip(members, scales.mean.tolist(), scales.deviation.tolist(), strict=True):
            distributions[i] = Rescaled(base, base_scale, Scale(*scale))
    strata = np.zeros(tally.n_features, np.int64)
    strata[varying] = np.arange(n)
    null = ShadowNull(
        "shadows",
        distributions.tolist(),
        strata,
        varying=varying,
        diagnostics={
            "copies": len(shadows),
            "strata": len(np.unique(by_ties)),
            "extrapolated_below": max(tail.extrapolated_below for _, tail in tails),
        },
    )
    null.tails = tails
    return null


class Moments(NamedTuple):
    """Mean and standard deviation of each feature's count under the null."""

    mean: Floats  # (F,) of the feature's shadows, shrunk towards that of the stratum
    deviation: Floats  # (F,) of a count about it, with the uncertainty of the mean
    rest_mean: Floats  # (k, F) for each shadow by the other shadows of its feature
    rest_deviation: Floats  # (k, F)


def moments_of(wins: Ints, strata: Ints) -> Moments:
    """Moments from the counts of shadows, (k, F), and the stratum of each feature."""
    k, F = wins.shape
    moments = Moments(*np.empty((2, F)), *np.empty((2, k, F)))
    prior = constants.VARIANCE_PRIOR
    for stratum in np.unique(strata):
        members = np.flatnonzero(strata == stratum)
        counts = wins[:, members].astype(float)
        total, squares = counts.sum(0), (counts**2).sum(0)
        means, variances = _mean_and_variance(total, squares, k)
        centre, dispersion = _common_moments(means, variances, counts)
        noise = (centre + dispersion * centre**2) / k  # variance of the mean of k shadows
        between = max(float(np.var(means, ddof=1)) - noise, 0.0) if len(members) > 1 else np.inf
        # Each shadow as a feature is tested: against the others. One that is large by chance would
        # otherwise raise its mean and variance, as no feature does.
        rest = _mean_and_variance(total - counts, squares - counts**2, k - 1)
        for place, n, (mean, variance) in ((0, k, (means, variances)), (2, k - 1, rest)):
            weight = 1.0 if np.isinf(between) else between / (between + noise * k / max(n, 1))
            mean = weight * mean + (1 - weight) * centre
            variance = max(n - 1, 0) * variance + prior * (mean + dispersion * mean**2)
            variance = variance / (max(n - 1, 0) + prior) * (1 + weight / max(n, 1))
            moments[place][..., members], moments[place + 1][..., members] = mean, np.sqrt(variance)
    return moments


def _mean_and_variance(total: Floats, squares: Floats, n: int) -> tuple[Floats, Floats]:
    """Of n counts with this sum and sum of squares; the mean with the pseudo-count."""
    if n == 0:
        return np.zeros_like(total), np.zeros_like(total)
    variance = np.maximum(squares - total**2 / n, 0.0) / max(n - 1, 1)
    return (total + constants.PSEUDO_COUNT) / n, variance


def _common_moments(means: Floats, variance: Floats, counts: Floats) -> tuple[float, float]:
    """Mean of a stratum, and φ in its variance m + φm², from features' means and variances."""
    centre = float(means.mean())
    # With one copy the spread between features is all there is.
    excess = (variance.mean() if len(counts) > 1 else counts.var()) - centre
    return centre, max(float(excess / np.mean(means**2)), 0.0)


def divided(wins: Ints, by_ties: Ints) -> Ints:
    """Strata of the features, those whose shadows are selected clearly more often set apart.

    With blocks these are the features that differ between them; their shadows say nothing about
    the mean and the variance of the others.
    """
    strata = 2 * by_ties
    for stratum in np.unique(strata):
        members = np.flatnonzero(strata == stratum)
        counts, k = wins[:, members].astype(float), len(wins)
        means, variances = _mean_and_variance(counts.sum(0), (counts**2).sum(0), k)
        usual = np.ones(len(members), bool)
        for _ in range(_ROUNDS):
            centre, dispersion = _common_moments(means[usual], variances[usual], counts[:, usual])
            noise = (centre + dispersion * centre**2) / k
            before, usual = usual, means - centre <= constants.CLEARLY_LARGER * np.sqrt(noise)
            if np.array_equal(usual, before) or not usual.any():
                break
        strata[members[~usual]] += 1
    return strata


@dataclass(frozen=True)
class Scale:
    """A gamma distribution, on whose scale counts are compared: its mean and standard deviation."""

    mean: Any
    deviation: Any

    @property
    def _shape(self) -> Any:
        return (self.mean / self.deviation) ** 2

    def times(self, factor: float) -> Scale:
        """The scale of counts that are `factor` times as large."""
        return Scale(factor * self.mean, factor * self.deviation)

    def tail(self, count: ArrayLike) -> Floats:
        """Probability beyond a count; at least 1e-300, so that it can be inverted."""
        at = np.maximum(np.asarray(count, float), 0.0) * self._shape / self.mean
        return np.asarray(np.maximum(gammaincc(self._shape, at), _LEAST_TAIL))

    def with_tail(self, tail: ArrayLike) -> Floats:
        """The count that is exceeded with this probability."""
        return np.asarray(gammainccinv(self._shape, tail) * self.mean / self._shape)


def _standardised(
    wins: Ints, moments: Moments, used: Ints, rates: RateModel
) -> tuple[Spliced, Scale]:
    """Distribution of the standardised counts of some features' shadows, and their scale."""
    mean = max(float(moments.mean[used].mean()), _REFERENCE)
    relative = moments.deviation[used] / moments.mean[used]
    scale = Scale(mean, mean * float(np.sqrt(np.mean(relative**2))))
    rest = Scale(moments.rest_mean[:, used], moments.rest_deviation[:, used])
    counts = np.rint(scale.with_tail(rest.tail(wins[:, used])))
    values, number = np.unique(counts, return_counts=True)
    bulk = BinomialMixture(values, np.ones(len(values)), number)

    def effective_sample_size(k: int) -> float:
        """Of the estimated tail P(n > k): tail² ÷ variance over copies.

        With one copy, shadows are taken for independent.
        """
        beyond = counts > k
        units = beyond.mean(1) if len(beyond) > 1 else beyond[0].astype(float)
        tail, variance = float(units.mean()), float(units.var(ddof=1)) / len(units)
        if variance == 0:
            return np.inf if tail > 0 else 0.0
        return tail**2 / variance

    end, size = int(counts.max()) + 1, constants.SHADOW_SPLICE_SIZE
    return splice(bulk, effective_sample_size, end, size, constants.SHADOW_MISFIT, rates), scale


class Rescaled:
    """Distribution of one feature's count: that of the standardised count `base`.

    P(n > k) is that of the standardised count which corresponds to k, interpolated between whole
    numbers on the log scale. With a scale of several features, each k is that of another feature.
    """

    def __init__(self, base: Spliced | BinomialMixture, base_scale: Scale, scale: Scale) -> None:
        self.base, self.base_scale, self.scale = base, base_scale, scale

        #: Expected count, and level below which the tail is extrapolated.
        self.mean = scale.mean
        self.extrapolated_below = base.extrapolated_below

    @property
    def largest(self) -> int:
        """Largest possible count."""
        return int(self.count_at(self.base.largest)) + 1

    def sf(self, k: ArrayLike) -> Floats:
        """P(count > k)."""
        at = np.floor(np.asarray(k, float))
        place = self.base_scale.with_tail(self.scale.tail(at))
        below = np.floor(place)
        low, high = (np.log(np.maximum(self.base.sf(x), _TINY)) for x in (below, below + 1))
        inside = np.exp(low + (place - below) * (high - low))
        inside = np.where(place < 0, 1.0, np.where(place > self.base.largest, 0.0, inside))
        return np.where(at < 0, 1.0, inside)

    def pmf(self, k: ArrayLike) -> Floats:
        """P(count = k)."""
        at = np.asarray(k, float)
        return np.where(at == np.floor(at), self.sf(at - 1) - self.sf(at), 0.0)

    def count_at(self, place: float) -> Floats:
        """The count that corresponds to a standardised count."""
        return self.scale.with_tail(self.base_scale.tail(place))

    def scale_trials(self, factor: float) -> Rescaled:
        """The count over `factor` times as many trees."""
        base_scale, scale = self.base_scale.times(factor), self.scale.times(factor)
        return Rescaled(self.base.scale_trials(factor), base_scale, scale)

    def scale_rates(self, factor: float) -> Rescaled:
        """The count of a feature with `factor` times the rate."""
        return Rescaled(self.base, self.base_scale, self.scale.times(factor))


class ShadowNull(StratifiedNull):
    """Null distributions of all features, each with a mean and a deviation of its own.

    Attributes
    ----------
    tails : list of (members, Rescaled)
        Features that vary, by their place among these, whose standardised counts share a tail.
    """

    tails: list[tuple[Ints, Rescaled]]
    audited_by = Command('nf.audit, nulls=["shadows"]', "nullforest audit --nulls shadows")

    def pvalues(self, counts: ArrayLike, *, mid: bool = False) -> Floats:
        """Probability of each feature's count or a larger one, by its own distribution."""
        observed = np.asarray(counts, float)
        if observed.shape != self.feature_strata.shape:
            raise InputError(
                f"Each feature has a null distribution of its own; give one count for each of the "
                f"{len(self.feature_strata)} features, in their order."
            )
        tested = observed if self.varying is None else observed[self.varying]
        p = self._tails(tested - 1)
        if mid:
            p = (p + self._tails(tested)) / 2
        p = np.where((tested <= 0) & (not mid), 1.0, np.maximum(p, _TINY))
        if self.varying is None:
            return p
        whole = np.where(observed <= 0, 1.0, 0.0)
        whole[self.varying] = p
        return whole

    def _tails(self, k: Floats) -> Floats:
        """P(n > k) of each feature that varies."""
        result = np.ones(self.n_features)
        for members, rescaled in self.tails:
            result[members] = rescaled.sf(k[members])
        return result

    def thresholds(self, alpha: float) -> Ints:
        """Count that each feature must exceed."""
        limits = np.zeros(self.n_features, np.int64)
        for members, rescaled in self.tails:
            end = quantile(rescaled.base, alpha, 0)
            for i, start in zip(members, rescaled.count_at(end - 1).astype(int), strict=True):
                limits[i] = quantile(self.distributions[i], alpha, start)
        return limits[self.feature_strata]
