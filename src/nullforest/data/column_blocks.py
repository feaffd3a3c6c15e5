"""X by blocks of columns, one row per feature, and the ranks within them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nullforest._util.progress import Report, progress_bar
from nullforest.data import matrices
from nullforest.data.dense import as_floats, as_matrix, coded_columns
from nullforest.data.matrices import Source
from nullforest.data.rank_table import RankTable

Floats = NDArray[np.float64]

#: Values that are read at a time: 32 MB of doubles.
AT_ONCE = 4_000_000


def columns_of(X: Any) -> tuple[Source, NDArray[np.bool_] | None]:
    """X as a matrix that is read by blocks of columns; and which are categories, if any."""
    categories = None
    if isinstance(X, RankTable):
        categories = X.categories
        X = X.matrix if X.values is None else X.values
    X, _ = matrices.unwrapped(X)
    if categories is None:
        X, categories = coded_columns(X)
    if matrices.is_sparse(X):
        X = matrices.sparse_columns(X)
    source = matrices.source_of(X)
    source = matrices.source_of_array(as_matrix(X)[0]) if source is None else source
    return source, categories


def column_blocks(
    source: Source, progress: Report | None = None, what: str = "Describing features"
) -> Iterator[NDArray[Any]]:
    """The features in blocks, one row per feature."""
    S, F = source.shape
    width = max(1, AT_ONCE // S)
    width = max(width // source.together, 1) * source.together
    with progress_bar(what, progress) as tell:
        for begin in range(0, F, width):
            tell(begin, F)
            yield np.ascontiguousarray(as_floats(source.read(begin, min(begin + width, F))).T)


def some_rows(source: Source, features: NDArray[np.int64]) -> Floats:
    """Some features by their numbers, one row each."""
    rows = [source.read(int(f), int(f) + 1)[:, 0] for f in features]
    return np.array([as_floats(np.asarray(row)) for row in rows], np.float64).reshape(
        len(features), source.shape[0]
    )


def midranks(columns: NDArray[Any]) -> tuple[Floats, NDArray[np.bool_]]:
    """Ranks within each row, ties at their mean rank, 0 where missing; and which are known.

    Examples
    --------
    >>> midranks(np.array([[3.0, 1.0, np.nan, 3.0]]))[0].tolist()
    [[2.5, 1.0, 0.0, 2.5]]
    """
    k, S = columns.shape
    order = np.argsort(columns, axis=1)  # missing values last
    ordered = np.take_along_axis(columns, order, axis=1)
    new = np.ones((k, S), bool)
    new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    starts = np.flatnonzero(new)
    lengths = np.diff(starts, append=k * S)
    ranks = np.empty((k, S))
    tied = np.repeat(starts % S + (lengths + 1) / 2, lengths).reshape(k, S)
    np.put_along_axis(ranks, order, tied, axis=1)
    known = ~np.isnan(columns)
    ranks[~known] = 0.0
    return ranks, known


def standardised_ranks(columns: NDArray[Any]) -> Floats:
    """Ranks within each row, centred and of length one; 0 where missing or constant.

    The product of two rows is Spearman's correlation, missing values at the mean rank.

    Examples
    --------
    >>> standardised_ranks(np.array([[1.0, 2.0, 9.0], [5.0, 5.0, 5.0]])).round(3).tolist()
    [[-0.707, 0.0, 0.707], [0.0, 0.0, 0.0]]
    """
    ranks, known = midranks(columns)
    mean = (known.sum(axis=1, keepdims=True) + 1) / 2
    ranks = np.where(known, ranks - mean, 0.0)
    length = np.sqrt(np.square(ranks).sum(axis=1, keepdims=True))
    return ranks / np.where(length > 1e-9, length, np.inf)
