"""X by blocks of columns, one row per feature, and features by their numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import InputError
from nullforest._util.progress import Report, progress_bar
from nullforest.data.dense import as_floats
from nullforest.data.matrices import Source, as_columns
from nullforest.data.rank_table import RankTable

#: Values that are read at a time: 32 MB of doubles.
AT_ONCE = 4_000_000


def columns_of(X: Any) -> tuple[Source, NDArray[np.bool_] | None]:
    """X as a matrix that is read by blocks of columns; and which are categories, if any."""
    categories = None
    if isinstance(X, RankTable):
        categories = X.categories
        X = X.matrix if X.values is None else X.values
    columns = as_columns(X)
    return columns.source, columns.categories if categories is None else categories


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


def some_rows(source: Source, features: NDArray[np.int64]) -> NDArray[np.float64]:
    """Some features by their numbers, one row each."""
    rows = [source.read(int(f), int(f) + 1)[:, 0] for f in features]
    return np.array([as_floats(np.asarray(row)) for row in rows], np.float64).reshape(
        len(features), source.shape[0]
    )


def feature_numbers(features: Any, n_features: int) -> NDArray[np.int64]:
    """Numbers of features, in their order, from numbers or a mask.

    Examples
    --------
    >>> feature_numbers([False, True, True], 3).tolist(), feature_numbers([2, 0], 3).tolist()
    ([1, 2], [2, 0])
    """
    array = np.asarray(features)
    if array.dtype == bool:
        if array.shape != (n_features,):
            raise InputError(
                f"A mask of the {n_features} features has one entry for each, not {array.size}."
            )
        return np.flatnonzero(array)
    if array.size == 0:
        return np.empty(0, np.int64)
    if array.dtype.kind not in "iu" or array.ndim != 1:
        raise InputError(f"Give features by number, or as a mask of the {n_features} features.")
    if (outside := array[(array < 0) | (array >= n_features)]).size:
        raise InputError(
            f"There is no feature {outside[0]}; features are numbered from 0 to {n_features - 1}."
        )
    return array.astype(np.int64)
