"""The base of all plots: axes, colours, and p-values on a log scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from nullforest._util.errors import optional
from nullforest.nulls.distribution import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: The colours of the report: other features, selected ones, known ones, the null distribution.
OTHER, SELECTED, KNOWN, NULL, INK = "#9fb0bf", "#c2410c", "#15803d", "#1d4ed8", "#1c2733"


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
