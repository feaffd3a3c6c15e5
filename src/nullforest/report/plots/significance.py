"""Plots of −log₁₀ p: against position (Manhattan) and against the effect (volcano)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nullforest._util.errors import InputError
from nullforest._util.words import printable
from nullforest.report.plots.display import INK, OTHER, SELECTED, Display, Floats, Mask, log_p
from nullforest.selection.error_rates import critical_level

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from nullforest.selection.selection import Selection

#: Points beyond which a vector graphic takes too long to open, and points become an image.
MOST_POINTS = 5000
#: The second colour of neighbouring groups.
OTHER_TOO = "#64748b"
#: A count of zero has no place on a log scale; it is drawn at one half.
NEVER = 0.5


@dataclass(eq=False)
class _SignificanceDisplay(Display):
    log_pvalues: Floats
    support: Mask
    limit: float
    names: NDArray[np.str_]

    def _points(self, x: Floats, here: Mask, color: str, size: float) -> Any:
        image = len(x) > MOST_POINTS and color != SELECTED
        return self.ax_.scatter(
            x[here], self.log_pvalues[here], s=size, color=color, rasterized=image
        )

    def _limit_and_names(self, x: Floats, most: int) -> None:
        """Draw the limit, and name the highest selected points, left and right in turn."""
        self.limit_line_ = self.ax_.axhline(self.limit, color=INK, ls="--", lw=1)
        highest = np.flatnonzero(self.support)
        highest = highest[np.argsort(-self.log_pvalues[highest], kind="stable")][:most]
        self.names_ = [
            self.ax_.annotate(
                printable(self.names[i]),
                (float(x[i]), float(self.log_pvalues[i])),
                xytext=(-5, 0) if turn % 2 else (5, 0),
                textcoords="offset points",
                ha="right" if turn % 2 else "left",
                va="center",
                fontsize="x-small",
                color=INK,
            )
            for turn, i in enumerate(highest)
        ]
        self.ax_.set_ylabel("−log₁₀ p")
        self.ax_.set_ylim(0, None)


@dataclass(eq=False)
class ManhattanDisplay(_SignificanceDisplay):
    """−log₁₀ p of every feature at its position, as in genetics.

    Attributes
    ----------
    positions : (F,) float
        Where each feature is drawn; groups follow each other.
    log_pvalues : (F,) float
        −log₁₀ p of each feature.
    support : (F,) bool
        Which are selected.
    limit : float
        −log₁₀ of the p-value that had to be reached.
    names : (F,) str
    groups : (F,) int
        Number of each feature's group, in the order of their drawing.
    group_names : list of str
    points_ : list of PathCollection
        What was drawn: one per group, then the selected ones; set by `plot`.
    limit_line_
        The line at `limit`.

    Examples
    --------
    >>> import nullforest as nf
    >>> from nullforest.report.plots import ManhattanDisplay
    >>> t = nf.Tally.from_counts([12, 1, 2, 2, 3], nodes_per_tree=[4] * 5, n_samples=20)
    >>> display = ManhattanDisplay.from_selection(nf.select(t, 0.01, "fpr", "paper"))
    >>> display.limit, display.positions.tolist()
    (2.0, [0.0, 1.0, 2.0, 3.0, 4.0])
    """

    positions: Floats
    groups: NDArray[np.int64]
    group_names: list[str]

    @classmethod
    def from_selection(
        cls,
        selection: Selection,
        *,
        positions: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        named: int = 10,
        ax: Axes | None = None,
    ) -> Self:
        """Draw a selection.

        Parameters
        ----------
        selection : Selection
        positions : (F,) float, optional
            Position of each feature within its group; that of its annotations, or its column,
            where not given.
        groups : (F,) optional
            Chromosome, region or other group of each feature; they are drawn side by side in the
            order in which they first occur. The chromosome of its annotations where not given.
        named : int
            Selected features to name, the most significant ones.
        ax : Axes, optional
            Where to draw.
        """
        F, known = len(selection.pvalues), selection.annotations
        if positions is None and groups is None and known is not None and "chromosome" in known:
            positions, groups = known["position"].to_numpy(float), known["chromosome"].to_numpy(str)
        places = np.arange(F, dtype=float) if positions is None else np.asarray(positions, float)
        labels = np.zeros(F, int) if groups is None else np.asarray(groups)
        for what, given in (("positions", places), ("groups", labels)):
            if given.shape != (F,):
                raise InputError(
                    f"{what} has {given.size} entries for {F} features; give one each."
                )
        found, first, number = np.unique(labels, return_index=True, return_inverse=True)
        order = np.argsort(first)
        number = np.argsort(order)[number]
        return cls(
            positions=_side_by_side(places, number, len(order)),
            groups=number,
            group_names=[] if groups is None else [str(found[i]) for i in order],
            **_significance(selection),
        ).plot(ax, named=named)

    def plot(self, ax: Axes | None = None, *, named: int = 10) -> Self:
        """Draw into the axes given, or into new ones."""
        ax = self._axes(ax, (9.0, 3.6))
        x = self.positions
        members = [self.groups == group for group in range(max(1, len(self.group_names)))]
        self.points_ = [
            self._points(x, here & ~self.support, (OTHER, OTHER_TOO)[group % 2], 6)
            for group, here in enumerate(members)
        ]
        self.points_.append(self._points(x, self.support, SELECTED, 16))
        self._limit_and_names(x, named)
        if self.group_names:
            middles = [float(x[here].min() + x[here].max()) / 2 for here in members]
            ax.set_xticks(middles, self.group_names)
        else:
            ax.set_xlabel("position")
        return self


@dataclass(eq=False)
class VolcanoDisplay(_SignificanceDisplay):
    """Significance against effect: the count as a multiple of the one expected under the null.

    Attributes
    ----------
    effects : (F,) float
        Count ÷ expected count; half a count stands for none.
    log_pvalues, support, limit, names
        As in :class:`ManhattanDisplay`.
    points_, selected_points_, limit_line_
        What was drawn; set by `plot`.

    Examples
    --------
    >>> import nullforest as nf
    >>> from nullforest.report.plots import VolcanoDisplay
    >>> t = nf.Tally.from_counts([12, 1, 2, 2, 3], nodes_per_tree=[4] * 5, n_samples=20)
    >>> VolcanoDisplay.from_selection(nf.select(t, null="paper")).effects.tolist()
    [3.0, 0.25, 0.5, 0.5, 0.75]
    """

    effects: Floats

    @classmethod
    def from_selection(
        cls, selection: Selection, *, named: int = 10, ax: Axes | None = None
    ) -> Self:
        """Draw a selection, naming its `named` most significant features."""
        expected = np.maximum(selection.null.expected_counts(), np.finfo(float).tiny)
        effects = np.maximum(selection.counts, NEVER) / expected
        return cls(effects=effects, **_significance(selection)).plot(ax, named=named)

    def plot(self, ax: Axes | None = None, *, named: int = 10) -> Self:
        """Draw into the axes given, or into new ones."""
        ax = self._axes(ax, (6.0, 4.5))
        self.points_ = self._points(self.effects, ~self.support, OTHER, 10)
        self.selected_points_ = self._points(self.effects, self.support, SELECTED, 18)
        self._limit_and_names(self.effects, named)
        ax.set_xscale("log")
        ax.margins(x=0.15)  # room for the names
        ax.set_xlabel("count ÷ expected count")
        return self


def _significance(selection: Selection) -> dict[str, Any]:
    """What both plots show; the limit is alpha, or the largest p-value that was selected.

    Where an adjusted rate selects nothing, the limit is what a single feature would have needed.
    """
    if selection.error != "fpr" and selection.support.any():
        limit = float(selection.pvalues[selection.support].max())
    else:
        limit = critical_level(selection.alpha, selection.error, len(selection.pvalues))
    return {
        "log_pvalues": log_p(selection.pvalues),
        "support": selection.support,
        "limit": float(log_p(limit)),
        "names": selection.tally.names,
    }


def _side_by_side(places: Floats, number: NDArray[np.int64], n_groups: int) -> Floats:
    """Shift groups so that each begins where the last one ended."""
    if n_groups == 1:
        return places
    placed = np.empty_like(places)
    start = 0.0
    for group in range(n_groups):
        here = number == group
        own = places[here] - places[here].min()
        gap = max(float(own.max()) / max(len(own) - 1, 1), 1e-9)  # the mean distance inside
        placed[here] = start + own
        start += float(own.max()) + 3 * gap
    return placed
