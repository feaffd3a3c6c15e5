"""Ranks against counting, and mean squared correlation against a loop over pairs."""

from dataclasses import replace

import numpy as np
import pytest

import nullforest as nf
from naive import correlation as naive
from nullforest.data.ranks import (
    MOST_COLUMNS,
    mean_r2,
    midranks,
    ranks_of_order,
    standardised_ranks,
)
from nullforest.data.targets import Target


def features(rng, n_samples, n_features, shared):
    """Columns with a common part, some of them coarse, one constant, one with missing values."""
    common = rng.normal(size=(n_samples, 1))
    X = (shared * common + rng.normal(size=(n_samples, n_features))).astype(np.float32)
    X[:, ::4] = np.round(X[:, ::4])
    X[:, 1] = 3.0
    X[::7, 2] = np.nan
    return X


def test_ranks_are_those_of_counting():
    rng = np.random.default_rng(0)
    rows = np.vstack([rng.normal(size=(3, 31)), rng.integers(0, 4, (3, 31)), np.ones((1, 31))])
    rows[1, ::5] = rows[4, ::3] = np.nan
    ranks, present = midranks(rows)
    expected = np.array([naive.mid_ranks(row) for row in rows])
    np.testing.assert_array_equal(ranks, np.nan_to_num(expected))
    np.testing.assert_array_equal(present, ~np.isnan(expected))
    standard = standardised_ranks(rows)
    products = [[naive.spearman(a, b) for a in rows] for b in rows]
    np.testing.assert_allclose(standard @ standard.T, products, atol=1e-12)


def test_a_rank_table_holds_the_ranks_of_its_columns():
    X = np.random.default_rng(1).integers(0, 9, (40, 6)).astype(float)
    native = nf.RankTable(X).native
    order, differs = map(np.array, zip(*(native.column(f)[:2] for f in range(6)), strict=True))
    np.testing.assert_array_equal(ranks_of_order(order, differs), midranks(X.T)[0])


@pytest.mark.parametrize("shared", [0.0, 0.7])
@pytest.mark.parametrize(("n_samples", "n_features"), [(50, 23), (600, 12)])
def test_mean_r2_is_the_loop_over_pairs(shared, n_samples, n_features):
    rng = np.random.default_rng(n_samples)
    X = features(rng, n_samples, n_features, shared)
    classes, numbers = rng.integers(0, 3, n_samples), rng.normal(size=(n_samples, 2))
    table = nf.RankTable(X)
    labels = Target("gini", classes, np.arange(3))
    expected = naive.mean_r2(X, [(classes == c).astype(float) for c in range(3)])
    assert mean_r2(table, labels) == pytest.approx(expected, abs=1e-4)
    expected = naive.mean_r2(X, [np.ones(n_samples), *numbers.T])
    assert mean_r2(table, Target("variance", numbers)) == pytest.approx(expected, abs=1e-4)


def test_relevant_features_do_not_count_as_correlated():
    X, y, _ = nf.simulate.independent(100, 600, 300, 0.7, seed=3)
    tally = nf.grow(X, y, trees=5, candidates=30, seed=1).tally
    # r² of independent columns has mean 1/(S−2) and standard deviation √2/(S−2); pairs of 300.
    error = np.sqrt(2) / 98 / np.sqrt(MOST_COLUMNS * (MOST_COLUMNS - 1) / 2)
    assert tally.probes.mean_r2 < 4 * error + 1e-4  # it is rounded


def test_mean_r2_is_kept_with_the_tally(tmp_path):
    rng = np.random.default_rng(0)
    X, y = features(rng, 60, 400, 1.0), np.arange(60) % 2
    one = nf.grow(X, y, trees=10, seed=1).tally
    two = nf.grow(X, y, trees=10, seed=1, first_tree=10).tally
    assert one.probes.mean_r2 > 0.1
    assert (one + two).probes.mean_r2 == one.probes.mean_r2 == two.probes.mean_r2
    one.save(tmp_path / "one.tally")
    assert nf.Tally.load(tmp_path / "one.tally").probes.mean_r2 == one.probes.mean_r2


def test_correlated_features_have_a_heavier_null_tail():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(80, 1000)), np.arange(80) % 2
    tally = nf.grow(X, y, trees=300, seed=1, keep_trees=False, oob=False).tally
    correlated = replace(tally, null_columns=replace(tally.probes, mean_r2=0.03))
    uncorrelated, heavier = nf.null(tally, "probes"), nf.null(correlated, "probes")
    k = uncorrelated.threshold(1e-4)
    assert heavier.sf(k) > uncorrelated.sf(k)
    assert heavier.describe()["mean_r2"] == 0.03
