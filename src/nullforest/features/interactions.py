r"""Interactions: pairs of features that split a node and its child more often than expected.

An edge joins an internal node to a child that is internal too; it gives an ordered pair (feature
of the parent, feature of the child). Under the null the child draws its candidates and selects
one of them independently of the feature that split its parent. Edges are compared at equal depth
of the child, since strong features split large nodes and so meet near the root in any case. Each
node must draw its own candidates: where they are drawn once per tree, two features of one pool
meet more often, and such forests are refused.

Given the marginal counts (how often f is a parent, a_f, and g a child, b_g, at depth d), with a
node hardly ever split by its parent's own feature again (quasi-independence: the diagonal is left
out), the expected number of pairs is

    λ_fg = Σ_d α_fd β_gd,   Σ_{g≠f} α_f β_g = a_f,   Σ_{f≠g} α_f β_g = b_g,

and the number seen is a sum of Bernoulli variables, Σ_d min(a_fd, b_gd) of them at most. Its upper
tail is at most that of a binomial of the same mean and number (Hoeffding 1956), from λ + 1 on;
below that the p-value is reported as 1.

**All trees share one sample**, so the counts are overdispersed: a pair that is associated in these
samples occurs in many trees. The overdispersion τ is estimated from the pairs themselves,
Var n = λ + τλ², pairs with p below one over their number left out, until nothing changes. The
p-value is the larger one of the binomial's and of the negative binomial's with that variance. It
is an approximation, checked by simulation, not a theorem.

Only pairs that were seen can be significant, but multiplicity counts all pairs of features that
were a parent and a child at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats
from scipy.sparse import coo_array

from nullforest._util.errors import InputError
from nullforest.forest.trees import Trees
from nullforest.nulls.distribution import Floats, Ints
from nullforest.run.forest import Forest
from nullforest.selection.error_rates import ErrorRate, decide

#: Children deeper than this are taken together: there are few, and of few samples each.
_DEEPEST = 12
#: Rounds in which quasi-independent margins settle; each brings them closer by the largest share.
_ROUNDS = 200
#: Features of the largest counts from whose pairs τ is estimated: 10⁵ pairs at most.
_LARGEST = 320


@dataclass(frozen=True)
class Edges:
    """Parent's feature, child's feature and child's depth of every internal edge."""

    parent: Ints
    child: Ints
    depth: Ints


