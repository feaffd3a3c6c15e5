"""Categories in the order of the target, level by level."""

from __future__ import annotations

import numpy as np


def ordered(column, y):
    """The position of each sample's level by mean response; ties by the code of the level."""
    known = [value for value in column if value == value]
    mean = {}
    for level in sorted(set(known)):
        here = [float(y[i]) for i in range(len(y)) if column[i] == level]
        mean[level] = sum(here) / len(here)
    order = sorted(mean, key=lambda level: (round(mean[level], 9), level))
    return [order.index(value) if value == value else np.nan for value in column]
