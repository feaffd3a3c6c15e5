r"""Tallies of scikit-learn forests, read from the fitted trees alone.

The coupling of a node to the whole sample is

    r = (Σ w (y−ȳ_node)²)² / (Σ w² (y−ȳ_node)² · Σ_all (y−ȳ)²),

and a fitted tree holds the node's weight W = Σ w and its impurity, so Σ w (y−ȳ_node)² is known
exactly. The multiplicities w of a bootstrap are not kept, but their number is: d distinct samples
have the total weight W. Each has at least one, and the other E = W − d draws fall on them at
random, so that Σ w² is d + 3E + E(E−1)/d on average. For classes the same is done class by class,
with the distinct samples divided in proportion to the weights.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import ensemble
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.tree import BaseDecisionTree, ExtraTreeClassifier, ExtraTreeRegressor
from sklearn.utils.validation import check_is_fitted

from nullforest._util.errors import InputError
from nullforest.tallies.levels import levels_of_cuts
from nullforest.tallies.tally import COUPLING_EDGES, N_COUPLING_BINS, Tally

Floats = NDArray[np.float64]

_FORESTS = (
    ensemble.RandomForestClassifier,
    ensemble.RandomForestRegressor,
    ensemble.ExtraTreesClassifier,
    ensemble.ExtraTreesRegressor,
)
_BAGGINGS = (ensemble.BaggingClassifier, ensemble.BaggingRegressor)
#: Criteria whose impurity is the variance of y.
_VARIANCES = ("squared_error", "friedman_mse")


def read(forest: Any, n_samples: int | None) -> Tally:
    """Take the tally of a fitted scikit-learn forest."""
    forest, names = _unwrapped(forest)
    own = getattr(forest, "tally_", None)
    if isinstance(own, Tally):  # a nullforest estimator holds its tally
        return own if own.feature_names is not None else replace(own, feature_names=_text(names))
    if not hasattr(type(forest), "tally_"):
        _refuse(forest)
    try:
        check_is_fitted(forest)
    except NotFittedError:
        raise InputError(
            f"This {type(forest).__name__} is not fitted yet; call fit(X, y) first."
        ) from None
    trees: list[BaseDecisionTree] = list(forest.estimators_)
    F = int(forest.n_features_in_)
    columns = [np.arange(F)] * len(trees)
    if isinstance(forest, _BAGGINGS):
        columns = [np.asarray(subset) for subset in forest.estimators_features_]
        _check_bagging(forest, trees, columns)
    if n_samples is None:
        n_samples = _n_samples(forest, trees)
    if not isinstance(n_samples, int | np.integer) or not 1 <= n_samples <= 2**62:
        raise InputError(f"n_samples = {n_samples!r:.60} must be a whole number of samples.")
    random = isinstance(trees[0], ExtraTreeClassifier | ExtraTreeRegressor)
    selected, coupling, nodes = _nodes(forest, trees, columns, n_samples)
    cuts = np.concatenate([tree.tree_.threshold[tree.tree_.feature >= 0] for tree in trees])
    bins = np.searchsorted(COUPLING_EDGES, np.minimum(coupling, 1.0), side="right") - 1
    histogram = np.bincount(selected * N_COUPLING_BINS + bins, minlength=F * N_COUPLING_BINS)
    couplings = histogram.reshape(F, N_COUPLING_BINS).astype(np.int32)
    return Tally(
        counts=np.bincount(selected, minlength=F),
        nodes_per_tree=nodes,
        pool_per_tree=np.array([len(subset) for subset in columns]),
        candidates=int(trees[0].max_features_),
        n_samples=n_samples,
        # A random cut point couples a node less than the best one, by an unknown amount.
        couplings=None if random else couplings,
        feature_names=_text(getattr(forest, "feature_names_in_", names)),
        # A random cut point tells nothing of the values that it lies between.
        levels=None if random else levels_of_cuts(selected, cuts, F, n_samples),
        splitter="random" if random else "best",
        source=f"scikit-learn {type(forest).__name__}",
    )


def _unwrapped(forest: Any) -> tuple[Any, Any]:
    """The forest inside a pipeline or a finished search, and the names that reach it."""
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
            return forest, names


def _text(names: Any) -> NDArray[np.str_] | None:
    return None if names is None else np.asarray(names).astype(str)


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


def _n_samples(forest: Any, trees: list[Any]) -> int:
    if not isinstance(forest, _BAGGINGS) and not forest.bootstrap:
        return int(trees[0].tree_.n_node_samples[0])
    known = getattr(forest, "_n_samples", None)
    if known is None:
        raise InputError(
            "This forest does not store its number of training samples; give n_samples."
        )
    return int(known)


def _nodes(
    forest: Any, trees: list[Any], columns: list[NDArray[np.int64]], n_samples: int
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    """Feature and coupling of every internal node, and the number of nodes of each tree."""
    selected, couplings, nodes, whole = [], [], [], []
    for tree, subset in zip(trees, columns, strict=True):
        grown = tree.tree_
        split = grown.feature >= 0
        selected.append(subset[grown.feature[split]])
        variance = _variance(tree)
        deviance = grown.weighted_n_node_samples * variance
        squares = _weighted_squares(tree, variance) if forest.bootstrap else deviance
        couplings.append(deviance[split] ** 2 / squares[split])  # two samples at least: above 0
        nodes.append(int(split.sum()))
        whole.append(variance[0])
    # Bags of n of the S samples are less varied than all samples, on average by (n−1)/n with
    # replacement and by S(n−1)/(n(S−1)) without; only the bags' variance is known.
    bag = round(float(trees[0].tree_.weighted_n_node_samples[0]))
    total = n_samples * float(np.mean(whole)) * bag / max(bag - 1, 1)
    if not forest.bootstrap:
        total *= (n_samples - 1) / n_samples
    coupling = np.concatenate(couplings) / max(total, np.finfo(float).tiny)
    return np.concatenate(selected), coupling, np.array(nodes)


def _sum_of_squares(weight: Floats, distinct: Floats) -> Floats:
    """Expected Σ w² of `distinct` whole multiplicities w ≥ 1 that add to `weight`."""
    extra = np.maximum(weight - distinct, 0.0)
    return np.asarray(distinct + 3 * extra + extra * np.maximum(extra - 1, 0.0) / distinct)


def _weighted_squares(tree: Any, variance: Floats) -> Floats:
    """Expected Σ w² (y−ȳ)² of each node of a bootstrapped tree, the mean over outputs."""
    grown = tree.tree_
    weight, distinct = grown.weighted_n_node_samples, grown.n_node_samples.astype(float)
    if not hasattr(tree, "classes_"):
        return _weighted_squares_of_numbers(weight, distinct, variance)
    share = grown.value / grown.value.sum(axis=2, keepdims=True)
    of_class = share * weight[:, None, None]
    present = share > 0
    n_present = present.sum(axis=2, keepdims=True)
    spare = np.maximum(weight[:, None, None] - n_present, 1e-9)
    own = 1.0 + np.maximum(distinct[:, None, None] - n_present, 0.0) * (of_class - 1) / spare
    own = np.where(present, np.clip(own, 1.0, np.maximum(of_class, 1.0)), 1.0)
    distance = 1 - 2 * share + (share**2).sum(axis=2, keepdims=True)
    squares = np.where(present, _sum_of_squares(of_class, own) * distance, 0.0)
    return np.asarray(squares.sum(axis=2).mean(axis=1))


def _weighted_squares_of_numbers(weight: Floats, distinct: Floats, variance: Floats) -> Floats:
    """Expected Σ w² (y−ȳ)² where the y are independent with some variance σ².

    A heavy sample pulls the mean ȳ towards itself: E(y_i−ȳ)² = σ² (1 − 2w_i/W + Σw²/W²). Summed
    with weights w that gives σ² from the node's variance, and with w² the answer; the moments of
    w follow from the factorial moments of E balls in d urns.
    """
    extra = np.maximum(weight - distinct, 0.0)
    first = extra / distinct
    second = first * np.maximum(extra - 1, 0.0) / distinct
    third = second * np.maximum(extra - 2, 0.0) / distinct
    squares = distinct * (1 + 3 * first + second)
    cubes = distinct * (1 + 7 * first + 6 * second + third)
    unexplained = np.maximum(weight - squares / weight, 1e-9)
    sigma = variance * weight / unexplained
    return np.asarray(sigma * (squares - 2 * cubes / weight + (squares / weight) ** 2))


def _variance(tree: Any) -> NDArray[np.float64]:
    """Variance of y in each node, one-hot for classes, the mean over outputs."""
    grown = tree.tree_
    if hasattr(tree, "classes_"):
        share = grown.value / grown.value.sum(axis=2, keepdims=True)
        return np.asarray(1.0 - (share**2).sum(axis=2).mean(axis=1))
    if tree.criterion in _VARIANCES:
        return np.asarray(grown.impurity)
    # Other regression criteria keep no variance; the node's share of the samples remains.
    return np.ones(grown.node_count)
