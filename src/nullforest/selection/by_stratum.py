"""A selection stratum by stratum: features, thresholds and expected false positives of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from nullforest.selection.selection import Selection


def strata_of(selection: Selection) -> list[dict[str, Any]]:
    """One row for each stratum, as plain numbers; empty where all features share one, or none do.

    Each row has the number of features, the count expected under the null, the count to exceed
    (`threshold`), the number of false positives expected if all features were null, and the number
    of selected features. The last two add to those of the selection.

    Examples
    --------
    >>> import nullforest as nf
    >>> t = nf.Tally.from_counts([12, 1, 2, 2, 3], nodes_per_tree=[4] * 5, n_samples=20)
    >>> strata_of(nf.select(t, null="paper"))
    []
    """
    numbers, null = selection.null.feature_strata, selection.null
    if numbers is None or null.kind == "shadows":
        return []
    names, first, sizes = np.unique(numbers, return_index=True, return_counts=True)
    if len(names) < 2:
        return []
    exceeding = null.pvalues(selection.thresholds + 1)
    expected = null.expected_counts()
    return [
        {
            "features": int(size),
            "expected_count": float(expected[at]),
            "threshold": int(selection.thresholds[at]),
            "expected_false_positives": float(exceeding[numbers == name].sum()),
            "selected": int(selection.support[numbers == name].sum()),
        }
        for name, at, size in zip(names, first, sizes, strict=True)
    ]
