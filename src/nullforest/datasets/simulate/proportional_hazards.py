r"""Survival times under proportional hazards, with a given share of censored samples.

The hazard of a sample is exp(β Σ ±x_f) over its relevant features, β the logarithm of the hazard
ratio per standard deviation; the baseline hazard is 1. Censoring times are exponential, with the
rate c at which the expected share of censored samples, the mean of c/(c + hazard), is as given.
Forests on log-rank scores depend on the order of the times alone, so that any other baseline hazard
gives the same forest.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from nullforest._util.checks import MOST_SIZE, whole_number
from nullforest._util.errors import InputError
from nullforest.datasets.simulate.independent import float_type


def survival(
    n_samples: int,
    n_features: int,
    n_relevant: int,
    hazard_ratio: float = 1.5,
    censoring: float = 0.3,
    seed: int = 0,
    *,
    dtype: DTypeLike = np.float64,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_]]:
    """Draw independent normal features of which some change the hazard of an event.

    Parameters
    ----------
    n_samples : int
        Samples S.
    n_features : int
        Features F.
    n_relevant : int
        How many of them, the last ones, change the hazard; every other one lowers it.
    hazard_ratio : float
        Factor by which one standard deviation of a relevant feature multiplies the hazard (or
        divides it).
    censoring : float
        Expected share of the samples that are censored before their event.
    seed : int
        Seed; the same seed gives the same data.
    dtype : {float64, float32}
        Type of X; float32 halves memory and time.

    Returns
    -------
    X : (S, F) array
    y : (S,) structured array
        Fields event (bool) and time (float64), as in scikit-survival.
    relevant : (F,) array of bool
        Which features change the hazard.

    Examples
    --------
    >>> import nullforest as nf
    >>> X, y, relevant = nf.simulate.survival(2000, 20, n_relevant=5, censoring=0.7)
    >>> X.shape, y.dtype.names, int(relevant.sum())
    ((2000, 20), ('event', 'time'), 5)
    >>> bool(abs(y["event"].mean() - 0.3) < 0.03)
    True
    """
    whole_number("n_samples", n_samples, 2, MOST_SIZE)
    whole_number("n_features", n_features, 1, MOST_SIZE)
    whole_number("n_relevant", n_relevant, 0, n_features)
    if not (hazard_ratio > 0 and math.isfinite(hazard_ratio)):
        raise InputError(f"hazard_ratio = {hazard_ratio} must be positive; 1 is no effect.")
    if not 0.0 <= censoring < 1.0:
        raise InputError(f"censoring = {censoring} is a share; it must lie between 0 and 1.")
    kind = float_type(dtype)
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, n_features), dtype=kind)
    relevant = np.arange(n_features) >= n_features - n_relevant
    signs = np.where(np.arange(n_relevant) % 2, -1.0, 1.0)
    hazard = np.exp(math.log(hazard_ratio) * (X[:, relevant].astype(np.float64) @ signs))
    time = rng.exponential(size=n_samples) / hazard
    y = np.empty(n_samples, [("event", "?"), ("time", "<f8")])
    censored_at = rng.exponential(size=n_samples)
    if censoring:
        censored_at /= _censoring_rate(hazard, censoring)
        y["event"], y["time"] = time <= censored_at, np.minimum(time, censored_at)
    else:
        y["event"], y["time"] = True, time
    return X, y, relevant


def _censoring_rate(hazard: NDArray[np.float64], share: float) -> float:
    """The rate c at which the mean of c / (c + hazard) is the share."""
    from scipy.optimize import brentq

    odds = math.log(share / (1 - share))
    log_hazard = np.log(hazard)

    def excess(log_rate: float) -> float:
        return float(np.mean(1 / (1 + np.exp(log_hazard - log_rate))) - share)

    low, high = log_hazard.min() + odds, log_hazard.max() + odds
    return math.exp(brentq(excess, low - 1e-9, high + 1e-9, xtol=1e-12))
