"""Plots of a selection: display objects for matplotlib, as in scikit-learn."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nullforest._util.errors import check_known, optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nullforest.report.plots.counts import CountsDisplay as CountsDisplay
    from nullforest.report.plots.counts import ManhattanDisplay as ManhattanDisplay
    from nullforest.report.plots.counts import StabilityDisplay as StabilityDisplay
    from nullforest.report.plots.counts import TrajectoryDisplay as TrajectoryDisplay
    from nullforest.report.plots.counts import VolcanoDisplay as VolcanoDisplay
    from nullforest.report.plots.values import CorrelationDisplay as CorrelationDisplay
    from nullforest.report.plots.values import FeaturesDisplay as FeaturesDisplay
    from nullforest.report.plots.values import SurvivalDisplay as SurvivalDisplay
    from nullforest.selection.selection import Selection

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

#: The colours of the report: other features, selected ones, known ones, the null distribution.
OTHER, SELECTED, KNOWN, NULL, INK = "#9fb0bf", "#c2410c", "#15803d", "#1d4ed8", "#1c2733"
#: The module of each display, which is imported when first drawn.
_HOMES = {
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
DISPLAYS = {name.removesuffix("Display").lower(): name for name in _HOMES}
__all__ = sorted([*_HOMES, "Display", "plot"])


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


class Display:
    """A plot that keeps its data and what was drawn, as in scikit-learn.

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
        Where it was drawn; set by `plot`.

    Examples
    --------
    >>> import nullforest as nf
    >>> X, y, relevant = nf.simulate.independent(100, 300, n_relevant=5, relevance=0.6)
    >>> display = nf.select(nf.grow(X, y, trees=400)).plot("volcano")
    >>> isinstance(display, nf.plots.Display), type(display).__name__
    (True, 'VolcanoDisplay')
    """

    ax_: Axes
    figure_: Figure

    def _axes(self, ax: Axes | None, size: tuple[float, float] = (7.0, 4.0)) -> Axes:
        """The axes to draw into: those given, or new ones."""
        if ax is None:
            pyplot = optional("matplotlib.pyplot", "plot", "Drawing")
            ax = pyplot.subplots(figsize=size, layout="constrained")[1]
        ax.spines[["top", "right"]].set_visible(False)
        self.ax_ = ax
        figure: Any = ax.figure
        self.figure_ = figure
        return ax


def log_p(pvalues: ArrayLike) -> Floats:
    """−log₁₀ p; a p-value of zero is shown as the smallest number there is."""
    p = np.maximum(np.asarray(pvalues, float), np.finfo(float).tiny)
    return np.asarray(-np.log10(p) + 0.0)
