"""Further columns of a selection: effects and annotations; and how a notebook shows it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nullforest._util.errors import InputError
from nullforest.data.annotations import joined, matched

if TYPE_CHECKING:
    from nullforest.selection.selection import Selection


def with_effects(self: Selection, X: Any, y: Any) -> Selection:
    """The same selection with the direction and size of every feature in its table.

    Parameters
    ----------
    X, y : array-like
        The data that the forest was grown on.

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

    effects = effect_sizes(X, y)
    if effects is not None and len(next(iter(effects.columns.values()))) != len(self.support):
        raise InputError(f"X has not the {len(self.support)} features of the forest.")
    return replace(self, effects=effects)


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
    found = matched(table, self.tally.names)
    return replace(self, annotations=joined(self.annotations, found))


def notebook(self: Selection) -> str:
    """The selection as a notebook shows it."""
    from nullforest.report import notebook_html

    return notebook_html(self)
