"""Quantile bins of columns: coarser ranks for tables of many samples.

The ranks of a column with more than B distinct values are joined to at most B bins of about equal
numbers of samples: a value that r of the n known ones are smaller than lies in bin floor(r B / n)
(missing values are a bin of their own, and B is one less). A split lies between two bins; the
values within a bin count as ties, for features, shadows and virtual probes alike, so that every
null model applies as it is. Where no column has more than 256 distinct values and there are two
classes, the search counts members and ones per value, from one byte for each sample
(`native/kernels/sweep_task.hpp`). Thresholds lie between values of X, as they do without bins.
"""

from __future__ import annotations

from typing import Any

from nullforest._util.errors import InputError
from nullforest.forest.settings import whole_number

#: From this number of samples on, columns are binned by default. A split then moves by at most one
#: part in 256 of the samples, far less than the best split varies between samples of the data.
BINNED_FROM = 20_000
#: Codes of bins take one byte.
MOST_BINS = 256
#: Up to here bins would not make the search faster.
EXACT_UP_TO = 512


def number_of_bins(bins: Any, n_samples: int) -> int:
    """The most bins of a column: as given, or by the number of samples; 0 for exact ranks.

    Examples
    --------
    >>> number_of_bins("auto", 5_000), number_of_bins("auto", 50_000), number_of_bins(64, 5_000)
    (0, 256, 64)
    """
    if bins is None:
        return 0
    if isinstance(bins, str) and bins == "auto":
        return MOST_BINS if n_samples >= BINNED_FROM else 0
    number = whole_number("bins", bins, 2, MOST_BINS, ', "auto" or None')
    if n_samples <= EXACT_UP_TO:
        raise InputError(
            f"bins = {number} is for more than {EXACT_UP_TO} samples, and X has {n_samples}; "
            "omit it."
        )
    return number
