"""Survival targets of tables: a column of events and a column of times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

#: Words for an event and for a censored time, as programs write booleans.
_WORDS = {"true": 1.0, "t": 1.0, "1": 1.0, "false": 0.0, "f": 0.0, "0": 0.0}


@dataclass(frozen=True)
class SurvivalColumns:
    """Names of the columns of a survival target, in the place of the name of one target.

    Examples
    --------
    >>> str(SurvivalColumns(event="died", time="days"))
    'days (event: died)'
    """

    event: str
    time: str

    def __str__(self) -> str:
        return f"{self.time} (event: {self.event})"


TargetName = str | SurvivalColumns


def columns_of(target: TargetName) -> tuple[str, ...]:
    """The columns that a target consists of."""
    return (target,) if isinstance(target, str) else (target.event, target.time)


def survival_columns(
    event: pd.Series[Any], time: pd.Series[Any], names: SurvivalColumns
) -> NDArray[Any]:
    """Events and times as one structured array with the fields event and time.

    Examples
    --------
    >>> import pandas as pd
    >>> names = SurvivalColumns("died", "days")
    >>> survival_columns(pd.Series([1, 0, 1]), pd.Series([30, 45, 60]), names).tolist()
    [(True, 30.0), (False, 45.0), (True, 60.0)]
    """
    for column, name, what in [(event, names.event, "event"), (time, names.time, "time")]:
        missing = np.flatnonzero(column.isna())
        if len(missing):
            rows = f"{len(missing)} rows have" if len(missing) > 1 else "1 row has"
            raise InputError(
                f"{rows} no {what} in the column {name!r} (the first is data row "
                f"{missing[0] + 1}); fill in or remove such rows."
            )
    found = np.empty(len(time), [("event", "?"), ("time", "<f8")])
    found["event"], found["time"] = _events(event, names.event), _times(time, names.time)
    if not found["event"].any():
        raise InputError(
            f"The column {names.event!r} holds no event: all samples are censored, so that there "
            "is nothing to predict; is 1 an event in it?"
        )
    if np.all(found["time"] == found["time"][0]):
        raise InputError(
            f"All times in the column {names.time!r} are equal, so that they tell no order; use "
            f"--target {names.event} to predict the event itself."
        )
    return found


def _events(column: pd.Series[Any], name: str) -> NDArray[np.bool_]:
    from pandas.api import types

    if types.is_numeric_dtype(column.dtype):  # booleans too
        numbers = column.to_numpy(np.float64)
    else:
        words = column.astype(str).str.strip().str.casefold()
        numbers = words.map(_WORDS).to_numpy(np.float64)
    wrong = np.flatnonzero(~np.isin(numbers, (0.0, 1.0)))
    if len(wrong):
        raise InputError(
            f"The column {name!r} holds {column.iloc[wrong[0]]!s} in data row {wrong[0] + 1}, "
            "which is neither 1 (event) nor 0 (censored); recode it."
        )
    return numbers.astype(bool)


def _times(column: pd.Series[Any], name: str) -> NDArray[np.float64]:
    from pandas.api import types

    if types.is_bool_dtype(column.dtype) or not types.is_numeric_dtype(column.dtype):
        raise InputError(
            f"The times in the column {name!r} are no numbers ({column.iloc[0]!s} in data row 1); "
            "give them in days or years."
        )
    times = column.to_numpy(np.float64)
    for wrong, what in [(np.isinf(times), "infinite"), (times < 0, "negative")]:
        if wrong.any():
            raise InputError(
                f"The time in the column {name!r} is {what} in data row "
                f"{np.flatnonzero(wrong)[0] + 1}; correct or remove that row."
            )
    return times
