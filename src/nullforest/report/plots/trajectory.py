"""How did the features fare as trees were added? Stability paths and counts against trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from nullforest.report.plots.base import (
    INK,
    NULL,
    OTHER,
    SELECTED,
    Display,
    Floats,
    Ints,
    Mask,
    growth_of,
    log_p,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from nullforest.selection.selection import Selection


@dataclass(eq=False)
class StabilityDisplay(Display):
    """Stability path: the adjusted p-value of the leading features against the number of trees.

    Attributes
    ----------
    trees : (B,) int
        Number of trees at each look.
    log_adjusted : (B, M) float
        −log₁₀ of the p-values that were compared with alpha.
    support : (M,) bool
        Which of the features all trees select.
    limit : float
        −log₁₀ alpha: a feature is selected above it.
    names : (M,) str
    lines_ : list of Line2D
        One per feature; there after `plot`.
    limit_line_

    Examples
    --------
    >>> import numpy as np, nullforest as nf
    >>> from nullforest.report.plots import StabilityDisplay
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(100, 200)), np.arange(100) % 2
    >>> X[:, :3] += 2 * y[:, None]
    >>> display = StabilityDisplay.from_selection(nf.watch(X, y, error="fwer", trees=200))
    >>> display.trees[-1], int(display.support.sum())
    (np.int64(200), 3)
    """

    trees: Ints
    log_adjusted: Floats
    support: Mask
    limit: float
    names: NDArray[np.str_]

    @classmethod
    def from_selection(cls, selection: Selection, *, ax: Axes | None = None) -> Self:
        """Draw a selection made by :func:`nullforest.watch`."""
        trajectory = growth_of(selection)
        return cls(
            trees=trajectory.trees,
            log_adjusted=log_p(trajectory.adjusted),
            support=selection.support[trajectory.followed],
            limit=float(log_p(selection.alpha)),
            names=selection.tally.names[trajectory.followed],
        ).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw into the axes given, or into new ones."""
        ax = self._axes(ax)
        self.lines_ = _lines(ax, self.trees, self.log_adjusted, self.support, self.names)
        self.limit_line_ = ax.axhline(self.limit, color=INK, ls="--", lw=1)
        ax.annotate(
            "selected above ",
            (1.0, self.limit),
            xycoords=("axes fraction", "data"),
            ha="right",
            va="bottom",
            fontsize="small",
        )
        ax.set_ylim(0, None)
        ax.set_ylabel("−log₁₀ adjusted p")
        return self


@dataclass(eq=False)
class TrajectoryDisplay(Display):
    """Count of the leading features against the number of trees, with threshold and null.

    Attributes
    ----------
    trees : (B,) int
        Number of trees at each look.
    counts : (B, M) int
    support : (M,) bool
        Which of the features all trees select.
    thresholds : (B,) int
        Count to exceed at each look.
    expected : (B,) float
        Expected count of a null feature at each look.
    names : (M,) str
    lines_, threshold_line_, null_line_
        What was drawn; there after `plot`.
    """

    trees: Ints
    counts: Ints
    support: Mask
    thresholds: Ints
    expected: Floats
    names: NDArray[np.str_]

    @classmethod
    def from_selection(cls, selection: Selection, *, ax: Axes | None = None) -> Self:
        """Draw a selection made by :func:`nullforest.watch`."""
        trajectory = growth_of(selection)
        return cls(
            trees=trajectory.trees,
            counts=trajectory.counts,
            support=selection.support[trajectory.followed],
            thresholds=trajectory.thresholds,
            expected=trajectory.expected,
            names=selection.tally.names[trajectory.followed],
        ).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw into the axes given, or into new ones."""
        ax = self._axes(ax)
        self.lines_ = _lines(ax, self.trees, self.counts, self.support, self.names)
        (self.threshold_line_,) = ax.plot(
            self.trees, self.thresholds, color=INK, ls="--", lw=1.2, label="count to exceed"
        )
        (self.null_line_,) = ax.plot(
            self.trees, self.expected, color=NULL, lw=2, label="expected by chance"
        )
        ax.set_ylabel("how often a feature was chosen")
        ax.set_yscale("symlog", linthresh=1.0)
        ax.set_ylim(0, None)
        ax.legend(frameon=False, loc="upper left")
        return self


def _lines(ax: Axes, trees: Ints, values: Any, support: Mask, names: NDArray[np.str_]) -> list[Any]:
    """One line per feature, those selected above the others."""
    lines = []
    for i, name in enumerate(names):
        color, order = (SELECTED, 2.5) if support[i] else (OTHER, 2.0)
        lines += ax.plot(trees, values[:, i], color=color, lw=1.3, zorder=order, label=f"_{name}")
    ax.set_xscale("log")
    ax.set_xlim(trees[0], trees[-1])
    ax.set_xlabel("trees")
    return lines
