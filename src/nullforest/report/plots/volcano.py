"""Are the significant features also strong? −log₁₀ p against count ÷ expected count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

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

#: A feature that was never chosen has no place on a log scale; it is drawn at half a choice.
NEVER = 0.5


@dataclass(eq=False)
class VolcanoDisplay(Display):
    """Significance against effect: how much more often than by chance a feature was chosen.

    Attributes
    ----------
    effects : (F,) float
        Count ÷ expected count; half a count stands for none.
    log_pvalues : (F,) float
        −log₁₀ p.
    support : (F,) bool
    limit : float
        −log₁₀ of the p-value that had to be reached.
    names : (F,) str
    points_, selected_points_, limit_line_
        What was drawn; there after `plot`.

    Examples
    --------
    >>> import nullforest as nf
    >>> from nullforest.report.plots import VolcanoDisplay
    >>> t = nf.Tally.from_counts([12, 1, 2, 2, 3], nodes_per_tree=[4] * 5, n_samples=20)
    >>> VolcanoDisplay.from_selection(nf.select(t, null="paper")).effects.tolist()
    [3.0, 0.25, 0.5, 0.5, 0.75]
    """

    effects: Floats
    log_pvalues: Floats
    support: Mask
    limit: float
    names: NDArray[np.str_]

    @classmethod
    def from_selection(
        cls, selection: Selection, *, named: int = 10, ax: Axes | None = None
    ) -> Self:
        """Draw a selection, naming its `named` most significant features."""
        expected = np.maximum(selection.null.expected_counts(), np.finfo(float).tiny)
        return cls(
            effects=np.maximum(selection.counts, NEVER) / expected,
            log_pvalues=log_p(selection.pvalues),
            support=selection.support,
            limit=float(log_p(largest_selected_p(selection))),
            names=selection.tally.names,
        ).plot(ax, named=named)

    def plot(self, ax: Axes | None = None, *, named: int = 10) -> Self:
        """Draw into the axes given, or into new ones."""
        ax = self._axes(ax, (6.0, 4.5))
        few = len(self.effects) <= MOST_POINTS
        x, y, chosen = self.effects, self.log_pvalues, self.support
        self.points_ = ax.scatter(x[~chosen], y[~chosen], s=10, color=OTHER, rasterized=not few)
        self.selected_points_ = ax.scatter(x[chosen], y[chosen], s=18, color=SELECTED)
        self.limit_line_ = ax.axhline(self.limit, color=INK, ls="--", lw=1)
        self.names_ = name_points(ax, self.names, x, y, chosen, named)
        ax.set_xscale("log")
        ax.margins(x=0.15)  # room for the names
        ax.set_ylim(0, None)
        ax.set_xlabel("count ÷ expected count")
        ax.set_ylabel("−log₁₀ p")
        return self
