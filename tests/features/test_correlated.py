"""Correlated features and their clusters: against correlations computed pair by pair."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import nullforest as nf
from naive.correlation import spearman
from nullforest.data import column_blocks
from nullforest.data.ranks import standardised_ranks
from nullforest.features import correlated
from nullforest.features.correlated import (
    correlation_clusters,
    correlation_matrix,
    most_correlated,
)


def test_correlated_features_are_those_of_a_plain_search(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 40))
    X[:, 20:30] = np.exp(X[:, :10]) + 0.5 * rng.normal(size=(30, 10))
    X[:, 35] = rng.integers(3, size=30)  # ties
    X[:, 36] = -X[:, 35]
    X[:, 39] = 1.0  # constant: correlated with nothing
    monkeypatch.setattr(correlated, "IN_CACHE", 30 * 7)  # several blocks
    chosen = [3, 5, 35, 39]
    found = nf.find_correlated(X, chosen, 0.5)
    expected = {
        (f, g): r
        for f in (3, 5, 35)
        for g in range(39)
        if f != g and abs(r := spearman(X[:, f], X[:, g])) >= 0.5
    }
    got = dict(
        zip(
            zip(found["column"], found["correlated_column"], strict=True),
            found["correlation"],
            strict=True,
        )
    )
    assert got.keys() == expected.keys()
    assert all(got[pair] == pytest.approx(expected[pair]) for pair in expected)
    strength = found[found["column"] == 3]["correlation"].abs()
    assert strength.is_monotonic_decreasing


def test_a_selection_brings_names_and_p_values():
    X, y, _ = nf.simulate.independent(80, 50, 2, 0.7)
    X[:, 0] = X[:, 49]
    frame = pd.DataFrame(X, columns=[f"gene {i}" for i in range(50)])
    selection = nf.select(nf.grow(frame, y, trees=200).tally, error="fwer", null="bagged")
    found = nf.find_correlated(frame, selection)
    row = found[found["feature"] == "gene 49"].iloc[0]
    assert row["correlated_feature"] == "gene 0"
    assert row["p_value"] == selection.pvalues[0]
    assert len(nf.find_correlated(X, np.zeros(50, bool))) == 0


def test_missing_values_carry_no_information():
    X = np.array([[1.0, 5.0], [2.0, np.nan], [3.0, 7.0], [4.0, 9.0]])
    ranks = standardised_ranks(X.T)
    assert ranks[1, 1] == 0.0
    assert np.allclose(np.square(ranks).sum(axis=1), 1.0)


def test_categories_are_refused():
    frame = pd.DataFrame({"a": np.arange(6.0), "b": ["x", "y", "z"] * 2})
    with pytest.raises(nf.InputError, match="categories without an order"):
        nf.find_correlated(frame, [0])


@pytest.mark.parametrize(
    ("features", "level", "words"),
    [([50], 0.8, "0 to 49"), ([0.5], 0.8, "by number"), ([1], 1.5, "level"), ([True], 0.8, "mask")],
)
def test_bad_input_is_refused(features, level, words):
    with pytest.raises(nf.InputError, match=words):
        nf.find_correlated(np.zeros((4, 50)), features, level)


def _data(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 25))
    X[:, 3] = X[:, 7] + 0.1 * rng.normal(size=30)
    X[:, 9] = -X[:, 7]
    X[:, 11] = 1.0
    X[:, 12] = rng.integers(0, 3, 30)
    return X


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["dense", "missing", "sparse"])
def test_the_most_correlated_are_those_of_all_pairs(seed, kind, monkeypatch):
    X = _data(seed)
    if kind == "missing":
        X[np.random.default_rng(seed).random(X.shape) < 0.1] = np.nan
    given = np.array([7, 0, 24])
    monkeypatch.setattr(column_blocks, "AT_ONCE", 300)  # ten columns at a time
    monkeypatch.setattr(correlated, "IN_CACHE", 120)  # four of them
    source = column_blocks.columns_of(sparse.csc_matrix(X) if kind == "sparse" else X)[0]
    columns, r = most_correlated(source, given, X.T[given], 5)
    for row, feature in enumerate(given):
        every = np.array([spearman(X[:, feature], other) for other in X.T])
        every[feature] = 0.0
        best = np.sort(np.abs(every))[::-1][:5]
        np.testing.assert_allclose(np.abs(r[row]), best, atol=1e-12)
        np.testing.assert_allclose(r[row], every[columns[row]], atol=1e-12)
        assert feature not in columns[row]
    matrix = correlation_matrix(X.T[given])
    np.testing.assert_allclose(matrix[0, 1], spearman(X[:, 7], X[:, 0]), atol=1e-12)


def test_clusters_hold_what_is_correlated_whatever_the_sign():
    X = _data(0)
    cluster, order = correlation_clusters(correlation_matrix(X.T[[7, 0, 3, 9, 1]]))
    assert cluster.tolist() == [0, 1, 0, 0, 2]
    assert sorted(order) == list(range(5))
    place = [int(np.flatnonzero(order == i)[0]) for i in (0, 2, 3)]
    assert max(place) - min(place) == 2  # side by side
    assert correlation_clusters(np.ones((1, 1)))[0].tolist() == [0]
