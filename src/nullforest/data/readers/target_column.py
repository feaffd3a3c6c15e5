"""Target columns: classes or numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import InputError
from nullforest.data.readers.text import texts_of

if TYPE_CHECKING:
    import pandas as pd

KnownTask = Literal["classification", "regression", "survival"]
Task = Literal["auto", "classification", "regression"]
TASKS: tuple[Task, ...] = ("auto", "classification", "regression")

#: Whole numbers in a target are classes up to this many levels, and only with enough rows each.
_MOST_CLASSES, _ROWS_PER_CLASS = 10, 5


def target_of(
    column: pd.Series[Any], name: str, task: Task, notes: list[str]
) -> tuple[NDArray[Any], KnownTask]:
    """Values of the target, and whether they are classes or numbers."""
    from pandas.api import types

    missing = np.flatnonzero(column.isna())
    if len(missing):
        rows = f"{len(missing)} rows have" if len(missing) > 1 else "1 row has"
        raise InputError(
            f"{rows} no value in the target {name!r} (the first is data row {missing[0] + 1}); "
            "fill in or remove such rows."
        )
    numeric = types.is_numeric_dtype(column.dtype)
    boolean = types.is_bool_dtype(column.dtype)
    try:
        n, levels = len(column), int(column.nunique())
    except TypeError:  # lists and the like, which have no hash
        raise InputError(
            f"The target {name!r} holds several values in a row ({column.iloc[0]!s}); give a "
            "column of single values."
        ) from None
    if levels == 1:
        raise InputError(
            f"The target {name!r} has the same value in every row ({column.iloc[0]!s}), so there "
            "is nothing to predict; choose another target or add samples of another class."
        )
    if task == "regression":
        if boolean or not numeric:
            raise InputError(
                f"The target {name!r} is not a number ({column.iloc[0]!s} in data row 1), so "
                "regression is not possible; use --task classification."
            )
        return _finite(column, name), "regression"
    if not numeric or boolean:
        if levels > max(2, n // 2):
            raise InputError(
                f"The target {name!r} holds text with {levels} different values in {n} rows, too "
                "many to be classes; is it a column of names?"
            )
        return texts_of(column), "classification"
    values = _finite(column, name)
    whole = bool(np.all((values == np.floor(values)) & (np.abs(values) < 2**53)))  # exact integers
    few = levels == 2 or (whole and levels <= _MOST_CLASSES and n >= _ROWS_PER_CLASS * levels)
    if task == "auto":
        if not few:
            return values, "regression"
        if levels > 2:  # two values are classes without question
            notes.append(
                f"The target {name!r} is numeric with only {levels} different values, so they were "
                "taken as classes; --task regression takes them as amounts."
            )
    elif levels > max(2, n // 2):
        raise InputError(
            f"The target {name!r} has {levels} different values in {n} rows, too many to be "
            "classes; use --task regression."
        )
    return (values.astype(np.int64) if whole else values), "classification"


def _finite(column: pd.Series[Any], name: str) -> NDArray[np.float64]:
    values = column.to_numpy(np.float64)
    infinite = np.flatnonzero(np.isinf(values))
    if len(infinite):
        raise InputError(
            f"The target {name!r} is infinite in data row {infinite[0] + 1}; correct or remove "
            "that row."
        )
    return values
