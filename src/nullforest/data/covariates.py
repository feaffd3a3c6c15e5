"""Covariates: numbers such as age, for which a test is adjusted by permuting within bins.

Under the null a feature says nothing about the target beyond the covariates Z. If the target
depends on Z through a score s(Z) alone, target and (feature, Z) are independent given s; so rows
may change places among samples of equal score, whatever the feature's own relation to Z. One
covariate is its own score. With several, the score is their prediction of the target, linear and
quadratic; with more than two classes it has several components, and bins are cut along the
widest.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import InputError

#: Fewest samples of a bin. Ten bins leave 4 % of the variance of a normal covariate within them,
#: and a row of a shadow comes from its own sample in 1 of 10.
LEAST_BIN = 10


def bins_of(
    covariates: NDArray[np.float64],
    responses: NDArray[np.float64],
    blocks: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """Bins of samples of nearly equal score, within blocks where these are given.

    Parameters
    ----------
    covariates : (S, K)
    responses : (S, Q)
        What to predict: numbers, or one column per class.
    blocks : (S,), optional
    """
    scores = covariates if covariates.shape[1] == 1 else _predicted(covariates, responses)
    bins = np.zeros(len(scores), np.int64)
    waiting = [np.arange(len(scores))]
    if blocks is not None:
        waiting = [np.flatnonzero(blocks == block) for block in np.unique(blocks)]
    number = 0
    while waiting:
        members = waiting.pop()
        halves = _halves(scores, members)
        if halves is None:
            bins[members], number = number, number + 1
        else:
            waiting.extend(halves)
    return bins


def _halves(
    scores: NDArray[np.float64], members: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """The samples below and above the median of their widest score; None where too few."""
    if len(members) < 2 * LEAST_BIN:
        return None
    own = scores[members]
    component = own[:, int(np.ptp(own, axis=0).argmax())]
    order = np.argsort(component, kind="stable")
    ascending = component[order]
    # Equal scores stay together: the cut is the step between scores that is nearest to the median.
    steps = np.flatnonzero(ascending[1:] > ascending[:-1]) + 1
    steps = steps[(steps >= LEAST_BIN) & (steps <= len(members) - LEAST_BIN)]
    if not len(steps):
        return None
    cut = int(steps[np.abs(steps - len(members) // 2).argmin()])
    return members[order[:cut]], members[order[cut:]]


def _predicted(
    covariates: NDArray[np.float64], responses: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Responses predicted from the covariates by ridge regression on linear and quadratic terms."""
    from sklearn.linear_model import RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures, StandardScaler

    model = make_pipeline(
        StandardScaler(),
        PolynomialFeatures(2, include_bias=False),
        StandardScaler(),
        RidgeCV(np.logspace(-2, 3, 11)),
    )
    predicted: NDArray[Any] = np.asarray(model.fit(covariates, responses).predict(covariates))
    # Rounded, since the last bits of a regression differ between machines.
    return np.round(predicted.reshape(len(covariates), -1), 9)


def as_covariates(adjust: Any, n_samples: int) -> NDArray[np.float64]:
    """Covariates given as an array or a DataFrame, one row per sample."""
    if hasattr(adjust, "columns"):
        from nullforest.data.column_values import covariates_of

        values = covariates_of(adjust.to_pandas() if hasattr(adjust, "to_pandas") else adjust)
    else:
        try:
            values = np.asarray(adjust, float)
        except (TypeError, ValueError):
            raise InputError(
                "adjust must hold numbers; give categories as a DataFrame, or as blocks."
            ) from None
        values = values[:, None] if values.ndim == 1 else values
    if values.ndim != 2 or len(values) != n_samples or values.shape[1] == 0:
        raise InputError(
            f"adjust has the shape {values.shape} for {n_samples} samples; give one row each."
        )
    if not np.isfinite(values).all():
        raise InputError("adjust has missing or infinite values; fill them, or drop those samples.")
    if np.any(np.ptp(values, axis=0) == 0):
        raise InputError("A covariate of adjust is constant; omit it.")
    return values
