"""Small multiples: values of the leading features by the target, one panel each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from nullforest._util.errors import InputError, optional
from nullforest.data.column_blocks import columns_of, some_rows
from nullforest.data.survival_times import kaplan_meier
from nullforest.data.targets import Target, as_target
from nullforest.report.plots.display import INK, NULL, OTHER, SELECTED, Display, Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from nullforest.selection.selection import Selection


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
        if X is None or y is None:
            raise InputError('plot("features") draws values; give the data, X= and y=.')
        source, _ = columns_of(X)
        if source.shape != (selection.tally.n_samples, selection.tally.n_features):
            raise InputError("X is not the data that the forest was grown on; give the same X.")
        for name, given in (("number", number), ("columns", columns)):
            if not (isinstance(given, int) and given >= 1):
                raise InputError(f"{name} = {given!r:.60} must be a whole number from 1.")
        leading = np.asarray(selection.table.index[:number], np.int64)
        names = [str(name) for name in selection.tally.names[leading]]
        target = as_target(y, source.shape[0])
        if target.classes is None and target.survival is None and target.values.shape[1] != 1:
            raise InputError('plot("features") needs one target: classes, numbers or times.')
        return cls(names, some_rows(source, leading), target).plot(columns=columns)

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
        known = ~np.isnan(row)
        if self.target.survival is not None:
            median = float(np.median(row[known]))
            for half, color, words in (
                (row > median, SELECTED, "larger half"),
                (row <= median, NULL, "smaller half"),
            ):
                part = self.target.survival[half & known]
                if len(part):
                    times, share = kaplan_meier(part["event"], part["time"])
                    steps = (np.append(0.0, times), np.append(1.0, share))
                    ax.step(*steps, where="post", color=color, label=words)
            ax.set(xlabel="time", ylabel="share without event", ylim=(0, 1.02))
            ax.legend(frameon=False, fontsize="small")
            return
        if self.target.classes is None:
            ax.scatter(row[known], self.target.values[known, 0], s=8, color=NULL, alpha=0.6)
            ax.set(xlabel="value", ylabel="target")
            return
        # Points of a class are spread by the golden ratio, so that none hides another.
        spread = 0.6 * ((np.arange(len(row)) * 0.618034) % 1 - 0.5)
        codes = self.target.values
        ax.scatter(codes[known] + spread[known], row[known], s=6, color=OTHER, alpha=0.7)
        for code in range(len(self.target.classes)):
            group = row[known & (codes == code)]
            if len(group):
                low, middle, high = np.quantile(group, [0.25, 0.5, 0.75])
                ax.vlines(code, low, high, color=INK, lw=2)
                ax.hlines(middle, code - 0.25, code + 0.25, color=SELECTED, lw=3)
        ax.set_xticks(range(len(self.target.classes)), [str(c) for c in self.target.classes])
        ax.set_ylabel("value")
