"""Numbers behind the figures of a report: counts, other decisions, pictures of leading features.

Features of one stratum with equal counts are tied: they have the same p-value, so that 10⁵
features are a few hundred ties. All adjusted p-values follow from the ties and their sizes, so that
the page decides at other error rates by itself. Where the thresholds lie is listed for every stop
of its slider.

The page can leave the laboratory, so values of X travel only for the features asked for: rounded to
four digits, and of at most 2 000 samples.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nullforest.data.column_blocks import columns_of, some_rows
from nullforest.data.targets import Target
from nullforest.features.correlated import (
    correlation_clusters,
    correlation_matrix,
    most_correlated,
)
from nullforest.nulls.distribution import Floats, Ints, Null
from nullforest.run.split_points import split_points
from nullforest.selection.error_rates import ERROR_RATES, adjust, critical_level, harmonic
from nullforest.selection.selection import Selection, each_has_its_own

#: A bin is this share of its count wide, so that counts of 3 and of 3 000 are seen side by side.
BIN_GROWTH = 0.15
#: Stops of the slider within a decade: about evenly spaced, and all of the usual levels.
MANTISSAS = ("1", "1.2", "1.5", "2", "2.5", "3", "4", "5", "6", "8")
LARGEST_ALPHA = 0.5
#: The slider reaches down to 10⁻⁶, or one decade below the alpha of the run.
SMALLEST_DECADE = -6
#: Features whose values are in the page, where no number is asked for.
FEATURES = 200
#: Samples of a picture; more are drawn at random.
MOST_SAMPLES = 2000
#: Correlated features that are listed with each.
LISTED = 8
#: Bars of a null distribution, and of the splits.
BARS = 40


def histogram(selection: Selection) -> dict[str, Any]:
    """Bin the counts of a selection.

    `bins` are a list of {low, high, features, expected}, both ends inside the bin. `threshold` is
    the upper end of a bin, or None where strata have different thresholds.
    """
    counts, null = selection.counts, selection.null
    threshold = None if np.isnan(selection.threshold) else int(selection.threshold)
    last = max(int(counts.max()), int(selection.thresholds.max()) + 1)
    edges = [0]
    while edges[-1] <= last:
        edge = edges[-1] + max(1, int(BIN_GROWTH * edges[-1]))
        if threshold is not None and edges[-1] <= threshold < edge:
            edge = threshold + 1  # no bin may hold both selected and other counts
        edges.append(edge)
    low, high = np.array(edges[:-1]), np.array(edges[1:]) - 1
    features = np.histogram(counts, bins=edges)[0]
    tail = null.n_features * np.asarray(null.sf(np.append(-1, high)))
    expected = np.maximum(tail[:-1] - tail[1:], 0.0)
    return {
        "threshold": threshold,
        "bins": [
            dict(zip(("low", "high", "features", "expected"), row, strict=True))
            for row in zip(*(v.tolist() for v in (low, high, features, expected)), strict=True)
        ],
    }


def stops_around(alpha: float) -> list[float]:
    """Levels that a reader may want to try; the level of the run is among them.

    Examples
    --------
    >>> stops = stops_around(0.037)
    >>> len(stops), stops[0], stops[-1], [a for a in stops if 0.03 <= a <= 0.05]
    (59, 1e-06, 0.5, [0.03, 0.037, 0.04, 0.05])
    """
    lowest = min(SMALLEST_DECADE, math.floor(math.log10(alpha)) - 1)
    usual = {float(f"{m}e{decade}") for decade in range(lowest, 0) for m in MANTISSAS}
    return sorted({alpha, *(a for a in usual if a <= LARGEST_ALPHA)})


def ties_and_slider(selection: Selection) -> tuple[dict[str, Any], dict[str, Any]]:
    """Tied features, the most significant first, and what changes with the error rate.

    Returns
    -------
    ties : dict
        `count`, `p_value`, `expected_count`: one entry per tie; `of_feature`: the tie of each
        feature, in the order of the columns.
    slider : dict
        `alpha`, `label`: the stops; `by_error`: for each error rate and stop, `threshold` (None
        where strata differ), `threshold_label`, `level` and `expected_false_positives`;
        `harmonic`: 1 + 1/2 + … + 1/F, the factor of Benjamini and Yekutieli.
    """
    p, counts, null = selection.pvalues, selection.counts, selection.null
    F = len(counts)
    strata = np.zeros(F, np.int64) if null.feature_strata is None else null.feature_strata
    order = np.lexsort((strata, -counts, p))
    new = np.ones(F, bool)
    new[1:] = np.any([np.diff(values[order]) != 0 for values in (p, counts, strata)], axis=0)
    of_feature = np.empty(F, int)
    of_feature[order] = np.cumsum(new) - 1
    first, sizes = order[new], np.bincount(of_feature)
    ties = {
        "count": counts[first].tolist(),
        "p_value": p[first].tolist(),
        "expected_count": null.expected_counts()[first].tolist(),
        "of_feature": of_feature.tolist(),
    }
    nulls = [null.stratum(number) for number in range(int(strata.max()) + 1)]
    stops = np.array(stops_around(selection.alpha))
    unit = each_has_its_own(null)
    by_error = {}
    for error in ERROR_RATES:
        passes = adjust(p, error)[first] <= stops[:, None]
        levels = critical_level(stops, error, F, passes @ sizes)
        thresholds = np.transpose([_thresholds(part, levels) for part in nulls])
        stop, tie = np.nonzero(passes)  # mid-p values may select a count at the threshold
        np.minimum.at(thresholds, (stop, strata[first[tie]]), counts[first[tie]] - 1)
        exceeding = [part.sf(k) for part, k in zip(nulls, thresholds.T, strict=True)]
        expected = np.transpose(exceeding) @ np.bincount(strata)
        ranges = list(zip(thresholds.min(1).tolist(), thresholds.max(1).tolist(), strict=True))
        by_error[error] = {
            "threshold": [a if a == b else None for a, b in ranges],
            "threshold_label": [f"{a}" if a == b else f"{a} to {b} by {unit}" for a, b in ranges],
            "level": (expected / F).tolist(),
            "expected_false_positives": expected.tolist(),
        }
    return ties, {
        "alpha": stops.tolist(),
        "label": [f"{alpha:g}" for alpha in stops],
        "by_error": by_error,
        "harmonic": harmonic(F),
    }


def _thresholds(null: Null, levels: Floats) -> Any:
    """`null.threshold` at many levels at once."""
    low, high = np.full(len(levels), -1), np.full(len(levels), null.threshold(levels.min()))
    while (high - low > 1).any():
        middle = (low + high) // 2
        above = null.sf(middle) > levels
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return high


def pictures(
    selection: Selection, X: Any, target: Target | None, features: int | None = None
) -> dict[str, Any] | None:
    """What the pictures of the leading features show, as numbers, strings, lists and dicts alone.

    Parameters
    ----------
    selection : Selection
    X : array-like, DataFrame, sparse matrix, RankTable or matrix on disk, (S, F)
        The data.
    target : Target, optional
        The target; without it only correlations and null distributions are shown.
    features : int, optional
        How many of the leading features; 200 where not given, 0 for none.

    Returns
    -------
    dict or None
        `columns`: numbers of the features, the most significant first; `samples`, `shown`: samples
        in all, and in the pictures; `target`: kind and values, or None; `values`: of each feature,
        None where missing; `correlated`: columns and correlations; `matrix`: correlations between
        the features in percent, with their `cluster` and an `order`; `nulls`, `null_of`: null
        distributions, and which is each feature's; `splits`: histograms of the split thresholds,
        or None.
    """
    number = FEATURES if features is None else features
    if number < 1:
        return None
    columns = np.asarray(selection.table.index[:number], np.int64)
    source, categories = columns_of(X)
    S = source.shape[0]
    shown = np.arange(S)
    if S > MOST_SAMPLES:
        rng = np.random.default_rng(0)  # the same samples in every report of the data
        shown = np.sort(rng.choice(S, MOST_SAMPLES, replace=False))
    values = some_rows(source, columns)
    partners, r = most_correlated(source, columns, values, LISTED)
    matrix = correlation_matrix(values)
    cluster, order = correlation_clusters(matrix)
    nulls, null_of = _nulls(selection, columns)
    return {
        "columns": columns.tolist(),
        "samples": S,
        "shown": len(shown),
        "target": None if target is None else _target(target, shown),
        "values": plain_numbers(values[:, shown]),
        "category": [False if categories is None else bool(categories[c]) for c in columns],
        "correlated": {"columns": partners.tolist(), "r": plain_numbers(r, 3)},
        "matrix": np.rint(100 * matrix).astype(int).tolist(),
        "cluster": cluster.tolist(),
        "order": order.tolist(),
        "nulls": nulls,
        "null_of": null_of,
        "splits": None if target is None else _splits(selection, X, target, columns, values),
    }


def _target(target: Target, shown: Ints) -> dict[str, Any] | None:
    """The target of the samples that are shown; None where it is not one column."""
    if target.classes is not None:
        labels = [str(name) for name in target.classes.tolist()]
        return {"kind": "classes", "labels": labels, "values": target.values[shown].tolist()}
    if target.survival is not None:
        event, time = target.survival["event"][shown], target.survival["time"][shown]
        return {"kind": "survival", "event": event.tolist(), "time": plain_numbers(time)}
    if target.criterion == "variance" and target.values.shape[1] == 1:
        return {"kind": "numbers", "values": plain_numbers(target.values[shown, 0])}
    return None


def _nulls(selection: Selection, columns: Ints) -> tuple[list[dict[str, Any]], list[int]]:
    """Null distribution of each stratum among the features, in bars; and which is whose."""
    strata = selection.null.feature_strata
    strata = np.zeros(len(selection.counts), np.int64) if strata is None else strata
    numbers, null_of = np.unique(strata[columns], return_inverse=True)
    nulls = []
    for number in numbers.tolist():
        null = selection.null.stratum(number)
        # As far as a null feature comes in 1 of 10⁶ cases; larger counts are beyond the bars.
        last = max(int(null.threshold(1e-6)), 1)
        width = max(1, -(-(last + 1) // BARS))
        edges = np.arange(0, last + width + 1, width)
        tail = np.asarray(null.sf(edges - 1), float)
        nulls.append({"width": width, "share": plain_numbers(tail[:-1] - tail[1:], 3)})
    return nulls, null_of.tolist()


def _splits(
    selection: Selection, X: Any, target: Target, columns: Ints, values: NDArray[np.float64]
) -> dict[str, Any] | None:
    """Number of splits of each feature in even bars over the range of its values."""
    splits = split_points(selection.tally, X, target, columns)
    if splits is None:
        return None
    low = np.fmin.reduce(values, axis=1, initial=np.inf)
    low[np.isinf(low)] = 0.0  # no value at all
    high = np.fmax.reduce(values, axis=1, initial=-np.inf)
    high = np.where(high > low, high, low + 1.0)
    edges = np.linspace(low, high, BARS + 1, axis=1)
    shown = plain_numbers(edges, 6)
    bars = []
    for i, cuts in enumerate(splits.thresholds):
        number = np.histogram(np.clip(cuts, low[i], high[i]), edges[i])[0]
        bars.append({"edges": shown[i], "number": number.tolist()})
    return {"trees": splits.trees, "bars": bars}


def plain_numbers(values: NDArray[Any], digits: int = 4) -> list[Any]:
    """Numbers to so many digits, None in the place of NaN; of a matrix, a list for each row.

    Examples
    --------
    >>> plain_numbers(np.array([[1.23456, np.nan], [0.5, 2e6]]))
    [[1.235, None], [0.5, 2000000.0]]
    """
    plain = [None if v != v else float(f"{v:.{digits}g}") for v in values.ravel().tolist()]
    rows: list[Any] = np.array(plain, object).reshape(values.shape).tolist()
    return rows
