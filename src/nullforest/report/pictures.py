"""Values of the leading features for their pictures in the page, with what explains them.

The page can leave the laboratory, so values of X travel only for the features asked for: rounded to
four digits, and of at most 2 000 samples.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nullforest.data.column_blocks import columns_of, some_rows
from nullforest.data.targets import Target
from nullforest.features.correlated import correlation_clusters, correlation_matrix, most_correlated
from nullforest.run.split_points import split_points
from nullforest.selection.selection import Selection

#: Features whose values are in the page, where not told otherwise.
FEATURES = 200
#: Samples of a picture; more are drawn at random.
MOST_SAMPLES = 2000
#: Correlated features that are listed with each.
LISTED = 8
#: Bars of a null distribution, and of the splits.
BARS = 40

Ints = NDArray[np.int64]


def pictures(
    selection: Selection, X: Any, target: Target | None, features: int = FEATURES
) -> dict[str, Any] | None:
    """What the pictures of the leading features show, as numbers, strings, lists and dicts alone.

    Parameters
    ----------
    selection : Selection
    X : array-like, DataFrame, sparse matrix, RankTable or matrix on disk, (S, F)
        The data.
    target : Target, optional
        The target; without it only correlations and null distributions are shown.
    features : int
        How many of the leading features; 0 for none.

    Returns
    -------
    dict or None
        `columns`: numbers of the features, the most significant first; `samples`, `shown`: samples
        in all, and in the pictures; `target`: kind and values, or None; `values`: of each feature,
        None where missing; `correlated`: columns and correlations; `matrix`: correlations between
        the features in percent, with their `cluster` and an `order`; `nulls`, `null_of`: null
        distributions, and which is each feature's; `splits`: histograms of the split thresholds,
        or None.

    Examples
    --------
    >>> import nullforest as nf
    >>> from nullforest.data.targets import as_target
    >>> X, y, _ = nf.simulate.independent(40, 100, 2, 0.8)
    >>> selection = nf.select(nf.grow(X, y, trees=50))
    >>> found = pictures(selection, X, as_target(y, 40), features=3)
    >>> len(found["values"]), len(found["values"][0]), found["target"]["kind"]
    (3, 40, 'classes')
    """
    if features < 1:
        return None
    columns = np.asarray(selection.table.index[:features], np.int64)
    source, categories = columns_of(X)
    S = source.shape[0]
    shown = np.arange(S)
    if S > MOST_SAMPLES:
        rng = np.random.default_rng(0)  # the same samples in every report of the data
        shown = np.sort(rng.choice(S, MOST_SAMPLES, replace=False))
    values = some_rows(source, columns)
    others, r = most_correlated(X, columns, LISTED)
    matrix = correlation_matrix(X, columns)
    cluster, order = correlation_clusters(matrix)
    nulls, null_of = _nulls(selection, columns)
    splits = None if target is None else split_points(selection.tally, X, target, columns)
    return {
        "columns": columns.tolist(),
        "samples": S,
        "shown": len(shown),
        "target": None if target is None else _target(target, shown),
        "values": [plain_numbers(row) for row in values[:, shown]],
        "category": [False if categories is None else bool(categories[c]) for c in columns],
        "correlated": {"columns": others.tolist(), "r": [plain_numbers(row, 3) for row in r]},
        "matrix": np.rint(100 * matrix).astype(int).tolist(),
        "cluster": cluster.tolist(),
        "order": order.tolist(),
        "nulls": nulls,
        "null_of": null_of,
        "splits": None
        if splits is None
        else {
            "trees": splits.trees,
            "bars": [
                _histogram(cuts, row) for cuts, row in zip(splits.thresholds, values, strict=True)
            ],
        },
    }


def _target(target: Target, shown: Ints) -> dict[str, Any] | None:
    """The target of the samples that are shown; None where it is not one column."""
    if target.classes is not None:
        labels = [str(name) for name in target.classes.tolist()]
        return {"kind": "classes", "labels": labels, "values": target.values[shown].tolist()}
    if target.survival is not None:
        event, time = target.survival["event"][shown], target.survival["time"][shown]
        return {
            "kind": "survival",
            "event": event.astype(bool).tolist(),
            "time": plain_numbers(time.astype(float)),
        }
    if target.criterion == "variance" and target.values.shape[1] == 1:
        return {"kind": "numbers", "values": plain_numbers(target.values[shown, 0])}
    return None


def _nulls(selection: Selection, columns: Ints) -> tuple[list[dict[str, Any]], list[int]]:
    """Null distribution of each stratum among the features, in bars; and which is whose."""
    strata = selection.null.feature_strata
    strata = np.zeros(len(selection.counts), np.int64) if strata is None else strata
    numbers, null_of = np.unique(strata[columns], return_inverse=True)
    found = []
    for number in numbers.tolist():
        null = selection.null.stratum(number)
        # As far as a null feature comes in 1 of 10⁶ cases; larger counts are beyond the bars.
        last = max(int(null.threshold(1e-6)), 1)
        width = max(1, -(-(last + 1) // BARS))
        edges = np.arange(0, last + width + 1, width)
        tail = np.asarray(null.sf(edges - 1), float)
        found.append({"width": width, "share": plain_numbers(tail[:-1] - tail[1:], 3)})
    return found, null_of.tolist()


def _histogram(cuts: NDArray[np.float64], values: NDArray[np.float64]) -> dict[str, Any]:
    """Number of splits in even bars over the range of the values."""
    known = values[~np.isnan(values)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    high = high if high > low else low + 1.0
    number, edges = np.histogram(np.clip(cuts, low, high), bins=BARS, range=(low, high))
    return {"edges": plain_numbers(edges, 6), "number": number.tolist()}


def plain_numbers(values: NDArray[np.float64], digits: int = 4) -> list[float | None]:
    """Numbers to so many digits, None in the place of NaN.

    Examples
    --------
    >>> plain_numbers(np.array([1.23456, np.nan]))
    [1.235, None]
    """
    return [None if np.isnan(v) else float(f"{v:.{digits}g}") for v in values.tolist()]
