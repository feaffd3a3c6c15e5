"""Tallies of forests whose trees are those of scikit-learn, which several libraries grow.

Candidates are drawn at each node (RandomForest, ExtraTrees, and the forests of scikit-survival and
quantile-forest) or once per tree (Bagging with max_features). All that the bagged null model needs
is stored; it does not describe random cut points (ExtraTrees). A fitted tree holds the weight
W = Σ w and the impurity of each node, so Σ w (y−ȳ_node)² is known exactly, and the number of
distinct samples, from which Σ w² (y−ȳ_node)² follows on average (`nodes`). Trees of survival
forests keep no impurity: the coupling of a node is a power of its share of the samples.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import ensemble
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.tree import BaseDecisionTree
from sklearn.utils.validation import check_is_fitted

from nullforest._util.errors import InputError
from nullforest.tallies.nodes import (
    MANY_TINY,
    SURVIVAL_POWER,
    TINY,
    Floats,
    expected_variances,
    needs_samples,
    node_couplings,
    tally_of_nodes,
    weighted_squares_of_classes,
    weighted_squares_of_numbers,
)
from nullforest.tallies.tally import Names, Tally

_FORESTS = (
    ensemble.RandomForestClassifier,
    ensemble.RandomForestRegressor,
    ensemble.ExtraTreesClassifier,
    ensemble.ExtraTreesRegressor,
)
_BAGGINGS = (ensemble.BaggingClassifier, ensemble.BaggingRegressor)
_SURVIVAL_FORESTS = ("RandomSurvivalForest", "ExtraSurvivalTrees")
#: Criteria whose impurity is the variance of y.
_VARIANCES = ("squared_error", "friedman_mse")
_TINY_NODES = (
    f"Many nodes of these trees hold fewer than {TINY} samples. With such trees and numbers to "
    "predict, false positive rates above the level were measured (docs/libraries.md); use "
    "min_samples_leaf=5."
)


def read(forest: Any, n_samples: int | None) -> Tally:
    """Take the tally of a fitted forest of scikit-learn, scikit-survival or quantile-forest."""
    found = getattr(forest, "tally_", None)
    if isinstance(found, Tally):  # a nullforest estimator holds its tally
        return found
    library = _library(forest)
    check_fitted(forest)
    columns = None
    if isinstance(forest, _BAGGINGS):
        columns = [np.asarray(subset) for subset in forest.estimators_features_]
        _check_bagging(forest, forest.estimators_, columns)
        stored = getattr(forest, "_n_samples", None)
    elif not getattr(forest, "bootstrap", True):
        stored = int(forest.estimators_[0].tree_.n_node_samples[0])
    else:
        stored = getattr(forest, "_n_samples", None)
    return tally_of_trees(
        forest,
        needs_samples(n_samples, stored),
        source=f"{library} {type(forest).__name__}",
        columns=columns,
        power=SURVIVAL_POWER if library == "scikit-survival" else 1.0,
    )


def _library(forest: Any) -> str:
    """The library of a forest; refuses models without a known null distribution."""
    name, kinds = type(forest).__name__, type(forest).__mro__
    packages = {kind.__module__.partition(".")[0] for kind in kinds}
    if "quantile_forest" in packages:
        if not hasattr(forest, "estimator_params"):
            raise InputError(f"A {name} of quantile-forest is no forest; give a fitted regressor.")
        return "quantile-forest"
    if "sksurv" in packages:
        if not {kind.__name__ for kind in kinds} & set(_SURVIVAL_FORESTS):
            raise InputError(
                f"nullforest cannot take the tally of a {name}: only trees grown independently of "
                "each other have a known null distribution. Use scikit-survival's "
                f"{' or '.join(_SURVIVAL_FORESTS)}."
            )
        return "scikit-survival"
    if hasattr(type(forest), "tally_"):  # a nullforest estimator that is not fitted
        return "nullforest"
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
    return "scikit-learn"


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


def tally_of_trees(
    forest: Any,
    n_samples: int,
    *,
    source: str,
    columns: Sequence[NDArray[np.int64]] | None = None,
    squares: Callable[[Any, Floats], Floats] | None = None,
    total: float | None = None,
    power: float = 1.0,
) -> Tally:
    """Take the tally of a forest whose `estimators_` are trees of scikit-learn's kind.

    Trees could use the `columns` given for each, else all. `squares` gives Σ w² (y−ȳ)² of the nodes
    of a tree from it and its variances, by default from the numbers of distinct samples that
    scikit-learn keeps; `total` is Σ (y−ȳ)² of the whole sample, by default from the mean variance
    of the bags. The couplings are raised to a `power`.
    """
    trees, F = list(forest.estimators_), int(forest.n_features_in_)
    columns = [np.arange(F)] * len(trees) if columns is None else columns
    squares = squares or (_weighted_squares if forest.bootstrap else _same)
    selected, sums, sums_of_squares, cuts, roots, sizes = [], [], [], [], [], []
    for tree, subset in zip(trees, columns, strict=True):
        grown = tree.tree_
        split = grown.feature >= 0
        selected.append(subset[grown.feature[split]])
        variance = _variance(tree)
        sums.append((grown.weighted_n_node_samples * variance)[split])
        sums_of_squares.append(squares(tree, variance)[split])  # of two samples at least: above 0
        cuts.append(grown.threshold[split])
        sizes.append(grown.n_node_samples[split])
        roots.append(variance[0])
    if total is None:
        total = _total(trees[0], float(np.mean(roots)), n_samples, replace=bool(forest.bootstrap))
    coupling = node_couplings(np.concatenate(sums), np.concatenate(sums_of_squares), total)
    return tally_of_nodes(
        np.concatenate(selected),
        n_features=F,
        nodes_per_tree=np.array([len(each) for each in selected]),
        pool_per_tree=np.array([len(subset) for subset in columns]),
        candidates=int(trees[0].max_features_),
        n_samples=n_samples,
        coupling=coupling**power,
        cut=np.concatenate(cuts),
        feature_names=text(getattr(forest, "feature_names_in_", None)),
        splitter="random" if trees[0].splitter == "random" else "best",
        notes=(_TINY_NODES,) if _tiny(trees[0], np.concatenate(sizes)) else (),
        source=source,
    )


def _tiny(tree: Any, sizes: NDArray[np.int64]) -> bool:
    """Whether a forest for a numeric target has many nodes of very few samples."""
    if hasattr(tree, "classes_") or tree.criterion == "logrank" or tree.splitter == "random":
        return False
    return bool(len(sizes) and (sizes < TINY).mean() > MANY_TINY)


def check_fitted(forest: Any) -> None:
    """Refuse a forest that is not fitted."""
    try:
        check_is_fitted(forest, "estimators_")
    except NotFittedError:
        raise InputError(
            f"This {type(forest).__name__} is not fitted yet; call fit(X, y) first."
        ) from None


def unwrapped(forest: Any) -> tuple[Any, Names | None]:
    """The model inside, and the names of its features where the steps before it know them.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> unwrapped(make_pipeline(RandomForestClassifier(7)))
    (RandomForestClassifier(n_estimators=7), None)
    """
    names = None
    while True:
        if hasattr(forest, "best_estimator_"):
            forest = forest.best_estimator_
        elif isinstance(forest, Pipeline):
            steps, forest = forest[:-1], forest[-1]
            if len(steps):
                try:
                    names = steps.get_feature_names_out()
                except (AttributeError, NotFittedError, ValueError):
                    names = None  # a step without output names: number the features
        else:
            return forest, text(names)


def text(names: Any) -> Names | None:
    """Names as an array of text."""
    return None if names is None else np.asarray(names).astype(str)


def _total(tree: Any, variance: float, n_samples: int, *, replace: bool) -> float:
    """Σ (y−ȳ)² of the whole sample, by the mean variance of the bags.

    Bags of n of the S samples are less varied than all samples, on average by (n−1)/n with
    replacement and by S(n−1)/(n(S−1)) without.
    """
    bag = round(float(tree.tree_.weighted_n_node_samples[0]))
    total = n_samples * variance * bag / max(bag - 1, 1)
    return total if replace else total * (n_samples - 1) / n_samples


def _same(tree: Any, variance: Floats) -> Floats:
    """Σ w² (y−ȳ)² without replacement: Σ w (y−ȳ)²."""
    return np.asarray(tree.tree_.weighted_n_node_samples * variance)


def class_shares(tree: Any) -> Floats:
    """Share of each class in each node: (nodes, outputs, classes)."""
    value = tree.tree_.value
    return np.asarray(value / value.sum(axis=2, keepdims=True))


def _weighted_squares(tree: Any, variance: Floats) -> Floats:
    """Expected Σ w² (y−ȳ)² of each node of a bootstrapped tree, the mean over outputs."""
    grown = tree.tree_
    weight, distinct = grown.weighted_n_node_samples, grown.n_node_samples.astype(float)
    if not hasattr(tree, "classes_"):
        return weighted_squares_of_numbers(weight, distinct, variance)
    return weighted_squares_of_classes(weight, distinct, class_shares(tree))


def _variance(tree: Any) -> Floats:
    """Variance of y in each node, one-hot for classes, the mean over outputs."""
    grown = tree.tree_
    if hasattr(tree, "classes_"):
        return np.asarray(1.0 - (class_shares(tree) ** 2).sum(axis=2).mean(axis=1))
    if tree.criterion in _VARIANCES:
        return np.asarray(grown.impurity)
    if tree.criterion == "logrank":
        return np.ones(grown.node_count)  # the share of the samples remains
    # Other criteria keep no variance.
    distinct = grown.n_node_samples.astype(float)
    left, right = grown.children_left, grown.children_right
    return expected_variances(left, right, distinct, int(tree.max_features_))
