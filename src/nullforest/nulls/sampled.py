"""Null distributions from a sample of null features, such as the virtual probes of a forest.

A *null sample* holds columns that are null by construction, how often each would have been selected
(its wins), and with what probability a win would have been a selection of a feature (the thinning).
`fit` turns the samples of all strata into null distributions, by the three stages:

1. *Mean.* The thinning is scaled such that the mean of the bulk is that of the counts.
2. *Overdispersion.* A log-normal random effect on the rates, averaged over its σ.
3. *Tail.* Beyond an effective sample size of 25 the bagged null model extrapolates.

Where a sample cannot be used, the bagged null model replaces it: `Basis` says when and why.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from enum import Enum
from functools import cache, cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc

from nullforest._util.search import smallest_true
from nullforest.nulls import constants
from nullforest.nulls.bagged import with_estimated_mean
from nullforest.nulls.binomial_mixture import BinomialMixture, merge_rates
from nullforest.nulls.distribution import Floats, Ints
from nullforest.nulls.mean import bulk_end, estimate_scale
from nullforest.nulls.overdispersion import RandomEffect
from nullforest.nulls.rates import RateModel, TreeLoads
from nullforest.nulls.tail import Spliced, extrapolate
from nullforest.tallies.tally import Tally

# Numerical constants.
_SMALLEST_TAIL = 1e-7  # no sample determines a smaller one: probes reach to about one in 10⁵
_MANY_WINS = 100  # distinct ones above which merging them saves time
_CELL = 0.05  # of √(expected count), in which counts have a standard deviation of ½


class Basis(Enum):
    """What the null distribution of a stratum rests on; the value is the note to the reader."""

    SAMPLE = ""
    FEW = (
        f"Fewer than {constants.SPLICE_SIZE} probes, or none that won a node, represent some "
        "features; they are tested with the bagged null model. Grow more trees (trees=)."
    )
    ABOVE_ONE = (
        "The probes won too few nodes for the counts of some features (thinning above 1); these "
        "are tested with the bagged null model, its overdispersion fitted to the probes. Forests "
        "that were added should share their probes; with few features, use a permutation test "
        "(nf.baselines.label_permutation)."
    )
    SELDOM = (
        "The probes won too seldom to determine the null distribution; the features are tested "
        "with the bagged null model. Grow more trees (trees=)."
    )


@dataclass(frozen=True)
class NullSample:
    """Wins of the null columns of one stratum, equal ones merged.

    Attributes
    ----------
    wins, thinning : (I,)
        Distinct wins W and thinning probabilities q.
    number : (I,) int
        How many columns have them.
    weights, squares : (I,)
        Sums of the columns' Horvitz–Thompson weights, and of the squares of these.
    couplings : (B,) int
        Couplings of the nodes that they won.
    """

    wins: Ints
    thinning: Floats
    number: Ints
    weights: Floats
    squares: Floats
    couplings: Ints

    def thinned(self, scale: ArrayLike, shares: ArrayLike = 1.0) -> BinomialMixture:
        """Counts of a null feature when the thinning is multiplied by `scale`.

        With several scales, each has a probability in `shares`. A thinning above 1 is taken for 1.
        """
        factor, share = np.atleast_1d(scale), np.atleast_1d(shares)
        wins, thinning, weights = self._merged
        return BinomialMixture(
            np.tile(wins, len(factor)),
            np.outer(factor, thinning).ravel(),
            np.outer(share, weights).ravel(),
        )

    @cached_property
    def _merged(self) -> tuple[Floats, Floats, Floats]:
        """Wins, thinning and weights, with wins merged that counts cannot distinguish.

        Only of columns with the same thinning, which nearly all have.
        """
        parts = []
        for thinning in np.unique(self.thinning):
            own = self.thinning == thinning
            wins, weights = self.wins[own].astype(float), self.weights[own]
            if len(wins) > _MANY_WINS:
                wins, weights = merge_rates(wins, weights, 1.0)
            parts.append((wins, np.full(len(wins), thinning), weights))
        wins, thinnings, weights = (np.concatenate(each) for each in zip(*parts, strict=True))
        return wins, thinnings, weights

    def effective_sample_size(self, k: ArrayLike) -> Floats:
        """Effective sample size of the estimated tail P(n > k).

        With P_p the probability that the thinned wins of column p exceed k, the tail is
        t = Σ w P_p / Σ w, with variance Σ w² (P_p − t)² / (Σ w)². The effective sample size is
        t²/variance: for equal weights and P_p of 0 or 1, about the number of columns beyond k.
        """
        at = np.atleast_1d(np.asarray(k, float))
        wins, thinning, weights, squares = self._cells
        above = np.where(
            wins > at, betainc(at + 1, np.maximum(wins - at, 1.0), np.minimum(thinning, 1.0)), 0.0
        )
        tail = weights @ above / weights.sum()
        variance = squares @ (above - tail) ** 2 / weights.sum() ** 2
        none = np.where(tail > 0, np.inf, 0.0)  # no column differs: all exceed k, or none does
        return np.asarray(np.divide(tail**2, variance, out=none, where=variance > 0))

    @cached_property
    def _cells(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Wins, thinning, weights and squares of cells of columns with nearly equal wins."""
        expected = self.wins * self.thinning
        cell = np.floor(np.sqrt(expected) / _CELL).astype(np.int64)
        cell = np.unique(cell, return_inverse=True)[1].ravel()
        weights, squares, wins, mean = (
            np.bincount(cell, each).astype(float)
            for each in (
                self.weights,
                self.squares,
                self.weights * self.wins,
                self.weights * expected,
            )
        )
        wins, mean = wins / weights, mean / weights
        thinning = np.divide(mean, wins, out=np.zeros_like(mean), where=wins > 0)
        return wins[:, None], thinning[:, None], weights, squares

    def last_with(self, size: float) -> int:
        """Last count whose tail has an effective sample size of at least `size`; −1 for none."""
        end = self.thinned(1.0).quantile(_SMALLEST_TAIL) + 1

        def too_small(k: int) -> bool:
            return bool(self.effective_sample_size(k)[0] < size)

        return smallest_true(too_small, 0, end, start=0) - 1

    @property
    def n_columns(self) -> int:
        """Columns in the sample."""
        return int(self.number.sum())

    @property
    def few(self) -> bool:
        """Whether the columns, or their wins, are too few to represent a stratum."""
        return not self.wins.any() or self.n_columns < constants.SPLICE_SIZE

    @property
    def mean(self) -> float:
        """Expected count of a null feature that is independent of all others, q·W̄."""
        return float(np.average(self.wins * self.thinning, weights=self.weights))

    @property
    def rate_variance(self) -> float:
        """Variance of the columns' rates relative to their mean, without counting noise."""
        counts = self.wins * self.thinning
        noise = np.average(counts * self.thinning, weights=self.weights)
        variance = np.average((counts - self.mean) ** 2, weights=self.weights)
        degrees = max(1 - self.squares.sum() / self.weights.sum() ** 2, 0.5)
        return float(max(variance / degrees - noise, 0.0) / self.mean**2)

    def only(self, keep: NDArray[np.bool_]) -> NullSample:
        """The sample with some of its columns."""
        each = {f.name: getattr(self, f.name)[keep] for f in fields(self) if f.name != "couplings"}
        return NullSample(**each, couplings=self.couplings)


