"""Stage 2: overdispersion, estimated from the bulk of the counts by Bayesian model averaging.

Null features differ more from each other than the first model of their rates says. Each model has
one parameter for that, with a prior on a grid. The likelihood of the counts in the bulk, where
relevant features hardly matter, gives the weights of the grid, and the null distribution is the
average over it: its tail is as heavy as the uncertainty of the parameter demands.

In the bagged null model the parameter is a factor on the couplings (`bagged`). In the probe null
model it is the standard deviation σ of a log-normal random effect, `RandomEffect`: a probe is
independent of all columns, while real features are correlated with each other and with what the
trees split first, some more and some less. Given its sample association, the rate of a feature is
that of the probe times e^x, x ~ N(shift, σ²).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlogy

from nullforest.nulls import constants
from nullforest.nulls.binomial_mixture import BinomialMixture
from nullforest.nulls.distribution import Floats, Ints

# Numerical constants.
_STEP = 0.075  # of x: half of the smallest σ, for which the sum over a normal density is exact
_X: Floats = _STEP * np.arange(-32.0, 33.0)  # to 2.4, which 99 % of the largest σ's density reach
_SHIFTS: Floats = _X[np.abs(_X) <= 1.0]  # means of x; −σ²/2 keeps the mean rate
_MOST_CELLS = 64  # cells of counts whose frequencies are compared
_TINY = np.finfo(float).tiny
NEGLIGIBLE = 1e-3  # weights below it are dropped


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
            density = _normal(_SHIFTS, sigma)
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
        kept = weights > NEGLIGIBLE * weights.max()
        return np.exp(_X[kept]), weights[kept] / weights[kept].sum()


def _normal(means: Floats, sigma: float) -> Floats:
    """Normal density on the points x, one row for each mean, normalised to sum to one."""
    apart = np.abs(_X - means[:, None])
    density = np.exp(-((apart / sigma) ** 2) / 2) if sigma else (apart < _STEP / 2).astype(float)
    return np.asarray(density / density.sum(1, keepdims=True))
