"""Tallies of scikit-learn's forests and baggings of trees.

Candidates are drawn at each node (RandomForest, ExtraTrees) or once per tree (Bagging with
max_features). All that the bagged null model needs is stored; it does not describe the random cut
points of ExtraTrees.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import ensemble
from sklearn.tree import BaseDecisionTree

from nullforest._util.errors import InputError
from nullforest.tallies.nodes import needs_samples
from nullforest.tallies.readers.sklearn_trees import check_fitted, stored_samples, tally_of_trees
from nullforest.tallies.tally import Tally

_FORESTS = (
    ensemble.RandomForestClassifier,
    ensemble.RandomForestRegressor,
    ensemble.ExtraTreesClassifier,
    ensemble.ExtraTreesRegressor,
)
_BAGGINGS = (ensemble.BaggingClassifier, ensemble.BaggingRegressor)


def read(forest: Any, n_samples: int | None) -> Tally:
    """Take the tally of a fitted scikit-learn forest."""
    own = getattr(forest, "tally_", None)
    if isinstance(own, Tally):  # a nullforest estimator holds its tally
        return own
    if not hasattr(type(forest), "tally_"):
        _refuse(forest)
    check_fitted(forest)
    columns = None
    if isinstance(forest, _BAGGINGS):
        columns = [np.asarray(subset) for subset in forest.estimators_features_]
        _check_bagging(forest, forest.estimators_, columns)
        known = getattr(forest, "_n_samples", None)
    else:
        known = stored_samples(forest)
    return tally_of_trees(
        forest,
        needs_samples(n_samples, known),
        source=f"scikit-learn {type(forest).__name__}",
        columns=columns,
    )


def _refuse(forest: Any) -> None:
    """Refuse models whose selection counts have no known null distribution."""
    name = type(forest).__name__
    if isinstance(forest, ensemble.IsolationForest | ensemble.RandomTreesEmbedding):
        raise InputError(
            f"A {name} splits at random without a target, so its selection counts do not measure "
            "relevance; fit a RandomForest or use nf.grow(X, y)."
        )
    if isinstance(forest, BaseDecisionTree):
        raise InputError(
            f"A {name} is a single tree, but the null distribution is that of a forest; fit a "
            "RandomForest or use nf.grow(X, y)."
        )
    if not isinstance(forest, (*_FORESTS, *_BAGGINGS)):
        raise InputError(
            f"nullforest cannot take the tally of a {name}: only trees grown independently of "
            "each other have a known null distribution. Use RandomForest, ExtraTrees, a Bagging of "
            "decision trees, or nf.grow(X, y)."
        )


def _check_bagging(forest: Any, trees: list[Any], columns: list[NDArray[np.int64]]) -> None:
    for tree in trees:
        if not isinstance(tree, BaseDecisionTree):
            raise InputError(
                f"This {type(forest).__name__} bags {type(tree).__name__} models; only a bagging "
                "of decision trees has selection counts."
            )
    if any(len(np.unique(subset)) < len(subset) for subset in columns):
        raise InputError(
            f"This {type(forest).__name__} drew columns with replacement (bootstrap_features), so "
            "some features entered a tree twice and were twice as likely to be selected; use "
            "bootstrap_features=False."
        )
