"""Summaries: a selection as a plain dict, from which every format of the report is made."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nullforest import __version__
from nullforest.data.effects import Effects, plain_rows
from nullforest.data.targets import Target
from nullforest.report.cautions import cautions
from nullforest.report.histogram import histogram
from nullforest.report.links import check_link
from nullforest.report.methods import methods, references
from nullforest.report.pictures import FEATURES, pictures, plain_numbers
from nullforest.report.ties import ties_and_slider
from nullforest.selection.by_stratum import strata_of
from nullforest.selection.error_rates import ERROR_RATES
from nullforest.selection.selection import Selection
from nullforest.selection.sentences import each_has_its_own, own_expected_counts, own_thresholds
from nullforest.selection.trajectory import Trajectory

#: Rows of the selected features that a printed table may have.
MOST_ROWS = 2000


def summarize(
    selection: Selection,
    run: Mapping[str, Any] | None = None,
    *,
    command: str | None = None,
    X: Any = None,
    labels: Any = None,
    target: Target | None = None,
    features: int | None = None,
    link: str | None = None,
) -> dict[str, Any]:
    """Contents of a report as numbers, strings, lists and dicts alone.

    Parameters
    ----------
    selection : Selection
    run : mapping, optional
        Further facts of the run (data, target, seed), by their label.
    command : str, optional
        Command that repeats the run.
    X : (S, F) array or sparse matrix, optional
        The data, to warn of duplicated columns.
    labels : (S,) array-like, optional
        The classes, to warn of imbalance; None where the target is a number.
    target : Target, optional
        The target, for the pictures of features.
    features : int, optional
        How many features have a picture, with X; 200 where not given, 0 for none.
    link : str, optional
        Web address to which names link; see :func:`nullforest.report.links.check_link`.

    Returns
    -------
    dict
        `headline`, `explanation`, `expected_errors`, `expected_agreement`, `warnings`; `decision`:
        the error rate and the result; `rows`: the selected features, the first 2 000 of them, and
        `left_out`, the number of the others; `names`, `columns`, `ties`, `slider`: what a decision
        at another error rate needs, see :mod:`nullforest.report.ties`; `effects`: direction and
        size of every feature, to four digits, or None; `annotations`, `link`; `pictures`, or None,
        see :func:`nullforest.report.pictures.pictures`; `histogram`; `trajectory`, or None; `run`:
        label → value; `command`, or None; `methods`, `references`, `version`.

    Examples
    --------
    >>> import nullforest as nf
    >>> t = nf.Tally.from_counts([12, 1, 2, 2, 3], nodes_per_tree=[4] * 5, n_samples=20)
    >>> summary = summarize(nf.select(t, alpha=0.01, null="paper"), {"seed": 7})
    >>> summary["rows"][0]["feature"], summary["run"]["seed"]
    ('x0', 7)
    """
    run = run or {}
    if link is not None:
        check_link(link, () if selection.annotations is None else selection.annotations)
    table = selection.table
    selected = table[table["selected"]].head(MOST_ROWS)
    ties, slider = ties_and_slider(selection)
    columns = selection.columns
    return {
        "headline": selection.headline(),
        "explanation": selection.explanation(),
        "expected_errors": selection.expected_errors(),
        "expected_agreement": selection.expected_agreement(),
        "warnings": [*selection.notes, *cautions(selection, X, labels)],
        "decision": {
            "alpha": selection.alpha,
            "error": selection.error,
            "threshold": None if np.isnan(selection.threshold) else int(selection.threshold),
            "level": selection.level,
            "expected_false_positives": selection.expected_false_positives,
            "selected": selection.n_selected,
            "own": each_has_its_own(selection.null)
            if (strata := selection.null.feature_strata) is not None and strata.any()
            else None,
            "expected_count": own_expected_counts(selection),
        },
        "strata": strata_of(selection),
        "error_rates": dict(ERROR_RATES),
        "rows": plain_rows(selected.drop(columns="selected").to_dict("records")),
        "trees": selection.tally.n_trees,
        "left_out": selection.n_selected - len(selected),
        "names": selection.tally.names.tolist(),
        "columns": None if columns is None else columns.tolist(),
        "effects": None if selection.effects is None else _effects(selection.effects),
        "annotations": _annotations(selection.annotations),
        "link": link,
        "pictures": None
        if X is None
        else pictures(selection, X, target, FEATURES if features is None else features),
        "ties": ties,
        "slider": slider,
        "histogram": histogram(selection),
        "trajectory": None if selection.trajectory is None else _trajectory(selection.trajectory),
        "run": _run(selection, run),
        "command": command,
        "methods": methods(selection, run),
        "references": references(selection),
        "version": __version__,
    }


def _annotations(table: pd.DataFrame | None) -> dict[str, Any]:
    """Columns about the features: text as codes of its levels, numbers as they are."""
    if table is None:
        return {}
    return {
        str(name): {"levels": None, "values": plain_numbers(column.to_numpy(float), 6)}
        if column.dtype.kind in "fiu"
        else _coded(np.array(["" if v is None or v != v else str(v) for v in column], str))
        for name, column in table.items()
    }


def _coded(texts: NDArray[np.str_]) -> dict[str, Any]:
    levels, codes = np.unique(texts, return_inverse=True)
    return {"levels": levels.tolist(), "values": codes.tolist()}


def _effects(effects: Effects) -> dict[str, Any]:
    """Effects of all features: text as codes of its levels, numbers to four digits."""
    columns: dict[str, Any] = {}
    for name, values in effects.columns.items():
        if values.dtype.kind == "U":
            columns[name] = _coded(values)
        else:
            columns[name] = {"levels": None, "values": plain_numbers(values)}
    return {**effects.to_dict(), "heads": effects.heads, "words": effects.words} | {
        "columns": columns
    }


def _trajectory(trajectory: Trajectory) -> dict[str, Any]:
    return {
        "trees": trajectory.trees.tolist(),
        "selected": trajectory.n_selected.tolist(),
        "agreement": trajectory.agreement.tolist(),
        "oob_error": [_plain(error) for error in trajectory.oob_errors.tolist()],
        "guessing_error": _plain(trajectory.guessing_error),
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
        "null model": selection.null.kind,
        **{
            f"null model: {name.replace('_', ' ')}": f"{value:.4g}"
            for name, value in selection.null.describe().items()
            if isinstance(value, int | float) and np.isfinite(value)
        },
        "error rate": f"{ERROR_RATES[selection.error]} of {selection.alpha:g}",
        "count to exceed": own_thresholds(selection),
        "level reached per feature": f"{selection.level:.3g}",
        "false positives expected if all features were null": (
            f"{selection.expected_false_positives:.3g}"
        ),
    }
    if selection.agreement is not None:
        facts["expected agreement with another seed (Jaccard index)"] = (
            f"{selection.agreement.expected:.2f}"
        )
    if selection.seconds is not None:
        facts["seconds"] = f"{selection.seconds:.2f}"
    if tally.fingerprint is not None:
        facts["fingerprint of the data"] = tally.fingerprint
    facts["versions"] = (
        f"nullforest {__version__}, Python {platform.python_version()}, "
        f"numpy {np.__version__}, scipy {version('scipy')}"
    )
    return facts


def _plain(number: float) -> float | None:
    return None if np.isnan(number) else number
