"""Tallies of fitted forests: one module per library, found by type, imported when needed."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from nullforest._util.errors import InputError
from nullforest._util.files import as_path
from nullforest.tallies.levels import levels_of_data
from nullforest.tallies.tally import Tally, as_names

#: Libraries by the package of their models; each has a module of that name here.
_READERS = {
    "sklearn": "scikit-learn",
    "imblearn": "imbalanced-learn",
    "quantile_forest": "quantile-forest",
    "sksurv": "scikit-survival",
    "lightgbm": "LightGBM",
    "xgboost": "XGBoost",
    "pyspark": "Spark ML",
    "treelite": "treelite",
}


def tally(
    forest: Any,
    *,
    n_samples: int | None = None,
    candidates: int | None = None,
    feature_names: Iterable[str] | None = None,
    columns: ArrayLike | None = None,
    X: Any = None,
) -> Tally:
    """Read the tally of a fitted forest, without retraining or changing it.

    Parameters
    ----------
    forest : fitted forest, or path of a file
        scikit-learn's RandomForest and ExtraTrees (classifier or regressor) and its Bagging of
        decision trees; the forests of imbalanced-learn, quantile-forest, scikit-survival, LightGBM,
        XGBoost, Spark ML and treelite (docs/libraries.md); a pipeline or a search that ends in one
        of these; or any object with an attribute `tally`, such as the result of
        :func:`nullforest.grow`. Files hold a tally, a forest of R (r/nullforest.R), or a model of
        LightGBM, XGBoost or Spark.
    n_samples : int, optional
        Number of training samples, for forests that do not store it.
    candidates : int, optional
        Features compared at each node, for forests that do not store it.
    feature_names : iterable of str, optional
        Names to use in place of those of the forest.
    columns : array-like of int, optional
        Column of your data that each column of the forest was, for a forest fitted on
        `X[:, columns]`. The tally has the order of your data, so that forests on shuffled columns
        add.
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
    if X is not None:
        X = X if hasattr(X, "shape") else np.asarray(X)
        n_samples = X.shape[0] if n_samples is None and X.ndim else n_samples
    own = getattr(forest, "tally", None)
    found: Tally = own if isinstance(own, Tally) else _read(forest, n_samples)
    if candidates is not None:
        found = _with_candidates(found, candidates)
    if feature_names is not None:
        found = replace(found, feature_names=as_names(feature_names))
    if X is not None:
        found = _with_levels(found, X)
    return found if columns is None else _in_order(found, columns)


def _read(forest: Any, n_samples: int | None) -> Tally:
    if isinstance(forest, str | os.PathLike):
        from nullforest.tallies.readers.model_files import read_file

        return read_file(as_path(forest), n_samples)
    if "sklearn" in _packages(forest):
        from nullforest.tallies.readers.wrapped import unwrapped

        inner, names = unwrapped(forest)
        found: Tally = _reader(inner).read(inner, n_samples)
        return found if found.feature_names is not None else replace(found, feature_names=names)
    read: Tally = _reader(forest).read(forest, n_samples)
    return read


def _packages(forest: Any) -> list[str]:
    """Packages of the model's class and of those it extends, the class's own first."""
    return [kind.__module__.partition(".")[0] for kind in type(forest).__mro__]


def _reader(forest: Any) -> Any:
    for package in _packages(forest):
        if package in _READERS:
            return import_module(f"nullforest.tallies.readers.{package}")
    raise InputError(
        f"nullforest cannot read a {type(forest).__name__}; give a fitted forest of "
        f"{', '.join(_READERS.values())}, or make a tally from its split counts with "
        "nf.Tally.from_counts(...)."
    )


def _with_candidates(found: Tally, candidates: int) -> Tally:
    if found.candidates not in (None, candidates):
        raise InputError(
            f"This forest compared {found.candidates} features at each node, not "
            f"{candidates!r:.60}; leave out candidates."
        )
    return replace(found, candidates=candidates)


def _with_levels(found: Tally, X: Any) -> Tally:
    try:
        if tuple(X.shape) == (found.n_samples, found.n_features):
            return replace(found, levels=levels_of_data(X))
    except (TypeError, ValueError):  # text, or rows of different lengths
        pass
    raise InputError(
        f"X must be the {found.n_samples} samples × {found.n_features} features that the forest "
        "was fitted on, as numbers."
    )


def _in_order(found: Tally, columns: ArrayLike) -> Tally:
    """The tally with its features in the order of the data: feature i becomes columns[i]."""
    order = np.asarray(columns)
    if order.shape != (found.n_features,) or np.any(np.sort(order) != np.arange(len(order))):
        raise InputError(
            f"columns must name each of the {found.n_features} columns of your data once, as in "
            "X[:, columns]."
        )
    if found.probes is not None or found.shadows is not None:
        raise InputError("The columns of a forest of nf.grow need no new order.")
    place = np.argsort(order)
    fields = ("counts", "couplings", "feature_names", "levels")
    arrays = {name: getattr(found, name) for name in fields}
    moved: dict[str, Any] = {n: None if a is None else a[place] for n, a in arrays.items()}
    return replace(found, **moved)
