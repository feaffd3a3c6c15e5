"""Wins of the virtual probes equal those of a naive twin, and the trees are the same without."""

from __future__ import annotations

import math

import numpy as np
import pytest
from test_twin import (
    CRITERION,
    KERNELS,
    KINDS,
    OUTCOMES,
    WEIGHTS,
    draw_columns,
    draw_outcome,
    draw_settings,
    draw_weights,
    n_varying,
    twin_forest,
)

import nullforest as nf
from naive import probes as naive_probes
from naive import trees as naive
from naive.splits import Outcome
from nullforest.data.rank_table import RankTable
from nullforest.data.strata import stratify
from nullforest.data.targets import as_target
from nullforest.forest.null_column_budget import evaluation_rates
from nullforest.forest.settings import ForestSettings
from nullforest.forest.virtual_probes import make_probes, sample_rankings
from nullforest.tallies.tally import COUPLING_EDGES


def outputs(y, criterion):
    """The outcome as numbers, one row per sample: one-hot for classes, None for distances."""
    if criterion == "neighbourhood":
        return None
    if criterion == "variance":
        return y
    labels = sorted(set(y))
    if len(labels) == 2:
        labels = labels[:1]
    return [[float(v == label) for label in labels] for v in y]


def twin_wins(X, y, criterion, weight, first, trees, meaning, forest, number):
    """Wins, ids and couplings of the probes by the naive twin, in the order of the ids."""
    settings = forest.settings
    table = RankTable(X)
    grown, columns = twin_forest(X, y, criterion, weight, first, trees, meaning)
    outcome = Outcome(criterion, y, meaning["n_drawn"])
    strata = table.strata
    probes = naive_probes.make_probes(
        columns,
        strata.features.tolist(),
        strata.allocated(number),
        strata.copies,
        settings.probe_seed,
        outputs(y, criterion),
        [1.0] * len(y) if weight is None else weight,
        min(math.ceil(meaning.get("min_leaf", 1) * len(y) / meaning["n_drawn"]), len(y) // 2),
    )
    wins = np.zeros(len(probes), int)
    couplings = np.zeros((len(strata.copies), len(COUPLING_EDGES) - 1), int)
    S = len(columns[0])
    for t, (nodes, _) in enumerate(grown):
        key = naive.tree_key(meaning["seed"], first + t)
        counts = naive.draw_samples(S, key, meaning["n_drawn"], meaning["replace"])
        w = counts if weight is None else [c * v for c, v in zip(counts, weight, strict=True)]
        if not any(w):
            continue
        won = naive_probes.wins_of_tree(
            columns,
            outcome,
            weight,
            nodes,
            counts,
            probes,
            evaluation_rates(n_varying(X), settings.pool, settings.candidates),
            tree=first + t,
            **meaning,
        )
        for p, node in won:
            wins[p] += 1
            r = naive.coupling(outcome, [float(v) for v in w], nodes[node].members, list(range(S)))
            place = np.searchsorted(COUPLING_EDGES, r, side="right") - 1
            couplings[probes[p].stratum, min(max(place, 0), couplings.shape[1] - 1)] += 1
    order = np.argsort([p.id for p in probes])
    return (
        [probes[i].id for i in order],
        wins[order],
        [probes[i].stratum for i in order],
        couplings,
        [probes[i].weight for i in order],
    )


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("kind", [k for k in KINDS if k != "duplicated"])
def test_wins_equal_the_twins(outcome, kind, monkeypatch):
    rng = np.random.default_rng([OUTCOMES.index(outcome), KINDS.index(kind), 1])
    total = 0
    for case in range(6):
        S = int(rng.integers(6, 12 if outcome == "distances" else 24))
        F = int(rng.integers(2, 9))
        X = draw_columns(rng, kind, S, F)
        y, plain_y = draw_outcome(rng, outcome, S)
        weights, weight = draw_weights(rng, WEIGHTS[case % len(WEIGHTS)], outcome, y)
        arguments, meaning = draw_settings(rng, X)
        first, number = int(rng.choice([0, 7])), int(rng.integers(1, 30))
        expected = None
        for kernel in KERNELS:
            monkeypatch.setenv("NULLFOREST_ISA", kernel)
            forest = nf.grow(
                X,
                y,
                criterion=CRITERION[outcome],
                trees=2,
                first_tree=first,
                probes=number,
                probe_seed=case,
                **arguments,
                **weights,
            )
            if expected is None:
                expected = twin_wins(
                    X, plain_y, CRITERION[outcome], weight, first, 2, meaning, forest, number
                )
                total += expected[1].sum()
            found = forest.tally.probes
            assert found.ids.tolist() == expected[0]
            assert found.strata.tolist() == expected[2]
            assert found.wins.tolist() == expected[1].tolist()
            assert found.couplings.tolist() == expected[3].tolist()
            assert found.weights.tolist() == pytest.approx(expected[4], rel=1e-9)
    assert total > 0


@pytest.mark.parametrize("S", [130, 300, 600, 1100])
def test_wins_equal_the_twins_on_larger_tables(S, monkeypatch):
    rng = np.random.default_rng(S)
    X = np.column_stack([rng.normal(size=(S, 4)), rng.integers(0, 3, (S, 3))])
    y, plain_y = draw_outcome(rng, "binary", S)
    meaning = {
        "candidates": 3, "pool": 7, "n_drawn": 60, "seed": 3, "replace": False, "min_leaf": 5,
    }  # fmt: skip
    for kernel in KERNELS:
        monkeypatch.setenv("NULLFOREST_ISA", kernel)
        forest = nf.grow(
            X, y, trees=1, candidates=3, samples=60, seed=3, min_leaf=5, max_depth=None, probes=40
        )
        if kernel == KERNELS[0]:
            expected = twin_wins(X, plain_y, "gini", None, 0, 1, meaning, forest, 40)
        assert forest.tally.probes.ids.tolist() == expected[0]
        assert forest.tally.probes.wins.tolist() == expected[1].tolist()
    assert expected[1].sum() > 0


@pytest.fixture
def data():
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.normal(size=(60, 80)), rng.integers(0, 3, (60, 40))])
    return X, rng.integers(0, 2, 60)


