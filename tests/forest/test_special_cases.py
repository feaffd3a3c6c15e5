"""Gini and variance as special cases of the neighbourhood criterion, by their trees and values.

The mean over all pairs of a node, themselves included, of 1[y ≠ y'] is Σ_c p_c (1 − p_c), the Gini
impurity; that of (y − y')²/2 is the variance.
"""

from __future__ import annotations

import numpy as np
import pytest

import nullforest as nf
from naive.nodes import best_decrease, decrease


def unequal(y):
    return (y[:, None] != y[None]).astype(float)


def half_squares(y):
    y = y.reshape(len(y), -1)
    return ((y[:, None] - y[None]) ** 2).sum(axis=2) / 2


def assert_same_trees(one, other):
    assert one.tally.counts.tolist() == other.tally.counts.tolist()
    for name in ("feature", "threshold", "left", "right", "n_samples"):
        np.testing.assert_array_equal(one.trees.arrays[name], other.trees.arrays[name])
    # 1e-9: the same quantity, by two formulas in doubles
    np.testing.assert_allclose(
        one.trees.arrays["impurity"], other.trees.arrays["impurity"], rtol=1e-9, atol=1e-9
    )
    np.testing.assert_allclose(one.gini_importance, other.gini_importance, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(one.tally.couplings, other.tally.couplings)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("replace", [False, True], ids=["subsample", "bootstrap"])
def test_gini_is_the_share_of_unequal_pairs(n_classes, replace):
    # both criteria compare whole fractions, so even ties are broken equally
    rng = np.random.default_rng(n_classes)
    X = np.round(rng.normal(size=(60, 12)), 1)
    y = rng.integers(0, n_classes, 60)
    settings = {"trees": 20, "candidates": 5, "replace": replace, "probes": 0}
    assert_same_trees(
        nf.grow(X, y, criterion="gini", **settings),
        nf.grow(X, unequal(y), criterion="neighbourhood", **settings),
    )


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("replace", [False, True], ids=["subsample", "bootstrap"])
def test_variance_is_half_the_mean_squared_difference(n_outputs, replace):
    # y is continuous: no two different splits have the same score
    rng = np.random.default_rng(n_outputs)
    X = np.round(rng.normal(size=(60, 12)), 1)
    y = rng.normal(size=(60, n_outputs))
    settings = {"trees": 20, "candidates": 5, "replace": replace, "probes": 0}
    assert_same_trees(
        nf.grow(X, y, criterion="variance", **settings),
        nf.grow(X, y, distance=half_squares, criterion="neighbourhood", **settings),
    )


@pytest.mark.parametrize("criterion", ["gini", "variance"])
def test_where_ties_exist_the_best_values_agree(criterion):
    # small whole numbers and weights: many splits are equally good, any of them will do
    rng = np.random.default_rng(len(criterion))
    distance_of = unequal if criterion == "gini" else half_squares
    for case in range(60):
        S = int(rng.integers(4, 16))
        X = rng.integers(0, 4, (S, 3)).astype(float)
        y = rng.integers(0, 3, S)
        y[:2] = [0, 1]
        weight = rng.integers(1, 4, S).astype(float) if case % 2 else np.ones(S)
        values = []
        for outcome, name in [(y, criterion), (distance_of(y), "neighbourhood")]:
            forest = nf.grow(
                X,
                outcome,
                criterion=name,
                trees=1,
                samples=1.0,
                candidates=3,
                max_depth=1,
                sample_weight=weight,
                probes=0,
                seed=case,
            )
            tree = forest.trees[0]
            if len(tree) == 1:
                values.append(None)
                continue
            left = set(np.flatnonzero(forest.apply(X)[:, 0] == tree.left[0]).tolist())
            values.append(decrease(criterion, y, weight.tolist(), list(range(S)), left))
        best = best_decrease(criterion, X, y, weight.tolist())
        assert values[0] == pytest.approx(best, rel=1e-9, abs=1e-12)  # 1e-9: doubles either way
        assert values[1] == pytest.approx(best, rel=1e-9, abs=1e-12)


def test_a_forest_without_supervision_parts_clusters():
    rng = np.random.default_rng(0)
    cluster = np.arange(60) % 2
    X = rng.normal(size=(60, 5))
    X[:, 2] += 20 * cluster
    forest = nf.grow(X, None, trees=20, candidates=5, max_depth=1, probes=0)
    assert forest.tally.counts.tolist() == [0, 0, 20, 0, 0]
    leaves = forest.apply(X)
    same = (leaves[:, None] == leaves[None]).mean(axis=2)
    assert np.all(same[cluster[:, None] == cluster[None]] == 1.0)
    assert np.all(same[cluster[:, None] != cluster[None]] == 0.0)


def with_constant_columns(X, rng):
    """X among as many columns that are constant or missing, and where its columns lie."""
    S, F = X.shape
    place = np.sort(rng.choice(2 * F, F, replace=False))
    wide = np.full((S, 2 * F), rng.choice([0.0, 7.0, np.nan], size=2 * F))
    wide[:, place] = X
    return wide, place


@pytest.mark.parametrize("S", [90, 300, 700, 1100])
@pytest.mark.parametrize("draw", [{}, {"pool": 9}, {"draw": "tree"}, {"shadows": 3}])
@pytest.mark.parametrize("numbers", [False, True], ids=["classes", "numbers"])
def test_constant_columns_change_nothing(S, draw, numbers):
    rng = np.random.default_rng(S)
    X = rng.normal(size=(S, 24))
    X[:, :8] = np.round(X[:, :8])
    X[rng.random((S, 24)) < 0.02] = np.nan
    y = np.nan_to_num(X[:, 3]) + rng.normal(size=S)
    y = y if numbers else y > 0
    wide, place = with_constant_columns(X, rng)
    table = nf.RankTable(wide)
    assert table.native.n_varying == 24
    assert np.flatnonzero(table.native.varies()).tolist() == place.tolist()
    settings = {"trees": 30, "candidates": 4, "max_depth": 5, "seed": 2, **draw}
    plain, among = nf.grow(X, y, **settings), nf.grow(wide, y, **settings)
    counts = np.zeros(48, int)
    counts[place] = plain.tally.counts
    assert among.tally.counts.tolist() == counts.tolist()
    assert (among.tally.couplings[place] == plain.tally.couplings).all()
    np.testing.assert_array_equal(among.oob_prediction, plain.oob_prediction)
    if "shadows" in draw:
        shadows = among.tally.shadows.wins
        assert (shadows[:, place] == plain.tally.shadows.wins).all()
        return
    for tree, same in zip(among.trees, plain.trees, strict=True):
        inner = same.feature >= 0
        assert tree.feature[inner].tolist() == place[same.feature[inner]].tolist()
        assert tree.threshold.tolist() == same.threshold.tolist()
    assert among.tally.probes.ids.tolist() == plain.tally.probes.ids.tolist()
    assert among.tally.probes.wins.tolist() == plain.tally.probes.wins.tolist()


def test_a_table_of_constant_columns_is_refused():
    with pytest.raises(nf.InputError, match="same value in all samples"):
        nf.grow(np.zeros((20, 3)), np.arange(20) % 2, trees=5)
