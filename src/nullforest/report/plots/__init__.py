"""Plots of a selection: display objects for matplotlib, as in scikit-learn."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from nullforest._util.errors import check_known

if TYPE_CHECKING:
    from nullforest.report.plots.counts import CountsDisplay as CountsDisplay
    from nullforest.report.plots.counts import ManhattanDisplay as ManhattanDisplay
    from nullforest.report.plots.counts import StabilityDisplay as StabilityDisplay
    from nullforest.report.plots.counts import TrajectoryDisplay as TrajectoryDisplay
    from nullforest.report.plots.counts import VolcanoDisplay as VolcanoDisplay
    from nullforest.report.plots.display import Display as Display
    from nullforest.report.plots.values import CorrelationDisplay as CorrelationDisplay
    from nullforest.report.plots.values import FeaturesDisplay as FeaturesDisplay
    from nullforest.report.plots.values import SurvivalDisplay as SurvivalDisplay
    from nullforest.selection.selection import Selection

#: The module of each display, which is imported when first drawn.
_HOMES = {
    "Display": "display",
    "CountsDisplay": "counts",
    "ManhattanDisplay": "counts",
    "VolcanoDisplay": "counts",
    "StabilityDisplay": "counts",
    "TrajectoryDisplay": "counts",
    "SurvivalDisplay": "values",
    "FeaturesDisplay": "values",
    "CorrelationDisplay": "values",
}
#: Every kind of plot and its display.
DISPLAYS = {name.removesuffix("Display").lower(): name for name in _HOMES if name != "Display"}
__all__ = sorted([*_HOMES, "plot"])


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


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
    display: Display = __getattr__(DISPLAYS[kind]).from_selection(selection, **options)
    return display