SETTINGS = {
    "node": {},
    "bootstrap": {"replace": True},
    "tree": {"draw": "tree"},
    "both": {"pool": 30, "candidates": 5},
}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_probes_leave_the_trees_alone(data, settings):
    with_probes = nf.grow(*data, trees=30, **settings)
    without = nf.grow(*data, trees=30, probes=0, **settings)
    assert with_probes.tally.probes.wins.sum() > 0
    assert without.tally.probes is None
    assert with_probes.tally.counts.tolist() == without.tally.counts.tolist()
    for name, array in with_probes.trees.arrays.items():
        np.testing.assert_array_equal(array, without.trees.arrays[name])


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_blocks_and_threads_add_up(data, settings):
    whole = nf.grow(*data, trees=30, n_jobs=1, **settings)
    assert nf.grow(*data, trees=30, n_jobs=5, **settings).tally == whole.tally
    blocks = [nf.grow(*data, trees=t, first_tree=f, **settings) for f, t in [(0, 7), (7, 23)]]
    assert blocks[0].tally + blocks[1].tally == whole.tally
    assert nf.grow(*data, more=blocks[0], trees=23).tally == whole.tally


def test_forests_of_other_seeds_share_their_probes(data):
    a, b = (nf.grow(*data, trees=10, seed=seed).tally for seed in (1, 2))
    assert a.probes.ids.tolist() == b.probes.ids.tolist()
    assert (a + b).probes.wins.tolist() == (a.probes.wins + b.probes.wins).tolist()
    own = nf.grow(*data, trees=10, seed=1, probe_seed=5).tally
    assert not set(own.probes.ids) & set(a.probes.ids)


