"""What must a page know to decide anew? Distinct p-values, and thresholds along a slider.

Features with the same count and the same null have the same p-value, so 10⁵ features are a few
hundred *kinds*. All adjusted p-values follow from the kinds and their sizes; what does not follow
from them, the count that a single feature would have to exceed, is listed for every stop of the
slider.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from nullforest.selection.error_rates import ERROR_RATES, decide, lone_threshold

if TYPE_CHECKING:
    from nullforest.selection.selection import Selection

#: Stops of the slider within a decade: about evenly spaced, and all of the usual levels.
MANTISSAS = ("1", "1.2", "1.5", "2", "2.5", "3", "4", "5", "6", "8")
LARGEST_ALPHA = 0.5
#: The slider goes down to 10⁻⁶, or one decade below the alpha of the run.
SMALLEST_DECADE = -6


def stops_around(alpha: float) -> list[float]:
    """Error rates that a reader may want to try; the one asked for is among them.

    Examples
    --------
    >>> stops = stops_around(0.037)
    >>> len(stops), stops[0], stops[-1], [a for a in stops if 0.03 <= a <= 0.05]
    (59, 1e-06, 0.5, [0.03, 0.037, 0.04, 0.05])
    """
    lowest = min(SMALLEST_DECADE, math.floor(math.log10(alpha)) - 1)
    usual = {float(f"{m}e{decade}") for decade in range(lowest, 0) for m in MANTISSAS}
    return sorted({alpha, *(a for a in usual if a <= LARGEST_ALPHA)})


def kinds_of(selection: Selection) -> dict[str, Any]:
    """Sort features into kinds, the most significant first.

    Returns
    -------
    dict
        `count`, `p_value`, `expected_count`: one entry per kind; `of_feature`: the kind of each
        feature, in the order of the columns.
    """
    p, counts, expected = selection.pvalues, selection.counts, selection.null.expected_counts()
    order = np.lexsort((expected, -counts, p))
    new = np.ones(len(order), bool)
    new[1:] = False
    for values in (p, counts, expected):
        new[1:] |= np.diff(values[order]) != 0
    of_feature = np.empty(len(order), int)
    of_feature[order] = np.cumsum(new) - 1
    first = order[new]
    return {
        "count": counts[first].tolist(),
        "p_value": p[first].tolist(),
        "expected_count": expected[first].tolist(),
        "of_feature": of_feature.tolist(),
    }


def counts_of(selection: Selection) -> dict[str, Any]:
    """For each count that occurs: how many null features are expected to have it or a larger one.

    Returns
    -------
    dict
        `count`; `level`: probability of that count or a larger one for one null feature;
        `expected_false_positives`: their expected number, were all features null.
    """
    values = np.unique(selection.counts)
    level = np.asarray(selection.null.sf(values - 1), float)
    return {
        "count": values.tolist(),
        "level": level.tolist(),
        "expected_false_positives": (selection.null.n_features * level).tolist(),
    }


def slider_of(selection: Selection) -> dict[str, Any]:
    """What changes with the error rate and does not follow from the kinds.

    Returns
    -------
    dict
        `alpha`, `label`: the stops; `by_error`: for each error rate, `threshold`, `level` and
        `expected_false_positives` at each stop, None where features are selected by adjusted
        p-values, so that the smallest selected count tells them; `harmonic`: 1 + 1/2 + … + 1/F,
        the factor of Benjamini and Yekutieli.
    """
    null = selection.null
    stops = stops_around(selection.alpha)
    by_error = {}
    for error in ERROR_RATES:
        smallest = float(decide(selection.pvalues, selection.alpha, error).adjusted.min())
        thresholds = [
            None
            if error != "fpr" and smallest <= alpha
            else lone_threshold(null, alpha, error, len(selection.counts))
            for alpha in stops
        ]
        known = sorted({t for t in thresholds if t is not None})
        level = dict(zip(known, np.asarray(null.sf(known), float).tolist(), strict=True))
        by_error[error] = {
            "threshold": thresholds,
            "level": [None if t is None else level[t] for t in thresholds],
            "expected_false_positives": [
                None if t is None else null.n_features * level[t] for t in thresholds
            ],
        }
    return {
        "alpha": stops,
        "label": [f"{alpha:g}" for alpha in stops],
        "by_error": by_error,
        "harmonic": float(np.sum(1.0 / np.arange(1, len(selection.counts) + 1))),
    }
