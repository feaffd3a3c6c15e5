"""Reports of a selection: summarize (numbers → plain dict), then render (dict → page)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nullforest.data.targets import as_target
from nullforest.report.markdown import render_markdown
from nullforest.report.notebook import notebook_html
from nullforest.report.render import render, render_json
from nullforest.report.summary import summarize
from nullforest.report.survival_facts import survival_facts
from nullforest.selection.selection import Selection

__all__ = ["notebook_html", "render", "render_html", "render_json", "render_markdown", "summarize"]


def render_html(
    selection: Selection,
    run: Mapping[str, Any] | None = None,
    *,
    command: str | None = None,
    X: Any = None,
    y: Any = None,
    features: int | None = None,
    link: str | None = None,
) -> str:
    """A selection as one HTML page that needs no network.

    Parameters
    ----------
    selection, run, command
        As in :func:`summarize`.
    X, y : array-like, optional
        The data, for pictures of features, for warnings, and to name the events and the follow-up
        of survival times.
    features, link
        As in :func:`summarize`.

    Returns
    -------
    str

    Examples
    --------
    >>> import nullforest as nf
    >>> from nullforest.report import render_html
    >>> t = nf.Tally.from_counts([12, 1, 2, 2, 3], nodes_per_tree=[4] * 5, n_samples=20)
    >>> page = render_html(nf.select(t, alpha=0.01, null="paper"))
    >>> page.startswith("<!DOCTYPE html>"), "1 of 5 features selected" in page
    (True, True)
    """
    target = None if y is None else as_target(y, selection.tally.n_samples)
    labels = None
    if target is not None and target.classes is not None:
        labels = target.classes[target.values]
    if target is not None and target.survival is not None:
        run = survival_facts(target.survival) | dict(run or {})
    about = {"X": X, "labels": labels, "target": target, "features": features, "link": link}
    return render(summarize(selection, run, command=command, **about))