@pytest.mark.parametrize(
    "settings",
    [{"candidates": 100}, {"candidates": 20}, {"draw": "tree", "candidates": 45}, {"min_leaf": 5}],
    ids=["node", "few", "tree", "leaves"],
)
def test_probes_win_as_often_as_null_features(settings):
    """E[n_f] = q E[W_p] when all features are null.

    The counts have a fixed mean (all nodes are won by someone), so the noise of the difference is
    that of the probes: Var(q W̄) = Σ w² (q W − q W̄)² within a data set, weights w that add to one.
    Data sets are independent. Five standard errors: one false alarm in two million.
    """
    F, P, difference, variance, level = 1000, 1000, 0.0, 0.0, 0.0
    for d in range(4):
        rng = np.random.default_rng([d, 9])
        X, y = rng.normal(size=(60, F)), rng.permutation(np.arange(60) % 2)
        tally = nf.grow(X, y, trees=200, probes=P, seed=d, keep_trees=False, **settings).tally
        q = tally.candidates / F * tally.n_trees / tally.probes.trees
        won = q * tally.probes.wins
        weights = tally.probes.weights / tally.probes.weights.sum()
        mean = weights @ won
        difference += mean - tally.counts.mean()
        variance += weights**2 @ (won - mean) ** 2
        level += tally.counts.mean()
    assert abs(difference) < 5 * variance**0.5
    assert variance**0.5 < 0.05 * level  # so the test could see an error of a quarter


def test_snps_are_tested_against_their_own_stratum():
    """In each stratum of SNPs probes win as often as its features do.

    Within a stratum the mean count is not fixed, so its noise Var(n)/F_s is added to the probes'
    Σ w² (qW − qW̄)². Five standard errors, as above. Rare alleles win less, so one mean for all
    would not do.
    """
    rng = np.random.default_rng(0)
    X = rng.binomial(2, np.repeat([0.04, 0.15, 0.5], 400), (100, 1200)).astype(float)
    table = RankTable(X)
    n_strata = len(table.strata.copies)
    assert 3 <= n_strata <= 24
    difference, variance, mean = np.zeros((3, n_strata))
    for d in range(4):
        y = rng.permutation(np.arange(100) % 2)
        tally = nf.grow(table, y, trees=300, candidates=60, probes=3000, seed=d).tally
        won = tally.candidates / 1200 * tally.n_trees / tally.probes.trees * tally.probes.wins
        for s in np.flatnonzero(table.strata.sizes >= 30):  # enough for a normal mean
            counts = tally.counts[tally.probes.feature_strata == s]
            mine = won[tally.probes.strata == s]
            weights = tally.probes.weights[tally.probes.strata == s]
            weights = weights / weights.sum()
            difference[s] += weights @ mine - counts.mean()
            variance[s] += weights**2 @ (mine - weights @ mine) ** 2
            variance[s] += counts.var(ddof=1) / len(counts)
            mean[s] += counts.mean()
    assert np.all(np.abs(difference) < 5 * variance**0.5)
    assert np.ptp(mean[mean > 0]) > 10 * variance.max() ** 0.5


def test_strata_tell_ties_apart_and_stay_few():
    S, rng = 200, np.random.default_rng(1)
    columns = [rng.normal(size=S), np.round(rng.normal(size=S), 2), np.full(S, 7.0)]
    for levels in range(2, 40):
        for share in (0.02, 0.1, 0.3, 0.6):
            column = np.zeros(S)
            minor = rng.choice(S, max(levels - 1, int(share * S)), replace=False)
            column[minor] = np.arange(len(minor)) % (levels - 1) + 1
            columns.append(column)
    missing = rng.normal(size=S)
    missing[:70] = np.nan
    columns.append(missing)
    strata = RankTable(np.array(columns).T).strata
    assert len(strata.copies) <= 26  # rankings, 24 strata with ties, constants
    assert strata.features[0] == 0
    assert not strata.copies[0]
    assert not strata.evaluable[strata.features[2]]
    assert np.bincount(strata.features)[strata.features[2]] == 1
    assert strata.features[3] != strata.features[0]
    # rare and frequent binary columns are of different strata
    assert strata.features[3] != strata.features[6]
    numbers = strata.allocated(1000)
    assert sum(numbers) == 1000
    assert numbers[strata.features[2]] == 0


