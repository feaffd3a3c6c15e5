"""Expected agreement: what halves of one forest say about other seeds is what those select."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nullforest as nf
from nullforest.selection.agreement import Agreement, agreement, jaccard

#: Features that are selected by some seeds only, where the trees are few.
WEAK = {"n_samples": 150, "n_features": 1000, "n_relevant": 80, "relevance": 0.35}


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=12))
@settings(max_examples=100, deadline=None)
def test_the_jaccard_index_is_that_of_sets(pairs):
    a, b = np.array(pairs, bool).T
    first, second = ({i for i, taken in enumerate(each) if taken} for each in (a, b))
    naive = len(first & second) / len(first | second) if first | second else 1.0
    assert jaccard(a, b) == jaccard(b, a) == naive


@pytest.mark.parametrize("kind", ["probes", "bagged"])
@pytest.mark.parametrize("error", ["fdr", "fwer"])
def test_a_strong_signal_has_settled(kind, error):
    X, y, relevant = nf.simulate.independent(100, 300, n_relevant=5, relevance=0.8)
    s = nf.select(nf.grow(X, y, trees=2000), 1e-3, error, kind)
    np.testing.assert_array_equal(np.flatnonzero(s.support), np.flatnonzero(relevant))
    assert s.agreement == Agreement(1.0, 0.0, 0.0, 5)
    assert s.agreement.settled


def test_a_null_distribution_that_more_trees_make_worse_has_not_settled():
    # That of the paper selects more null features the more trees there are.
    X, y, _ = nf.simulate.independent(100, 300, n_relevant=5, relevance=0.8)
    found = nf.select(nf.grow(X, y, trees=2000), 0.01, "fdr", "paper").agreement
    assert found.change > 0.05
    assert not found.settled


def test_a_forest_that_is_too_small_has_not_settled():
    X, y, _ = nf.simulate.independent(**WEAK)
    found = nf.select(nf.grow(X, y, trees=60)).agreement
    assert found.expected < 0.6
    assert not found.settled


@pytest.mark.parametrize("trees", [200, 1500])
def test_the_expected_agreement_is_that_of_eight_seeds(trees):
    X, y, _ = nf.simulate.independent(**WEAK)
    table = nf.RankTable(X)
    how = {"trees": trees, "keep_trees": False, "oob": False}
    selections = [nf.select(nf.grow(table, y, seed=seed, **how)) for seed in range(8)]
    reached = np.mean([jaccard(a.support, b.support) for a, b in combinations(selections, 2)])
    expected = np.mean([s.agreement.expected for s in selections])
    error = np.mean([s.agreement.standard_error for s in selections])
    # Eight seeds share the data, so that their mean is hardly more exact than one: two standard
    # errors of one.
    assert abs(expected - reached) <= 2 * error
    assert error < 0.06  # so that it says something
    assert (reached < 0.6) == (trees == 200)


def test_the_expected_change_is_what_four_times_the_trees_bring():
    X, y, _ = nf.simulate.independent(**WEAK)
    table = nf.RankTable(X)
    how = {"keep_trees": False, "oob": False}
    changes, forecasts = [], []
    for seed in range(4):
        few, many = (
            nf.select(nf.grow(table, y, trees=trees, seed=seed, **how)) for trees in (300, 1200)
        )
        changes.append(many.n_selected / few.n_selected - 1)
        forecasts.append(few.agreement.change)
    # Numbers of about 45 features, Poisson at most, in the forest and in two halves of it: the
    # change, 1.21 (n − half), has the relative standard error 1.21 √(1.5 / 45) = .22.
    assert abs(np.mean(changes) - np.mean(forecasts)) <= 2 * 0.22
    assert min(np.mean(changes), np.mean(forecasts)) > 0.2  # many are missing at 300 trees


def test_settled_means_both_high_and_unchanging():
    assert Agreement(0.95, 0.02, 0.01, 100).settled
    assert not Agreement(0.95, 0.06, 0.01, 100).settled  # .9 is within one standard error
    assert not Agreement(0.95, 0.02, 0.08, 100).settled  # four times the trees add 8 features
    assert not Agreement(0.95, 0.02, -0.08, 100).settled
    assert Agreement(0.95, 0.02, 0.08, 10).settled  # less than one feature


def test_nothing_selected_agrees_with_nothing():
    rng = np.random.default_rng(0)
    s = nf.select(nf.grow(rng.normal(size=(60, 200)), np.arange(60) % 2, trees=500))
    assert s.n_selected == 0
    assert s.agreement == Agreement(1.0, 0.0, 0.0, 0)


def test_what_has_no_agreement_says_none():
    X, y, _ = nf.simulate.independent(60, 40, 4, 0.7)
    single = nf.select(nf.grow(X, y, trees=1))  # no halves
    assert single.agreement is None
    assert single.to_dict()["expected_agreement"] is None


def test_the_agreement_is_told_in_words_and_numbers():
    X, y, _ = nf.simulate.independent(100, 300, n_relevant=5, relevance=0.8)
    s = nf.select(nf.grow(X, y, trees=1000), 0.01, "fwer")
    assert s.agreement == agreement(s)
    assert s.to_dict()["expected_agreement"] == s.agreement.expected
    assert f"{s.agreement.expected:.2f}" in s.expected_agreement()
