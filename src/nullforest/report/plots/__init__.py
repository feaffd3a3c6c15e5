"""Plots of a selection: display objects for matplotlib, as in scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nullforest._util.errors import check_known
from nullforest.report.plots.counts import (
    CountsDisplay,
    ManhattanDisplay,
    StabilityDisplay,
    TrajectoryDisplay,
    VolcanoDisplay,
)
from nullforest.report.plots.display import Display
from nullforest.report.plots.values import CorrelationDisplay, FeaturesDisplay, SurvivalDisplay

if TYPE_CHECKING:
    from nullforest.selection.selection import Selection

__all__ = [
    "CorrelationDisplay",
    "CountsDisplay",
    "Display",
    "FeaturesDisplay",
    "ManhattanDisplay",
    "StabilityDisplay",
    "SurvivalDisplay",
    "TrajectoryDisplay",
    "VolcanoDisplay",
    "plot",
]
#: Every kind of plot and its display.
DISPLAYS: dict[str, Any] = {
    "counts": CountsDisplay,
    "manhattan": ManhattanDisplay,
    "volcano": VolcanoDisplay,
    "stability": StabilityDisplay,
    "trajectory": TrajectoryDisplay,
    "survival": SurvivalDisplay,
    "features": FeaturesDisplay,
    "correlation": CorrelationDisplay,
}


def plot(selection: Selection, kind: str = "counts", **options: Any) -> Display:
    """Draw a selection; see :meth:`nullforest.Selection.plot`.

    Examples
    --------
    >>> import nullforest as nf
    >>> X, y, relevant = nf.simulate.independent(100, 300, n_relevant=5, relevance=0.6)
    >>> type(nf.plots.plot(nf.select(nf.grow(X, y, trees=400)), "counts")).__name__
    'CountsDisplay'
    """
    check_known("plot", kind, DISPLAYS)
    display: Display = DISPLAYS[kind].from_selection(selection, **options)
    return display
