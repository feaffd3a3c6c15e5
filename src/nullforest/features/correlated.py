"""Features that are correlated with the selected ones.

A node selects one of several correlated features, and a selected feature may stand for others.
Correlated features are those whose absolute rank correlation (Spearman) with it reaches a level.
They are reported, not tested: a correlated feature is not a discovery.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from nullforest._util.errors import InputError
from nullforest.features.numbers import feature_numbers
from nullforest.features.ranks import some_columns, standard_ranks
from nullforest.selection.selection import Selection

#: Numbers that one block of ranks may hold: 32 MB, a few times what a processor's cache takes.
_BLOCK = 4_000_000


def find_correlated(
    X: Any, features: Selection | ArrayLike, level: float = 0.8, *, names: Any = None
) -> pd.DataFrame:
    """Find the features that are correlated with the selected ones.

    Parameters
    ----------
    X : (S, F) array, sparse matrix or DataFrame
        The data that the forest was grown on.
    features : Selection, or array-like of int or bool
        Selected features, by number or as a mask.
    level : float
        Least absolute rank correlation, above 0 and up to 1.
    names : array-like of str, optional
        Names of the features; those of the Selection or the DataFrame where not given.

    Returns
    -------
    DataFrame
        One row per pair, strongest first within each selected feature: feature,
        correlated_feature, correlation, column and correlated_column (numbers), and, from a
        Selection, the p_value of the correlated feature and whether it is selected itself.

    Examples
    --------
    >>> import numpy as np, nullforest as nf
    >>> X = np.random.default_rng(0).normal(size=(50, 4))
    >>> X[:, 3] = -X[:, 0] ** 3
    >>> nf.find_correlated(X, [0, 1])[["feature", "correlated_feature", "correlation"]]
      feature correlated_feature  correlation
    0      x0                 x3         -1.0
    """
    if not 0.0 < level <= 1.0:
        raise InputError(f"level = {level} must lie above 0 and up to 1.")
    S, F = X.shape
    selection = features if isinstance(features, Selection) else None
    if selection is not None and len(selection.support) != F:
        raise InputError(
            f"X has {F} features and the selection {len(selection.support)}; give the data that "
            "the forest was grown on."
        )
    chosen = np.unique(feature_numbers(features if selection is None else selection.support, F))
    if names is None:
        names = getattr(X, "columns", None) if selection is None else selection.tally.names
    labels = np.array([f"x{i}" for i in range(F)] if names is None else list(map(str, names)), str)
    own = standard_ranks(some_columns(X, chosen))
    found = [(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))]
    width = max(1, _BLOCK // max(S, 1))
    for start in range(0, F if len(chosen) else 0, width):
        stop = min(start + width, F)
        r = own.T @ standard_ranks(some_columns(X, np.arange(start, stop)))
        mine = (chosen >= start) & (chosen < stop)
        r[np.flatnonzero(mine), chosen[mine] - start] = 0.0  # a feature with itself
        # Equal rankings have a product of 1 but for rounding.
        row, column = np.nonzero(np.abs(r) >= level - 1e-12)
        found.append((row, column + start, np.clip(r[row, column], -1.0, 1.0)))
    row, column, r = (np.concatenate(part) for part in zip(*found, strict=True))
    order = np.lexsort((column, -np.abs(r), row))
    row, column, r = row[order], column[order], r[order]
    frame = pd.DataFrame(
        {
            "feature": labels[chosen[row]],
            "correlated_feature": labels[column],
            "correlation": r,
            "column": chosen[row],
            "correlated_column": column,
        }
    )
    if selection is not None:
        frame["p_value"] = selection.pvalues[column]
        frame["selected"] = selection.support[column]
    return frame