@dataclass(frozen=True)
class _Bulk:
    """The first two stages of one stratum: its sample at the estimated scale, and the basis."""

    basis: Basis
    sample: NullSample
    effect: RandomEffect | None = None


def fit(
    tally: Tally, samples: list[NullSample], counts: list[Ints], mean_r2: float
) -> tuple[list[Spliced], list[str]]:
    """Null distributions of all strata, and notes on those that could not use their sample.

    Parameters
    ----------
    tally : Tally
        The forest.
    samples : list of NullSample
        The sample of each stratum.
    counts : list of (F,) int
        The counts of the features of each stratum.
    mean_r2 : float
        Mean squared correlation between features, given the target.
    """
    trees = TreeLoads.of(tally)
    common = cache(lambda: _common_scale(samples, counts))
    bulks = [_bulk(sample, own, common) for sample, own in zip(samples, counts, strict=True)]
    joint = np.sum([b.effect.log_likelihood for b in bulks if b.effect is not None], axis=0)
    low, high = constants.CORRELATED
    correlated = float(np.clip((mean_r2 - low) / (high - low), 0.0, 1.0))
    none = constants.NO_EFFECT
    none += correlated * (constants.NO_EFFECT_CORRELATED - none)
    fitted = []
    for sample, own, bulk in zip(samples, counts, bulks, strict=True):
        rates = _rates(tally, trees, bulk.sample)
        if bulk.effect is not None:
            misfit = _misfit(sample.mean / bulk.sample.mean, correlated)
            mixture = bulk.sample.thinned(*bulk.effect.average(joint, none))
            fitted.append(_with_tail(mixture, bulk.sample, rates, misfit))
            continue
        if bulk.basis is Basis.ABOVE_ONE:
            rates = rates.with_variance(bulk.sample.rate_variance)
        model = with_estimated_mean(rates, own)
        fitted.append(Spliced(model, model, -1))
    bases = dict.fromkeys(bulk.basis for bulk in bulks if bulk.basis is not Basis.SAMPLE)
    return fitted, [basis.value for basis in bases]


