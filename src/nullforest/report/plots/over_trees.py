"""Trajectories over trees: adjusted p-values and counts of the leading features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import InputError
from nullforest.report.plots.display import INK, NULL, OTHER, SELECTED, Display, Floats, Ints, log_p

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from nullforest.selection.selection import Selection
    from nullforest.selection.trajectory import Trajectory


@dataclass(eq=False)
class _OverTrees(Display):
    trees: Ints
    support: NDArray[np.bool_]
    names: NDArray[np.str_]

    def _lines(self, ax: Axes, values: Any) -> list[Any]:
        """One line per feature, those selected above the others."""
        lines = []
        for line, selected, name in zip(values.T, self.support, self.names, strict=True):
            color, order = (SELECTED, 2.5) if selected else (OTHER, 2.0)
            lines += ax.plot(self.trees, line, color=color, lw=1.3, zorder=order, label=f"_{name}")
        ax.set_xscale("log")
        ax.set_xlim(self.trees[0], self.trees[-1])
        ax.set_xlabel("trees")
        return lines


@dataclass(eq=False)
class StabilityDisplay(_OverTrees):
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

    log_adjusted: Floats
    limit: float

    @classmethod
    def from_selection(cls, selection: Selection, *, ax: Axes | None = None) -> Self:
        """Draw a selection made by :func:`nullforest.watch`."""
        trajectory, followed = _followed(selection)
        shown = log_p(trajectory.adjusted), float(log_p(selection.alpha))
        return cls(*followed, *shown).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw into the axes given, or into new ones."""
        ax = self._axes(ax)
        self.lines_ = self._lines(ax, self.log_adjusted)
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
class TrajectoryDisplay(_OverTrees):
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

    Examples
    --------
    >>> import numpy as np, nullforest as nf
    >>> from nullforest.report.plots import TrajectoryDisplay
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(100, 200)), np.arange(100) % 2
    >>> X[:, :3] += 2 * y[:, None]
    >>> display = TrajectoryDisplay.from_selection(nf.watch(X, y, error="fwer", trees=200))
    >>> display.trees[-1], int(display.support.sum())
    (np.int64(200), 3)
    """

    counts: Ints
    thresholds: Floats
    expected: Floats

    @classmethod
    def from_selection(cls, selection: Selection, *, ax: Axes | None = None) -> Self:
        """Draw a selection made by :func:`nullforest.watch`."""
        trajectory, followed = _followed(selection)
        shown = trajectory.counts, trajectory.thresholds, trajectory.expected
        return cls(*followed, *shown).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw into the axes given, or into new ones."""
        ax = self._axes(ax)
        self.lines_ = self._lines(ax, self.counts)
        (self.threshold_line_,) = ax.plot(
            self.trees,
            self.thresholds,
            color=INK,
            ls="--",
            lw=1.2,
            label="_" if np.isnan(self.thresholds).all() else "count to exceed",
        )
        (self.null_line_,) = ax.plot(
            self.trees, self.expected, color=NULL, lw=2, label="expected under the null"
        )
        ax.set_ylabel("selection count")
        ax.set_yscale("symlog", linthresh=1.0)
        ax.set_ylim(0, None)
        ax.legend(frameon=False, loc="upper left")
        return self


def _followed(selection: Selection) -> tuple[Trajectory, tuple[Any, Any, Any]]:
    """The trajectory of a selection, and what both plots show of the features in it."""
    trajectory = selection.trajectory
    if trajectory is None:
        raise InputError(
            "This selection has no trajectory over trees; make it with nullforest.watch(X, y, ...)."
        )
    rows = trajectory.followed
    return trajectory, (trajectory.trees, selection.support[rows], selection.tally.names[rows])
