"""Columns of a DataFrame that do not hold plain numbers: categories, text, dates, missing ones."""

from __future__ import annotations

import datetime
import re
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nullforest._util.errors import InputError
from nullforest._util.words import Sentence, Setting
from nullforest.data.readers.formats import number_of

#: Text of which more than this share of the samples has a value of its own names the samples.
MOST_DISTINCT = 0.5
_REMEDY = "leave it out, or encode it as numbers"
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}.*)?")


def values_of_column(column: pd.Series[Any], name: str) -> tuple[NDArray[np.float64], bool]:
    """The values of a column as numbers, and whether they are codes of categories without an order.

    Ordered categories are their positions, dates and durations their nanoseconds. Two levels need
    no order. Text is a category unless most values occur once, or some are numbers; these are
    refused by name.

    Parameters
    ----------
    column : Series
        The column, of any type.
    name : str
        Its name, for the sentence that refuses it.

    Examples
    --------
    >>> import pandas as pd
    >>> values_of_column(pd.Series(["b", "a", None, "c", "b", "a", "c"]), "group")
    (array([ 1.,  0., nan,  2.,  1.,  0.,  2.]), True)
    >>> size = pd.Series(["S", "L", "M"], dtype=pd.CategoricalDtype(["S", "M", "L"], ordered=True))
    >>> values_of_column(size, "size")
    (array([0., 2., 1.]), False)
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        if not column.dtype.ordered:  # coded by their names, like text
            present = column.cat.remove_unused_categories().cat.categories
            column = column.cat.set_categories(sorted(present, key=str))
        codes = column.cat.codes.to_numpy()
        unordered = not column.cat.ordered and len(column.cat.categories) > 2
        return np.where(codes < 0, np.nan, codes.astype(float)), unordered
    if column.dtype.kind == "c":
        raise InputError(f"Column {name!r} holds complex numbers; {_REMEDY}.")
    if column.dtype.kind in "mM":
        return _nanoseconds(column), False
    missing = column.isna().to_numpy()
    cells = column.to_numpy(dtype=object)[~missing]
    if cells.size and all(isinstance(value, datetime.date) for value in cells):
        return _nanoseconds(pd.to_datetime(column, utc=True)), False
    values = np.full(len(column), np.nan)
    values[~missing] = [number_of(value) for value in cells]
    others = np.flatnonzero(np.isnan(values) & ~missing)
    if not others.size:
        return values, False
    cell = column.iloc[int(others[0])]
    texts = [value for value in cells if isinstance(value, str)]
    if len(texts) == len(cells) == len(others) and not _decimal_comma(cell):
        if all(_DATE.fullmatch(text) for text in texts):
            return _dates(column, name), False
        codes, levels = pd.factorize(column, sort=True)
        if len(levels) <= MOST_DISTINCT * len(cells):
            return np.where(codes < 0, np.nan, codes.astype(float)), len(levels) > 2
        raise InputError(
            f"Column {name!r} holds text without an order, {len(levels)} different values in "
            f"{len(cells)} rows (such as {cell!r:.60}); {_REMEDY}."
        )
    what = f"text, {cell!r:.60}" if isinstance(cell, str) else f"{type(cell).__name__} values"
    comma = (
        "if it is a number with a decimal comma, put a point there, or read the file with ",
        Setting("decimal", ","),
    )
    remedy = comma if _decimal_comma(cell) else (_REMEDY,)
    where = f"Column {name!r} holds {what} in data row {others[0] + 1}, where numbers are needed; "
    raise InputError(Sentence(where, *remedy, "."))


def _decimal_comma(cell: Any) -> bool:
    return isinstance(cell, str) and re.fullmatch(r"[+-]?\d+,\d+", cell) is not None


def _nanoseconds(column: pd.Series[Any]) -> NDArray[np.float64]:
    """Dates and durations as numbers; what is missing stays so."""
    known = column.notna().to_numpy()
    whole: NDArray[np.int64] = column.to_numpy(f"{column.dtype.kind}8[ns]").astype(np.int64)
    return np.where(known, whole.astype(float), np.nan)


def _dates(column: pd.Series[Any], name: str) -> NDArray[np.float64]:
    try:
        return _nanoseconds(pd.to_datetime(column, format="ISO8601", utc=True))
    except (ValueError, OverflowError):
        raise InputError(
            f"Column {name!r} holds text that looks like dates but cannot be read as such; "
            f"{_REMEDY}."
        ) from None


def covariates_of(frame: pd.DataFrame) -> NDArray[np.float64]:
    """Covariates of the samples as numbers: categories of three levels and more as a column each.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [30, 40, 50, 60], "sex": ["f", "m", "f", "m"]})
    >>> covariates_of(frame).tolist()
    [[30.0, 0.0], [40.0, 1.0], [50.0, 0.0], [60.0, 1.0]]
    """
    parts: list[NDArray[np.float64]] = []
    for number, name in enumerate(frame.columns):
        column: pd.Series[Any] = frame.iloc[:, number]
        numeric = isinstance(column.dtype, np.dtype) and column.dtype.kind in "fiub"
        values, is_category = (
            (column.to_numpy(float), False) if numeric else values_of_column(column, str(name))
        )
        if not np.isfinite(values).all():
            raise InputError(
                f"The covariate {str(name)!r} has missing or infinite values; fill them, or drop "
                "those samples."
            )
        levels = np.unique(values)
        if len(levels) < 2:
            raise InputError(f"The covariate {str(name)!r} is constant; omit it.")
        parts.append(values[:, None] == levels if is_category else values[:, None])
    return np.hstack(parts).astype(float)
