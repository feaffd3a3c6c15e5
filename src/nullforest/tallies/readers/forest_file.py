"""Tallies of forests in nullforest's own exchange file, which r/nullforest.R writes.

One JSON object, gzipped or not: children, feature and cut point of every node, the leaf of every
training sample and its multiplicity in the bag of every tree, the target, and the number of
distinct values of every column. The couplings of the nodes follow exactly, by their definition.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import InputError
from nullforest.tallies.nodes import (
    Floats,
    Ints,
    node_couplings,
    tally_of_nodes,
)
from nullforest.tallies.tally import Tally

FORMAT = "nullforest forest"
VERSION = 1
#: Settings of R's forests with which null features do not have equal chances.
_UNEQUAL = ("always.split.variables", "split.select.weights", "regularization.factor")
#: Share of the samples that ranger and randomForest draw without replacement.
_SUBSAMPLE = 0.632
#: As `SURVIVAL_POWER` of `nodes`, which was set on leaves of three samples; ranger's may hold one.
#: Set by hand on ranger, 150 samples × 500 null features, 30 % censored (seeds 61 000 to 61 010 of
#: `studies.libraries`).
_SURVIVAL_POWER = 1.4
_LOG_RANK = (
    "The null model of survival forests of R is approximate: their files hold no impurities "
    "(docs/libraries.md). nf.grow(X, y) takes events and times and has virtual probes."
)
_NO_BAGS = (
    "This forest was written without its bags, so that the sizes of its nodes are approximate; "
    "grow it with keep.inbag = TRUE."
)


def read_forest(forest: dict[str, Any]) -> Tally:
    """Take the tally of a forest from the contents of its file."""
    if forest["version"] > VERSION:
        raise InputError(
            f"This forest is in format {forest['version']}, but this nullforest reads only up to "
            f"{VERSION}; upgrade nullforest."
        )
    unequal = [name for name in forest["settings"] if name in _UNEQUAL]
    if unequal:
        raise InputError(f"With {unequal[0]} null features have unequal chances; grow without it.")
    if forest["importance"] == "impurity_corrected":
        raise InputError(
            'With importance = "impurity_corrected" permuted copies take part in the splits, and '
            'cannot be told from the features; grow with "impurity" or "none".'
        )
    y = _target(forest)
    trees = forest["trees"]
    bagged = all(tree["bag"] is not None for tree in trees)
    n_samples = len(trees[0]["leaf"])
    feature, coupling, cut, nodes = [], [], [], []
    for tree in trees:
        left, right = (np.array(tree[side], np.int64) for side in ("left", "right"))
        parent = _parents(left, right)
        leaf = np.array(tree["leaf"], np.int64)
        weight = np.array(tree["bag"] if bagged else np.ones(n_samples), float)
        if len(leaf) != n_samples or len(weight) != n_samples or leaf.min() < 0:
            raise ValueError("leaf and bag must have an entry for each sample")
        split = left > 0
        deviance, squares = _sums(parent, leaf, weight, np.ones((n_samples, 0)) if y is None else y)
        total = float(n_samples) if y is None else float(((y - y.mean(axis=0)) ** 2).sum())
        coupling.append(node_couplings(deviance, squares, total)[split])
        feature.append(np.array(tree["feature"], np.int64)[split])
        cut.append(np.array(tree["cut"], float)[split])
        nodes.append(int(split.sum()))
    couplings = np.concatenate(coupling)
    if not bagged:  # on average over the bags
        couplings *= 0.5 if forest["replace"] else _SUBSAMPLE
    if y is None:
        couplings **= _SURVIVAL_POWER
    names = np.array(forest["names"], str)
    return tally_of_nodes(
        np.concatenate(feature),
        n_features=len(names),
        nodes_per_tree=np.array(nodes),
        candidates=int(forest["candidates"]),
        n_samples=n_samples,
        coupling=couplings,
        levels=np.repeat(np.array(forest["levels"], float)[:, None], 2, axis=1),
        feature_names=names,
        splitter="random" if forest["rule"] == "extratrees" else "best",
        notes=[*([] if bagged else [_NO_BAGS]), *([_LOG_RANK] if y is None else [])],
        source=str(forest["source"]),
    )


def _target(forest: dict[str, Any]) -> Floats | None:
    """The target, one-hot for classes; None for survival times."""
    if forest["y"] is None:
        return None
    if forest["target"] == "classes":
        codes = np.unique(forest["y"], return_inverse=True)[1]
        return np.eye(int(codes.max()) + 1)[codes]
    return np.array(forest["y"], float)[:, None]


def _parents(left: Ints, right: Ints) -> Ints:
    """Parent of each node, −1 for the root; children come after their parent."""
    parent = np.full(len(left), -1)
    inner = np.flatnonzero(left > 0)
    for side in (left, right):
        if np.any(side[inner] <= inner):
            raise ValueError("a node is listed before its parent")
        parent[side[inner]] = inner
    return parent


def _sums(
    parent: Ints, leaf: Ints, weight: Floats, y: Floats
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Σ w |y−ȳ|² and Σ w² |y−ȳ|² of each node, or Σ w and Σ w² where there is no y."""
    size = (y**2).sum(axis=1) if y.shape[1] else np.ones(len(leaf))
    columns = [weight, weight**2, weight * size, weight**2 * size]
    columns += [w * one for w in (weight, weight**2) for one in y.T]
    table = np.array(columns)
    sums = np.zeros((len(table), len(parent)))
    at = leaf
    while len(at):  # from the leaves to the root
        for row, values in zip(sums, table, strict=True):
            row += np.bincount(at, values, len(parent))
        at = parent[at]
        table, at = table[:, at >= 0], at[at >= 0]
    k = y.shape[1]
    mean = sums[4 : 4 + k] / np.maximum(sums[0], 1e-300)
    deviance = sums[2] - (mean * sums[4 : 4 + k]).sum(axis=0)
    squares = sums[3] - 2 * (mean * sums[4 + k :]).sum(axis=0) + (mean**2).sum(axis=0) * sums[1]
    return np.maximum(deviance, 0.0), np.maximum(squares, 0.0)
