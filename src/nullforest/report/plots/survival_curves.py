"""Survival curves: Kaplan–Meier estimates of the samples with high and low values of a feature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from nullforest._util.errors import InputError
from nullforest.data.dense import as_matrix
from nullforest.data.rank_table import RankTable
from nullforest.data.survival_times import kaplan_meier, survival_of
from nullforest.report.plots.display import NULL, SELECTED, Display, Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from nullforest.selection.selection import Selection


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
        survival = survival_of(y)
        if X is None or survival is None:
            raise InputError("Survival curves need the data: give X=, and y= of events and times.")
        number = _number(selection, feature)
        name = str(selection.tally.names[number])
        values = _values(X, number, name, (len(survival), selection.tally.n_features))
        median = float(np.nanmedian(values))
        parts = [survival[values > median], survival[values <= median]]
        if not all(map(len, parts)):
            raise InputError("Most values of this feature are its largest one; give another one.")
        curves = []
        for part in parts:
            times, left = kaplan_meier(part["event"], part["time"])
            curves.append((np.append(0.0, times), np.append(1.0, left)))
        events = [int(part["event"].sum()) for part in parts]
        return cls(name, median, curves, [len(part) for part in parts], events).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw into the axes given, or into new ones."""
        ax = self._axes(ax)
        self.lines_ = []
        for i, (words, color) in enumerate([("above", SELECTED), ("up to", NULL)]):
            label = f"{words} the median ({self.events[i]} events of {self.sizes[i]})"
            self.lines_ += ax.step(*self.curves[i], where="post", color=color, lw=1.8, label=label)
        ax.set_ylim(0, 1.02)
        ax.set_xlim(0, None)
        ax.set_xlabel("time")
        ax.set_ylabel("share without event")
        ax.set_title(self.name)
        ax.legend(frameon=False)
        return self


def _number(selection: Selection, feature: str | int | None) -> int:
    """Number of a feature that is given by its name or number."""
    if feature is None:
        return int(selection.table.index[0])
    names: list[str] = selection.tally.names.tolist()
    if isinstance(feature, str):
        if feature not in names:
            raise InputError(f"There is no feature {feature!r:.60}; give a name of the table.")
        return names.index(feature)
    if not 0 <= feature < len(names):
        raise InputError(f"feature = {feature} must lie between 0 and {len(names) - 1}.")
    return int(feature)


def _values(X: Any, number: int, name: str, shape: tuple[int, int]) -> Floats:
    """Values of one feature; other columns of a DataFrame may be of any kind."""
    if name in getattr(X, "columns", ()):
        X, number, shape = X[[name]], 0, (shape[0], 1)
    matrix = X.matrix if isinstance(X, RankTable) else as_matrix(X)[0]
    if matrix.shape != shape:
        raise InputError(
            f"X is {matrix.shape[0]} × {matrix.shape[1]}, not {shape[0]} × {shape[1]}; give the "
            "data of the forest."
        )
    return np.asarray(matrix[:, number], np.float64)
