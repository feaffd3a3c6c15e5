"""Summaries: a selection as a plain dict, from which every format of the report is made."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import numpy as np

from nullforest import __version__
from nullforest.data.effects import plain_rows
from nullforest.report.cautions import cautions
from nullforest.report.charts import histogram, pictures, plain_numbers, ties_and_slider
from nullforest.report.methods import methods, survival_facts
from nullforest.report.render import check_link
from nullforest.selection.error_rates import ERROR_RATES
from nullforest.selection.selection import Selection, data_of, each_has_its_own

#: Rows of the selected features that a printed table may have.
MOST_ROWS = 2000
#: Digits that hold a double.
ALL_DIGITS = 17


def summarize(
    selection: Selection,
    run: Mapping[str, Any] | None = None,
    *,
    command: str | None = None,
    X: Any = None,
    y: Any = None,
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
    X, y : array-like, optional
        The data, for pictures of features, for warnings (duplicated columns, imbalanced classes),
        and to name the events and the follow-up of survival times; y is taken by the criterion of
        the forest.
    features : int, optional
        How many features have a picture, with X; 200 where not given, 0 for none.
    link : str, optional
        Web address to which names link; see :func:`nullforest.report.render.check_link`.

    Returns
    -------
    dict
        `headline`, `explanation`, `expected_errors`, `expected_agreement`, `warnings`; `decision`:
        the error rate and the result; `rows`: the selected features, the first 2 000 of them;
        `names`, `columns`, `ties`, `slider`: what a decision at another error rate needs, see
        :mod:`nullforest.report.charts`; `effects`: direction and size of every feature, to four
        digits, or None; `annotations`, `link`; `pictures`, or None, see
        :func:`nullforest.report.charts.pictures`; `histogram`; `trajectory`, or None; `run`:
        label → value; `command`, or None; `methods`, `references`, `version`.

    Examples
    --------
    >>> import nullforest as nf
    >>> t = nf.Tally.from_counts([12, 1, 2, 2, 3], nodes_per_tree=[4] * 5, n_samples=20)
    >>> summary = summarize(nf.select(t, alpha=0.01, null="paper"), {"seed": 7})
    >>> summary["rows"][0]["feature"], summary["run"]["seed"]
    ('x0', 7)
    """
    X, target = data_of(selection, X, y)
    run = dict(run or {})
    if target is not None and target.survival is not None:
        run |= survival_facts(target.survival)
    notes, effects, trajectory = selection.annotations, selection.effects, selection.trajectory
    if link is not None:
        check_link(link, () if notes is None else notes)
    selected = selection.table[selection.table["selected"]].head(MOST_ROWS)
    strata = selection.null.feature_strata
    ties, slider = ties_and_slider(selection)
    paragraph, references = methods(selection, run)
    return {
        "headline": selection.headline(),
        "explanation": selection.explanation(),
        "expected_errors": selection.expected_errors(),
        "expected_agreement": selection.expected_agreement(),
        "warnings": [*selection.notes, *cautions(selection, X, target)],
        "decision": {
            "alpha": selection.alpha,
            "error": selection.error,
            "threshold": None if np.isnan(selection.threshold) else int(selection.threshold),
            "level": selection.level,
            "expected_false_positives": selection.expected_false_positives,
            "selected": selection.n_selected,
            "tested_in": each_has_its_own(selection.null)
            if strata is not None and strata.any()
            else None,
            "expected_count": selection.own_expected_counts(),
        },
        "strata": selection.strata(),
        "error_rates": dict(ERROR_RATES),
        "rows": plain_rows(selected.drop(columns="selected").to_dict("records")),
        "trees": selection.tally.n_trees,
        "names": selection.tally.names.tolist(),
        "columns": None if selection.columns is None else selection.columns.tolist(),
        "effects": None
        if effects is None
        else {
            **effects.to_dict(),
            "heads": effects.heads,
            "words": effects.words,
            "columns": {name: _column(values) for name, values in effects.columns.items()},
        },
        "annotations": {}
        if notes is None
        else {str(name): _column(values, 6) for name, values in notes.items()},
        "link": link,
        "pictures": None if X is None else pictures(selection, X, target, features),
        "ties": ties,
        "slider": slider,
        "histogram": histogram(selection),
        "trajectory": None
        if trajectory is None
        else {
            "trees": trajectory.trees.tolist(),
            "selected": trajectory.n_selected.tolist(),
            "agreement": trajectory.agreement.tolist(),
            "oob_error": plain_numbers(trajectory.oob_errors, ALL_DIGITS),
            "guessing_error": plain_numbers(np.array(trajectory.guessing_error), ALL_DIGITS),
        },
        "run": _run(selection, run),
        "command": command,
        "methods": paragraph,
        "references": references,
        "version": __version__,
    }


def _column(values: Any, digits: int = 4) -> dict[str, Any]:
    """A column about the features: text as codes of its levels, numbers to so many digits."""
    if values.dtype.kind in "fiu":
        return {"levels": None, "values": plain_numbers(np.asarray(values, float), digits)}
    texts = np.array(["" if value is None or value != value else str(value) for value in values])
    levels, codes = np.unique(texts, return_inverse=True)
    return {"levels": levels.tolist(), "values": codes.tolist()}


def _run(selection: Selection, run: dict[str, Any]) -> dict[str, Any]:
    tally, null = selection.tally, selection.null
    facts = run | {
        "samples": tally.n_samples,
        "features": tally.n_features,
        "forest": tally.source,
        "trees": tally.n_trees,
        "internal nodes": tally.n_nodes,
        "candidates per node": "unknown" if tally.candidates is None else tally.candidates,
        "features drawn": {"node": "per node", "tree": "per tree", "both": "per tree and node"}[
            tally.draw
        ],
        "null model": null.kind,
        **{
            f"null model: {name.replace('_', ' ')}": f"{value:.4g}"
            for name, value in null.describe().items()
            if isinstance(value, int | float) and np.isfinite(value)
        },
        "error rate": f"{ERROR_RATES[selection.error]} of {selection.alpha:g}",
        "count to exceed": selection.own_thresholds(),
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
