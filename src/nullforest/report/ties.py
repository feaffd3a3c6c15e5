"""Data for a page that decides at other error rates: tied features, and stops of a slider.

Features of one stratum with equal counts are tied: they have the same p-value, so that 10⁵
features are a few hundred ties. All adjusted p-values follow from the ties and their sizes. Where
the thresholds lie is listed for every stop of the slider.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from nullforest.selection.error_rates import ERROR_RATES, adjust, critical_level, harmonic
from nullforest.selection.selection import Selection
from nullforest.selection.sentences import by_stratum, each_has_its_own

if TYPE_CHECKING:
    from nullforest.nulls.distribution import Floats, Null

#: Stops of the slider within a decade: about evenly spaced, and all of the usual levels.
MANTISSAS = ("1", "1.2", "1.5", "2", "2.5", "3", "4", "5", "6", "8")
LARGEST_ALPHA = 0.5
#: The slider reaches down to 10⁻⁶, or one decade below the alpha of the run.
SMALLEST_DECADE = -6


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
    stops = stops_around(selection.alpha)
    by_error = {}
    for error in ERROR_RATES:
        passes = adjust(p, error)[first] <= np.array(stops)[:, None]
        selected = zip(stops, passes @ sizes, strict=True)
        levels = np.array([critical_level(a, error, F, int(n)) for a, n in selected])
        each = np.transpose([_thresholds(own, levels) for own in nulls])
        stop, tie = np.nonzero(passes)  # mid-p values may select a count at the threshold
        np.minimum.at(each, (stop, strata[first[tie]]), counts[first[tie]] - 1)
        exceeding = np.transpose([own.sf(k) for own, k in zip(nulls, each.T, strict=True)])
        expected = exceeding @ np.bincount(strata)
        by_error[error] = {
            "threshold": [int(k[0]) if (k == k[0]).all() else None for k in each],
            "threshold_label": [by_stratum(k, each_has_its_own(null)) for k in each],
            "level": (expected / F).tolist(),
            "expected_false_positives": expected.tolist(),
        }
    return ties, {
        "alpha": stops,
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
