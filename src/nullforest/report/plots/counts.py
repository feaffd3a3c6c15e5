"""Histogram of the selection counts with their null distribution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from nullforest._util.errors import InputError
from nullforest.report.charts import histogram
from nullforest.report.plots.display import INK, KNOWN, NULL, OTHER, SELECTED, Display, Floats, Ints

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from nullforest.selection.selection import Selection

#: Bars begin at half a feature, so that one feature is seen on a log scale.
LEAST = 0.5


@dataclass(eq=False)
class CountsDisplay(Display):
    """Histogram of the counts, null distribution and threshold; both axes are logarithmic.

    Attributes
    ----------
    edges : (B + 1,) float
        Edges of the bins, halfway between whole numbers.
    features, selected : (B,) int
        Features in each bin, and the selected ones among them.
    expected : (B,) float
        Features expected in each bin under the null.
    threshold : int or None
        A feature is selected when its count is greater; None where strata have thresholds of
        their own.
    known : (B,) int or None
        Features of each bin that are known to be relevant.
    bars_, selected_bars_, known_bars_, null_, threshold_line_
        What was drawn; set by `plot`. The line is None where there is no common threshold.

    Examples
    --------
    >>> import nullforest as nf
    >>> from nullforest.report.plots import CountsDisplay
    >>> t = nf.Tally.from_counts([12, 1, 2, 2, 3], nodes_per_tree=[4] * 5, n_samples=20)
    >>> display = CountsDisplay.from_selection(nf.select(t, 0.01, "fpr", "paper"))
    >>> display.features[:4].tolist(), display.threshold
    ([0, 1, 2, 1], 8)
    """

    edges: Floats
    features: Ints
    selected: Ints
    expected: Floats
    threshold: int | None
    known: Ints | None = None

    @classmethod
    def from_selection(
        cls,
        selection: Selection,
        *,
        known: ArrayLike | None = None,
        known_label: str = "known to be relevant",
        ax: Axes | None = None,
    ) -> Self:
        """Draw a selection.

        Parameters
        ----------
        selection : Selection
        known : (F,) bool, optional
            Features that are known to be relevant, to be marked.
        known_label : str
            Their name in the legend.
        ax : Axes, optional
            Where to draw.
        """
        drawn = histogram(selection)
        bins = drawn["bins"]
        edges = np.array([b["low"] for b in bins] + [bins[-1]["high"] + 1]) - 0.5
        counts = selection.counts
        marked = None
        if known is not None:
            mask = np.asarray(known, bool)
            if mask.shape != counts.shape:
                raise InputError(f"known has {mask.size} entries for {len(counts)} features.")
            marked = np.histogram(counts[mask], bins=edges)[0]
        return cls(
            edges=edges,
            features=np.array([b["features"] for b in bins]),
            selected=np.histogram(counts[selection.support], bins=edges)[0],
            expected=np.array([b["expected"] for b in bins]),
            threshold=drawn["threshold"],
            known=marked,
        ).plot(ax, known_label=known_label)

    def plot(self, ax: Axes | None = None, *, known_label: str = "known to be relevant") -> Self:
        """Draw into the axes given, or into new ones."""
        ax = self._axes(ax)
        self.bars_ = self._bars(ax, self.features, OTHER, "features")
        self.selected_bars_ = self._bars(ax, self.selected, SELECTED, "selected")
        self.known_bars_ = None
        if self.known is not None:
            self.known_bars_ = self._bars(ax, self.known, KNOWN, known_label, gap=0.3)
        self.null_ = ax.stairs(
            np.maximum(self.expected, 1e-9),  # what a log scale cannot show lies below the frame
            self.edges,
            baseline=None,
            color=NULL,
            lw=2,
            label="expected under the null",
        )
        self._draw_threshold(ax)
        ax.set_yscale("log")
        tallest = max(float(self.features.max()), float(self.expected.max()), 2.0)
        ax.set_ylim(LEAST, 2 * tallest)
        ax.set_xscale("function", functions=(_stretched, np.expm1))
        ax.set_xlim(self.edges[0], self.edges[-1])
        ax.set_xticks(_ticks(self.edges[-1]))
        ax.set_xticks([], minor=True)
        ax.set_xlabel("selection count of a feature")
        ax.set_ylabel("features")
        ax.legend(
            frameon=False,
            loc="lower left",
            bbox_to_anchor=(0, 1),  # above the axes: bars may stand anywhere within
            ncols=2,
            borderaxespad=0.2,
        )
        return self

    def _draw_threshold(self, ax: Axes) -> None:
        """Draw the common threshold, if any."""
        self.threshold_line_ = None
        if self.threshold is None:
            return
        at = self.threshold + 0.5
        self.threshold_line_ = ax.axvline(at, color=INK, ls="--", lw=1)
        right = np.log1p(self.threshold) < 0.6 * np.log1p(self.edges[-1])  # where there is room
        ax.annotate(
            f" selected above {self.threshold} ",
            (at, 1.0),
            xycoords=("data", "axes fraction"),
            ha="left" if right else "right",
            va="top",
        )

    def _bars(self, ax: Axes, number: Ints, color: str, label: str, gap: float = 0.04) -> Any:
        """Bars a little narrower than their bins; `gap` is a share of the bin."""
        width = np.diff(self.edges)
        return ax.bar(
            self.edges[:-1] + gap * width,
            number,
            (1 - 2 * gap) * width,
            align="edge",
            color=color,
            label=label,
        )


def _stretched(count: ArrayLike) -> Floats:
    """Log scale that holds zero: bins of counts begin at −1/2."""
    return np.asarray(np.log1p(np.maximum(np.asarray(count, float), -0.9)))


def _ticks(largest: float) -> list[int]:
    """0, 1, 2, 5, 10, … up to the largest count."""
    decades = range(int(np.log10(max(largest, 1))) + 1)
    return [0, *(m * 10**e for e in decades for m in (1, 2, 5) if m * 10**e <= largest)]
