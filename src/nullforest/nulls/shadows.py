"""Shadow null model: each feature is tested against its own permuted copies in the same forest.

The forest grew on the table together with k copies of it, the rows of each copy permuted as a whole
(within blocks, where there are any). If nothing is related to the target, the table and its copies
are exchangeable, so that the counts of the copies have the null distribution. In the three stages:

1. *Mean.* That of the feature's own shadows, shrunk towards the mean of its stratum by as much as
   the means of the stratum differ no more than chance allows. One that is clearly larger is kept:
   with blocks, the shadows of a feature that differs between blocks are selected more often.
2. *Overdispersion.* The variance of the own shadows, shrunk towards that of the stratum, m + φm².
3. *Tail.* The standardised counts of all shadows of the stratum; beyond an effective sample size of
   25 the bagged null model extrapolates. Shadows of one copy share their rows, so the copies, not
   the shadows, are taken for independent.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from nullforest._util.errors import InputError
from nullforest._util.search import smallest_true
from nullforest.nulls import constants
from nullforest.nulls.binomial_mixture import BinomialMixture
from nullforest.nulls.distribution import Floats, Ints, StratifiedNull
from nullforest.nulls.rates import RateModel, TreeLoads
from nullforest.nulls.tail import Spliced, extrapolate
from nullforest.tallies.shadow_tally import ShadowTally
from nullforest.tallies.tally import Tally

# Numerical constants.
_REFERENCE = 20.0  # least mean of the standardised counts, which are whole numbers
_TINY = np.finfo(float).tiny


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
    moments = _Moments.of(tally.shadows)
    whole = with_shadows_as_features(tally)
    trees = TreeLoads.of(whole)
    groups = _groups(tally.shadows)
    standard = moments.standardised(tally.shadows.counts)
    distributions: list[Rescaled] = [None] * tally.n_features  # type: ignore[list-item]  # filled in
    for number in range(int(groups.max()) + 1):
        own = np.flatnonzero(groups == number)
        # A stratum with few shadows is represented by those of all features.
        used = own if number else np.arange(tally.n_features)
        base, mean, deviation = _common(tally, trees, used, moments, standard[:, used])
        for f in own:
            ratio = deviation / moments.predictive[f]
            distributions[f] = Rescaled(base, mean, float(moments.mean[f]), float(ratio))
    return ShadowNull(
        "shadows",
        distributions,
        np.arange(tally.n_features),
        diagnostics={
            "copies": len(tally.shadows),
            "strata": len(np.unique(tally.shadows.feature_strata)),
            "extrapolated_below": max(d.extrapolated_below for d in distributions),
        },
    )


def with_shadows_as_features(tally: Tally) -> Tally:
    """The tally of all columns, in which shadows are features like others."""
    assert tally.shadows is not None
    counts = np.concatenate([tally.counts, tally.shadows.counts.ravel()])
    return replace(
        tally,
        counts=counts,
        couplings=None,
        shadows=None,
        feature_names=None,
        levels=None,
        lineage=(),
    )


def _groups(shadows: ShadowTally) -> Ints:
    """Number of the group of strata that share a tail: 0 for all that have few shadows."""
    sizes = np.bincount(shadows.feature_strata) * len(shadows)
    large = sizes >= constants.STRATUM_SHADOWS
    numbers = np.where(large, np.cumsum(large), 0)
    return np.asarray(numbers[shadows.feature_strata])


@dataclass(frozen=True)
class _Moments:
    """Mean and standard deviation of each feature's count under the null.

    Attributes
    ----------
    mean, deviation : (F,)
        Of the counts of shadows, shrunk towards their strata.
    own : (F,)
        Share of the feature's own shadows in its mean.
    predictive : (F,)
        Standard deviation with the uncertainty of the mean.
    copies : int
        Number of copies k.
    """

    mean: Floats
    deviation: Floats
    own: Floats
    copies: int

    @classmethod
    def of(cls, shadows: ShadowTally) -> _Moments:
        k, F = shadows.counts.shape
        mean, deviation, own = np.empty(F), np.empty(F), np.empty(F)
        for stratum in np.unique(shadows.feature_strata):
            here = np.flatnonzero(shadows.feature_strata == stratum)
            counts = shadows.counts[:, here].astype(float)
            each = (counts.sum(0) + constants.PSEUDO_COUNT) / k
            variance = counts.var(0, ddof=1) if k > 1 else np.zeros(len(here))
            centre = float(each.mean())
            # With one copy the spread between features is all there is.
            excess = (variance.mean() if k > 1 else counts.var()) - centre
            dispersion = max(float(excess / np.mean(each**2)), 0.0)

            noise = (centre + dispersion * centre**2) / k  # variance of the mean of k shadows
            between = max(float(np.var(each, ddof=1)) - noise, 0.0) if len(here) > 1 else np.inf
            share = np.full(len(here), 1.0 if np.isinf(between) else between / (between + noise))
            share[each - centre > constants.CLEARLY_LARGER * np.sqrt(noise)] = 1.0
            mean[here] = share * each + (1 - share) * centre
            prior = constants.VARIANCE_PRIOR
            common = mean[here] + dispersion * mean[here] ** 2
            known = (k - 1) * variance + prior * common
            deviation[here] = np.sqrt(known / (k - 1 + prior))
            own[here] = share
        return cls(mean, deviation, own, k)

    @property
    def predictive(self) -> Floats:
        return np.asarray(self.deviation * np.sqrt(1 + self.own / self.copies))

    def standardised(self, counts: Ints) -> Floats:
        """Counts of shadows less their mean, ÷ their standard deviation.

        A mean to which the shadow itself contributes lies nearer to it; the factor makes up for
        that.
        """
        nearer = np.sqrt(1 - self.own / max(self.copies, 2))
        return np.asarray((counts - self.mean) / (self.deviation * nearer))


@dataclass(frozen=True)
class _Shadows:
    """Standardised counts of the shadows of a group, (k, n): rows are copies."""

    counts: Floats

    def effective_sample_size(self, k: float) -> float:
        """Effective sample size of the estimated tail P(n > k): tail² ÷ variance over copies.

        With one copy, shadows are taken for independent.
        """
        beyond = self.counts > k
        units = beyond.mean(1) if len(beyond) > 1 else beyond[0].astype(float)
        tail, variance = float(units.mean()), float(units.var(ddof=1)) / len(units)
        if variance == 0:
            return np.inf if tail > 0 else 0.0
        return tail**2 / variance

    def last_with(self, size: float) -> int:
        """Last count whose tail has an effective sample size of at least `size`; −1 for none."""
        end = int(self.counts.max()) + 1
        return smallest_true(lambda k: self.effective_sample_size(k) < size, 0, end, start=0) - 1


def _common(
    tally: Tally, trees: TreeLoads, used: Ints, moments: _Moments, standard: Floats
) -> tuple[Spliced, float, float]:
    """Distribution of the standardised counts of a group, and its mean and deviation."""
    assert tally.shadows is not None
    mean = max(float(moments.mean[used].mean()), _REFERENCE)
    relative = moments.deviation[used] / moments.mean[used]
    deviation = mean * float(np.sqrt(np.mean(relative**2)))
    shadows = _Shadows(np.rint(np.maximum(mean + deviation * standard, 0.0)))
    values, number = np.unique(shadows.counts, return_counts=True)
    bulk = BinomialMixture(values, np.ones(len(values)), number)
    won = tally.shadows.counts.mean() * tally.n_columns / trees.n_nodes
    couplings = tally.shadows.couplings[used].sum(0)
    rates = RateModel(couplings, trees, float(np.clip(won, 0.0, 1.0)) or 1.0)
    edge = max(bulk.quantile(constants.BULK_TAIL), shadows.last_with(constants.EXCESS_SIZE))
    size = max(shadows.effective_sample_size(edge), 1.0)
    error = bulk.excess_variation(edge) / np.sqrt(size)
    tail = extrapolate(bulk, edge, error, constants.SHADOW_MISFIT, rates)
    splice_point = shadows.last_with(constants.SHADOW_SPLICE_SIZE)
    return Spliced(bulk, tail, splice_point), mean, deviation


class Rescaled:
    """Distribution of one feature's count: that of a common count, moved and stretched.

    P(n > k) is that of the common count beyond `centre` + `ratio` (k − `mean`), interpolated
    between whole numbers on the log scale.
    """

    def __init__(
        self, base: Spliced | BinomialMixture, centre: float, mean: float, ratio: float
    ) -> None:
        self.base, self.centre, self.mean, self.ratio = base, centre, mean, ratio

    @property
    def extrapolated_below(self) -> float:
        """Level below which the tail is extrapolated."""
        return self.base.extrapolated_below

    @property
    def largest(self) -> int:
        """Largest possible count."""
        return self.count_at(self.base.largest) + 1

    def place(self, k: ArrayLike) -> Floats:
        """The common count that corresponds to a count."""
        return np.asarray(self.centre + self.ratio * (np.asarray(k, float) - self.mean))

    def sf(self, k: ArrayLike) -> Floats:
        """P(count > k)."""
        at = np.floor(np.asarray(k, float))
        return np.where(at < 0, 1.0, interpolated(self.base, self.place(at)))

    def pmf(self, k: ArrayLike) -> Floats:
        """P(count = k)."""
        at = np.asarray(k, float)
        return np.where(at == np.floor(at), self.sf(at - 1) - self.sf(at), 0.0)

    def count_at(self, place: float) -> int:
        """The count that corresponds to a common count."""
        return max(int(self.mean + (place - self.centre) / self.ratio), 0)

    def quantile(self, tail: float, start: int = 0) -> int:
        """Smallest k with P(count > k) ≤ tail, searched from `start`."""
        return smallest_true(lambda k: float(self.sf(k)) <= tail, 0, self.largest, start)

    def scale_trials(self, factor: float) -> Rescaled:
        """The count over `factor` times as many trees."""
        base = self.base.scale_trials(factor)
        return Rescaled(base, factor * self.centre, factor * self.mean, self.ratio)

    def scale_rates(self, factor: float) -> Rescaled:
        """The count of a feature with `factor` times the rate."""
        return Rescaled(self.base, self.centre, factor * self.mean, self.ratio / factor)


def interpolated(base: Spliced | BinomialMixture, place: Floats) -> Floats:
    """P(count > place) of a distribution of whole numbers, between them on the log scale."""
    below = np.floor(place)
    low, high = (np.log(np.maximum(base.sf(at), _TINY)) for at in (below, below + 1))
    inside = np.exp(low + (place - below) * (high - low))
    return np.asarray(np.where(place < 0, 1.0, np.where(place > base.largest, 0.0, inside)))


class ShadowNull(StratifiedNull):
    """Null distributions of all features, each with a mean and a deviation of its own."""

    def pvalues(self, counts: ArrayLike, *, mid: bool = False) -> Floats:
        """Probability of each feature's count or a larger one, by its own distribution."""
        observed = np.asarray(counts, float)
        if observed.shape != (self.n_features,):
            raise InputError(
                f"Each feature has a null distribution of its own; give one count for each of the "
                f"{self.n_features} features, in their order."
            )
        p = self._tails(observed - 1)
        if mid:
            p = (p + self._tails(observed)) / 2
        return np.where((observed <= 0) & (not mid), 1.0, np.maximum(p, _TINY))

    def _tails(self, k: Floats) -> Floats:
        """P(n > k) of each feature."""
        result = np.ones(self.n_features)
        bases = [id(d.base) for d in self._each]
        for base in dict.fromkeys(bases):
            here = np.array([i for i, own in enumerate(bases) if own == base])
            place = np.array([float(self._each[i].place(k[i])) for i in here])
            result[here] = interpolated(self._each[here[0]].base, place)
        return np.where(k < 0, 1.0, result)

    @property
    def _each(self) -> list[Rescaled]:
        return cast(list[Rescaled], self.distributions)

    def thresholds(self, alpha: float) -> Ints:
        """Count that each feature must exceed."""
        ends = {id(d.base): _end(d.base, alpha) for d in self._each}
        found = [d.quantile(alpha, start=d.count_at(ends[id(d.base)] - 1)) for d in self._each]
        return np.array(found, np.int64)


def _end(base: Spliced | BinomialMixture, alpha: float) -> int:
    """Smallest k with P(count > k) ≤ alpha."""
    return smallest_true(lambda k: float(base.sf(k)) <= alpha, 0, base.largest, start=0)
