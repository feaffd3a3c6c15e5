"""What does a selection look like on paper? Display objects for matplotlib, as in scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nullforest._util.errors import InputError
from nullforest.report.plots.base import Display
from nullforest.report.plots.counts import CountsDisplay
from nullforest.report.plots.manhattan import ManhattanDisplay
from nullforest.report.plots.trajectory import StabilityDisplay, TrajectoryDisplay
from nullforest.report.plots.volcano import VolcanoDisplay

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

KINDS: dict[str, Any] = {
    "counts": CountsDisplay,
    "manhattan": ManhattanDisplay,
    "volcano": VolcanoDisplay,
    "stability": StabilityDisplay,
    "trajectory": TrajectoryDisplay,
}


def plot(selection: Selection, kind: str = "counts", **options: Any) -> Display:
    """Draw a selection; see :meth:`nullforest.Selection.plot`."""
    if kind not in KINDS:
        raise InputError(f"There is no plot {kind!r}; choose one of {', '.join(KINDS)}.")
    display: Display = KINDS[kind].from_selection(selection, **options)
    return display
