"""Trajectories over trees: adjusted p-values and counts of the leading features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import InputError
from nullforest.report.plots import base
from nullforest.report.plots.base import INK, Display, Floats, Ints, Mask

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from nullforest.selection.selection import Selection
    from nullforest.selection.trajectory import Trajectory


@dataclass(eq=False)
class StabilityDisplay(Display):
    """Stability path: the adjusted p-value of the leading features against the number of trees.

    Attributes
    ----------
    trees : (B,) int
        Numbers of trees at which the forest was tested.
    log_adjusted : (B, M) float
        −log₁₀ of the p-values that were compared with alpha.
    support : (M,) bool
        Which of the features are selected by all trees.
    limit : float
        −log₁₀ alpha: a feature is selected above it.
    names : (M,) str
    lines_ : list of Line2D
        One per feature; set by `plot`.
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
        trajectory, followed = _followed(selection)
        return cls(
            log_adjusted=base.log_p(trajectory.adjusted),
            limit=float(base.log_p(selection.alpha)),
            **followed,
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
    """Counts of the leading features against the number of trees, with threshold and mean.

    Attributes
    ----------
    trees, support, names
        As in :class:`StabilityDisplay`.
    counts : (B, M) int
    thresholds : (B,) float
        Count to exceed; NaN where strata have thresholds of their own.
    expected : (B,) float
        Expected count of a null feature, the mean over all strata.
    lines_, threshold_line_, null_line_
        What was drawn; set by `plot`.
    """

    trees: Ints
    counts: Ints
    support: Mask
    thresholds: Floats
    expected: Floats
    names: NDArray[np.str_]

    @classmethod
    def from_selection(cls, selection: Selection, *, ax: Axes | None = None) -> Self:
        """Draw a selection made by :func:`nullforest.watch`."""
        trajectory, followed = _followed(selection)
        return cls(
            counts=trajectory.counts,
            thresholds=trajectory.thresholds,
            expected=trajectory.expected,
            **followed,
        ).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw into the axes given, or into new ones."""
        ax = self._axes(ax)
        self.lines_ = _lines(ax, self.trees, self.counts, self.support, self.names)
        (self.threshold_line_,) = ax.plot(
            self.trees,
            self.thresholds,
            color=INK,
            ls="--",
            lw=1.2,
            label="_" if np.isnan(self.thresholds).all() else "count to exceed",
        )
        (self.null_line_,) = ax.plot(
            self.trees, self.expected, color=base.NULL, lw=2, label="expected under the null"
        )
        ax.set_ylabel("selection count")
        ax.set_yscale("symlog", linthresh=1.0)
        ax.set_ylim(0, None)
        ax.legend(frameon=False, loc="upper left")
        return self


def _followed(selection: Selection) -> tuple[Trajectory, dict[str, Any]]:
    """The trajectory of a selection, and what both plots show of the features in it."""
    trajectory = selection.trajectory
    if trajectory is None:
        raise InputError(
            "This selection has no trajectory over trees; make it with nullforest.watch(X, y, ...)."
        )
    return trajectory, {
        "trees": trajectory.trees,
        "support": selection.support[trajectory.followed],
        "names": selection.tally.names[trajectory.followed],
    }


def _lines(ax: Axes, trees: Ints, values: Any, support: Mask, names: NDArray[np.str_]) -> list[Any]:
    """One line per feature, those selected above the others."""
    lines = []
    for i, name in enumerate(names):
        color, order = (base.SELECTED, 2.5) if support[i] else (base.OTHER, 2.0)
        lines += ax.plot(trees, values[:, i], color=color, lw=1.3, zorder=order, label=f"_{name}")
    ax.set_xscale("log")
    ax.set_xlim(trees[0], trees[-1])
    ax.set_xlabel("trees")
    return lines