def levels_of(trees: Trees) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Tree, node and parent (in the flat arrays) of all nodes of one depth, from the roots on."""
    root = trees.offsets[:-1]
    tree, node, above = np.arange(len(root)), root, root
    while len(node):
        yield tree, node, above
        inner = trees.arrays["feature"][node] >= 0
        tree, above = np.tile(tree[inner], 2), np.tile(node[inner], 2)
        children = [trees.arrays[side][node[inner]] for side in ("left", "right")]
        node = np.concatenate(children) + root[tree]


def edges_of(trees: Trees) -> Edges:
    """The internal edges of all trees."""
    feature = trees.arrays["feature"].astype(np.int64)
    parents, children, depths = [], [], []
    for depth, (_, node, above) in enumerate(levels_of(trees)):
        inner = feature[node] >= 0 if depth else np.zeros(len(node), bool)
        parents.append(feature[above[inner]])
        children.append(feature[node[inner]])
        depths.append(np.full(inner.sum(), depth))
    return Edges(*map(np.concatenate, (parents, children, depths)))


def find_interactions(
    forest: Forest, alpha: float = 0.05, error: ErrorRate = "fdr", *, ordered: bool = False
) -> pd.DataFrame:
    """Find pairs of features that split a node and its child more often than expected.

    Parameters
    ----------
    forest : Forest
        Grown by :func:`nullforest.grow` with `keep_trees=True`.
    alpha, error
        As in :func:`nullforest.select`: the error rate over all possible pairs.
    ordered : bool
        Distinguish the parent from the child; where False, both orders of a pair are added.

    Returns
    -------
    DataFrame
        The pairs seen, the most significant first: feature_a, feature_b (parent and child where
        ordered), column_a, column_b, count, expected_count, p_value, q_value, selected. Its
        `attrs` hold `pairs` (number of tests) and `overdispersion` (τ).

    Notes
    -----
    A significant pair says that the child is split by one feature more often where the parent was
    split by the other. That is so where their effects interact, and can be so for correlated
    features, of which one replaces the other.

    Examples
    --------
    >>> import numpy as np, nullforest as nf
    >>> X = np.random.default_rng(0).normal(size=(300, 20))
    >>> forest = nf.grow(X, X[:, 0] * X[:, 1] > 0, trees=500, candidates=10)
    >>> best = nf.find_interactions(forest).iloc[0]
    >>> best["feature_a"], best["feature_b"], bool(best["selected"])
    ('x0', 'x1', True)
    """
    if forest.trees is None:
        raise InputError("Interactions need the trees; grow with keep_trees=True.")
    if forest.tally.draw != "node":
        raise InputError(
            "Features of one tree's pool occur together more often than others, which the null "
            "distribution of pairs does not allow for; grow with draw='node' and without a pool."
        )
    table = pair_table(edges_of(forest.trees), forest.tally.n_features, ordered=ordered)
    p, overdispersion = _pvalues(table)
    # Unseen pairs have a p-value of 1; they only add to the number of tests.
    decision = decide(p, alpha, error, n_tests=table.possible)
    names = forest.tally.names
    frame = pd.DataFrame(
        {
            "feature_a": names[table.a],
            "feature_b": names[table.b],
            "column_a": table.a,
            "column_b": table.b,
            "count": table.count,
            "expected_count": table.expected,
            "p_value": p,
            "q_value": decision.qvalues,
            "selected": decision.support,
        }
    )
    frame = frame.iloc[np.lexsort((table.b, table.a, -table.count, p))].reset_index(drop=True)
    frame.attrs = {"pairs": table.possible, "overdispersion": overdispersion}
    return frame


@dataclass(frozen=True)
class PairTable:
    """Pairs that occur, with their counts and the counts expected from the margins.

    `sample_count` and `sample_expected` are those of all pairs of the most frequent features, seen
    or not, from which the overdispersion is estimated.
    """

    a: Ints
    b: Ints
    count: Ints
    expected: Floats
    trials: Floats
    possible: int
    sample_count: Floats
    sample_expected: Floats


def pair_table(edges: Edges, n_features: int, *, ordered: bool) -> PairTable:
    """Count the pairs and compute their expected numbers."""
    apart = edges.parent != edges.child
    ends = np.stack([edges.parent, edges.child])[:, apart]
    features, place = np.unique(ends, return_inverse=True)
    parent, child = place.reshape(2, -1)
    n = len(features)
    depths, level = np.unique(np.minimum(edges.depth[apart], _DEEPEST), return_inverse=True)
    counts = coo_array((np.ones(len(parent), np.int64), (parent, child)), shape=(n, n)).tocsr()
    # Counts a_fd of features as parents and b_gd as children, one row per depth, and their fits.
    as_parent, as_child = (
        np.bincount(level * n + feature, minlength=len(depths) * n)
        .reshape(len(depths), n)
        .astype(float)
        for feature in (parent, child)
    )
    fits = [quasi_independent(*margins) for margins in zip(as_parent, as_child, strict=True)]
    alpha, beta = np.array(fits, float).reshape(len(depths), 2, n).swapaxes(0, 1)
    is_parent, is_child = as_parent.any(axis=0), as_child.any(axis=0)
    n_both = int((is_parent & is_child).sum())
    possible = int(is_parent.sum()) * int(is_child.sum()) - n_both
    if not ordered:
        counts = (counts + counts.T).tocsr()
        possible -= n_both * (n_both - 1) // 2
    pairs = counts.tocoo()
    keep = np.ones(pairs.nnz, bool) if ordered else pairs.row < pairs.col
    a, b, count = (x[keep].astype(np.int64) for x in (pairs.row, pairs.col, pairs.data))

    def expected_of(i: Ints, j: Ints, *, ordered: bool = ordered) -> Floats:
        """Mean and largest possible number of each pair."""
        most = np.minimum(as_parent[:, i], as_child[:, j])
        both = np.stack([(alpha[:, i] * beta[:, j]).sum(axis=0), most.sum(axis=0)])
        return both if ordered else both + expected_of(j, i, ordered=True)

    expected, trials = expected_of(a, b)
    largest = np.argsort(-(as_parent + as_child).sum(axis=0), kind="stable")[:_LARGEST]
    i, j = np.nonzero(
        ~np.eye(len(largest), dtype=bool) if ordered else np.tri(len(largest), k=-1).T
    )
    i, j = np.sort(largest)[i], np.sort(largest)[j]
    return PairTable(
        a=features[a],
        b=features[b],
        count=count,
        expected=expected,
        trials=np.maximum(trials, count),
        possible=max(possible, len(count)),
        sample_count=np.asarray(counts[i, j], float).ravel() if len(i) else np.empty(0),
        sample_expected=expected_of(i, j)[0],
    )


def quasi_independent(rows: Floats, columns: Floats) -> tuple[Floats, Floats]:
    """α, β with Σ_{g≠f} α_f β_g = rows_f and Σ_{f≠g} α_f β_g = columns_g.

    Where one feature is the parent of more than its share the two cannot be had at once; the
    fit then stays near.
    """
    total = columns.sum()
    if total == 0:
        return np.zeros_like(rows), np.zeros_like(columns)
    beta = columns.copy()
    for _ in range(_ROUNDS):
        alpha = rows / np.maximum(beta.sum() - beta, 1e-9 * total)  # one child alone has no other
        previous = beta
        beta = np.where(columns > 0, columns / np.maximum(alpha.sum() - alpha, 1e-12), 0.0)
        if np.allclose(beta, previous, rtol=1e-10, atol=0):
            break
    return alpha, beta


def _pvalues(table: PairTable) -> tuple[Floats, float]:
    """p-values of the pairs that occur, and the overdispersion τ."""
    expected, count = table.sample_expected, table.sample_count
    bulk = np.ones(len(count), bool)
    overdispersion = 0.0
    while bulk.any():
        excess = (count - expected)[bulk] ** 2 - expected[bulk]
        overdispersion = max(float(excess.sum() / np.square(expected[bulk]).sum()), 0.0)
        outside = negative_binomial_tail(count, expected, overdispersion) < 1 / max(len(count), 1)
        if not np.any(outside & bulk):  # pairs only ever leave, so this ends
            break
        bulk &= ~outside
    share = np.clip(table.expected / table.trials, 0.0, 1.0)
    binomial = stats.binom.sf(table.count - 1, table.trials, share)
    wider = negative_binomial_tail(table.count.astype(float), table.expected, overdispersion)
    p = np.clip(np.maximum(binomial, wider), 0.0, 1.0)
    return np.where(table.count < table.expected + 1, 1.0, p), overdispersion


def negative_binomial_tail(count: Floats, mean: Floats, overdispersion: float) -> Floats:
    """P(n ≥ count) for counts of this mean and variance mean + overdispersion · mean².

    Examples
    --------
    >>> negative_binomial_tail(np.array([1.0]), np.array([2.0]), 0.0).round(4)  # Poisson
    array([0.8647])
    >>> negative_binomial_tail(np.array([1.0]), np.array([2.0]), 1.0).round(4)  # geometric
    array([0.6667])
    """
    if overdispersion < 1e-9:
        return np.asarray(stats.poisson.sf(count - 1, mean))
    size = 1 / overdispersion
    return np.asarray(stats.nbinom.sf(count - 1, size, size / (size + mean)))
