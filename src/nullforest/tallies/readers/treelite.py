"""Tallies of random forests in treelite's format.

The format keeps the features, the cut points and, as a library provides them, the sizes of nodes;
the class counts of a node are those of its leaves. Lacking are the number of samples and the
candidates (`n_samples=`, `candidates=`), the pools, and the names. Without sizes only the paper's
null model can be used. The variance of a numeric target is that expected under the null. The ONNX
format keeps no sizes at all and is not read.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nullforest._util.errors import InputError
from nullforest.tallies.nodes import (
    Floats,
    expected_variances,
    needs_samples,
    node_couplings,
    tally_of_nodes,
    weighted_squares_of_classes,
    weighted_squares_of_numbers,
)
from nullforest.tallies.tally import Tally

#: Candidates by which variances are expected: the least, since they are not known. Couplings are
#: too large rather than too small then, and p-values too.
_CANDIDATES = 1


def read(model: Any, n_samples: int | None) -> Tally:
    """Take the tally of a treelite Model; its candidates are not known."""
    if not hasattr(model, "get_tree_accessor"):
        raise InputError(
            f"A {type(model).__name__} of treelite is no model; give a treelite.Model."
        )
    if not int(model.get_header_accessor().get_field("average_tree_output")[0]):
        raise InputError(
            "The trees of this treelite model are summed, not averaged: it is boosted, so that the "
            "selection counts have no known null distribution. Give a random forest."
        )
    n_samples = needs_samples(n_samples, None)
    trees = [model.get_tree_accessor(i) for i in range(model.num_tree)]
    classes = int(model.get_header_accessor().get_field("leaf_vector_shape")[1])
    feature, cut, deviance, squares, roots = [], [], [], [], []
    for tree in trees:
        split = tree.get_field("cleft") >= 0
        feature.append(tree.get_field("split_index")[split].astype(np.int64))
        cut.append(tree.get_field("threshold")[split].astype(float))
        if len(tree.get_field("data_count")) == len(split):
            distinct = tree.get_field("data_count").astype(float)
            weight = tree.get_field("sum_hess").astype(float)
            if len(weight) != len(distinct) or np.any(weight < distinct):
                weight = distinct  # hessians, not weights
            if classes > 1:
                share = _shares(tree, weight, classes)
                variance = 1 - (share**2).sum(axis=1)
                weighted = weighted_squares_of_classes(weight, distinct, share[:, None, :])
            else:
                sides = tree.get_field("cleft"), tree.get_field("cright")
                variance = expected_variances(*sides, distinct, _CANDIDATES)
                weighted = weighted_squares_of_numbers(weight, distinct, variance)
            deviance.append((weight * variance)[split])
            squares.append(weighted[split])
            roots.append(variance[0])
    coupling = None
    if len(roots) == len(trees):
        total = n_samples * float(np.mean(roots))
        coupling = node_couplings(np.concatenate(deviance), np.concatenate(squares), total)
    return tally_of_nodes(
        np.concatenate(feature),
        n_features=int(model.num_feature),
        nodes_per_tree=np.array([len(each) for each in feature]),
        n_samples=n_samples,
        candidates=None,
        coupling=coupling,
        cut=np.concatenate(cut),
        source="treelite model",
    )


def _shares(tree: Any, weight: Floats, classes: int) -> Floats:
    """Share of each class in each node: (nodes, classes)."""
    left, right = tree.get_field("cleft"), tree.get_field("cright")
    share = np.zeros((len(left), classes))
    share[left < 0] = tree.get_field("leaf_vector").reshape(-1, classes)
    share /= np.maximum(share.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    for node in np.flatnonzero(left >= 0)[::-1]:  # children come after their parent
        below = [left[node], right[node]]
        share[node] = weight[below] @ share[below] / weight[below].sum()
    return share
