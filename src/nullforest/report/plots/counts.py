"""Plots of the counts and p-values of a selection: by count, position, effect and trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nullforest._util.errors import InputError
from nullforest._util.words import printable
from nullforest.nulls.distribution import Floats, Ints
from nullforest.report.charts import histogram
from nullforest.report.plots.display import INK, KNOWN, NULL, OTHER, SELECTED, Display, log_p
from nullforest.selection.error_rates import critical_level

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from nullforest.selection.selection import Selection
    from nullforest.selection.trajectory import Trajectory

#: Bars begin at half a feature, so that one feature is seen on a log scale.
LEAST = 0.5
#: Points beyond which a vector graphic takes too long to open, and points become an image.
MOST_POINTS = 5000
#: The second colour of neighbouring groups.
OTHER_TOO = "#64748b"
#: A count of zero has no place on a log scale; it is drawn at one half.
NEVER = 0.5


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
    >>> t = nf.Tally.from_counts([12, 1, 2, 2, 3], nodes_per_tree=[4] * 5, n_samples=20)
    >>> display = nf.select(t, 0.01, "fpr", "paper").plot("counts")
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
        binned, counts = histogram(selection), selection.counts
        bins = binned["bins"]
        edges = np.array([b["low"] for b in bins] + [bins[-1]["high"] + 1]) - 0.5
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
            threshold=binned["threshold"],
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
        expected = np.maximum(self.expected, 1e-9)  # lies below the frame, as on any log scale
        label = "expected under the null"
        self.null_ = ax.stairs(expected, self.edges, baseline=None, color=NULL, lw=2, label=label)
        self.threshold_line_ = None
        if self.threshold is not None:
            at = self.threshold + 0.5
            self.threshold_line_ = ax.axvline(at, color=INK, ls="--", lw=1)
            right = np.log1p(self.threshold) < 0.6 * np.log1p(self.edges[-1])  # where there is room
            words, place = f" selected above {self.threshold} ", ("data", "axes fraction")
            side = "left" if right else "right"
            ax.annotate(words, (at, 1.0), xycoords=place, ha=side, va="top")
        tallest = max(float(self.features.max()), float(self.expected.max()), 2.0)
        ax.set(yscale="log", ylim=(LEAST, 2 * tallest), ylabel="features")
        # A log scale that holds zero: bins of counts begin at −1/2.
        ax.set_xscale("function", functions=(lambda k: np.log1p(np.maximum(k, -0.9)), np.expm1))
        ax.set(xlim=(self.edges[0], self.edges[-1]), xlabel="selection count of a feature")
        ax.set_xticks(_ticks(self.edges[-1]))
        ax.set_xticks([], minor=True)
        above = (0, 1)  # bars may stand anywhere within
        ax.legend(frameon=False, loc="lower left", bbox_to_anchor=above, ncols=2, borderaxespad=0.2)
        return self

    def _bars(self, ax: Axes, number: Ints, color: str, label: str, gap: float = 0.04) -> Any:
        """Bars a little narrower than their bins; `gap` is a share of the bin."""
        width = np.diff(self.edges)
        left, wide = self.edges[:-1] + gap * width, (1 - 2 * gap) * width
        return ax.bar(left, number, wide, align="edge", color=color, label=label)


def _ticks(largest: float) -> list[int]:
    """0, 1, 2, 5, 10, … up to the largest count."""
    decades = range(int(np.log10(max(largest, 1))) + 1)
    return [0, *(m * 10**e for e in decades for m in (1, 2, 5) if m * 10**e <= largest)]


@dataclass(eq=False)
class _SignificanceDisplay(Display):
    log_pvalues: Floats
    support: NDArray[np.bool_]
    limit: float
    names: NDArray[np.str_]

    def _points(self, x: Floats, mask: NDArray[np.bool_], color: str, size: float) -> Any:
        image = len(x) > MOST_POINTS and color != SELECTED
        y = self.log_pvalues[mask]
        return self.ax_.scatter(x[mask], y, s=size, color=color, rasterized=image)

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
        self.ax_.set(ylabel="−log₁₀ p", ylim=(0, None))


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
    >>> t = nf.Tally.from_counts([12, 1, 2, 2, 3], nodes_per_tree=[4] * 5, n_samples=20)
    >>> display = nf.select(t, 0.01, "fpr", "paper").plot("manhattan")
    >>> display.limit, display.positions.tolist()
    (2.0, [0.0, 1.0, 2.0, 3.0, 4.0])
    """

    positions: Floats
    groups: Ints
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
        F, notes = len(selection.pvalues), selection.annotations
        if positions is None and groups is None and notes is not None and "chromosome" in notes:
            positions, groups = notes["position"].to_numpy(float), notes["chromosome"].to_numpy(str)
        places = np.arange(F, dtype=float) if positions is None else np.asarray(positions, float)
        labels = np.zeros(F, int) if groups is None else np.asarray(groups)
        for what, values in (("positions", places), ("groups", labels)):
            if values.shape != (F,):
                raise InputError(
                    f"{what} has {values.size} entries for {F} features; give one each."
                )
        names, first, number = np.unique(labels, return_index=True, return_inverse=True)
        order = np.argsort(first)
        number = np.argsort(order)[number]
        return cls(
            positions=_side_by_side(places, number),
            groups=number,
            group_names=[] if groups is None else [str(names[i]) for i in order],
            **_significance(selection),
        ).plot(ax, named=named)

    def plot(self, ax: Axes | None = None, *, named: int = 10) -> Self:
        """Draw into the axes given, or into new ones."""
        ax = self._axes(ax, (9.0, 3.6))
        x = self.positions
        members = [self.groups == group for group in range(max(1, len(self.group_names)))]
        self.points_ = [
            self._points(x, mask & ~self.support, (OTHER, OTHER_TOO)[group % 2], 6)
            for group, mask in enumerate(members)
        ]
        self.points_.append(self._points(x, self.support, SELECTED, 16))
        self._limit_and_names(x, named)
        if self.group_names:
            middles = [float(x[mask].min() + x[mask].max()) / 2 for mask in members]
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
    >>> t = nf.Tally.from_counts([12, 1, 2, 2, 3], nodes_per_tree=[4] * 5, n_samples=20)
    >>> nf.select(t, null="paper").plot("volcano").effects.tolist()
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


