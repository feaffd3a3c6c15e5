"""What shares the signal of a selected feature? The features whose ranks follow its own.

A forest picks one of several correlated features at a node, and a selected feature may stand for
others. Its companions are the features whose absolute rank correlation (Spearman) with it reaches
a level. They are reported, not tested: a companion is no discovery.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from nullforest._util.errors import InputError
from nullforest.features.ranks import standard_ranks
from nullforest.selection.selection import Selection

#: Numbers that one block of ranks may hold: 32 MB, a few times what a processor's cache takes.
_BLOCK = 4_000_000


def find_correlated(
    X: Any, features: Selection | ArrayLike, level: float = 0.8, *, names: Any = None
) -> pd.DataFrame:
    """Features that are correlated with the selected ones.

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
        One row per pair, strongest first within each selected feature: feature, companion,
        correlation, column and companion_column (numbers), and, from a Selection, the companion's
        p_value and whether it is selected itself.

    Examples
    --------
    >>> import numpy as np, nullforest as nf
    >>> X = np.random.default_rng(0).normal(size=(50, 4))
    >>> X[:, 3] = -X[:, 0] ** 3
    >>> nf.find_correlated(X, [0, 1])[["feature", "companion", "correlation"]]
      feature companion  correlation
    0      x0        x3         -1.0
    """
    if not 0.0 < level <= 1.0:
        raise InputError(f"level = {level} must lie above 0 and up to 1.")
    S, F = X.shape
    selection = features if isinstance(features, Selection) else None
    chosen = _numbers(features.support if isinstance(features, Selection) else features, F)
    if selection is not None and len(selection.support) != F:
        raise InputError(
            f"X has {F} features and the selection {len(selection.support)}; give the data that "
            "the forest was grown on."
        )
    if names is None:
        if selection is not None:
            names = selection.tally.names
        elif hasattr(X, "columns"):
            names = [str(c) for c in X.columns]
    labels = np.array([f"x{i}" for i in range(F)] if names is None else list(names), str)
    own = standard_ranks(_columns(X, chosen))
    found: list[tuple[Any, Any, Any]] = []
    width = max(1, _BLOCK // max(S, 1))
    for start in range(0, F if len(chosen) else 0, width):
        stop = min(start + width, F)
        r = own.T @ standard_ranks(_columns(X, np.arange(start, stop)))
        mine = (chosen >= start) & (chosen < stop)
        r[np.flatnonzero(mine), chosen[mine] - start] = 0.0  # no feature accompanies itself
        # Equal rankings have a product of 1 but for rounding.
        row, column = np.nonzero(np.abs(r) >= level - 1e-12)
        found.append((row, column + start, np.clip(r[row, column], -1.0, 1.0)))
    row, column, r = (np.concatenate(part) for part in zip(*found, strict=True)) if found else _none
    order = np.lexsort((column, -np.abs(r), row))
    row, column, r = row[order], column[order], r[order]
    frame = pd.DataFrame(
        {
            "feature": labels[chosen[row]],
            "companion": labels[column],
            "correlation": r,
            "column": chosen[row],
            "companion_column": column,
        }
    )
    if selection is not None:
        frame["p_value"] = selection.pvalues[column]
        frame["selected"] = selection.support[column]
    return frame


_none = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))


def _numbers(features: Any, F: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    array = np.asarray(features)
    if array.dtype == bool:
        if array.shape != (F,):
            raise InputError(f"The mask of features must have one entry for each of the {F}.")
        return np.flatnonzero(array)
    if array.size == 0:
        return np.empty(0, np.int64)
    if array.dtype.kind not in "iu" or array.ndim != 1:
        raise InputError("Features are given by their numbers, or as a mask.")
    if array.min() < 0 or array.max() >= F:
        raise InputError(f"Features go from 0 to {F - 1}.")
    return np.unique(array).astype(np.int64)


def _columns(X: Any, columns: Any) -> Any:
    if hasattr(X, "iloc"):
        return X.iloc[:, columns]
    if hasattr(X, "tocsc"):
        return X.tocsc()[:, columns]
    return X[:, columns]
