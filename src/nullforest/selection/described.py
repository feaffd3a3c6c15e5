"""The data of a selection, what they add to its table, and how a notebook shows it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from nullforest._util.errors import InputError
from nullforest.data.annotations import joined, matched
from nullforest.data.column_blocks import columns_of
from nullforest.data.targets import Target, as_target

if TYPE_CHECKING:
    from nullforest.selection.selection import Selection


class Data(NamedTuple):
    """The data that a forest was grown on: X as it is, and y as the forest takes it."""

    X: Any
    target: Target | None


def data_of(selection: Selection, X: Any, y: Any = None) -> Data:
    """Check that X is the data of a selection, and take y by the criterion of its forest.

    Parameters
    ----------
    selection : Selection
    X : array-like, DataFrame, sparse matrix, RankTable or matrix on disk, (S, F), or None
    y : array-like, or Target, or None
        Taken as classes, numbers or survival times as the criterion says, where the tally has one;
        distances are made by a function that no tally has, so that y is then taken as it looks.

    Examples
    --------
    >>> import nullforest as nf, numpy as np
    >>> X, y = np.random.default_rng(0).normal(size=(50, 500)), np.arange(50) % 10
    >>> selection = nf.select(nf.grow(X, y, trees=10, criterion="variance"))
    >>> data_of(selection, X, y).target.criterion
    'variance'
    """
    S, F = selection.tally.n_samples, selection.tally.n_features
    shape = (S, F) if X is None else X.shape if hasattr(X, "shape") else columns_of(X)[0].shape
    if tuple(shape) != (S, F):
        raise InputError(
            f"X has the shape {tuple(shape)}, but the forest was grown on {S} samples and {F} "
            "features; give the same data."
        )
    if y is None or isinstance(y, Target):
        return Data(X, y)
    criterion = (selection.tally.settings or {}).get("criterion", "auto")
    criterion = "auto" if criterion == "neighbourhood" else criterion
    return Data(X, as_target(y, S, criterion=criterion))


def with_effects(self: Selection, X: Any, y: Any) -> Selection:
    """The same selection with the direction and size of every feature in its table.

    Parameters
    ----------
    X, y : array-like
        The data that the forest was grown on; y is compared as its criterion takes it.

    Examples
    --------
    >>> import nullforest as nf, numpy as np
    >>> X, y = np.random.default_rng(0).normal(size=(50, 500)), np.arange(50) % 2
    >>> X[:, 0] += 2 * y
    >>> selection = nf.select(nf.grow(X, y, trees=100)).with_effects(X, y)
    >>> selection.table["higher_in"][0], round(float(selection.table["auc"][0]), 2)
    ('1', 0.93)
    """
    from nullforest.data.effect_sizes import effect_sizes

    return replace(self, effects=effect_sizes(*data_of(self, X, y)))


def with_annotations(self: Selection, table: Any) -> Selection:
    """The same selection with further columns about its features in the table and report.

    Parameters
    ----------
    table : DataFrame, or mapping of column to {feature: text}
        See :func:`nullforest.data.annotations.matched`.

    Examples
    --------
    >>> import nullforest as nf
    >>> t = nf.Tally.from_counts([12, 1, 2, 2, 3], nodes_per_tree=[4] * 5, n_samples=20)
    >>> selection = nf.select(t, null="paper").with_annotations({"symbol": {"x0": "XIST"}})
    >>> selection.table["symbol"].tolist()
    ['XIST', '', '', '', '']
    """
    beside = matched(table, self.tally.names)
    return replace(self, annotations=joined(self.annotations, beside))


def notebook(self: Selection) -> str:
    """The selection as a notebook shows it."""
    from nullforest.report import notebook_html

    return notebook_html(self)
