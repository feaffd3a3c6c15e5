"""What is the rank of each sample in a feature? Ranks of unit length, for rank correlations."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from nullforest._util.errors import InputError

Floats = NDArray[np.float64]


def standard_ranks(X: Any) -> Floats:
    """Ranks within each column, ties at their mean rank, centred and scaled to a length of one.

    The product of two such columns is Spearman's correlation. Missing values take the mean rank,
    so they say nothing; a constant column is zero.

    Parameters
    ----------
    X : (S, k) array, sparse matrix or DataFrame

    Examples
    --------
    >>> standard_ranks(np.array([[1.0, 5.0], [2.0, 5.0], [9.0, 5.0]])).round(3)
    array([[-0.707,  0.   ],
           [ 0.   ,  0.   ],
           [ 0.707,  0.   ]])
    """
    if hasattr(X, "to_numpy"):
        X = X.to_numpy()
    elif hasattr(X, "toarray"):
        X = X.toarray()
    try:
        array = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            "X holds values that are not numbers; give numbers to correlate."
        ) from None
    if array.ndim != 2:
        raise InputError(f"X must be a table of samples × features, not of {array.ndim} axes.")
    # Sorted along the last axis, where a feature's values are neighbours in memory.
    columns = np.ascontiguousarray(array.T)
    missing = np.isnan(columns)
    ranks = rankdata(columns, axis=1, nan_policy="omit") if missing.any() else _ranks(columns)
    ranks = np.asarray(ranks, np.float64)
    if missing.any():
        ranks = np.where(missing, np.nan, ranks)
        with np.errstate(invalid="ignore"):
            known = np.maximum((~missing).sum(axis=1, keepdims=True), 1)
            centre = np.nansum(ranks, axis=1, keepdims=True) / known
        ranks = np.where(missing, centre, ranks)
    ranks -= ranks.mean(axis=1, keepdims=True)
    length = np.sqrt(np.square(ranks).sum(axis=1, keepdims=True))
    ranks /= np.where(length > 1e-9, length, np.inf)  # rounding of a constant column's mean
    return np.ascontiguousarray(ranks.T)


def _ranks(columns: Floats) -> Floats:
    """Mean ranks along the last axis; rankdata is called only for rows that hold ties."""
    order = np.argsort(columns, axis=1)
    ranks = np.empty(columns.shape)
    np.put_along_axis(ranks, order, np.arange(columns.shape[1], dtype=float)[None], axis=1)
    ordered = np.take_along_axis(columns, order, axis=1)
    tied = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
    if tied.any():
        ranks[tied] = rankdata(columns[tied], axis=1) - 1.0
    return ranks
