"""Plots of a selection: display objects for matplotlib, as in scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nullforest._util.errors import InputError
from nullforest.report.plots.base import Display
from nullforest.report.plots.counts import CountsDisplay
from nullforest.report.plots.significance import ManhattanDisplay, VolcanoDisplay
from nullforest.report.plots.trajectory import StabilityDisplay, TrajectoryDisplay

if TYPE_CHECKING:
    from nullforest.selection.selection import Selection

__all__ = [
    "CountsDisplay",
    "Display",
    "ManhattanDisplay",
    "StabilityDisplay",
    "TrajectoryDisplay",
    "VolcanoDisplay",
    "plot",
]

DISPLAYS: dict[str, Any] = {
    "counts": CountsDisplay,
    "manhattan": ManhattanDisplay,
    "volcano": VolcanoDisplay,
    "stability": StabilityDisplay,
    "trajectory": TrajectoryDisplay,
}


def plot(selection: Selection, kind: str = "counts", **options: Any) -> Display:
    """Draw a selection; see :meth:`nullforest.Selection.plot`."""
    if kind not in DISPLAYS:
        raise InputError(f"There is no plot {kind!r}; choose one of {', '.join(DISPLAYS)}.")
    display: Display = DISPLAYS[kind].from_selection(selection, **options)
    return display
