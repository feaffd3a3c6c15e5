"""What do all plots share? Axes to draw into, colours, and how p-values are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nullforest._util.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nullforest.engine.watching import Trajectory
    from nullforest.selection.selection import Selection

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

#: The colours of the report: other features, selected ones, those known to matter, the null.
OTHER, SELECTED, KNOWN, NULL, INK = "#9fb0bf", "#c2410c", "#15803d", "#1d4ed8", "#1c2733"
#: Points beyond which a vector graphic would take longer to open than anybody waits.
MOST_POINTS = 5000


class Display:
    """A plot whose data are kept beside what was drawn, as in scikit-learn.

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
        Where it was drawn; there after `plot`.
    """

    ax_: Axes
    figure_: Figure

    def _axes(self, ax: Axes | None, size: tuple[float, float] = (7.0, 4.0)) -> Axes:
        """The axes to draw into: those given, or new ones."""
        if ax is None:
            try:
                import matplotlib.pyplot as plt
            except ImportError:
                raise MissingExtraError("matplotlib", "plot", "Drawing") from None
            ax = plt.subplots(figsize=size, layout="constrained")[1]
        ax.spines[["top", "right"]].set_visible(False)
        self.ax_ = ax
        figure: Any = ax.figure
        self.figure_ = figure
        return ax


def log_p(pvalues: ArrayLike) -> Floats:
    """−log₁₀ p; a p-value of zero is shown as the smallest number there is.

    Examples
    --------
    >>> log_p([0.001, 1.0]).tolist()
    [3.0, 0.0]
    """
    p = np.maximum(np.asarray(pvalues, float), np.finfo(float).tiny)
    return np.asarray(-np.log10(p) + 0.0)


def largest_selected_p(selection: Selection) -> float:
    """The p-value that had to be reached: alpha itself, or the largest that was selected.

    Where an adjusted rate selects nothing it is what a single feature would have needed.
    """
    if selection.error == "fpr":
        return selection.alpha
    if selection.support.any():
        return float(selection.pvalues[selection.support].max())
    return selection.alpha / len(selection.pvalues)


def growth_of(selection: Selection) -> Trajectory:
    """What was seen of the forest while it grew."""
    if selection.trajectory is None:
        raise InputError(
            "This selection does not know how its forest grew; make it with "
            "nullforest.watch(X, y, ...) to see its course."
        )
    return selection.trajectory


def name_points(
    ax: Axes, names: NDArray[np.str_], x: Floats, y: Floats, chosen: Mask, most: int
) -> list[Any]:
    """Write the names of the highest chosen points beside them, left and right in turn."""
    highest = np.flatnonzero(chosen)
    highest = highest[np.argsort(-y[highest], kind="stable")][:most]
    return [
        ax.annotate(
            str(names[i]),
            (float(x[i]), float(y[i])),
            xytext=(-5, 0) if turn % 2 else (5, 0),
            textcoords="offset points",
            ha="right" if turn % 2 else "left",
            va="center",
            fontsize="x-small",
            color=INK,
        )
        for turn, i in enumerate(highest)
    ]
