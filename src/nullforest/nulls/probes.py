"""Probe null model: the null distribution from the forest's own virtual probes.

A virtual probe is a column of random ranks that is scored at nodes but never splits one. W_p is the
number of the nodes at which it was evaluated that it would have won. A null feature is a candidate
at a node with probability C/F only, and in all T trees, so its count is a thinned W_p:

    P(n > k) = weighted mean over p of P(Bin(W_p, q_p) > k),   q_p = (C/F) · T / trees_p,

trees_p the trees' worth of nodes at which p was evaluated, the weights those of the importance
sampling. This is exact where probes are evaluated the way features are drawn: at nodes one by one
where candidates are drawn per node, in whole trees where they are drawn per tree. Real features are
correlated with each other and win less than independent probes. In the three stages:

1. *Mean.* The thinning is scaled such that the mean of the bulk is that of the counts.
2. *Overdispersion.* A log-normal random effect on the rates, averaged over its σ.
3. *Tail.* Beyond an effective sample size of 25 the bagged null model extrapolates.

Features with few distinct values form strata with probes, tail and, if selected often enough, mean
of their own. Where the probes of a stratum cannot be used, the bagged null model replaces them:
`Basis` says when and why.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from enum import Enum
from functools import cache, cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc

from nullforest._util.errors import InputError
from nullforest._util.words import MORE_TREES, PERMUTATION_TEST, Sentence, Setting
from nullforest.nulls import constants
from nullforest.nulls.bagged import with_estimated_mean
from nullforest.nulls.binomial_mixture import BinomialMixture, merge_rates
from nullforest.nulls.distribution import Floats, Ints, StratifiedNull, quantile
from nullforest.nulls.rates import RateModel, TreeLoads
from nullforest.nulls.stages import (
    RandomEffect,
    Spliced,
    bulk_end,
    dispersion,
    estimate_scale,
    pi0,
    splice,
)
from nullforest.tallies.null_columns import NullColumns
from nullforest.tallies.tally import Tally

# Numerical constants.
_SMALLEST_TAIL = 1e-7  # no sample determines a smaller one: probes reach to about one in 10⁵
_MANY_WINS = 100  # distinct ones above which merging them saves time
_CELL = 0.05  # of √(expected count), in which counts have a standard deviation of ½


class Basis(Enum):
    """What the null distribution of a stratum rests on; the value is the note to the reader."""

    SAMPLE = ""
    FEW = Sentence(
        f"Fewer than {constants.SPLICE_SIZE} probes, or none that won a node, represent some "
        "features; they are tested with the bagged null model. ",
        MORE_TREES,
    )
    ABOVE_ONE = Sentence(
        "The probes won too few nodes for the counts of some features (thinning above 1); these "
        "are tested with the bagged null model, its overdispersion fitted to the probes. Forests "
        "that were added should share their probes; with few features, use a permutation test (",
        PERMUTATION_TEST,
        ").",
    )
    SELDOM = Sentence(
        "The probes won too seldom to determine the null distribution; the features are tested "
        "with the bagged null model. ",
        MORE_TREES,
    )


@dataclass(frozen=True)
class NullSample:
    """Wins of the null columns of one stratum, equal ones merged."""

    wins: Ints  # (I,) distinct wins W
    thinning: Floats  # (I,) their thinning probabilities q
    number: Ints  # (I,) how many columns have them
    weights: Floats  # (I,) sum of the columns' Horvitz–Thompson weights
    squares: Floats  # (I,) sum of the squares of these
    couplings: Ints  # (B,) couplings of the nodes that they won

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
            same_thinning = self.thinning == thinning
            wins, weights = self.wins[same_thinning].astype(float), self.weights[same_thinning]
            if len(wins) > _MANY_WINS:
                wins, weights = merge_rates(wins, weights, 1.0)
            parts.append((wins, np.full(len(wins), thinning), weights))
        wins, thinnings, weights = (np.concatenate(each) for each in zip(*parts, strict=True))
        return wins, thinnings, weights

    def effective_sample_size(self) -> Callable[[int], float]:
        """Effective sample size of the estimated tail P(n > k), for each k.

        With P_p the probability that the thinned wins of column p exceed k, the tail is
        t = Σ w P_p / Σ w, with variance Σ w² (P_p − t)² / (Σ w)². The effective sample size is
        t²/variance: for equal weights and P_p of 0 or 1, about the number of columns beyond k.
        Columns with nearly equal expected counts are taken together.
        """
        expected = self.wins * self.thinning
        cell = np.floor(np.sqrt(expected) / _CELL).astype(np.int64)
        cell = np.unique(cell, return_inverse=True)[1].ravel()
        summed = (self.weights, self.squares, self.weights * self.wins, self.weights * expected)
        weights, squares, wins, mean = (np.bincount(cell, part).astype(float) for part in summed)
        wins, mean = wins / weights, mean / weights
        thinning = np.divide(mean, wins, out=np.zeros_like(mean), where=wins > 0)

        def size(k: int) -> float:
            above = betainc(k + 1.0, np.maximum(wins - k, 1.0), np.minimum(thinning, 1.0))
            above = np.where(wins > k, above, 0.0)
            tail = float(weights @ above / weights.sum())
            variance = float(squares @ (above - tail) ** 2 / weights.sum() ** 2)
            if variance > 0:
                return tail**2 / variance
            return np.inf if tail > 0 else 0.0  # no column differs: all exceed k, or none does

        return size

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
        columns = {
            f.name: getattr(self, f.name)[keep] for f in fields(self) if f.name != "couplings"
        }
        return NullSample(**columns, couplings=self.couplings)


@dataclass(frozen=True)
class _Bulk:
    """The first two stages of one stratum: its sample at the estimated scale, and the basis."""

    basis: Basis
    sample: NullSample
    effect: RandomEffect | None = None


def from_tally(tally: Tally) -> StratifiedNull:
    """The probe null distribution of a forest with virtual probes.

    Parameters
    ----------
    tally : Tally
        With probes and candidates.
    """
    probes = tally.probes
    if probes is None or len(probes) == 0 or not probes.trees.any():
        raise InputError(
            "This tally holds no probes; grow the forest with ",
            Setting("probes", "auto"),
            ", or use ",
            Setting("null", "bagged"),
            ".",
        )
    varying, trees = tally.varying, TreeLoads.of(tally)
    names, numbers = probes.feature_strata[varying], np.zeros(1, np.int64)
    if names.min() == names.max():  # nearly always; avoids sorting a million features
        names = names[:1]
    else:
        names, numbers = np.unique(names, return_inverse=True)
    strata = np.zeros(tally.n_features, np.int64)
    strata[varying] = numbers
    samples = [_sample(tally, probes, int(name)) for name in names]
    counts = [tally.counts[varying & (strata == number)] for number in range(len(names))]

    @cache
    def common_scale() -> float:
        """One scale for the thinning of all strata whose probes won."""
        won = [i for i, sample in enumerate(samples) if sample.wins.any()]
        if not won:
            return 1.0
        return estimate_scale(
            lambda scale: [samples[i].thinned(scale) for i in won], [counts[i] for i in won], 1.0
        )

    bulks = [
        _bulk(sample, observed, common_scale)
        for sample, observed in zip(samples, counts, strict=True)
    ]
    joint = np.sum([b.effect.log_likelihood for b in bulks if b.effect is not None], axis=0)
    low, high = constants.CORRELATED
    correlated = float(np.clip((probes.mean_r2 - low) / (high - low), 0.0, 1.0))
    no_effect = constants.NO_EFFECT
    no_effect += correlated * (constants.NO_EFFECT_CORRELATED - no_effect)
    distributions = []
    for bulk, sample, observed in zip(bulks, samples, counts, strict=True):
        # Rates in the bagged null model, with the couplings of the nodes that the probes won.
        couplings = bulk.sample.couplings
        if couplings.sum() == 0 and tally.couplings is not None:
            couplings = tally.couplings.sum(0, dtype=np.int64)
        mean = bulk.sample.mean if len(bulk.sample.wins) else 0.0
        won = float(np.clip(mean * tally.n_varying / trees.n_nodes, 0.0, 1.0)) or 1.0
        rates = RateModel(couplings, trees, won)
        if bulk.effect is None:
            if bulk.basis is Basis.ABOVE_ONE:
                rates = rates.with_variance(bulk.sample.rate_variance)
            model = with_estimated_mean(rates, observed)
            distributions.append(Spliced(model, model, -1))
            continue
        more = constants.MISFIT_PER_RATIO * np.log(max(sample.mean / mean, 1.0))
        largest = constants.LARGEST_MISFIT
        misfit = min(float(np.hypot(constants.MISFIT, more)), largest)
        misfit += correlated * (largest - misfit)
        mixture = bulk.sample.thinned(*bulk.effect.average(joint, no_effect))
        end = bulk.sample.thinned(1.0).quantile(_SMALLEST_TAIL) + 1
        size = bulk.sample.effective_sample_size()
        distributions.append(splice(mixture, size, end, constants.SPLICE_SIZE, misfit, rates))
    bases = dict.fromkeys(bulk.basis for bulk in bulks if bulk.basis is not Basis.SAMPLE)
    notes = [basis.value for basis in bases]
    # With pools so small a feature wins several nodes of the same tree.
    if trees.saturation > constants.SATURATED and tally.pool_per_tree.min() < tally.n_columns:
        notes.insert(
            0,
            Sentence(
                f"The trees are saturated: {trees.saturation:.1f} nodes for each feature of a "
                "pool. p-values below 0.01 may be too small. Draw features at every node (",
                Setting("draw", "node"),
                ").",
            ),
        )
    null = StratifiedNull("probes", distributions, strata, varying=varying, notes=tuple(notes))
    # Computed when asked for: a forest that settles is tested many times. Without the tally, which
    # its null distribution must not keep alive.
    trees_of = tally.nodes_per_tree, tally.pool_per_tree
    null.diagnostics = partial(_diagnostics, null, samples, counts, probes.mean_r2, *trees_of)
    return null


def _diagnostics(
    null: StratifiedNull,
    samples: list[NullSample],
    counts: list[Ints],
    mean_r2: float,
    nodes: Ints,
    pools: Ints,
) -> dict[str, Any]:
    """What the null distribution says about the forest and its probes."""
    expected = null.shares @ [s.mean if len(s.wins) else 0.0 for s in samples]
    mean, level = null.mean, 1 / max(null.n_features, 2)  # about one null feature exceeds it
    pairs = list(zip(null.distributions, counts, strict=True))
    below = np.concatenate([n[n <= quantile(d, level)] for d, n in pairs])
    return {
        "pi0": float(null.shares @ [pi0(d.bulk, n) for d, n in pairs]),
        "dispersion": dispersion(below, nodes, pools, null.n_features),
        "probes": sum(int(sample.number.sum()) for sample in samples),
        "mean_r2": mean_r2,
        "strata": len(samples),
        "probe_to_feature_ratio": float(expected) / mean if mean > 0 else float("nan"),
        "extrapolated_below": max(d.extrapolated_below for d, _ in pairs),
    }


def _sample(tally: Tally, probes: NullColumns, name: int) -> NullSample:
    """The probes of one stratum, equal ones merged, without those that were never evaluated."""
    assert tally.candidates is not None
    members = (probes.strata == name) & (probes.trees > 0)
    pairs, place, number = np.unique(
        np.stack([probes.wins[members], probes.trees[members]]),
        axis=1,
        return_inverse=True,
        return_counts=True,
    )
    weights = probes.weights[members]
    couplings = probes.couplings[name] if 0 <= name < len(probes.couplings) else None
    if couplings is None or couplings.sum() == 0:
        couplings = probes.couplings.sum(0)
    return NullSample(
        wins=pairs[0].astype(np.int64),
        thinning=tally.candidates / tally.n_varying * tally.n_trees / pairs[1],
        number=number.astype(np.int64),
        weights=np.bincount(place.ravel(), weights, len(number)).astype(float),
        squares=np.bincount(place.ravel(), weights**2, len(number)).astype(float),
        couplings=couplings,
    )


def _bulk(sample: NullSample, counts: Ints, common: Callable[[], float]) -> _Bulk:
    """Mean and overdispersion of one stratum, or the reason why its sample cannot be used."""

    def scale_of(sample: NullSample) -> float:
        """Scale of the thinning, or the common one where the bulk does not determine it."""
        end = bulk_end(sample.thinned(1.0))
        if counts[counts <= end].sum() < constants.STRATUM_SELECTIONS:
            return common()
        scale = estimate_scale(lambda scale: [sample.thinned(scale)], [counts], 1.0)
        ratio = scale / common()
        return scale if 1 / constants.SCALE_RATIO <= ratio <= constants.SCALE_RATIO else common()

    n_probes = sample.number.sum()
    if not sample.wins.any() or n_probes < constants.SPLICE_SIZE:
        return _Bulk(Basis.FEW, sample)
    scale = scale_of(sample)
    usable = scale * sample.thinning <= 1
    if not usable.all() and usable @ sample.number >= constants.KEPT_PROBES * n_probes:
        sample = sample.only(usable)  # by trees evaluated, not by wins: without bias
        scale = scale_of(sample)
        usable = scale * sample.thinning <= 1
    if not usable.all():
        few = not sample.wins.any() or sample.number.sum() < constants.SPLICE_SIZE
        return _Bulk(Basis.FEW if few else Basis.ABOVE_ONE, sample)
    sample = replace(sample, thinning=scale * sample.thinning)
    effect = RandomEffect(sample.thinned, counts)
    if not np.isfinite(effect.log_likelihood).any():
        return _Bulk(Basis.SELDOM, sample)
    return _Bulk(Basis.SAMPLE, sample, effect)
