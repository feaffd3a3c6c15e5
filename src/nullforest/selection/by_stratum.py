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
    null, tested = selection.null, np.flatnonzero(selection.tally.varying)
    if null.feature_strata is None or null.kind == "shadows":
        return []
    strata = null.feature_strata[tested]
    if strata.min() == strata.max():
        return []
    exceeding, expected = null.pvalues(selection.thresholds + 1), null.expected_counts()
    members = [tested[strata == number] for number in np.unique(strata)]
    return [
        {
            "features": len(columns),
            "expected_count": float(expected[columns[0]]),
            "threshold": int(selection.thresholds[columns[0]]),
            "expected_false_positives": float(exceeding[columns].sum()),
            "selected": int(selection.support[columns].sum()),
        }
        for columns in members
    ]
