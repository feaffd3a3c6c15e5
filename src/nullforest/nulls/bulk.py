"""Stages 1 and 2: the mean and the overdispersion, estimated from the bulk of the counts.

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
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlogy

from nullforest._util.search import bisect
from nullforest.nulls import constants
from nullforest.nulls.binomial_mixture import BinomialMixture
from nullforest.nulls.distribution import Floats, Ints

# Numerical constants.
_PRECISION = 1e-5  # of the log scale: a tenth of the noise of 1e8 selections
_STEP_DOWN = 0.25  # a root is not stepped over unless another lies within 28 %
_REACH = 60.0  # a factor of 1e26 either way: more than any forest has nodes
_STEP = 0.075  # of x: half of the smallest σ, for which the sum over a normal density is exact
_X: Floats = _STEP * np.arange(-32.0, 33.0)  # to 2.4, which 99 % of the largest σ's density reach
_SHIFTS: Floats = _X[np.abs(_X) <= 1.0]  # means of x; −σ²/2 keeps the mean rate
_MOST_CELLS = 64  # cells of counts whose frequencies are compared
_TINY = np.finfo(float).tiny
NEGLIGIBLE = 1e-3  # weights below it are dropped


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
        The largest such scale, so that features which can never be selected do not lower it. The
        search ends: upwards the model at last expects more than the largest count, downwards less
        than the pseudo-count, and the bracket between the two is halved.

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


def log_likelihood(cells: ArrayLike, observed: Ints) -> Floats:
    """Log-likelihood of the counts given that they lie in the bulk; −∞ where none can.

    Parameters
    ----------
    cells : (..., m)
        Probabilities of the cells of the bulk; one row per model.
    observed : (m,)
        Number of features in each cell.
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

        Parameters
        ----------
        log_likelihood : (σ,)
            Of all strata together, which share σ; where no σ suits all, that of this one is used.
        no_effect : float
            Prior probability of σ = 0.
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
