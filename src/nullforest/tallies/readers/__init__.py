"""Tallies of fitted forests: one module per library, found by type, imported when needed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np

from nullforest._util.errors import InputError
from nullforest.tallies.levels import levels_of_data
from nullforest.tallies.tally import Tally, as_names


def tally(
    forest: Any,
    *,
    n_samples: int | None = None,
    feature_names: Iterable[str] | None = None,
    X: Any = None,
) -> Tally:
    """Read the tally of a fitted forest, without retraining or changing it.

    Parameters
    ----------
    forest : fitted forest
        scikit-learn's RandomForest and ExtraTrees (classifier or regressor), a Bagging of
        decision trees, a pipeline or a search that ends in one of these, or any object with an
        attribute `tally`, such as the result of :func:`nullforest.grow`.
    n_samples : int, optional
        Number of training samples, for forests that do not store it.
    feature_names : iterable of str, optional
        Names to use in place of those of the forest.
    X : (n_samples, n_features) array, sparse matrix or DataFrame, optional
        The data that the forest was fitted on. Columns with different numbers of distinct values
        are recognised by it; without it, by the cut points of the trees.

    Returns
    -------
    Tally

    Examples
    --------
    >>> import nullforest as nf
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(100, max_features=2, random_state=0).fit(X, y)
    >>> t = nf.tally(forest)
    >>> t.n_trees, t.candidates, str(t.names[0])
    (100, 2, 'sepal length (cm)')
    """
    own = getattr(forest, "tally", None)
    found: Tally = own if isinstance(own, Tally) else _reader(forest).read(forest, n_samples)
    if feature_names is not None:
        found = replace(found, feature_names=as_names(feature_names))
    if X is None:
        return found
    try:
        X = X if hasattr(X, "shape") else np.asarray(X)
        if tuple(X.shape) == (found.n_samples, found.n_features):
            return replace(found, levels=levels_of_data(X))
    except (TypeError, ValueError):  # text, or rows of different lengths
        pass
    raise InputError(
        f"X must be the {found.n_samples} samples × {found.n_features} features that the forest "
        "was fitted on, as numbers."
    )


def _reader(forest: Any) -> Any:
    packages = {kind.__module__.split(".")[0] for kind in type(forest).__mro__}
    if "sklearn" in packages:
        return import_module("nullforest.tallies.readers.sklearn")
    raise InputError(
        f"nullforest cannot read a {type(forest).__name__}; give a fitted scikit-learn forest, or "
        "make a tally from its split counts with nf.Tally.from_counts(...)."
    )
