"""Permutation importance on out-of-bag samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nullforest import _native
from nullforest._util.checks import n_threads
from nullforest._util.errors import InputError
from nullforest.data.rank_table import values_of
from nullforest.run.forest import Forest


def permuted_errors(
    forest: Forest, X: Any, *, n_jobs: int = -1
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean over the trees of the increase of their out-of-bag error, and its deviation.

    For every tree and every feature that it splits on, the feature's values are permuted among
    the tree's out-of-bag samples; the increase of its error (share of wrong classes, or mean
    squared error) is attributed to the feature. A feature that a tree does not use adds zero.

    Parameters
    ----------
    forest : Forest
        Grown with `keep_trees=True`, on samples below 1 or with replacement.
    X : array-like or RankTable, (S, F)
        The data it was grown on.
    n_jobs : int
        Threads; the answer does not depend on them.

    Returns
    -------
    mean, deviation : (F,) float
        Mean over all trees, and the standard deviation between trees (divided by T, as Breiman
        and Cutler's code does).
    """
    if forest.trees is None:
        raise InputError("The trees were not kept; grow with keep_trees=True to permute features.")
    if forest.target.criterion == "neighbourhood":
        raise InputError("A forest on distances predicts no value, so it has no error to increase.")
    values, shape = values_of(X)
    if shape != (forest.tally.n_samples, forest.tally.n_features):
        raise InputError(
            f"X is {shape[0]} × {shape[1]}, but the forest was grown on "
            f"{forest.tally.n_samples} × {forest.tally.n_features}; give the same data."
        )
    settings = forest.settings
    if not settings.replace and settings.samples >= shape[0]:
        raise InputError(
            "Every tree drew every sample, so none is out of bag; grow with samples below 1."
        )
    sums, squares = _native.permuted_errors(
        forest.trees.arrays,
        values,
        shape[0],
        forest.target.values,
        forest.classes is not None,
        settings.of_kernel(forest.n_trees, keep_trees=True, oob=True),
        n_threads(n_jobs),
    )
    mean = sums / forest.n_trees
    return mean, np.sqrt(np.maximum(squares / forest.n_trees - mean**2, 0.0))
