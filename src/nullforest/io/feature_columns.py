"""Can a forest use these columns? Numbers that vary; text is refused by name, row and value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nullforest._util.errors import InputError
from nullforest.io.words import listed


def features_of(
    frame: pd.DataFrame, names: list[str], source: str
) -> tuple[NDArray[np.floating[Any]], list[str], list[str]]:
    """The matrix of features, its names, and notes on what is missing or was left out."""
    X = _matrix(frame, names)
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
    varies = (low != high) & (missing < len(X))
    # Where values are missing, whether they are is one more thing a split can ask.
    varies |= (missing > 0) & (missing < len(X))
    if not varies.any():
        raise InputError(
            f"Every feature of {source} has the same value in all rows, so no split is possible; "
            "check that rows are samples and columns are features."
        )
    notes = []
    if not varies.all():
        left = [names[i] for i in np.flatnonzero(~varies)]
        notes.append(
            f"{len(left)} column{'s' if len(left) > 1 else ''} left out, since the same value "
            f"stands in every row: {listed(left)}."
        )
        X, missing = X[:, varies], missing[varies]
        names = [names[i] for i in np.flatnonzero(varies)]
    if missing.any():
        gaps = np.flatnonzero(missing)
        most = int(np.argmax(missing))
        notes.append(
            f"{missing.sum()} values are missing in {len(gaps)} of {len(names)} columns (most in "
            f"{names[most]!r}: {missing[most]} of {len(X)}); at each split they go together to "
            "the side where they fit better."
        )
    return X, names, notes


def _matrix(frame: pd.DataFrame, names: list[str]) -> NDArray[np.floating[Any]]:
    """Columns as numbers; a column of text is refused by name, row and value."""
    dtypes = frame.dtypes.to_numpy()
    plain = np.array([isinstance(dtype, np.dtype) and dtype.kind in "fiub" for dtype in dtypes])
    # float32 and 16-bit whole numbers fit float32 exactly; anything longer needs float64.
    short = all(
        dtype.kind == "b" or dtype.itemsize <= (4 if dtype.kind == "f" else 2)
        for dtype in set(dtypes[plain])
    )
    number: type[np.floating[Any]] = np.float32 if short and plain.all() else np.float64
    if plain.all():
        return frame.to_numpy(number)
    X = np.empty(frame.shape, number, order="F")
    X[:, plain] = frame.iloc[:, np.flatnonzero(plain)].to_numpy(number)
    odd = np.flatnonzero(~plain)
    texts: list[tuple[int, int]] = []
    for i in odd:
        column: pd.Series[Any] = frame.iloc[:, int(i)]
        values = _numbers(column)
        wrong = np.flatnonzero(np.isnan(values) & ~column.isna().to_numpy())
        if len(wrong):
            texts.append((int(i), int(wrong[0])))
        X[:, i] = values
    if texts:
        column_number, row = texts[0]
        others = f" (so do {len(texts) - 1} other columns)" if len(texts) > 1 else ""
        raise InputError(
            f"Column {names[column_number]!r} holds text, {str(frame.iloc[row, column_number])!r} "
            f"in data row {row + 1}{others}, where numbers are needed; leave it out with --drop, "
            "name it with --ids, or encode it as numbers."
        )
    return X


def _numbers(column: pd.Series[Any]) -> NDArray[np.float64]:
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return np.full(len(column), np.nan)  # a date is no number until somebody chooses a unit
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype)
    return np.asarray(pd.to_numeric(column, errors="coerce").to_numpy(np.float64, na_value=np.nan))
