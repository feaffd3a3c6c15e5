"""Plots of the values in the data: leading features by the target, survival, correlations."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import InputError, optional
from nullforest.data.column_blocks import columns_of, some_rows
from nullforest.data.survival_times import kaplan_meier
from nullforest.data.targets import Target
from nullforest.features.correlated import correlation_clusters, correlation_matrix
from nullforest.nulls.distribution import Floats, Ints
from nullforest.report.plots.display import INK, NULL, OTHER, SELECTED, Display
from nullforest.selection.selection import data_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from nullforest.selection.selection import Selection

#: Names that are written beside a heat map; more are illegible.
NAMED = 40


@dataclass(eq=False)
class FeaturesDisplay(Display):
    """Values of the leading features by the target: strips by class, scatter plots, or curves.

    Attributes
    ----------
    names : list of str
        The features, the most significant first.
    values : (k, S) float
        Their values.
    target : Target
        Classes, numbers or survival times.
    axes_ : list of Axes
        One panel for each; set by `plot`.

    Examples
    --------
    >>> import nullforest as nf
    >>> X, y, _ = nf.simulate.independent(60, 600, 3, 0.8)
    >>> selection = nf.select(nf.grow(X, y, trees=200))
    >>> display = selection.plot("features", X=X, y=y, number=4)
    >>> len(display.axes_), display.axes_[0].get_title() == display.names[0]
    (4, True)
    """

    names: list[str]
    values: Floats
    target: Target
    axes_: list[Axes] = field(default_factory=list, init=False)

    @classmethod
    def from_selection(
        cls,
        selection: Selection,
        *,
        X: Any = None,
        y: Any = None,
        number: int = 9,
        columns: int = 3,
    ) -> Self:
        """Draw the leading features of a selection.

        Parameters
        ----------
        selection : Selection
        X, y : array-like
            The data that the forest was grown on.
        number : int
            Features to draw: the most significant ones.
        columns : int
            Panels side by side.
        """
        X, target = data_of(selection, X, y)
        if X is None or target is None:
            raise InputError('plot("features") draws values; give the data, X= and y=.')
        for name, value in (("number", number), ("columns", columns)):
            if not (isinstance(value, int) and value >= 1):
                raise InputError(f"{name} = {value!r:.60} must be a whole number from 1.")
        if target.classes is None and target.survival is None and target.values.shape[1] != 1:
            raise InputError('plot("features") needs one target: classes, numbers or times.')
        leading = np.asarray(selection.table.index[:number], np.int64)
        names = [str(name) for name in selection.tally.names[leading]]
        return cls(names, some_rows(columns_of(X)[0], leading), target).plot(columns=columns)

    def plot(self, *, columns: int = 3) -> Self:
        """Draw into a new figure."""
        pyplot = optional("matplotlib.pyplot", "plot", "Drawing")
        columns = min(columns, len(self.names))
        rows = -(-len(self.names) // columns)
        size = (3.0 * columns, 2.4 * rows)
        figure, axes = pyplot.subplots(
            rows, columns, figsize=size, layout="constrained", squeeze=False
        )
        for ax in axes.ravel()[len(self.names) :]:
            ax.set_axis_off()
        self.axes_ = list(axes.ravel()[: len(self.names)])
        for ax, name, row in zip(self.axes_, self.names, self.values, strict=True):
            self._panel(self._axes(ax), row)
            ax.set_title(name)
        self.ax_, self.figure_ = self.axes_[0], figure
        return self

    def _panel(self, ax: Axes, row: Floats) -> None:
        """Draw the values of one feature."""
        measured, target = ~np.isnan(row), self.target
        if target.survival is not None:
            median = float(np.median(row[measured]))
            for half, color, words in (
                (row > median, SELECTED, "larger half"),
                (measured & (row <= median), NULL, "smaller half"),
            ):
                if half.any():
                    steps = _survival_curve(target.survival[half])
                    ax.step(*steps, where="post", color=color, label=words)
            ax.set(xlabel="time", ylabel="share without event", ylim=(0, 1.02))
            ax.legend(frameon=False, fontsize="small")
            return
        if target.classes is None:
            ax.scatter(row[measured], target.values[measured, 0], s=8, color=NULL, alpha=0.6)
            ax.set(xlabel="value", ylabel="target")
            return
        # Points of a class are spread by the golden ratio, so that none hides another.
        places = target.values + 0.6 * ((np.arange(len(row)) * 0.618034) % 1 - 0.5)
        ax.scatter(places[measured], row[measured], s=6, color=OTHER, alpha=0.7)
        for code in range(target.n_classes):
            group = row[measured & (target.values == code)]
            if len(group):
                low, middle, high = np.quantile(group, [0.25, 0.5, 0.75])
                ax.vlines(code, low, high, color=INK, lw=2)
                ax.hlines(middle, code - 0.25, code + 0.25, color=SELECTED, lw=3)
        ax.set_xticks(range(target.n_classes), [str(name) for name in target.classes])
        ax.set_ylabel("value")


@dataclass(eq=False)
class SurvivalDisplay(Display):
    """Kaplan–Meier curves of the samples above and up to the median of a feature.

    Attributes
    ----------
    name : str
        The feature.
    median : float
        Its median, at which the samples are divided; those without a value are left out.
    curves : list of (times, shares)
        Of the samples above the median, then of the others: from time 0, the share that survives
        each time.
    sizes, events : list of int
        Samples and events of both.
    lines_ : list of Line2D
        One per group; set by `plot`.

    Examples
    --------
    >>> import nullforest as nf
    >>> X, y, relevant = nf.simulate.survival(100, 600, 1, hazard_ratio=4.0)
    >>> selection = nf.select(nf.grow(X, y, trees=500))
    >>> display = selection.plot("survival", X=X, y=y)
    >>> display.name, display.sizes
    ('x599', [50, 50])
    """

    name: str
    median: float
    curves: list[tuple[Floats, Floats]]
    sizes: list[int]
    events: list[int]

    @classmethod
    def from_selection(
        cls,
        selection: Selection,
        *,
        X: Any = None,
        y: Any = None,
        feature: str | int | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw a feature of a selection.

        Parameters
        ----------
        selection : Selection
        X, y
            The data, with events and times as y.
        feature : str or int, optional
            Name or number of the feature; the most significant one where not given.
        ax : Axes, optional
            Axes to draw into.
        """
        X, target = data_of(selection, X, y)
        if X is None or target is None or target.survival is None:
            raise InputError("Survival curves need the data: give X=, and y= of events and times.")
        names: list[str] = selection.tally.names.tolist()
        if feature is None:
            feature = int(selection.table.index[0])
        elif isinstance(feature, str):
            if feature not in names:
                raise InputError(f"There is no feature {feature!r:.60}; give a name of the table.")
            feature = names.index(feature)
        if not 0 <= feature < len(names):
            raise InputError(f"feature = {feature} must lie between 0 and {len(names) - 1}.")
        (values,) = some_rows(columns_of(X)[0], np.array([feature]))
        median = float(np.nanmedian(values))
        parts = [target.survival[values > median], target.survival[values <= median]]
        if not all(map(len, parts)):
            raise InputError("Most values of this feature are its largest one; give another one.")
        curves = [_survival_curve(part) for part in parts]
        events = [int(part["event"].sum()) for part in parts]
        return cls(names[feature], median, curves, [len(part) for part in parts], events).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw into the axes given, or into new ones."""
        ax = self._axes(ax)
        self.lines_ = []
        for i, (words, color) in enumerate([("above", SELECTED), ("up to", NULL)]):
            label = f"{words} the median ({self.events[i]} events of {self.sizes[i]})"
            self.lines_ += ax.step(*self.curves[i], where="post", color=color, lw=1.8, label=label)
        ax.set(xlabel="time", ylabel="share without event", xlim=(0, None), ylim=(0, 1.02))
        ax.set_title(self.name)
        ax.legend(frameon=False)
        return self


def _survival_curve(survival: NDArray[Any]) -> tuple[Floats, Floats]:
    """Times and the share that survives each, from time 0 on."""
    times, share = kaplan_meier(survival["event"], survival["time"])
    return np.append(0.0, times), np.append(1.0, share)


@dataclass(eq=False)
class CorrelationDisplay(Display):
    """Spearman correlations between the selected features, correlated ones side by side.

    Attributes
    ----------
    names : list of str
        The features, in the order of the map.
    correlation : (k, k) float
        Their correlations.
    cluster : (k,) int
        Cluster of each: features with a mean absolute correlation of .7 or more.
    image_
        What was drawn; set by `plot`.

    Examples
    --------
    >>> import nullforest as nf
    >>> X, y, _ = nf.simulate.independent(60, 600, 3, 0.8)
    >>> selection = nf.select(nf.grow(X, y, trees=400))
    >>> display = selection.plot("correlation", X=X)
    >>> len(display.names) == selection.n_selected
    True
    """

    names: list[str]
    correlation: Floats
    cluster: Ints

    @classmethod
    def from_selection(
        cls, selection: Selection, *, X: Any = None, most: int = 100, ax: Axes | None = None
    ) -> Self:
        """Draw the selected features.

        Parameters
        ----------
        selection : Selection
        X : array-like
            The data that the forest was grown on.
        most : int
            Largest number of features: the most significant ones.
        ax : Axes, optional
            Where to draw.
        """
        if X is None:
            raise InputError('plot("correlation") compares values; give the data, X=.')
        X, _ = data_of(selection, X)
        table = selection.table
        chosen = np.asarray(table.index[table["selected"]][:most], np.int64)
        if len(chosen) < 2:
            raise InputError(f"{len(chosen)} features are selected; a heat map needs two or more.")
        r = correlation_matrix(some_rows(columns_of(X)[0], chosen))
        cluster, order = correlation_clusters(r)
        names = [str(name) for name in selection.tally.names[chosen[order]]]
        return cls(names, r[np.ix_(order, order)], cluster[order]).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw into the axes given, or into new ones."""
        ax = self._axes(ax, (7.0, 5.6))
        from matplotlib.colors import LinearSegmentedColormap

        colours = LinearSegmentedColormap.from_list("correlation", [NULL, "white", SELECTED])
        self.image_ = ax.imshow(self.correlation, vmin=-1, vmax=1, cmap=colours)
        names = self.names if len(self.names) <= NAMED else []
        ax.set_xticks(range(len(names)), names, rotation=90, fontsize="small")
        ax.set_yticks(range(len(names)), names, fontsize="small")
        self.figure_.colorbar(self.image_, ax=ax, label="Spearman correlation", shrink=0.8)
        return self
