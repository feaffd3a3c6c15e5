"""Histograms of the counts beside their null distribution."""

from __future__ import annotations

from typing import Any

import numpy as np

from nullforest.selection.selection import Selection

#: A bin is this share of its count wide, so that counts of 3 and of 3 000 are seen side by side.
BIN_GROWTH = 0.15


def histogram(selection: Selection) -> dict[str, Any]:
    """Bin the counts of a selection.

    `bins` are a list of {low, high, features, expected}, both ends inside the bin. `threshold` is
    the upper end of a bin, or None where strata have different thresholds.

    Examples
    --------
    >>> import nullforest as nf
    >>> t = nf.Tally.from_counts([12, 1, 2, 2, 3], nodes_per_tree=[4] * 5, n_samples=20)
    >>> drawn = histogram(nf.select(t, alpha=0.01, error="fpr", null="paper"))
    >>> [b["features"] for b in drawn["bins"][:4]], drawn["threshold"]
    ([0, 1, 2, 1], 8)
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
    low = np.array(edges[:-1])
    high = np.array(edges[1:]) - 1
    features = np.histogram(counts, bins=edges)[0]
    tail = null.n_features * np.asarray(null.sf(np.append(-1, high)))
    expected = np.maximum(tail[:-1] - tail[1:], 0.0)
    return {
        "threshold": threshold,
        "bins": [
            {"low": int(a), "high": int(b), "features": int(n), "expected": float(e)}
            for a, b, n, e in zip(low, high, features, expected, strict=True)
        ],
    }
