"""Tallies from the internal nodes of a forest: what every reader of a library ends in.

The coupling of a node to the whole sample is

    r = (Σ w (y−ȳ_node)²)² / (Σ w² (y−ȳ_node)² · Σ_all (y−ȳ)²),

w the multiplicities of the node's samples, and y one-hot for classes. A library that keeps the
weight Σ w and the variance of y in each node has the first sum. The second one equals it without
replacement; with replacement it is known on average: a sample that was drawn has (n−1)/S further
copies in a bag of n of S, all of them in the same node, so that Σ w² is about W + (W−1) n/S.

The number of distinct samples may be kept instead: d of them have the total weight W. Each has at
least one, and the other E = W − d draws fall on them at random, so that Σ w² is d + 3E + E(E−1)/d
on average (`weighted_squares_of_numbers`). For classes the same is done class by class, with the
distinct samples divided in proportion to the weights.

Where a library keeps no variance, its expectation under the null serves (`expected_variances`); for
log-rank splits, the share of the samples to a power (`SURVIVAL_POWER`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from nullforest._util.errors import InputError
from nullforest._util.words import Setting
from nullforest.tallies.favoured_columns import levels_of_cuts
from nullforest.tallies.tally import COUPLING_EDGES, N_COUPLING_BINS, Names, Tally

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Coupling of a node of a survival forest: its share of the samples to this power. Log-rank scores
#: are taken anew in each node and agree the less with those of the whole sample the deeper it lies.
#: Set by hand on RandomSurvivalForest, 150 samples × 1 000 null features with 0, 30 and 70 % of the
#: times censored (seeds 0 to 5).
SURVIVAL_POWER = 1.3
#: Distinct samples of a node below which nearly all candidates split a numeric target equally well,
#: and the share of such nodes that is noted. Trees grown to single samples have a half of them.
TINY, MANY_TINY = 4, 0.1
#: Contrasts of a feature among which a best cut is about the largest, as in `nulls.constants`.
_CONTRASTS = 3
#: e^γ: the largest of k independent scores has a mean near their quantile 1 − 1/(e^γ k).
_GUMBEL = 1.781


def tally_of_nodes(
    feature: Ints,
    *,
    n_features: int,
    nodes_per_tree: Ints,
    n_samples: int,
    candidates: int | None,
    pool_per_tree: Ints | None = None,
    coupling: Floats | None = None,
    cut: Floats | None = None,
    levels: Floats | None = None,
    feature_names: Names | None = None,
    splitter: Literal["best", "random", "unknown"] = "best",
    column_orders: int = 0,
    notes: Sequence[str] = (),
    source: str,
) -> Tally:
    """Count the nodes of a forest.

    Parameters
    ----------
    feature : (N,) int
        Feature that splits each internal node, from 0.
    n_features : int
        Number of features F.
    nodes_per_tree, pool_per_tree : (T,) int
        Internal nodes of each tree, and the features it could use; all of them where not given.
    n_samples, candidates, feature_names, splitter, column_orders, notes, source
        See :class:`~nullforest.tallies.tally.Tally`.
    coupling : (N,) float, optional
        Coupling of each node to the whole sample; without it, or with random cut points, only the
        paper's null model can be used.
    cut : (N,) float, optional
        Cut point of each node, from which columns with few distinct values are recognised.
    levels : (F, 2) float, optional
        Numbers of distinct values, where the library keeps them; else by `cut`.

    Examples
    --------
    >>> import numpy as np
    >>> from nullforest.tallies.nodes import tally_of_nodes
    >>> tally_of_nodes(np.array([0, 2, 0]), n_features=3, nodes_per_tree=np.array([2, 1]),
    ...                n_samples=20, candidates=1, source="an example").counts.tolist()
    [2, 0, 1]
    """
    random = splitter == "random"
    couplings = None
    if coupling is not None and not random:
        # A random cut point couples a node less than the best one, by an unknown amount.
        bins = np.searchsorted(COUPLING_EDGES, np.clip(coupling, 0.0, 1.0), side="right") - 1
        histogram = np.bincount(
            feature * N_COUPLING_BINS + bins, minlength=n_features * N_COUPLING_BINS
        )
        couplings = histogram.reshape(n_features, N_COUPLING_BINS).astype(np.int32)
    if levels is None and cut is not None and not random:
        # A random cut point tells nothing of the values that it lies between.
        levels = levels_of_cuts(feature, cut, n_features, n_samples)
    if pool_per_tree is None:
        pool_per_tree = np.full(len(nodes_per_tree), n_features)
    return Tally(
        counts=np.bincount(feature, minlength=n_features),
        nodes_per_tree=nodes_per_tree,
        pool_per_tree=pool_per_tree,
        candidates=candidates,
        n_samples=n_samples,
        couplings=couplings,
        feature_names=feature_names,
        levels=levels,
        splitter=splitter,
        column_orders=column_orders,
        notes=tuple(notes),
        source=source,
    )


def node_couplings(deviance: Floats, squares: Floats, total: float) -> Floats:
    """Coupling of each node, by the three sums of its definition.

    Σ w (y−ȳ)² (`deviance`) and Σ w² (y−ȳ)² (`squares`) of each node, Σ (y−ȳ)² of all samples.

    Examples
    --------
    >>> node_couplings(np.array([5.0, 2.5]), np.array([5.0, 5.0]), 10.0).tolist()
    [0.5, 0.125]
    """
    tiny = np.finfo(float).tiny
    return np.asarray(deviance**2 / np.maximum(squares, tiny) / max(total, tiny))


def repeated_squares(weight: Floats, copies: Floats | float) -> Floats:
    """Expected Σ w² of nodes of weight W, where a drawn sample has `copies` further copies.

    Examples
    --------
    A bag of as many samples as there are, drawn with replacement, and one without.

    >>> repeated_squares(np.array([10.0]), 1.0).tolist(), repeated_squares(np.array([10.0]), 0.0)
    ([19.0], array([10.]))
    """
    return np.asarray(weight + copies * np.maximum(weight - 1.0, 0.0))


def expected_variances(left: Ints, right: Ints, samples: Floats, candidates: int) -> Floats:
    """Expected variance of a numeric y in each node of a tree under the null, 1 in its root.

    The best split of a node explains the share R² of its variance: the largest of the squared
    correlations of y with k = 3 · candidates independent contrasts, each Beta(1/2, (n−2)/2).

    Children are negative for leaves, and the root comes first; `samples` are the distinct samples
    of each node, `candidates` the features compared at it.

    Examples
    --------
    >>> left, right = np.array([1, -1, -1]), np.array([2, -1, -1])
    >>> expected_variances(left, right, np.array([40.0, 20.0, 20.0]), 10).round(2).tolist()
    [1.0, 0.86, 0.86]
    """
    sizes, place = np.unique(samples, return_inverse=True)
    quantile = 1 - 1 / (_GUMBEL * _CONTRASTS * candidates)
    explained = np.asarray(beta.ppf(quantile, 0.5, np.maximum(sizes - 2, 0.5) / 2))
    unexplained = 1 - explained[place]
    variance = np.ones(len(left))
    at = np.flatnonzero(left[:1] > 0)
    while len(at):
        below = []
        for child in (left[at], right[at]):
            variance[child] = variance[at] * unexplained[at]
            below.append(child)
        at = np.concatenate(below)
        at = at[left[at] > 0]
    return variance


def weighted_squares_of_classes(weight: Floats, distinct: Floats, share: Floats) -> Floats:
    """Expected Σ w² (y−ȳ)² of one-hot classes with these shares: (nodes, outputs, classes)."""
    of_class = share * weight[:, None, None]
    present = share > 0
    n_present = present.sum(axis=2, keepdims=True)
    spare = np.maximum(weight[:, None, None] - n_present, 1e-9)
    members = 1.0 + np.maximum(distinct[:, None, None] - n_present, 0.0) * (of_class - 1) / spare
    members = np.where(present, np.clip(members, 1.0, np.maximum(of_class, 1.0)), 1.0)
    extra = np.maximum(of_class - members, 0.0)
    squares = members + 3 * extra + extra * np.maximum(extra - 1, 0.0) / members
    squares = np.where(present, squares * class_distances(share), 0.0)
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


def needs_samples(n_samples: int | None, stored: int | None) -> int:
    """The number of training samples: that of the user, else that of the forest, else an error."""
    number = stored if n_samples is None else n_samples
    if number is None:
        raise InputError(
            "This forest does not store its number of training samples; give ",
            Setting("n_samples"),
            ".",
            setting="n_samples",
        )
    if not isinstance(number, int | np.integer) or not 1 <= number <= 2**62:
        raise InputError(f"n_samples = {number!r:.60} must be a whole number of samples.")
    return int(number)
