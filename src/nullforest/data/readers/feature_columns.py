"""Feature columns: numbers and categories that vary; free text is refused by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nullforest._util.errors import InputError
from nullforest._util.words import listed
from nullforest.data.column_values import values_of_column

_REMEDY = "leave it out with --drop, name it with --ids, or encode it as numbers"
_COMMA = "give --decimal ','"


def features_of(
    frame: pd.DataFrame, names: list[str], source: str
) -> tuple[NDArray[np.floating[Any]], NDArray[np.int64], NDArray[np.bool_], list[str]]:
    """The matrix of features, the columns that it keeps, which are categories, and notes."""
    X, categories = _matrix(frame, names)
    infinite = np.isinf(X)
    if infinite.any():
        column = int(np.flatnonzero(infinite.any(axis=0))[0])
        row = int(np.flatnonzero(infinite[:, column])[0])
        raise InputError(
            f"Column {names[column]!r} is infinite in data row {row + 1}; put a number there or "
            "leave it empty."
        )
    missing = np.isnan(X).sum(axis=0)
    # fmin and fmax pass over NaN; an all-NaN column stays NaN and counts as constant.
    low, high = np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)
    # Missing values split from the others even where these are equal.
    varies = ((low != high) | (missing > 0)) & (missing < len(X))
    if not varies.any():
        raise InputError(
            f"Every feature of {source} has the same value in all rows, so no split is possible; "
            "check that rows are samples and columns are features, or give --transpose."
        )
    notes = []
    if not varies.all():
        left = [names[i] for i in np.flatnonzero(~varies)]
        notes.append(
            f"{len(left)} column{'s' if len(left) > 1 else ''} left out, since all rows have the "
            f"same value: {listed(left)}."
        )
        X, missing, categories = X[:, varies], missing[varies], categories[varies]
    kept = np.flatnonzero(varies)
    if missing.any():
        gaps = np.flatnonzero(missing)
        most, number = int(np.argmax(missing)), missing.sum()
        notes.append(
            f"{number} {'values are' if number > 1 else 'value is'} missing in {len(gaps)} of "
            f"{len(kept)} columns (most in "
            f"{names[kept[most]]!r}: {missing[most]} of {len(X)}); each split sends them to the "
            "side that fits better."
        )
    if categories.any():
        of_text = [names[kept[i]] for i in np.flatnonzero(categories)]
        notes.append(
            f"{len(of_text)} column{'s' if len(of_text) > 1 else ''} of text read as "
            f"categories: {listed(of_text)}."
        )
    return X, kept, categories, notes


def _matrix(
    frame: pd.DataFrame, names: list[str]
) -> tuple[NDArray[np.floating[Any]], NDArray[np.bool_]]:
    """Columns as numbers, and which of them are codes of categories without an order."""
    categories = np.zeros(frame.shape[1], bool)
    dtypes = frame.dtypes.to_numpy()
    plain = np.array([isinstance(dtype, np.dtype) and dtype.kind in "fiub" for dtype in dtypes])
    # float32 and 16-bit whole numbers fit float32 exactly; anything longer needs float64.
    short = all(
        dtype.kind == "b" or dtype.itemsize <= (4 if dtype.kind == "f" else 2)
        for dtype in set(dtypes[plain])
    )
    number: type[np.floating[Any]] = np.float32 if short and plain.all() else np.float64
    if plain.all():
        return frame.to_numpy(number), categories
    X = np.empty(frame.shape, number, order="F")
    X[:, plain] = frame.iloc[:, np.flatnonzero(plain)].to_numpy(number)
    for i in np.flatnonzero(~plain):
        column: pd.Series[Any] = frame.iloc[:, int(i)]
        X[:, i], categories[i] = values_of_column(column, names[i], _REMEDY, _COMMA)
    return X, categories
