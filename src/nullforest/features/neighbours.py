"""The features most correlated with given ones, and clusters of correlated features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nullforest._util.progress import Report
from nullforest.data.column_blocks import (
    column_blocks,
    columns_of,
    some_rows,
    standardised_ranks,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Mean absolute correlation within a cluster of features, at least.
SAME_CLUSTER = 0.7
#: Rows that are compared with the given ones at a time, in values: a few MB.
IN_CACHE = 1_000_000


def most_correlated(
    X: Any, features: Ints, number: int = 8, progress: Report | None = None
) -> tuple[Ints, Floats]:
    """Find, for each given feature, the others of largest absolute rank correlation.

    Parameters
    ----------
    X : array-like, DataFrame, sparse matrix, RankTable or matrix on disk, (S, F)
        The data, read by blocks of columns.
    features : (k,) int
        Numbers of the given features.
    number : int
        How many others for each; all F − 1 where there are fewer.

    Returns
    -------
    columns : (k, number) int
        The others, the most correlated first.
    correlation : (k, number) float
        Their Spearman correlations.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 4))
    >>> X[:, 3] = -X[:, 0] ** 3
    >>> columns, r = most_correlated(X, np.array([0]), 1)
    >>> columns.tolist(), r.round(6).tolist()
    ([[3]], [[-1.0]])
    """
    source, _ = columns_of(X)
    S, F = source.shape
    features = np.asarray(features, np.int64)
    number = min(number, F - 1)
    k = len(features)
    best = np.full((k, number), -1, np.int64)
    found = np.zeros((k, number))
    if k == 0 or number == 0:
        return best, found
    own = standardised_ranks(some_rows(source, features))
    begin = 0
    for block in column_blocks(source, progress, "Comparing features"):
        width = max(1, IN_CACHE // S)
        for first in range(0, len(block), width):
            piece = standardised_ranks(block[first : first + width])
            r = own @ piece.T
            here = np.arange(begin + first, begin + first + len(piece))
            r[features[:, None] == here] = 0.0  # a feature with itself
            r = np.concatenate([found, np.clip(r, -1.0, 1.0)], axis=1)
            columns = np.concatenate([best, np.broadcast_to(here, (k, len(here)))], axis=1)
            size = np.where((columns == features[:, None]) | (columns < 0), -1.0, np.abs(r))
            order = np.lexsort((columns, -size), axis=1)[:, :number]
            best = np.take_along_axis(columns, order, axis=1)
            found = np.take_along_axis(r, order, axis=1)
        begin += len(block)
    return best, found


def correlation_matrix(X: Any, features: Ints) -> Floats:
    """Spearman's correlations between given features, (k, k)."""
    own = standardised_ranks(some_rows(columns_of(X)[0], np.asarray(features, np.int64)))
    return np.asarray(np.clip(own @ own.T, -1.0, 1.0))


def clusters(correlation: Floats, level: float = SAME_CLUSTER) -> tuple[Ints, Ints]:
    """Clusters of features by average linkage of 1 − |correlation|, and an order for heat maps.

    Returns
    -------
    cluster : (k,) int
        Number of each feature's cluster, in the order of their first features.
    order : (k,) int
        The features with correlated ones side by side.

    Examples
    --------
    >>> r = np.array([[1, 0.1, 0.9], [0.1, 1, 0], [0.9, 0, 1]])
    >>> clusters(r)[0].tolist()
    [0, 1, 0]
    """
    k = len(correlation)
    if k < 2:
        return np.zeros(k, np.int64), np.arange(k)
    from scipy.cluster.hierarchy import fcluster, leaves_list, linkage
    from scipy.spatial.distance import squareform

    distance = 1.0 - np.abs((correlation + correlation.T) / 2)
    np.fill_diagonal(distance, 0.0)
    tree = linkage(squareform(np.maximum(distance, 0.0), checks=False), "average")
    label = fcluster(tree, 1.0 - level + 1e-9, "distance")
    _, first = np.unique(label, return_index=True)
    place = np.empty(label.max() + 1, np.int64)
    place[label[np.sort(first)]] = np.arange(len(first))
    return place[label], np.asarray(leaves_list(tree), np.int64)