def _side_by_side(places: Floats, groups: Ints) -> Floats:
    """Shift groups so that each begins where the last one ended, three mean distances apart."""
    if not groups.any():
        return places
    shifted = np.empty_like(places)
    start = 0.0
    for group in range(int(groups.max()) + 1):
        mask = groups == group
        within = places[mask] - places[mask].min()
        shifted[mask] = start + within
        length = float(within.max())
        start += length + 3 * max(length / max(len(within) - 1, 1), 1e-9)
    return shifted


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
        ax.set(xscale="log", xlim=(self.trees[0], self.trees[-1]), xlabel="trees")
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
    >>> import nullforest as nf
    >>> X, y, _ = nf.simulate.independent(100, 200, n_relevant=3, relevance=0.8)
    >>> display = nf.watch(X, y, error="fwer", trees=200).plot("stability")
    >>> int(display.trees[-1]), int(display.support.sum())
    (200, 3)
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
        place, units = (1.0, self.limit), ("axes fraction", "data")
        words = "selected above "
        ax.annotate(words, place, xycoords=units, ha="right", va="bottom", fontsize="small")
        ax.set(ylim=(0, None), ylabel="−log₁₀ adjusted p")
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
    >>> import nullforest as nf
    >>> X, y, _ = nf.simulate.independent(100, 200, n_relevant=3, relevance=0.8)
    >>> display = nf.watch(X, y, error="fwer", trees=200).plot("trajectory")
    >>> int(display.trees[-1]), int(display.support.sum())
    (200, 3)
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
        label = "_" if np.isnan(self.thresholds).all() else "count to exceed"
        (self.threshold_line_,) = ax.plot(
            self.trees, self.thresholds, color=INK, ls="--", lw=1.2, label=label
        )
        (self.null_line_,) = ax.plot(
            self.trees, self.expected, color=NULL, lw=2, label="expected under the null"
        )
        ax.set_yscale("symlog", linthresh=1.0)
        ax.set(ylim=(0, None), ylabel="selection count")
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
