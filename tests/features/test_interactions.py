"""Interactions: pairs against a descent of every tree, found where planted, rare elsewhere."""

from collections import Counter

import numpy as np
import pytest

import nullforest as nf
from naive.sums import pairs_of_tree
from nullforest.features.interactions import Edges, edges_of, pair_table, quasi_independent


@pytest.fixture(scope="module")
def forest():
    X = np.random.default_rng(0).normal(size=(80, 12))
    return nf.grow(X, X[:, 0] + X[:, 1] > 0, trees=40, candidates=4, probes=0)


def test_edges_are_those_of_a_descent(forest):
    edges = edges_of(forest.trees)
    expected = Counter(pair for tree in forest.trees for pair in pairs_of_tree(tree))
    got = Counter(
        zip(edges.parent.tolist(), edges.child.tolist(), edges.depth.tolist(), strict=True)
    )
    assert got == expected


@pytest.mark.parametrize("ordered", [True, False])
def test_pairs_are_counted_and_expected_numbers_add_up(forest, ordered):
    edges = edges_of(forest.trees)
    table = pair_table(edges, 12, ordered=ordered)
    apart = [(p, c) for t in forest.trees for p, c, _ in pairs_of_tree(t) if p != c]
    expected = Counter(pair if ordered else tuple(sorted(pair)) for pair in apart)
    assert dict(zip(zip(table.a, table.b, strict=True), table.count, strict=True)) == expected
    assert table.possible == (132 if ordered else 66)
    assert table.sample_expected.sum() == pytest.approx(len(apart))
    assert table.sample_count.sum() == len(apart)


def test_quasi_independent_margins_are_kept():
    rng = np.random.default_rng(0)
    rows = rng.integers(1, 40, 15).astype(float)
    columns = rng.permutation(rows)
    alpha, beta = quasi_independent(rows, columns)
    fitted = alpha[:, None] * beta * (1 - np.eye(15))
    assert np.allclose(fitted.sum(axis=1), rows)
    assert np.allclose(fitted.sum(axis=0), columns)
    assert quasi_independent(np.zeros(3), np.zeros(3))[0].tolist() == [0, 0, 0]


def test_a_planted_interaction_is_found():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 20))
    forest = nf.grow(X, X[:, 4] * X[:, 9] > 0, trees=400, candidates=10, probes=0)
    best = nf.find_interactions(forest, error="fwer").iloc[0]
    assert (best["column_a"], best["column_b"], best["selected"]) == (4, 9, True)


def test_features_that_only_add_are_seldom_called_a_pair():
    """12 runs at 0.05: more than 3 have a probability of 0.2 %."""
    hits = 0
    for seed in range(12):
        X, y, _ = nf.simulate.independent(150, 80, 6, 0.5, seed=seed)
        forest = nf.grow(X, y, trees=300, probes=0, seed=seed, oob=False)
        hits += nf.find_interactions(forest, 0.05, "fwer")["selected"].any()
    assert hits <= 3


def test_what_cannot_be_tested_is_refused(forest):
    X = np.random.default_rng(0).normal(size=(40, 10))
    y = X[:, 0] > 0
    with pytest.raises(nf.InputError, match="keep_trees"):
        nf.find_interactions(nf.grow(X, y, trees=3, keep_trees=False))
    with pytest.raises(nf.InputError, match="pool"):
        nf.find_interactions(nf.grow(X, y, trees=3, draw="tree"))
    with pytest.raises(nf.InputError, match="error rate"):
        nf.find_interactions(forest, error="none")
    stumps = nf.grow(X, y, trees=5, max_depth=1, probes=0)
    assert len(nf.find_interactions(stumps)) == 0
    assert isinstance(edges_of(stumps.trees), Edges)
