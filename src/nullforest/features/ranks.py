"""Ranks of the samples in each feature, of unit length, for rank correlations."""

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
    so they carry no information; a constant column is zero.

    Parameters
    ----------
    X : (S, k) array, sparse matrix or DataFrame

    Examples
    --------
    >>> import numpy as np
    >>> from nullforest.features.ranks import standard_ranks
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
    ranks = np.asarray(rankdata(columns, axis=1, nan_policy="omit"), np.float64)
    # The mean rank of k values is (k + 1) / 2, ties or not.
    ranks = np.where(missing, ((~missing).sum(axis=1, keepdims=True) + 1) / 2, ranks)
    ranks -= ranks.mean(axis=1, keepdims=True)
    length = np.sqrt(np.square(ranks).sum(axis=1, keepdims=True))
    ranks /= np.where(length > 1e-9, length, np.inf)  # rounding of a constant column's mean
    return np.ascontiguousarray(ranks.T)


def some_columns(X: Any, columns: NDArray[np.int64]) -> Any:
    """Some columns of an array, a sparse matrix or a DataFrame."""
    if hasattr(X, "iloc"):
        return X.iloc[:, columns]
    return (X.tocsc() if hasattr(X, "tocsc") else X)[:, columns]
