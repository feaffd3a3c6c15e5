"""Features that are correlated with others, and clusters of correlated features.

A node selects one of several correlated features, and a selected feature may stand for others.
They are reported, not tested: a correlated feature is not a discovery. Correlations are Spearman's,
missing values at the mean rank; X is read by blocks of columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from nullforest._util.errors import InputError
from nullforest.data.column_blocks import column_blocks, columns_of, feature_numbers, some_rows
from nullforest.data.matrices import Source
from nullforest.data.ranks import standardised_ranks
from nullforest.nulls.distribution import Floats, Ints
from nullforest.selection.selection import Selection

#: Mean absolute correlation within a cluster of features, at least.
SAME_CLUSTER = 0.7
#: Values of other features that are compared at a time: a few MB.
IN_CACHE = 1_000_000


def find_correlated(
    X: Any, features: Selection | ArrayLike, level: float = 0.8, *, names: Any = None
) -> pd.DataFrame:
    """Find the features that are correlated with the selected ones.

    Parameters
    ----------
    X : (S, F) array, sparse matrix or DataFrame
        The data that the forest was grown on.
    features : Selection, or array-like of int or bool
        Selected features, by number or as a mask.
    level : float
        Least absolute rank correlation, above 0 and up to 1.
    names : array-like of str, optional
        Names of the features; those of the Selection or the DataFrame where not given.

    Returns
    -------
    DataFrame
        One row per pair, strongest first within each selected feature: feature,
        correlated_feature, correlation, column and correlated_column (numbers), and, from a
        Selection, the p_value of the correlated feature and whether it is selected itself.

    Examples
    --------
    >>> import numpy as np, nullforest as nf
    >>> X = np.random.default_rng(0).normal(size=(50, 4))
    >>> X[:, 3] = -X[:, 0] ** 3
    >>> nf.find_correlated(X, [0, 1])[["feature", "correlated_feature", "correlation"]]
      feature correlated_feature  correlation
    0      x0                 x3         -1.0
    """
    if not 0.0 < level <= 1.0:
        raise InputError(f"level = {level} must lie above 0 and up to 1.")
    source, categories = columns_of(X)
    if categories is not None:
        raise InputError(
            "X holds categories without an order; encode them as numbers, or drop them."
        )
    F = source.shape[1]
    selection = features if isinstance(features, Selection) else None
    if selection is not None and len(selection.support) != F:
        raise InputError(
            f"X has {F} features and the selection {len(selection.support)}; give the data that "
            "the forest was grown on."
        )
    columns = np.unique(feature_numbers(features if selection is None else selection.support, F))
    if names is None:
        names = getattr(X, "columns", None) if selection is None else selection.tally.names
    labels = np.array([f"x{i}" for i in range(F)] if names is None else list(map(str, names)), str)
    pairs = [(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))]
    for first, r in _correlations(source, columns, some_rows(source, columns)):
        row, column = np.nonzero(np.abs(r) >= level - 1e-12)  # equal rankings, but for rounding
        pairs.append((row, column + first, r[row, column]))
    row, column, r = (np.concatenate(part) for part in zip(*pairs, strict=True))
    order = np.lexsort((column, -np.abs(r), row))
    row, column, r = row[order], column[order], r[order]
    frame = pd.DataFrame(
        {
            "feature": labels[columns[row]],
            "correlated_feature": labels[column],
            "correlation": r,
            "column": columns[row],
            "correlated_column": column,
        }
    )
    if selection is not None:
        frame["p_value"] = selection.pvalues[column]
        frame["selected"] = selection.support[column]
    return frame


def most_correlated(
    source: Source, features: Ints, values: Floats, number: int = 8
) -> tuple[Ints, Floats]:
    """Find, for each feature of a list, the others of largest absolute rank correlation.

    Parameters
    ----------
    source : Source
        The data, read by blocks of columns.
    features : (k,) int
        Numbers of the features.
    values : (k, S) float
        Their values.
    number : int
        How many others for each; all F − 1 where there are fewer.

    Returns
    -------
    columns : (k, number) int
        The others, the most correlated first.
    correlation : (k, number) float
        Their Spearman correlations.
    """
    k, number = len(features), min(number, source.shape[1] - 1)
    best, correlation = np.full((k, number), -1, np.int64), np.zeros((k, number))
    for first, r in _correlations(source, features, values) if number else ():
        numbers = np.broadcast_to(np.arange(first, first + r.shape[1]), r.shape)
        columns = np.concatenate([best, numbers], axis=1)
        r = np.concatenate([correlation, r], axis=1)
        size = np.where((columns == features[:, None]) | (columns < 0), -1.0, np.abs(r))
        order = np.lexsort((columns, -size), axis=1)[:, :number]
        best = np.take_along_axis(columns, order, axis=1)
        correlation = np.take_along_axis(r, order, axis=1)
    return best, correlation


def _correlations(source: Source, features: Ints, values: Floats) -> Iterator[tuple[int, Floats]]:
    """Correlations of some features with all, 0 with themselves: first column, and (k, width)."""
    if len(features) == 0:
        return
    ranks = standardised_ranks(values)
    width = max(1, IN_CACHE // source.shape[0])
    first = 0
    for block in column_blocks(source, what="Comparing features"):
        for begin in range(0, len(block), width):
            r = np.clip(ranks @ standardised_ranks(block[begin : begin + width]).T, -1.0, 1.0)
            r[features[:, None] == np.arange(first, first + r.shape[1])] = 0.0
            yield first, r
            first += r.shape[1]


def correlation_matrix(values: Floats) -> Floats:
    """Spearman's correlations between features, (k, k), from their values, (k, S)."""
    ranks = standardised_ranks(values)
    return np.asarray(np.clip(ranks @ ranks.T, -1.0, 1.0))


def correlation_clusters(correlation: Floats, level: float = SAME_CLUSTER) -> tuple[Ints, Ints]:
    """Clusters of features by average linkage of 1 − |correlation|, and an order for heat maps.

    Returns
    -------
    cluster : (k,) int
        Number of each feature's cluster, in the order of their first features.
    order : (k,) int
        The features with correlated ones side by side.
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