def test_probes_of_tied_columns_have_the_same_ties():
    rng = np.random.default_rng(2)
    X = rng.integers(0, 3, (50, 5)).astype(float)
    X[:8, 4] = np.nan
    table = RankTable(X)
    target = as_target(np.arange(50) % 2, 50)
    settings = ForestSettings(probes=30, candidates=5).resolved((50, 5), "gini")
    probes = make_probes(table, settings, target)
    real = {tuple(np.unique(column, return_counts=True)[1]) for column in X.T}
    for p in range(30):
        order, differs, known = probes.column(p)
        assert sorted(order) == list(range(50))
        ends = np.flatnonzero(np.append(differs[:-1], 1))
        assert tuple(np.diff(ends, prepend=-1)) in real
        assert known in (42, 50)


@pytest.mark.parametrize("number", [1, 7, 200, 399, 400])
def test_weighted_sums_over_sampled_rankings_are_unbiased(number):
    """Σ weight·f over the sample has the mean Σ f over all, for any f: here over many starts.

    The starts are equally spaced, so the mean over them is exact but for the grid: an inclusion
    probability is met to 1/starts.
    """
    association = np.random.default_rng(number).random(400, np.float32).round(2)  # with ties
    starts = (np.arange(500) + 0.5) / 500
    represented = np.zeros(400)
    for start in starts:
        sampled, weights = sample_rankings(association, number, start)
        assert len(np.unique(sampled)) == number
        represented[sampled] += weights / 500
        assert weights.max() <= 1.5 * 400 / number  # never far above 4/3 of the mean
    np.testing.assert_allclose(represented, 1, atol=1.5 * 400 / number / 500 + 1e-9)


def test_associated_rankings_are_sampled_more_often(data):
    X, y = data
    probes = nf.grow(X[:, :80], y, trees=200, candidates=40, probes=600).tally.probes
    rare = probes.wins > 3 * np.average(probes.wins, weights=probes.weights)
    share = np.average(rare, weights=probes.weights)
    # A uniform sample would hold 600·share of them, a Poisson number; five standard errors.
    assert rare.sum() > 600 * share + 5 * np.sqrt(600 * share)


def test_missing_values_stay_where_all_columns_miss_them():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 40))
    X[:15, :30] = np.nan  # a block that most columns share
    X[rng.random((60, 40)) < 0.03] = np.nan
    X[:, 30:][rng.random((60, 10)) < 0.25] = np.nan  # and columns that share nothing
    y = np.arange(60) % 2
    table = RankTable(X)
    target = as_target(y, 60)
    settings = ForestSettings(probes=300, candidates=40).resolved((60, 40), "gini")
    probes = make_probes(table, settings, target)
    kept = []
    for p in range(300):
        order, _, known = probes.column(p)
        if known < 60:
            kept.append(np.isin(np.arange(15), order[known:]).all())
    # Three in four columns with missing values lack the block; the others' probes miss at random.
    assert 0.5 < np.mean(kept) < 0.9


def test_constant_columns_have_no_probes():
    X = np.zeros((20, 3))
    X[:, 1] = np.arange(20)
    probes = nf.grow(X, np.arange(20) % 2, trees=5).tally.probes
    assert set(probes.strata) == {probes.feature_strata[1]}
    strata = stratify(np.ones(3, int), np.full(3, 400), np.zeros(3, int), 20)
    assert strata.evaluable == (False,)


@pytest.mark.parametrize("probes", [-1, 1.5, "many", True])
def test_bad_numbers_of_probes_are_named(data, probes):
    with pytest.raises(nf.InputError, match="probes = "):
        nf.grow(*data, trees=2, probes=probes)
