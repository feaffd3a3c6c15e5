"""Columns that a forest favours whatever the target: those with many values, or a low number.

**Levels.** A node compares the best cuts of its candidates, and a column with more distinct values
("levels") offers more cuts: related to the target or not, it is selected more often. One null
distribution serves all columns only where they have about as many levels each, or more than a few
dozen. The effective number of levels is S² / Σ n_l², where n_l of the S samples have level l: L for
L equally frequent levels, and less where some are rare.

**Column numbers.** LightGBM and XGBoost split the column with the lowest number when gains tie, as
they often do in small nodes, so that null features with low numbers are selected more often.
Forests on shuffled columns favour different features, and their sum favours none by much. The test
is Spearman's: under the null the rank correlation ρ of counts and column numbers has the standard
deviation 1/√(F−1). Only the bulk of the counts is ranked, the lower nine tenths, so that relevant
features that stand first do not count.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from nullforest.tallies.tally import Tally

Floats = NDArray[np.float64]

#: Null columns with L levels are selected about (L − 1) / (L + 4.5) times as often as continuous
#: ones. In RandomForestClassifier(500) on 300 samples × 120 null columns the rates were .14, .49,
#: .65, .83 and .95 at 2, 6, 12, 24 and 80 levels.
_HALF = 4.5
#: Rates that differ by more than this factor need null distributions of their own. It separates
#: columns of 24 levels, the largest bin of discrete columns in the engine, from continuous ones.
_FACTOR = 1.2
#: Proportion of columns with few levels that changes no other column's p-value by much; their own
#: p-values are too large then, never too small.
_TOLERATED = 0.05
#: Selections of a column from which its cut points tell its levels, and the proportion of them at
#: a cut point that was used once: the Good–Turing estimate of what further nodes would show.
_ENOUGH, _UNSEEN = 10, 0.1
#: Values that are sorted at once: 32 MB.
_BLOCK = 4_000_000
#: p-value below which a trend is reported: once in a thousand forests without one.
_TREND_LEVEL = 1e-3
#: Fewest features of which a trend is told.
_FEW_COLUMNS = 10
#: Share of the counts that are ranked.
_BULK = 0.9
#: Orders of the columns from which on their sum favours no column by much.
_ENOUGH_ORDERS = 20
_REMEDY = (
    f"Train {_ENOUGH_ORDERS} or more small forests on shuffled columns and add their tallies "
    "(nf.tally(model, columns=order))."
)


def levels_of_data(X: Any) -> Floats:
    """Fewest and most levels of each column: here its effective number, twice.

    Parameters
    ----------
    X : (S, F) array, sparse matrix or DataFrame of numbers
        Missing values are one level.

    Examples
    --------
    >>> import numpy as np
    >>> from nullforest.tallies.favoured_columns import levels_of_data
    >>> levels_of_data(np.array([[0, 0.5, 1], [1, np.nan, 1], [1, 0.1, 1]]))[:, 0].tolist()
    [1.8, 3.0, 1.0]
    """
    X = X.to_numpy() if hasattr(X, "to_numpy") else X.tocsc() if hasattr(X, "tocsc") else X
    S, F = X.shape
    pairs = np.empty(F)
    width = max(1, _BLOCK // S)
    for start in range(0, F, width):
        block = X[:, start : start + width]
        block = block.toarray() if hasattr(block, "toarray") else np.asarray(block)
        rows = np.sort(block.T.astype(np.float64), axis=1)
        first = np.ones(rows.shape, bool)  # of each run of equal values; missing ones are last
        first[:, 1:] = (rows[:, 1:] != rows[:, :-1]) & ~np.isnan(rows[:, :-1])
        starts = np.flatnonzero(first)
        lengths = np.diff(starts, append=rows.size)
        pairs[start : start + width] = np.bincount(starts // S, lengths**2, len(rows))
    return np.repeat((S**2 / pairs)[:, None], 2, axis=1)


def levels_of_cuts(
    feature: NDArray[np.int64], cut: Floats, n_features: int, n_samples: int
) -> Floats:
    """Fewest and most levels that each column can have, from the cut points of its nodes.

    A cut point lies between two values, so L levels have at most L(L − 1)/2 of them. Where hardly
    any cut point was used only once, all cuts between neighbouring values have been seen.

    Examples
    --------
    >>> import numpy as np
    >>> from nullforest.tallies.favoured_columns import levels_of_cuts
    >>> feature, cut = np.repeat([0, 1], 20), np.append(np.full(20, 0.5), np.arange(20.0))
    >>> levels_of_cuts(feature, cut, 2, n_samples=100).tolist()
    [[2.0, 2.0], [7.0, 100.0]]
    """
    order = np.lexsort((cut, feature))
    feature, cut = feature[order], cut[order]
    first = np.append(True, (feature[1:] != feature[:-1]) | (cut[1:] != cut[:-1]))[: len(cut)]
    uses = np.diff(np.flatnonzero(first), append=len(cut))
    distinct = np.bincount(feature[first], minlength=n_features)
    once = np.bincount(feature[first][uses == 1], minlength=n_features)
    selected = np.bincount(feature, minlength=n_features)
    fewest = np.ceil((1 + np.sqrt(1 + 8 * distinct)) / 2)
    complete = (selected >= _ENOUGH) & (once <= _UNSEEN * selected)
    most = np.where(complete, np.minimum(distinct + 1, n_samples), n_samples)
    return np.stack([fewest, np.maximum(most, fewest)], axis=1)


def mixed_levels(levels: Floats | None) -> str:
    """What is wrong with one null distribution for columns of these levels; empty if nothing is.

    Examples
    --------
    >>> import numpy as np
    >>> from nullforest.tallies.favoured_columns import mixed_levels
    >>> mixed_levels(np.full((50, 2), 300.0))
    ''
    >>> mixed_levels(np.repeat([[2.0, 2.0], [300.0, 300.0]], 25, axis=0))[:62]
    'The columns of this forest have different numbers of distinct '
    """
    if levels is None or not (varied := levels[:, 1] > 1).any():
        return ""
    fewest, most = levels[varied].T
    slow = np.quantile((most - 1) / (most + _HALF), _TOLERATED)
    if ((fewest - 1) / (fewest + _HALF)).max() <= _FACTOR * slow:
        return ""
    return (
        "The columns of this forest have different numbers of distinct values (effectively "
        f"{most.min():.3g} to {fewest.max():.3g}). A forest selects columns with more values more "
        "often, related to the target or not, so that one null distribution cannot serve them all."
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
    if len(bulk) < _FEW_COLUMNS or np.ptp(counts) == 0:
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
    if p <= _TREND_LEVEL:
        return (
            f"Counts {'fall' if rho < 0 else 'rise'} with the column number (rank correlation "
            f"{rho:.2f}, p = {p:.1g}): this library splits the lowest column when gains tie, so "
            f"that the p-values of some columns are too small. {_REMEDY}",
        )
    if tally.column_orders < _ENOUGH_ORDERS:
        orders = f"{tally.column_orders} order{'s' * (tally.column_orders > 1)}"
        return (
            "This library splits the lowest column when gains tie, and was trained on only "
            f"{orders} of the columns, so that the p-values of some are too small. {_REMEDY}",
        )
    return ()
