"""Quantile bins of a column, value by value."""

from __future__ import annotations

import numpy as np


def binned(column, bins):
    """The bin of each value, NaN where it is missing; a column of few values as it is."""
    column = np.asarray(column, dtype=float)
    known = [value for value in column if value == value]
    missing = len(known) < len(column)
    if len(set(known)) + missing <= bins:
        return column
    smaller = {value: position for position, value in reversed(list(enumerate(sorted(known))))}
    each = [
        smaller[v] * (bins - missing) // len(known) if v == v else np.nan for v in column.tolist()
    ]
    return np.array(each, dtype=float)
