"""Where do the significant features lie? −log₁₀ p against position, as in genetics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nullforest._util.errors import InputError
from nullforest.report.plots.base import (
    INK,
    MOST_POINTS,
    OTHER,
    SELECTED,
    Display,
    Floats,
    Mask,
    largest_selected_p,
    log_p,
    name_points,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from nullforest.selection.selection import Selection

#: The second colour of neighbouring groups.
OTHER_TOO = "#64748b"


@dataclass(eq=False)
class ManhattanDisplay(Display):
    """−log₁₀ p of every feature at its position.

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
        What was drawn: one per group, then the selected ones; there after `plot`.
    limit_line_
        The line at `limit`.

    Examples
    --------
    >>> import nullforest as nf
    >>> from nullforest.report.plots import ManhattanDisplay
    >>> t = nf.Tally.from_counts([12, 1, 2, 2, 3], nodes_per_tree=[4] * 5, n_samples=20)
    >>> display = ManhattanDisplay.from_selection(nf.select(t, alpha=0.01, null="paper"))
    >>> display.limit, display.positions.tolist()
    (2.0, [0.0, 1.0, 2.0, 3.0, 4.0])
    """

    positions: Floats
    log_pvalues: Floats
    support: Mask
    limit: float
    names: NDArray[np.str_]
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
            Position of each feature within its group; its column where not given.
        groups : (F,) optional
            Chromosome, region or other group of each feature; they are drawn side by side in the
            order in which they first occur.
        named : int
            Selected features to name, the most significant ones.
        ax : Axes, optional
            Where to draw.
        """
        F = len(selection.pvalues)
        places = np.arange(F, dtype=float) if positions is None else np.asarray(positions, float)
        labels = np.zeros(F, int) if groups is None else np.asarray(groups)
        for what, given in (("positions", places), ("groups", labels)):
            if given.shape != (F,):
                raise InputError(
                    f"{what} has {given.size} entries for {F} features; give one each."
                )
        found, first, number = np.unique(labels, return_index=True, return_inverse=True)
        rank = np.argsort(np.argsort(first))
        number = rank[number]
        names = [str(found[i]) for i in np.argsort(rank)]
        return cls(
            positions=_side_by_side(places, number, len(names)),
            log_pvalues=log_p(selection.pvalues),
            support=selection.support,
            limit=float(log_p(largest_selected_p(selection))),
            names=selection.tally.names,
            groups=number,
            group_names=names if groups is not None else [],
        ).plot(ax, named=named)

    def plot(self, ax: Axes | None = None, *, named: int = 10) -> Self:
        """Draw into the axes given, or into new ones."""
        ax = self._axes(ax, (9.0, 3.6))
        few = len(self.positions) <= MOST_POINTS
        self.points_ = []
        for group in range(max(1, len(self.group_names))):
            here = ~self.support & (self.groups == group)
            color = (OTHER, OTHER_TOO)[group % 2]
            points = ax.scatter(
                self.positions[here], self.log_pvalues[here], s=6, color=color, rasterized=not few
            )
            self.points_.append(points)
        chosen = ax.scatter(
            self.positions[self.support], self.log_pvalues[self.support], s=16, color=SELECTED
        )
        self.points_.append(chosen)
        self.limit_line_ = ax.axhline(self.limit, color=INK, ls="--", lw=1)
        self.names_ = name_points(
            ax, self.names, self.positions, self.log_pvalues, self.support, named
        )
        if self.group_names:
            middles = [
                float(np.mean([here.min(), here.max()]))
                for i in range(len(self.group_names))
                for here in [self.positions[self.groups == i]]
            ]
            ax.set_xticks(middles, self.group_names)
        else:
            ax.set_xlabel("position")
        ax.set_ylabel("−log₁₀ p")
        ax.set_ylim(0, None)
        return self


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
