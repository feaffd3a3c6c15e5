"""What belongs in a report? A selection as a plain dict that any page can be made from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from nullforest import __version__
from nullforest.decisions import ERROR_RATES

if TYPE_CHECKING:
    from nullforest.selection import Selection

#: Rows of the table; a page of all 10⁵ features would be too long to open.
MOST_ROWS = 2000
#: A bin is this share of its count wide, so that counts of 3 and of 3 000 are seen side by side.
BIN_GROWTH = 0.15

CITATION = (
    "E. Konukoglu and M. Ganz, “Approximate False Positive Rate Control in Selection Frequency "
    "for Random Forest”, arXiv:1410.2838 (2014)"
)
_NULLS = {
    "paper": "the binomial model of Konukoglu and Ganz, in which every node chooses among its "
    "candidates at random",
    "bagged": "a model of features that mean nothing in which all trees share the same samples, "
    "so that a chance association is found again and again",
    "probes": "the behaviour of virtual probes, random features that were compared with the "
    "chosen one at the nodes of the same forest",
}


def summarize(selection: Selection, extras: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """List what a report shows, as numbers, strings, lists and dicts alone.

    Parameters
    ----------
    selection : Selection
    extras : mapping, optional
        Further facts of the run, by their label.

    Returns
    -------
    dict
        `headline`, `explanation`, `notes`, `rows` (selected features), `left_out` (rows beyond
        the first 2 000), `histogram`, `run` (label → value), `methods`, `citation`, `version`.

    Examples
    --------
    >>> import nullforest as nf
    >>> t = nf.Tally.from_counts([12, 1, 2, 2, 3], nodes_per_tree=[4] * 5, n_samples=20)
    >>> summary = summarize(nf.select(t, alpha=0.01, null="paper"), {"seed": 7})
    >>> summary["rows"][0]["feature"], summary["run"]["seed"]
    ('x0', 7)
    """
    table = selection.table
    chosen = table[table["selected"]].head(MOST_ROWS)
    return {
        "headline": selection.headline(),
        "explanation": selection.explanation(),
        "notes": list(selection.notes),
        "rows": [
            {"feature": str(row.pop("feature")), **row}
            for row in chosen.drop(columns="selected").to_dict("records")
        ],
        "left_out": selection.n_selected - len(chosen),
        "histogram": histogram(selection),
        "run": _run(selection, extras or {}),
        "methods": _methods(selection),
        "citation": CITATION,
        "version": __version__,
    }


def histogram(selection: Selection) -> dict[str, Any]:
    """How many features have which count, and how many the null expects.

    Returns
    -------
    dict
        `bins`: list of {low, high, features, expected}, both ends inside the bin; `threshold`,
        which is always the upper end of a bin.
    """
    counts, threshold = selection.counts, selection.threshold
    last = max(int(counts.max()), threshold + 1)
    edges = [0]
    while edges[-1] <= last:
        edge = edges[-1] + max(1, int(BIN_GROWTH * edges[-1]))
        if edges[-1] <= threshold < edge:
            edge = threshold + 1  # no bin may hold both selected and other counts
        edges.append(edge)
    low = np.array(edges[:-1])
    high = np.array(edges[1:]) - 1
    features = np.histogram(counts, bins=edges)[0]
    tail = selection.null.n_features * np.asarray(selection.null.sf(np.append(-1, high)))
    expected = np.maximum(tail[:-1] - tail[1:], 0.0)
    return {
        "threshold": int(threshold),
        "bins": [
            {"low": int(a), "high": int(b), "features": int(n), "expected": float(e)}
            for a, b, n, e in zip(low, high, features, expected, strict=True)
        ],
    }


def _run(selection: Selection, extras: Mapping[str, Any]) -> dict[str, Any]:
    tally = selection.tally
    run: dict[str, Any] = dict(extras)
    run |= {
        "samples": tally.n_samples,
        "features": tally.n_features,
        "forest": tally.source,
        "trees": tally.n_trees,
        "internal nodes": tally.n_nodes,
        "candidates per node": "unknown" if tally.candidates is None else tally.candidates,
        "features drawn": {"node": "per node", "tree": "per tree", "both": "per tree and node"}[
            tally.draw
        ],
        "null": selection.null.kind,
        "error rate": f"{ERROR_RATES[selection.error]} of {selection.alpha:g}",
        "count to exceed": selection.threshold,
        "level reached per feature": f"{selection.level:.3g}",
        "false positives expected were all features null": (
            f"{selection.expected_false_positives:.3g}"
        ),
    }
    if selection.seconds is not None:
        run["seconds"] = f"{selection.seconds:.2f}"
    run["nullforest"] = __version__
    return run


def _methods(selection: Selection) -> str:
    tally = selection.tally
    compared = "" if tally.candidates is None else f", comparing {tally.candidates} at each node"
    drawn = "once per tree" if tally.draw == "tree" else "anew at each node"
    return (
        f"A random forest of {tally.n_trees} trees ({tally.n_nodes} internal nodes) was grown on "
        f"{tally.n_samples} samples and {tally.n_features} features, with candidate features drawn "
        f"{drawn}{compared}. The selection frequency of each feature, the number of nodes that "
        f"split on it, was held against {_NULLS.get(selection.null.kind, selection.null.kind)}. "
        f"Features were selected at a {ERROR_RATES[selection.error]} of {selection.alpha:g}, "
        f"which asked for more than {selection.threshold} selections where "
        f"{selection.null.mean:.3g} are expected by chance. {selection.n_selected} features were "
        f"selected with nullforest {__version__}, which builds on Konukoglu and Ganz (2014)."
    )
