"""How is a selection shown to others? summarize (numbers → plain dict) → render (dict → page)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nullforest.report.render import render
from nullforest.report.summarize import summarize

if TYPE_CHECKING:
    from nullforest.selection import Selection

__all__ = ["render", "render_html", "summarize"]


def render_html(selection: Selection, extras: Mapping[str, Any] | None = None) -> str:
    """A selection as one HTML page that needs no network.

    Parameters
    ----------
    selection : Selection
    extras : mapping, optional
        What else a reader should know of the run (data, target, seed), by its label.

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
    return render(summarize(selection, extras))
