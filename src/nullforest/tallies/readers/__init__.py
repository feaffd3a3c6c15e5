"""Where do tallies come from? One small module per library, found by type, imported when needed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np

from nullforest._util.errors import InputError
from nullforest.tallies.tally import Tally

#: First part of a forest's module name → the reader; each reader has `read(forest, n_samples)`.
READERS = {"sklearn": "nullforest.tallies.readers.sklearn"}


def tally(
    forest: Any, *, n_samples: int | None = None, feature_names: Iterable[str] | None = None
) -> Tally:
    """Read what a fitted forest chose, without retraining or touching it.

    Parameters
    ----------
    forest : fitted forest
        scikit-learn's RandomForest and ExtraTrees (classifier or regressor), a Bagging of
        decision trees, a pipeline or a search that ends in one of these, or anything that
        carries a `tally` of its own, such as the result of :func:`nullforest.grow`.
    n_samples : int, optional
        Number of training samples, for forests that do not remember it.
    feature_names : iterable of str, optional
        Names to use in place of those that the forest knows.

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
    if feature_names is None:
        return found
    return replace(found, feature_names=np.array(list(feature_names), str))


def _reader(forest: Any) -> Any:
    for kind in type(forest).__mro__:
        module = READERS.get(kind.__module__.split(".")[0])
        if module is not None:
            return import_module(module)
    raise InputError(
        f"nullforest cannot read a {type(forest).__name__}; give a fitted scikit-learn forest, or "
        "make a tally from its split counts with nf.Tally.from_counts(...)."
    )
