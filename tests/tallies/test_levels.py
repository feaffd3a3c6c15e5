"""Levels of the columns: effective numbers, bounds from cut points, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import nullforest as nf
from nullforest.data.rank_table import RankTable
from nullforest.tallies.favoured_columns import levels_of_data

RNG = np.random.default_rng(0)
COLUMNS = np.column_stack(
    [
        RNG.normal(size=80),
        RNG.integers(0, 2, 80),
        RNG.random(80) < 0.05,
        RNG.poisson(2.0, 80),
        np.ones(80),
        np.where(RNG.random(80) < 0.2, np.nan, RNG.integers(0, 3, 80)),
    ]
)
LABEL = np.arange(80) % 2


def effective(column):
    known = column[~np.isnan(column)]
    sizes = [*np.unique(known, return_counts=True)[1], np.isnan(column).sum()]
    return len(column) ** 2 / np.square(np.array(sizes, float)).sum()


def test_effective_numbers_are_those_of_a_plain_count():
    expected = [effective(column) for column in COLUMNS.T]
    for given in (COLUMNS, scipy.sparse.csr_matrix(COLUMNS)):
        np.testing.assert_allclose(levels_of_data(given), np.c_[expected, expected])
    np.testing.assert_allclose(RankTable(COLUMNS).levels, levels_of_data(COLUMNS))


@pytest.mark.parametrize(
    "forest",
    [
        RandomForestClassifier(200, random_state=0),
        RandomForestClassifier(200, bootstrap=False, random_state=0),
        BaggingClassifier(DecisionTreeClassifier(), 100, max_features=4, random_state=0),
    ],
    ids=lambda forest: f"{type(forest).__name__}-{forest.bootstrap}",
)
def test_cut_points_bound_the_number_of_levels(forest):
    X = np.nan_to_num(COLUMNS)
    fewest, most = nf.tally(forest.fit(X, LABEL)).levels.T
    distinct = np.array([len(np.unique(column)) for column in X.T])
    assert (fewest <= distinct).all()
    # Cuts at the rare values at the ends may not have been used; none other is missed.
    used = distinct - np.array([(np.unique(c, return_counts=True)[1] == 1).sum() for c in X.T])
    assert (most >= np.minimum(used, 80)).all()
    assert most[1] == most[2] == 2


def test_random_cut_points_tell_nothing():
    tally = nf.tally(ExtraTreesClassifier(20, random_state=0).fit(np.nan_to_num(COLUMNS), LABEL))
    assert tally.levels is None


def test_levels_are_kept_with_a_tally(tmp_path):
    X = np.nan_to_num(COLUMNS)
    a, b = (nf.tally(RandomForestClassifier(50, random_state=i).fit(X, LABEL)) for i in (0, 1))
    fewest, most = (a + b).levels.T
    np.testing.assert_array_equal(fewest, np.maximum(a.levels[:, 0], b.levels[:, 0]))
    np.testing.assert_array_equal(most, np.minimum(a.levels[:, 1], b.levels[:, 1]))
    a.save(tmp_path / "forest.tally")
    assert nf.Tally.load(tmp_path / "forest.tally") == a


def test_a_forest_without_probes_does_not_test_columns_of_different_kinds():
    rng = np.random.default_rng(1)
    X = np.hstack([rng.normal(size=(100, 40)), rng.integers(0, 2, (100, 40))])
    y = np.arange(100) % 2
    plain = nf.ForestClassifier(200, random_state=0).fit(X, y)
    with pytest.raises(nf.InputError, match=r"different numbers of distinct values.*Use nf\.grow"):
        nf.select(nf.tally(plain))
    assert nf.select(nf.grow(X, y, trees=200)).n_selected <= 2
    same = nf.ForestClassifier(200, random_state=0).fit(X[:, :40], y)
    assert nf.select(nf.tally(same)).null.kind == "bagged"


@pytest.mark.parametrize("n_few", [0, 2, 40])
def test_few_columns_of_few_levels_change_little_and_are_tolerated(n_few):
    levels = np.full((100, 2), 150.0)
    levels[:n_few] = 2.0
    counts = np.full(100, 10)
    tally = nf.Tally(counts, [1000], [100], 10, 150, np.zeros((100, 18), int), levels=levels)
    if n_few == 40:
        with pytest.raises(nf.InputError, match="effectively 2 to 150"):
            nf.null(tally)
    else:
        assert nf.null(tally).kind == "bagged"
