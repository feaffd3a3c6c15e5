"""What belongs in a report? A selection as a plain dict that any page can be made from."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from nullforest import __version__
from nullforest.report.cautions import cautions
from nullforest.report.histogram import histogram
from nullforest.report.kinds import counts_of, kinds_of, slider_of
from nullforest.report.methods import error_words, methods, references
from nullforest.selection.error_rates import ERROR_RATES

if TYPE_CHECKING:
    from nullforest.engine.watching import Trajectory
    from nullforest.selection.selection import Selection

#: Rows of the selected features that a printed table may have.
MOST_ROWS = 2000
#: What else the numbers depend on.
_PACKAGES = ("numpy", "scipy")


def summarize(
    selection: Selection,
    run: Mapping[str, Any] | None = None,
    *,
    command: str | None = None,
    X: Any = None,
    labels: Any = None,
) -> dict[str, Any]:
    """List what a report shows, as numbers, strings, lists and dicts alone.

    Parameters
    ----------
    selection : Selection
    run : mapping, optional
        Further facts of the run (data, target, seed), by their label.
    command : str, optional
        What to type to repeat the run.
    X : (S, F) array, optional
        The data, to warn of duplicated columns.
    labels : (S,) array-like, optional
        The classes, to warn of classes out of balance.

    Returns
    -------
    dict
        `headline`, `explanation`, `warnings`; `decision`: the error rate asked for and what came
        of it; `rows`: the selected features, the first 2 000 of them, and `left_out`, the number
        of the others; `names`, `kinds`, `counts`, `slider`: what is needed to decide anew, see
        :mod:`nullforest.report.kinds`; `histogram`; `trajectory`, or None; `run`: label → value;
        `command`, or None; `methods`, `references`, `version`.

    Examples
    --------
    >>> import nullforest as nf
    >>> t = nf.Tally.from_counts([12, 1, 2, 2, 3], nodes_per_tree=[4] * 5, n_samples=20)
    >>> summary = summarize(nf.select(t, alpha=0.01, null="paper"), {"seed": 7})
    >>> summary["rows"][0]["feature"], summary["run"]["seed"]
    ('x0', 7)
    """
    run = run or {}
    table = selection.table
    chosen = table[table["selected"]].head(MOST_ROWS)
    return {
        "headline": selection.headline(),
        "explanation": selection.explanation(),
        "warnings": [*selection.notes, *cautions(selection, X, labels)],
        "decision": {
            "alpha": selection.alpha,
            "error": selection.error,
            "threshold": int(selection.threshold),
            "level": selection.level,
            "expected_false_positives": selection.expected_false_positives,
            "selected": selection.n_selected,
            "expected_count": selection.null.mean,
        },
        "error_rates": error_words(),
        "rows": [
            {"feature": str(row.pop("feature")), **row}
            for row in chosen.drop(columns="selected").to_dict("records")
        ],
        "left_out": selection.n_selected - len(chosen),
        "names": selection.tally.names.tolist(),
        "kinds": kinds_of(selection),
        "counts": counts_of(selection),
        "slider": slider_of(selection),
        "histogram": histogram(selection),
        "trajectory": None if selection.trajectory is None else _trajectory(selection.trajectory),
        "run": _run(selection, run),
        "command": command,
        "methods": methods(selection, run),
        "references": references(selection),
        "version": __version__,
    }


def _trajectory(trajectory: Trajectory) -> dict[str, Any]:
    return {
        "trees": trajectory.trees.tolist(),
        "selected": trajectory.n_selected.tolist(),
        "agreement": trajectory.agreement.tolist(),
        "oob_error": [None if np.isnan(e) else float(e) for e in trajectory.oob_errors],
        "guessing_error": None
        if np.isnan(trajectory.guessing_error)
        else trajectory.guessing_error,
    }


def _run(selection: Selection, run: Mapping[str, Any]) -> dict[str, Any]:
    tally = selection.tally
    facts: dict[str, Any] = dict(run)
    facts |= {
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
        **_diagnostics(selection),
        "error rate": f"{ERROR_RATES[selection.error]} of {selection.alpha:g}",
        "count to exceed": selection.threshold,
        "level reached per feature": f"{selection.level:.3g}",
        "false positives expected were all features null": (
            f"{selection.expected_false_positives:.3g}"
        ),
    }
    if selection.seconds is not None:
        facts["seconds"] = f"{selection.seconds:.2f}"
    if tally.fingerprint is not None:
        facts["fingerprint of the data"] = tally.fingerprint
    packages = [f"{name} {version(name)}" for name in _PACKAGES]
    facts["versions"] = ", ".join(
        [f"nullforest {__version__}", f"Python {platform.python_version()}", *packages]
    )
    return facts


def _diagnostics(selection: Selection) -> dict[str, str]:
    """What the null tells of itself, in words; its kind is listed already."""
    told = selection.null.describe()
    return {
        f"null: {name.replace('_', ' ')}": f"{value:.4g}"
        for name, value in told.items()
        if isinstance(value, int | float) and np.isfinite(value)
    }
