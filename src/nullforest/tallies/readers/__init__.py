"""Tallies of fitted forests: one module per library, found by type, imported when needed."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from nullforest._util.errors import InputError
from nullforest._util.files import as_path, reading
from nullforest.data.dense import as_names
from nullforest.tallies.favoured_columns import levels_of_data
from nullforest.tallies.file_format import load
from nullforest.tallies.tally import Tally

#: Library and module here, by the package of a model.
_READERS = {
    "sklearn": ("scikit-learn", "sklearn"),
    "imblearn": ("imbalanced-learn", "imblearn"),
    "quantile_forest": ("quantile-forest", "sklearn"),
    "sksurv": ("scikit-survival", "sklearn"),
    "lightgbm": ("LightGBM", "lightgbm"),
    "xgboost": ("XGBoost", "xgboost"),
    "pyspark": ("Spark ML", "pyspark"),
    "treelite": ("treelite", "treelite"),
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
    attached = getattr(forest, "tally", None)
    result: Tally = attached if isinstance(attached, Tally) else _read(forest, n_samples)
    if candidates is not None:
        result = _with_candidates(result, candidates)
    if feature_names is not None:
        result = replace(result, feature_names=as_names(feature_names))
    if X is not None:
        result = _with_levels(result, X)
    return result if columns is None else _in_order(result, columns)


def _read(forest: Any, n_samples: int | None) -> Tally:
    if isinstance(forest, str | os.PathLike):
        return _read_file(as_path(forest), n_samples)
    names = None
    if "sklearn" in _packages(forest):
        from nullforest.tallies.readers.sklearn import unwrapped

        forest, names = unwrapped(forest)
    package = next((name for name in _packages(forest) if name in _READERS), None)
    if package is None:
        raise InputError(
            f"nullforest cannot read a {type(forest).__name__}; give a fitted forest of "
            f"{', '.join(library for library, _ in _READERS.values())}, or make a tally from its "
            "split counts with nf.Tally.from_counts(...)."
        )
    reader = import_module(f"nullforest.tallies.readers.{_READERS[package][1]}")
    result: Tally = reader.read(forest, n_samples)
    unnamed = result.feature_names is None and names is not None
    return replace(result, feature_names=names) if unnamed else result


def _packages(forest: Any) -> list[str]:
    """Packages of the model's class and of those it extends, the class's own first."""
    return [kind.__module__.partition(".")[0] for kind in type(forest).__mro__]


def _read_file(path: Path, n_samples: int | None) -> Tally:
    """Take the tally of the forest in a file.

    It is a tally, a forest that r/nullforest.R wrote, a model of LightGBM (text) or XGBoost
    (JSON), or the folder of a model of Spark.
    """
    from nullforest.tallies.readers import forest_file, lightgbm, pyspark, xgboost

    if path.is_dir():
        with reading(path, "a model of Spark"):
            return pyspark.read_folder(path, n_samples)
    with reading(path, "a forest"), path.open("rb") as file:
        content = file.read()
        if content.startswith(b"PK"):
            return load(path)
        if content.startswith(b"\x1f\x8b"):
            content = gzip.decompress(content)
        if content.startswith(b"tree\n"):
            return lightgbm.read_text(content.decode(), n_samples)
        model = json.loads(content) if content.lstrip()[:1] == b"{" else None
        if isinstance(model, dict) and model.get("format") == forest_file.FORMAT:
            return forest_file.read_forest(model)
        if isinstance(model, dict) and "learner" in model:
            return xgboost.read_saved(model, n_samples)
    raise InputError(
        f"{path} holds no forest that nullforest reads; give a tally (Tally.save()), a forest "
        "written by r/nullforest.R, or a model of LightGBM (text) or XGBoost (JSON)."
    )


def _with_candidates(result: Tally, candidates: int) -> Tally:
    if result.candidates not in (None, candidates):
        raise InputError(
            f"This forest compared {result.candidates} features at each node, not "
            f"{candidates!r:.60}; leave out candidates."
        )
    return replace(result, candidates=candidates)


def _with_levels(result: Tally, X: Any) -> Tally:
    try:
        if tuple(X.shape) == (result.n_samples, result.n_features):
            return replace(result, levels=levels_of_data(X))
    except (TypeError, ValueError):  # text, or rows of different lengths
        pass
    raise InputError(
        f"X must be the {result.n_samples} samples × {result.n_features} features that the forest "
        "was fitted on, as numbers."
    )


def _in_order(result: Tally, columns: ArrayLike) -> Tally:
    """The tally with its features in the order of the data: feature i becomes columns[i]."""
    order = np.asarray(columns)
    if order.shape != (result.n_features,) or np.any(np.sort(order) != np.arange(len(order))):
        raise InputError(
            f"columns must name each of the {result.n_features} columns of your data once, as in "
            "X[:, columns]."
        )
    if result.probes is not None or result.shadows is not None:
        raise InputError("The columns of a forest of nf.grow need no new order.")
    place = np.argsort(order)
    fields = ("counts", "couplings", "feature_names", "levels")
    arrays = {name: getattr(result, name) for name in fields}
    moved: dict[str, Any] = {n: None if a is None else a[place] for n, a in arrays.items()}
    return replace(result, **moved)
