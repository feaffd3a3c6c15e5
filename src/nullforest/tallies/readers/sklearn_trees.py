r"""Nodes of scikit-learn's trees, which several libraries grow.

A fitted tree holds the weight W = Σ w and the impurity of each node, so Σ w (y−ȳ_node)² is known
exactly. The multiplicities w of a bootstrap are not kept, but their number is: d distinct samples
have the total weight W. Each has at least one, and the other E = W − d draws fall on them at
random, so that Σ w² is d + 3E + E(E−1)/d on average. For classes the same is done class by class,
with the distinct samples divided in proportion to the weights.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from nullforest._util.errors import InputError
from nullforest.tallies.nodes import (
    MANY_TINY,
    TINY,
    expected_variances,
    node_couplings,
    tally_of_nodes,
)
from nullforest.tallies.tally import Names, Tally

Floats = NDArray[np.float64]

#: Criteria whose impurity is the variance of y.
_VARIANCES = ("squared_error", "friedman_mse")
_TINY_NODES = (
    f"Many nodes of these trees hold fewer than {TINY} samples. With such trees and numbers to "
    "predict, false positive rates above the level were measured (docs/libraries.md); use "
    "min_samples_leaf=5."
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

    Parameters
    ----------
    forest : fitted forest
    n_samples : int
        Training samples, before any bagging.
    source : str
        Library and class, for the reader.
    columns : list of (F_t,) int, optional
        Columns that each tree could use; all where not given.
    squares : callable, optional
        Σ w² (y−ȳ)² of the nodes of a tree, from it and its variances; by default from the numbers
        of distinct samples that scikit-learn keeps.
    total : float, optional
        Σ (y−ȳ)² of the whole sample, where known; else by the mean variance of the bags.
    power : float
        Exponent of the couplings.
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


def stored_samples(forest: Any) -> int | None:
    """Number of training samples, where scikit-learn's forest keeps it."""
    if not getattr(forest, "bootstrap", True):
        return int(forest.estimators_[0].tree_.n_node_samples[0])
    known = getattr(forest, "_n_samples", None)
    return None if known is None else int(known)


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


def _sum_of_squares(weight: Floats, distinct: Floats) -> Floats:
    """Expected Σ w² of `distinct` whole multiplicities w ≥ 1 that add to `weight`."""
    extra = np.maximum(weight - distinct, 0.0)
    return np.asarray(distinct + 3 * extra + extra * np.maximum(extra - 1, 0.0) / distinct)


def _weighted_squares(tree: Any, variance: Floats) -> Floats:
    """Expected Σ w² (y−ȳ)² of each node of a bootstrapped tree, the mean over outputs."""
    grown = tree.tree_
    weight, distinct = grown.weighted_n_node_samples, grown.n_node_samples.astype(float)
    if not hasattr(tree, "classes_"):
        return weighted_squares_of_numbers(weight, distinct, variance)
    return weighted_squares_of_classes(weight, distinct, class_shares(tree))


def weighted_squares_of_classes(weight: Floats, distinct: Floats, share: Floats) -> Floats:
    """Expected Σ w² (y−ȳ)² of one-hot classes with these shares: (nodes, outputs, classes)."""
    of_class = share * weight[:, None, None]
    present = share > 0
    n_present = present.sum(axis=2, keepdims=True)
    spare = np.maximum(weight[:, None, None] - n_present, 1e-9)
    own = 1.0 + np.maximum(distinct[:, None, None] - n_present, 0.0) * (of_class - 1) / spare
    own = np.where(present, np.clip(own, 1.0, np.maximum(of_class, 1.0)), 1.0)
    squares = np.where(present, _sum_of_squares(of_class, own) * class_distances(share), 0.0)
    return np.asarray(squares.sum(axis=2).mean(axis=1))


def class_distances(share: Floats) -> Floats:
    """(y−ȳ)² of a sample of each class, y one-hot: 1 − 2p + Σ p²."""
    return np.asarray(1 - 2 * share + (share**2).sum(axis=2, keepdims=True))


def weighted_squares_of_numbers(weight: Floats, distinct: Floats, variance: Floats) -> Floats:
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
