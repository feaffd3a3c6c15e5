"""Heat map of the correlations between the selected features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from nullforest._util.errors import InputError
from nullforest.data.column_blocks import columns_of
from nullforest.features.correlated import correlation_clusters, correlation_matrix
from nullforest.report.plots.display import NULL, SELECTED, Display, Floats, Ints

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from nullforest.selection.selection import Selection

#: Names that are written beside the map; more are illegible.
NAMED = 40


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
        if columns_of(X)[0].shape != (selection.tally.n_samples, selection.tally.n_features):
            raise InputError("X is not the data that the forest was grown on; give the same X.")
        table = selection.table
        chosen = np.asarray(table.index[table["selected"]][:most], np.int64)
        if len(chosen) < 2:
            raise InputError(f"{len(chosen)} features are selected; a heat map needs two or more.")
        r = correlation_matrix(X, chosen)
        cluster, order = correlation_clusters(r)
        names = [str(name) for name in selection.tally.names[chosen[order]]]
        return cls(names, r[np.ix_(order, order)], cluster[order]).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw into the axes given, or into new ones."""
        ax = self._axes(ax, (7.0, 5.6))
        from matplotlib.colors import LinearSegmentedColormap

        colours = LinearSegmentedColormap.from_list("correlation", [NULL, "white", SELECTED])
        self.image_ = ax.imshow(self.correlation, vmin=-1, vmax=1, cmap=colours)
        if len(self.names) <= NAMED:
            ax.set_xticks(range(len(self.names)), self.names, rotation=90, fontsize="small")
            ax.set_yticks(range(len(self.names)), self.names, fontsize="small")
        else:
            ax.set_xticks([])
            ax.set_yticks([])
        self.figure_.colorbar(self.image_, ax=ax, label="Spearman correlation", shrink=0.8)
        return self
