"""Halves of a tally: they add to the whole, and vary as halves of its trees do."""

from __future__ import annotations

import numpy as np
import pytest

import nullforest as nf

TREES, HALVES = 150, 1500


@pytest.fixture(scope="module")
def data():
    X, y, _ = nf.simulate.independent(80, 200, 6, 0.5)
    return nf.RankTable(X, n_jobs=1), y


@pytest.fixture(scope="module")
def whole(data):
    return nf.grow(*data, trees=TREES, keep_trees=False, oob=False).tally


@pytest.fixture(scope="module")
def by_tree(data, whole):
    """Counts (T, F) and wins of probes (T, P) of each tree, grown alone."""
    counts, wins = [], []
    for tree in range(TREES):
        how = {"trees": 1, "first_tree": tree, "n_jobs": 1, "keep_trees": False, "oob": False}
        alone = nf.grow(*data, **how).tally
        np.testing.assert_array_equal(alone.probes.ids, whole.probes.ids)
        counts.append(alone.counts)
        wins.append(alone.probes.wins)
    return np.array(counts), np.array(wins)


@pytest.mark.parametrize("trees", [2, 3, 7, 150])
@pytest.mark.parametrize("settings", [{}, {"draw": "tree"}, {"probes": 0}])
def test_halves_add_to_the_whole(data, trees, settings):
    tally = nf.grow(*data, trees=trees, keep_trees=False, **settings).tally
    for seed in range(3):
        first, second = tally.halves(seed)
        assert (first.n_trees, second.n_trees) == ((trees + 1) // 2, trees // 2)
        for half in (first, second):
            assert half.counts.sum() == half.nodes_per_tree.sum()
            assert half.couplings.min() >= 0
        both = first + second
        np.testing.assert_array_equal(both.counts, tally.counts)
        np.testing.assert_array_equal(both.couplings, tally.couplings)
        # The trees of the halves take turns, so that their order changes.
        np.testing.assert_array_equal(np.sort(both.nodes_per_tree), np.sort(tally.nodes_per_tree))
        np.testing.assert_array_equal(both.pool_per_tree, tally.pool_per_tree)
        if tally.probes is None:
            assert both.probes is None
            continue
        assert min(first.probes.wins.min(), second.probes.wins.min()) >= 0
        np.testing.assert_array_equal(both.probes.wins, tally.probes.wins)
        np.testing.assert_array_equal(both.probes.couplings, tally.probes.couplings)
        np.testing.assert_allclose(both.probes.trees, tally.probes.trees)


def test_a_tally_read_elsewhere_has_halves():
    tally = nf.Tally.from_counts([40, 3, 1], nodes_per_tree=[4] * 11, n_samples=20)
    first, second = tally.halves()
    assert (first.couplings, first.probes) == (None, None)
    assert (first.counts + second.counts).tolist() == [40, 3, 1]


def test_a_seed_gives_one_split_and_another_seed_another(whole):
    again = whole.halves(0)[0]
    assert whole.halves(0)[0] == again
    assert whole.halves(1)[0] != again


def test_one_tree_has_no_halves(data):
    with pytest.raises(nf.InputError, match="one tree has no halves"):
        nf.grow(*data, trees=1).tally.halves()


@pytest.mark.parametrize("what", ["counts", "wins"])
def test_halves_vary_as_random_halves_of_the_trees_do(whole, by_tree, what):
    each = by_tree[what == "wins"]
    total = each.sum(axis=0)
    np.testing.assert_array_equal(total, whole.counts if what == "counts" else whole.probes.wins)
    rng = np.random.default_rng(0)
    slow = []
    for _ in range(HALVES):  # naive: half of the trees, without replacement
        half = rng.permutation(TREES)[: TREES // 2]
        slow.append(sum(each[tree] for tree in half))
    first = [whole.halves(seed)[0] for seed in range(HALVES)]
    fast = [half.counts if what == "counts" else half.probes.wins for half in first]
    seen = total > 0
    # A mean over R halves has the standard error √(variance / R); five of the difference of two.
    noise = 5 * np.sqrt((np.var(slow, axis=0) + np.var(fast, axis=0)) / HALVES)
    # The nodes of the first half are those of every other tree, not half of all. Drawn at random
    # their share has the standard deviation cv / (2 √T): four of it.
    nodes = whole.nodes_per_tree
    share = 4 * nodes.std() / nodes.mean() / (2 * np.sqrt(TREES))
    difference = np.abs(np.mean(slow, axis=0) - np.mean(fast, axis=0))
    assert (difference <= noise + share * total).all()
    # Nodes rather than trees are split. The variance of a half of the trees is T/4 times that of a
    # tree's count n_t, n/4 · (1 + Σ n_t (n_t − 1) / n − n/T): both terms are small. A variance from
    # R halves has a relative standard error of at most √(2 / R), two of them √2 times that.
    repeated = (each * (each - 1)).sum(axis=0)[seen] / total[seen]
    bias = repeated + total[seen] / TREES
    ratio = np.var(slow, axis=0)[seen] / np.var(fast, axis=0)[seen]
    assert (np.abs(ratio - 1) <= 5 * np.sqrt(4 / HALVES) + bias).all()
    # The mean over all columns is that much more exact: F independent ones, up to their sum.
    assert abs(np.mean(ratio) - 1) <= 5 * np.sqrt(4 / HALVES / seen.sum()) + np.mean(bias)
    assert np.mean(bias) < 0.1  # so that it says something