def _bulk(sample: NullSample, counts: Ints, common: Callable[[], float]) -> _Bulk:
    """Mean and overdispersion of one stratum, or the reason why its sample cannot be used."""
    if sample.few:
        return _Bulk(Basis.FEW, sample)
    scale = _scale(sample, counts, common)
    usable = scale * sample.thinning <= 1
    if not usable.all() and usable @ sample.number >= constants.KEPT_PROBES * sample.n_columns:
        sample = sample.only(usable)  # by trees evaluated, not by wins: without bias
        scale = _scale(sample, counts, common)
        usable = scale * sample.thinning <= 1
    if not usable.all():
        return _Bulk(Basis.FEW if sample.few else Basis.ABOVE_ONE, sample)
    sample = replace(sample, thinning=scale * sample.thinning)
    effect = RandomEffect(sample.thinned, counts)
    if not np.isfinite(effect.log_likelihood).any():
        return _Bulk(Basis.SELDOM, sample)
    return _Bulk(Basis.SAMPLE, sample, effect)


def _scale(sample: NullSample, counts: Ints, common: Callable[[], float]) -> float:
    """Scale of a stratum's thinning, or the common one where its bulk does not determine it."""
    end = bulk_end(sample.thinned(1.0))
    if counts[counts <= end].sum() < constants.STRATUM_SELECTIONS:
        return common()
    scale = estimate_scale(lambda scale: [sample.thinned(scale)], [counts], 1.0)
    ratio = scale / common()
    return scale if 1 / constants.SCALE_RATIO <= ratio <= constants.SCALE_RATIO else common()


def _common_scale(samples: list[NullSample], counts: list[Ints]) -> float:
    """One scale for the thinning of all strata whose columns won."""
    used = [i for i, sample in enumerate(samples) if sample.wins.any()]
    if not used:
        return 1.0
    return estimate_scale(
        lambda scale: [samples[i].thinned(scale) for i in used], [counts[i] for i in used], 1.0
    )


def _rates(tally: Tally, trees: TreeLoads, sample: NullSample) -> RateModel:
    """Rates in the bagged null model, with the couplings of the nodes that the sample won."""
    couplings = sample.couplings
    if couplings.sum() == 0 and tally.couplings is not None:
        couplings = tally.couplings.sum(0, dtype=np.int64)
    won = sample.mean * tally.n_features / trees.n_nodes if len(sample.wins) else 0.0
    return RateModel(couplings, trees, float(np.clip(won, 0.0, 1.0)) or 1.0)


def _misfit(ratio: float, correlated: float) -> float:
    """Standard deviation of the tail's log coupling factor, given the probe-to-feature ratio."""
    more = constants.MISFIT_PER_RATIO * np.log(max(ratio, 1.0))
    largest = constants.LARGEST_MISFIT
    misfit = min(float(np.hypot(constants.MISFIT, more)), largest)
    return misfit + correlated * (largest - misfit)


def _with_tail(
    bulk: BinomialMixture, sample: NullSample, rates: RateModel, misfit: float
) -> Spliced:
    """The bulk up to the splice point, and the tail that extrapolates it."""
    edge = max(bulk.quantile(constants.BULK_TAIL), sample.last_with(constants.EXCESS_SIZE))
    size = max(float(sample.effective_sample_size(edge)[0]), 1.0)
    error = bulk.excess_variation(edge) / np.sqrt(size)
    tail = extrapolate(bulk, edge, error, misfit, rates)
    return Spliced(bulk, tail, sample.last_with(constants.SPLICE_SIZE))
