"""X as a dense matrix of floats, with the names of its columns; columns of other types refused."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import InputError

Floats = NDArray[np.float32] | NDArray[np.float64]
Names = NDArray[np.str_]


def as_matrix(X: Any) -> tuple[Floats, Names | None]:
    """X as a float32 or float64 matrix, copied only where its type demands it, and its names."""
    X, names = checked_columns(X)
    if names is not None:
        X = missing_as_nan(X.to_numpy())  # in place where the frame stores one block
    elif hasattr(X, "toarray"):
        X = densified(X)
    try:
        array = np.asarray(X)
    except ValueError:
        raise InputError("The rows of X have different lengths; give a full table.") from None
    check_axes(array)
    if 0 in array.shape:
        raise InputError(
            f"X has {array.shape[0]} samples and {array.shape[1]} features; at least 1 and 1 are "
            "needed."
        )
    return as_floats(array), names


def checked_columns(X: Any) -> tuple[Any, Names | None]:
    """X with masked values as NaN, and the names of its columns where it is a data frame.

    A column of text, dates or complex numbers is refused by name, and so are equal names. Names of
    columns with several levels (a MultiIndex) are joined by an underscore.
    """
    if isinstance(X, np.ma.MaskedArray):
        values = as_floats(X.data)
        if np.ma.is_masked(X):
            values = values.copy()
            values[np.ma.getmaskarray(X)] = np.nan
        return values, None
    if isinstance(X, np.ndarray):
        return missing_as_nan(X), None
    columns = getattr(X, "columns", None)
    if columns is None or not hasattr(X, "to_numpy"):
        return X, None
    names = column_names(X)
    others = {dtype for dtype in set(X.dtypes) if not _is_numeric(dtype)}
    for number, dtype in enumerate(X.dtypes if others else ()):
        if dtype in others:
            column = X.iloc[:, number] if hasattr(X, "iloc") else X.to_series(number)
            _refuse_other_types(column, str(names[number]))
    if others and hasattr(X, "iloc"):
        X = X.mask(X.isna(), np.nan)  # pd.NA is no number for scikit-learn
    return X, names


def coded_columns(X: Any) -> tuple[Any, NDArray[np.bool_] | None]:
    """A DataFrame with numbers in all columns, and which of them are codes of categories.

    Anything else, and a DataFrame of numbers, stays as it is. Dates are numbers, and so are ordered
    categories; text is a category unless most values occur once.
    """
    columns = getattr(X, "columns", None)
    if columns is None or not hasattr(X, "to_numpy") or not hasattr(X, "dtypes"):
        return X, None
    if all(_is_numeric(dtype) for dtype in set(X.dtypes)):
        return X, None
    import pandas as pd

    from nullforest.data.column_values import values_of_column

    if not hasattr(X, "iloc"):  # polars
        kept = {
            name: pd.Series(
                X[name].to_numpy()
                if _is_numeric(X[name].dtype)
                else np.array(X[name].to_list(), object)
            )
            for name in X.columns
        }
        ordered = {n: X[n].dtype for n in X.columns if type(X[n].dtype).__name__ == "Enum"}
        for name, dtype in ordered.items():
            kinds = pd.CategoricalDtype(dtype.categories.to_list(), ordered=True)
            kept[name] = kept[name].astype(kinds)
        X = pd.DataFrame(kept)
    names = column_names(X)
    values = np.empty(X.shape, float, order="F")
    categories = np.zeros(X.shape[1], bool)
    for number, name in enumerate(names.tolist()):
        column = X.iloc[:, number]
        if isinstance(column.dtype, np.dtype) and column.dtype.kind in "fiub":
            values[:, number] = column.to_numpy(float)
        else:
            values[:, number], categories[number] = values_of_column(column, name)
    frame = pd.DataFrame(values, columns=names, index=X.index)
    return frame, categories if categories.any() else None


def column_names(frame: Any) -> Names:
    """Names of the columns, several levels of them joined; equal ones are refused."""
    return unique_names(
        "_".join(map(str, name)) if isinstance(name, tuple) else name for name in frame.columns
    )


def missing_as_nan(values: NDArray[Any]) -> NDArray[Any]:
    """An array of objects with NaN in the place of None, pd.NA and pd.NaT; others as they are."""
    return np.where(is_missing(values), np.nan, values) if values.dtype.kind == "O" else values


def is_missing(array: NDArray[Any]) -> NDArray[np.bool_]:
    """Which values are NaN or NaT; in an array of objects also None and pd.NA."""
    if array.dtype.kind != "O":
        return np.asarray(array != array)
    from pandas import isna  # slow to import

    return np.asarray(isna(array))


def check_axes(X: Any) -> None:
    """Refuse anything but a matrix."""
    if len(X.shape) != 2:
        raise InputError(
            f"X must be a table of samples × features, not an array of {len(X.shape)} axes."
        )


def as_names(names: Iterable[Any]) -> Names:
    """Names of features as an array of text."""
    try:
        return np.array([str(name) for name in names], str)
    except TypeError:
        raise InputError(f"{names!r:.60} are no names of features; give a list of text.") from None


def unique_names(names: Iterable[Any]) -> Names:
    """Names as an array of text; equal ones are refused."""
    array = as_names(names)
    if len(set(array.tolist())) < len(array):
        values, numbers = np.unique(array, return_counts=True)
        raise InputError(
            f"Two features have the name {str(values[numbers > 1][0])!r}; results are given by "
            "name, so rename one."
        )
    return array


def _is_numeric(dtype: Any) -> bool:
    """Whether a dtype of pandas or polars holds real numbers or booleans."""
    if hasattr(dtype, "kind"):
        return dtype.kind in "biuf"
    return bool(dtype.is_numeric()) or str(dtype) == "Boolean"


def _refuse_other_types(column: Any, name: str) -> None:
    values: NDArray[Any] = column.to_numpy()
    others = {"M": "dates", "m": "durations", "c": "complex numbers"}
    what = others.get(getattr(column.dtype, "kind", values.dtype.kind), "")
    for value in values if not what else ():
        try:
            if type(value).__name__ not in ("NoneType", "NAType", "NaTType"):
                float(value)
        except (TypeError, ValueError):
            what = "text" if isinstance(value, str) else f"{type(value).__name__} values"
            what += f" ({value!r:.40})"
            break
    if what:
        raise InputError(f"Column {name!r} holds {what}; encode it as real numbers, or drop it.")


def densified(X: Any) -> NDArray[Any]:
    """A sparse matrix as a dense one; the ranks of the zeros are needed too."""
    needed, memory = float(np.prod(X.shape)) * max(4, X.dtype.itemsize), system_memory()
    if needed > memory / 2:  # ranks and trees need room beside it
        raise InputError(
            f"X is sparse and would take {needed / 2**30:.3g} GiB as a dense matrix, more than "
            f"half of this machine's {memory / 2**30:.3g} GiB; use float32, or give fewer "
            "features at a time."
        )
    array: NDArray[Any] = X.toarray()
    return array


def as_floats(array: NDArray[Any]) -> Floats:
    """An array as float32 or float64, itself where it is one of these already."""
    if array.dtype in (np.float32, np.float64) and array.dtype.isnative:
        whole_steps = not any(step % array.itemsize for step in array.strides)
        return array if whole_steps and array.flags.aligned else array.copy()
    if array.dtype.kind == "b" or (array.dtype.kind in "iuf" and array.dtype.itemsize <= 2):
        return array.astype(np.float32)  # up to 16 bits fit a float32 exactly
    if array.dtype.kind in "iu" or (array.dtype.kind == "f" and array.dtype.itemsize <= 8):
        return array.astype(array.dtype.newbyteorder("=") if array.dtype.kind == "f" else float)
    try:
        if array.dtype.kind in "cmMV":
            raise TypeError(f"their type is {array.dtype}")
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"X holds values that are not numbers ({error}); encode text and dates as numbers, "
            "or drop those columns."
        ) from None


def system_memory() -> float:
    """Bytes of memory of this machine; infinite where it does not tell."""
    if not hasattr(os, "sysconf"):
        return float("inf")
    return float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
