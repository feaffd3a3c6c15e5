"""Reports of a selection: summarize (numbers → plain dict), then render (dict → page)."""

from __future__ import annotations

from typing import Any

from nullforest.report.markdown import notebook_html, render_markdown
from nullforest.report.render import render, render_json
from nullforest.report.summary import summarize
from nullforest.selection.selection import Selection

__all__ = ["notebook_html", "render", "render_html", "render_json", "render_markdown", "summarize"]


def render_html(selection: Selection, *run: Any, **options: Any) -> str:
    """A selection as one HTML page that needs no network; parameters as in :func:`summarize`.

    Examples
    --------
    >>> import nullforest as nf
    >>> from nullforest.report import render_html
    >>> t = nf.Tally.from_counts([12, 1, 2, 2, 3], nodes_per_tree=[4] * 5, n_samples=20)
    >>> page = render_html(nf.select(t, alpha=0.01, null="paper"))
    >>> page.startswith("<!DOCTYPE html>"), "1 of 5 features selected" in page
    (True, True)
    """
    return render(summarize(selection, *run, **options))
