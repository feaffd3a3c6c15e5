"""The three stages of a null model: mean and overdispersion from the bulk of the counts, and tail.

**Mean.** Relevant features have large counts. So only the bulk is used, the counts up to the null
distribution's own 90 % quantile κ, and the scale of the distribution is set such that their mean is
E[n | n ≤ κ]. Relevant features above κ then have no influence, whatever their number; a share w of
relevant features among the counts up to κ moves the mean of the bulk by at most w·κ.

**Overdispersion.** Null features differ more from each other than the first model of their rates
says. Each model has one parameter for that, with a prior on a grid. The likelihood of the counts in
the bulk gives the weights of the grid, and the null distribution is the average over it (a Bayesian
model average): its tail is as heavy as the uncertainty of the parameter demands. In the bagged null
model the parameter is a factor on the couplings (`bagged`). In the probe null model it is the
standard deviation σ of a log-normal random effect, `RandomEffect`: a probe is independent of all
columns, while real features are correlated with each other and with what the trees split first,
some more and some less. Given its sample association, the rate of a feature is that of the probe
times e^x, x ~ N(shift, σ²).

**Tail.** Beyond the splice point, the last count with enough null columns above it, the tail is
extrapolated with the bagged null model (`splice`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlogy

from nullforest._util.search import bisect, smallest_true
from nullforest.nulls import constants
from nullforest.nulls.binomial_mixture import BinomialMixture, summation_points
from nullforest.nulls.distribution import Floats, Ints
from nullforest.nulls.rates import FACTORS, RateModel

# Numerical constants of the mean and the overdispersion.
_PRECISION = 1e-5  # of the log scale: a tenth of the noise of 1e8 selections
_STEP_DOWN = 0.25  # a root is not stepped over unless another lies within 28 %
_REACH = 60.0  # a factor of 1e26 either way: more than any forest has nodes
_STEP = 0.075  # of x: half of the smallest σ, for which the sum over a normal density is exact
_X: Floats = _STEP * np.arange(-32.0, 33.0)  # to 2.4, which 99 % of the largest σ's density reach
_SHIFTS: Floats = _X[np.abs(_X) <= 1.0]  # means of x; −σ²/2 keeps the mean rate
_MOST_CELLS = 64  # cells of counts whose frequencies are compared
_TINY = np.finfo(float).tiny
NEGLIGIBLE = 1e-3  # weights below it are dropped

# Numerical constants of the tail. With another start or number of steps no false positive rate of
# the study of sensitivity changed by more than .01 of the level.
_START = -0.3  # log factor at which the search begins, where many a forest has it
_SECANTS = 2  # they find the factor to a few percent; probes determine it to about ten
_CLOSE = 0.05  # log factors closer than this give no slope
_FLAT = 0.05  # least slope: below it the couplings hardly move the mean excess
_LONGEST_STEP = 1.5  # longest step of the log factor
_NO_EXCESS = 1e-12  # stands for a mean excess of zero under a logarithm
_RARE = 1e-7  # least share beyond the edge that is used as a divisor


def bulk_end(model: BinomialMixture, n_features: int | None = None) -> int:
    """The count κ at which the bulk ends: the 90 % quantile, but at least 1.

    Counts of zero alone would not identify the scale. With few features (`n_features`, where
    given) the bulk is wider, so that all of them inform the mean.
    """
    share = 1.0 if n_features is None else min(1.0, n_features / constants.BULK_FEATURES)
    return max(model.quantile(constants.BULK_TAIL * share), 1)


def estimate_scale(
    models: Callable[[float], list[BinomialMixture]],
    counts: list[Ints],
    start: float,
    n_features: int | None = None,
) -> float:
    """The scale at which the counts in the bulk have the mean that the model expects there.

    It is the largest such scale, so that features which can never be selected do not lower it. The
    search ends: upwards the model at last expects more than the largest count, downwards less than
    the pseudo-count, and the bracket between the two is halved.

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

    Examples
    --------
    >>> counts = np.random.default_rng(0).poisson(3.0, 20_000)
    >>> def model(scale):
    ...     return [BinomialMixture([1000], [scale / 1000], [1.0])]
    >>> round(estimate_scale(model, [counts], 1.0), 1)
    3.0
    """
    frequencies = [np.bincount(each) for each in counts]
    sums = [(np.cumsum(n), np.cumsum(n * np.arange(len(n)))) for n in frequencies]

    def large_enough(log_scale: float) -> bool:
        """Whether the model expects as much as the bulk holds; not where the bulk is empty."""
        number, excess = 0, constants.PSEUDO_COUNT
        for model, (features, selections) in zip(
            models(float(np.exp(log_scale))), sums, strict=True
        ):
            end = bulk_end(model, n_features)
            place = min(end, len(features) - 1)
            number += int(features[place])
            excess += int(selections[place]) - int(features[place]) * model.mean_up_to(end)
        return not (number == 0 or excess > 0)

    first = float(np.log(start))
    high = first
    while not large_enough(high) and high < first + _REACH:
        high += 1.0
    low = high - _STEP_DOWN
    while large_enough(low) and low > first - _REACH:
        low, high = low - _STEP_DOWN, low
    return float(np.exp(bisect(large_enough, low, high, _PRECISION)[1]))


def pi0(model: BinomialMixture, counts: Ints) -> float:
    """Estimated proportion of null features: features in the bulk ÷ number expected there."""
    end = bulk_end(model)
    expected = len(counts) * (1.0 - float(model.sf(end)))
    return float(min(1.0, np.count_nonzero(counts <= end) / expected)) if expected > 0 else 1.0


def dispersion(counts: Ints, nodes: Ints, pools: Ints, n_features: int) -> float:
    """Variance ÷ mean of some features' counts, relative to that in the paper's null model.

    There each tree adds B_t · Bin(K_t, 1/F_t), B_t ~ Bernoulli(F_t/F), independently of the others.
    The ratio is near 1 where that holds and grows with the number of trees, since the sample
    association of a null feature is the same in all trees.
    """
    if len(counts) < 2 or counts.mean() == 0:
        return float("nan")
    mean, expected = nodes / n_features, 1.0
    if nodes.any():
        second = mean * (1 - 1 / pools) + pools / n_features * (nodes / pools) ** 2
        expected = float((second - mean**2).sum() / mean.sum())
    return float(counts.var(ddof=1) / counts.mean()) / expected if expected > 0 else float("nan")


def log_likelihood(cells: ArrayLike, observed: Ints) -> Floats:
    """Log-likelihood of the counts given that they lie in the bulk; −∞ where none can.

    From the probabilities of the cells of the bulk, (..., m), one row per model, and the number of
    features observed in each cell, (m,).
    """
    cells = np.asarray(cells, float)
    bulk = cells.sum(-1, keepdims=True)
    share = np.divide(cells, bulk, out=np.zeros_like(cells), where=bulk > _TINY)
    return np.where(bulk[..., 0] > _TINY, xlogy(observed, share).sum(-1), -np.inf)


class RandomEffect:
    """Likelihood of the standard deviation σ of the random effect in one stratum of features.

    Parameters
    ----------
    model : factor -> BinomialMixture
        Counts of null features whose rates are multiplied by `factor`; 1 is the estimated scale.
    counts : (F,) int
        The counts.

    Attributes
    ----------
    log_likelihood : (σ,)
        Log-likelihood of each σ of the grid, at the most likely shift.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> def model(factor):
    ...     return BinomialMixture([1000], [0.01 * factor], [1.0])
    >>> rates = 0.01 * np.exp(rng.normal(0, 0.3, 5000))
    >>> effect = RandomEffect(model, rng.binomial(1000, rates))
    >>> factors, weights = effect.average(effect.log_likelihood, no_effect=0.85)
    >>> bool(0.2 < np.sqrt(weights @ np.log(factors) ** 2) < 0.4)
    True
    """

    def __init__(self, model: Callable[[float], BinomialMixture], counts: Ints) -> None:
        # Counts of zero and one alone would not identify both scale and σ.
        end = max(model(1.0).quantile(constants.BULK_TAIL), 2)
        edges = np.unique(np.linspace(0, end, min(end + 1, _MOST_CELLS)).astype(np.int64))
        observed = np.bincount(np.searchsorted(edges, counts[counts <= end]), minlength=len(edges))
        cells = np.stack([model(float(np.exp(x))).cells(edges) for x in _X])
        best, densities = [], []
        for sigma in constants.SIGMAS:
            apart = np.abs(_X - _SHIFTS[:, None])  # a normal density, one row for each shift
            density = np.exp(-((apart / sigma) ** 2) / 2) if sigma else 1.0 * (apart < _STEP / 2)
            density = density / density.sum(1, keepdims=True)
            likelihood = log_likelihood(density @ cells, observed)
            place = int(np.argmax(likelihood))
            best.append(likelihood[place])
            densities.append(density[place])
        self.log_likelihood: Floats = np.array(best)
        densities[0] = (_X == 0).astype(float)  # σ = 0 is the model itself, at its estimated scale
        self._densities = densities

    def average(self, log_likelihood: Floats, no_effect: float) -> tuple[Floats, Floats]:
        """Factors on the rates, and their weights in the average over σ.

        The likelihood is that of all strata together, which share σ; where no σ suits all, that of
        this one is used. `no_effect` is the prior probability of σ = 0.
        """
        sigmas = np.array(constants.SIGMAS)
        prior = np.where(sigmas > 0, np.exp(-sigmas / constants.SIGMA_SCALE), 0.0)
        prior = np.where(sigmas > 0, (1 - no_effect) * prior / max(prior.sum(), _TINY), no_effect)
        if not np.isfinite(log_likelihood.max()):
            log_likelihood = self.log_likelihood
        posterior = prior * np.exp(log_likelihood - log_likelihood.max())
        posterior[posterior < NEGLIGIBLE * posterior.sum()] = 0
        weights = np.average(self._densities, axis=0, weights=posterior)
        used = weights > NEGLIGIBLE * weights.max()
        return np.exp(_X[used]), weights[used] / weights[used].sum()


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

    def sf(self, k: ArrayLike, *, pmf: bool = False) -> Floats:
        """P(count > k), or P(count = k)."""
        k = np.asarray(k, float)
        bulk, tail = (c.pmf if pmf else c.sf for c in (self.bulk, self.tail))
        if self._factor == 0:
            return bulk(k)
        result, near = np.empty(k.shape), k < self.splice_point + 1
        result[near] = bulk(k[near])
        result[~near] = self._factor * tail(k[~near])
        return result

    def pmf(self, k: ArrayLike) -> Floats:
        """P(count = k)."""
        return self.sf(k, pmf=True)

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

    def last_with(size: float) -> int:
        """Last count whose tail has an effective sample size of `size`; −1 for none."""
        return smallest_true(lambda k: effective_sample_size(k) < size, 0, end, start=0) - 1

    edge = max(bulk.quantile(constants.BULK_TAIL), last_with(constants.EXCESS_SIZE))
    splice_point = last_with(splice_size)
    nodes = rates.trees.n_nodes

    def model(factor: float, *, fine: bool = False) -> BinomialMixture:
        relative, weights = replace(rates, factor=factor).rates(bulk.mean, fine=fine)
        return BinomialMixture(np.full(len(relative), nodes), bulk.mean * relative / nodes, weights)

    target = bulk.mean_excess(edge)
    if rates.equal or target == 0:
        return Spliced(bulk, model(1.0, fine=True), splice_point)

    def log_ratio(log_factor: float) -> float:
        return float(np.log(max(model(np.exp(log_factor)).mean_excess(edge), _NO_EXCESS) / target))

    # Secants on the log scale, on which the mean excess is nearly linear.
    at, ratio = _START, log_ratio(_START)
    slope = max((ratio - log_ratio(0.0)) / at, _FLAT)
    for _ in range(_SECANTS):
        before, ratio_before = at, ratio
        step = np.clip(ratio / slope, -_LONGEST_STEP, _LONGEST_STEP)
        at = float(np.clip(at - step, *np.log(FACTORS)))
        ratio = log_ratio(at)
        if abs(at - before) > _CLOSE:
            slope = max((ratio - ratio_before) / (at - before), _FLAT)
    error = bulk.excess_variation(edge) / np.sqrt(max(effective_sample_size(edge), 1.0))
    shift = min(np.sqrt(3.0) * np.hypot(error / slope, misfit), constants.TAIL_SHIFT)
    outer = (model(np.exp(np.clip(at + x, *np.log(FACTORS)))) for x in (shift, -shift))
    parts = [model(np.exp(at), fine=True), *outer]
    weights = [w / max(part.beyond(edge), _RARE) for w, part in zip((4, 1, 1), parts, strict=True)]
    return Spliced(bulk, BinomialMixture.average(parts, weights), splice_point)
