"""Trend of selection counts over column numbers, where a library favours columns by them.

LightGBM and XGBoost split the column with the lowest number when gains tie, as they often do in
small nodes, so that null features with low numbers are selected more often. Forests on shuffled
columns favour different features, and their sum favours none by much. The test is Spearman's:
under the null the rank correlation ρ of counts and column numbers has the standard deviation
1/√(F−1). Only the bulk of the counts is ranked, the lower nine tenths, so that relevant features
that stand first do not count.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

from nullforest.tallies.tally import Tally

#: p-value below which a trend is reported: once in a thousand forests without one.
_SIGNIFICANT = 1e-3
#: Fewest features of which a trend is told.
_FEW = 10
#: Share of the counts that are ranked.
_BULK = 0.9
#: Orders of the columns from which on their sum favours no column by much.
_ENOUGH = 20
_REMEDY = (
    f"Train {_ENOUGH} or more small forests on shuffled columns and add their tallies "
    "(nf.tally(model, columns=order))."
)


def column_trend(tally: Tally) -> tuple[float, float]:
    """Rank correlation of the bulk of the counts with the column numbers, and its p-value.

    Examples
    --------
    >>> import nullforest as nf
    >>> t = nf.Tally.from_counts(range(60, 0, -1), nodes_per_tree=[30] * 61, n_samples=50)
    >>> rho, p = column_trend(t)
    >>> round(rho, 2), p < 1e-9
    (-1.0, True)
    """
    bulk = np.flatnonzero(tally.counts <= np.quantile(tally.counts, _BULK))
    counts = tally.counts[bulk]
    if len(bulk) < _FEW or np.ptp(counts) == 0:
        return 0.0, 1.0
    rho = float(np.corrcoef(stats.rankdata(counts), np.arange(len(bulk)))[0, 1])
    return rho, math.erfc(abs(rho) * math.sqrt((len(bulk) - 1) / 2))


def trend_note(tally: Tally) -> tuple[str, ...]:
    """Sentence about columns that the library favoured by their number; none where it did not.

    Examples
    --------
    >>> import nullforest as nf
    >>> trend_note(nf.Tally.from_counts([4, 0, 1], nodes_per_tree=[2, 3], n_samples=20))
    ()
    """
    if not tally.column_orders:
        return ()
    rho, p = column_trend(tally)
    if p <= _SIGNIFICANT:
        return (
            f"Counts {'fall' if rho < 0 else 'rise'} with the column number (rank correlation "
            f"{rho:.2f}, p = {p:.1g}): this library splits the lowest column when gains tie, so "
            f"that the p-values of some columns are too small. {_REMEDY}",
        )
    if tally.column_orders < _ENOUGH:
        orders = f"{tally.column_orders} order{'s' * (tally.column_orders > 1)}"
        return (
            "This library splits the lowest column when gains tie, and was trained on only "
            f"{orders} of the columns, so that the p-values of some are too small. {_REMEDY}",
        )
    return ()
