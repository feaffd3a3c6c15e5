"""The most correlated features and clusters equal those found pair by pair."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import rankdata

from nullforest.data import column_blocks
from nullforest.features import neighbours
from nullforest.features.neighbours import clusters, correlation_matrix, most_correlated


def _spearman(a, b):
    """Rank correlation with missing values at the mean rank, as documented."""
    ranks = []
    for column in (a, b):
        known = ~np.isnan(column)
        own = np.zeros(len(column))
        own[known] = rankdata(column[known]) - (known.sum() + 1) / 2
        ranks.append(own)
    length = np.sqrt((ranks[0] @ ranks[0]) * (ranks[1] @ ranks[1]))
    return ranks[0] @ ranks[1] / length if length > 1e-9 else 0.0


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
    monkeypatch.setattr(neighbours, "IN_CACHE", 120)  # four of them
    columns, r = most_correlated(sparse.csc_matrix(X) if kind == "sparse" else X, given, 5)
    for row, feature in enumerate(given):
        every = np.array([_spearman(X[:, feature], other) for other in X.T])
        every[feature] = 0.0
        best = np.sort(np.abs(every))[::-1][:5]
        np.testing.assert_allclose(np.abs(r[row]), best, atol=1e-12)
        np.testing.assert_allclose(r[row], every[columns[row]], atol=1e-12)
        assert feature not in columns[row]
    matrix = correlation_matrix(X, given)
    np.testing.assert_allclose(matrix[0, 1], _spearman(X[:, 7], X[:, 0]), atol=1e-12)


def test_clusters_hold_what_is_correlated_whatever_the_sign():
    X = _data(0)
    cluster, order = clusters(correlation_matrix(X, np.array([7, 0, 3, 9, 1])))
    assert cluster.tolist() == [0, 1, 0, 0, 2]
    assert sorted(order) == list(range(5))
    place = [int(np.flatnonzero(order == i)[0]) for i in (0, 2, 3)]
    assert max(place) - min(place) == 2  # side by side
    assert clusters(np.ones((1, 1)))[0].tolist() == [0]
