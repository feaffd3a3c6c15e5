"""The other published tests: their p-values from slow loops, and their known weaknesses."""

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

import nullforest as nf
from naive import baselines as naive
from nullforest.evaluation.baselines.janitza import mirrored_pvalues
from nullforest.evaluation.baselines.stopping import STOPS, Stopping

RNG = np.random.default_rng(2)
X = RNG.normal(size=(40, 6))
Y = (X[:, 0] + 0.7 * RNG.normal(size=40) > 0).astype(int)


def test_z_scores_equal_their_definition():
    s = nf.baselines.breiman_cutler(X, Y, trees=40, candidates=2, seed=6)
    forest = nf.grow(X, Y, trees=40, candidates=2, max_depth=None, seed=6, probes=0)
    d = naive.oob_increases(forest, X, forest.target.values)
    z = d.mean(axis=0) / (d.std(axis=0) / np.sqrt(40))
    np.testing.assert_allclose(s.values, z, rtol=1e-9)
    np.testing.assert_allclose(s.pvalues, stats.norm.sf(z), rtol=1e-7)
    assert "Strobl and Zeileis" in s.notes[0]


def test_the_z_scores_of_noise_grow_with_the_root_of_the_number_of_trees():
    # Given the data, d_t has mean m and deviation s over trees, so z has mean m sqrt(T) / s and
    # variance 1 (24 / 22 for 25 trees, where s is estimated: Student's t). Over R seeds the means
    # at T and 16 T differ from 1 : 4 by at most 4 standard errors, sqrt((16 * 24 / 22 + 1) / R).
    rng = np.random.default_rng(4)
    data, y, runs = rng.normal(size=(40, 5)), np.arange(40) % 2, 150
    few, many = (
        np.mean(
            [
                nf.baselines.breiman_cutler(data, y, trees=trees, candidates=2, seed=r).values
                for r in range(runs)
            ],
            axis=0,
        )
        for trees in (25, 400)
    )
    slack = 4 * np.sqrt((16 * 24 / 22 + 1) / runs)
    assert (np.abs(many - 4 * few) < slack).all()
    assert np.abs(many).max() > 2 * slack  # noise, and yet "significant": there is something to see


def test_the_z_test_rejects_what_it_likes_when_more_trees_are_grown():
    # Nothing is related to anything, so 5 % should be rejected whatever the number of trees. The
    # rate grows with it, by more than 4 standard errors of the paired difference over data sets.
    runs, rates = 50, {25: [], 400: []}
    for r in range(runs):
        rng = np.random.default_rng(r)
        data, y = rng.normal(size=(40, 5)), np.arange(40) % 2
        for trees, rate in rates.items():
            s = nf.baselines.breiman_cutler(data, y, trees=trees, candidates=2, seed=r)
            rate.append(s.support.mean())
    grown = np.array(rates[400]) - np.array(rates[25])
    assert grown.mean() > 4 * grown.std(ddof=1) / np.sqrt(runs)


def test_more_samples_do_not_cure_the_z_test():
    # A test should reject 5 % of null features at any sample size. The z-test rejects more at
    # 40 samples and at 160, by more than 4 standard errors over the data sets.
    runs = 40
    for n in (40, 160):
        rejected = []
        for r in range(runs):
            rng = np.random.default_rng(r)
            s = nf.baselines.breiman_cutler(
                rng.normal(size=(n, 5)), np.arange(n) % 2, trees=300, candidates=2, seed=r
            )
            rejected.append(s.support.mean())
        assert np.mean(rejected) > 0.05 + 4 * np.std(rejected, ddof=1) / np.sqrt(runs)


@pytest.mark.parametrize("plus_one", [False, True])
def test_the_mirrored_null_equals_a_slow_count(plus_one):
    rng = np.random.default_rng(1)
    importance = np.concatenate([rng.normal(size=60), np.zeros(7), [3.0, 4.0]])
    importance[5] = -importance[3]  # a tie with a mirror image
    expected = naive.mirrored_pvalues(importance, plus_one)
    np.testing.assert_allclose(mirrored_pvalues(importance, plus_one=plus_one), expected)
    with pytest.raises(nf.InputError, match="No importance is below zero"):
        mirrored_pvalues(np.array([0.0, 1.0]))


@pytest.mark.parametrize("statistic", ["corrected_gini", "permutation"])
def test_janitza_tests_the_importance_it_names(statistic):
    rng = np.random.default_rng(0)
    data = rng.normal(size=(50, 150))
    y = (data[:, 3] > 0).astype(int)
    s = nf.baselines.janitza(data, y, statistic=statistic, trees=200, seed=1)
    np.testing.assert_allclose(s.pvalues, naive.mirrored_pvalues(s.values, True))
    assert s.support[3]
    assert (s.support == (s.values > s.threshold)).all()
    if statistic == "corrected_gini":
        np.testing.assert_array_equal(
            s.values, nf.importances.corrected_gini(data, y, trees=200, seed=1)
        )
        assert "importances are below zero" in s.notes[0]
    with pytest.raises(nf.InputError, match="not symmetric around zero"):
        nf.baselines.janitza(data, y, statistic="gini", trees=2)


def test_janitza_holds_its_level_on_independent_noise():
    # Features are exchangeable: the share selected has mean alpha up to 1 / (null size). Over R
    # data sets, 4 standard errors of their mean.
    shares = []
    for r in range(12):
        data = np.random.default_rng(r).normal(size=(40, 600))
        s = nf.baselines.janitza(data, np.arange(40) % 2, trees=300, alpha=0.05, seed=r)
        shares.append(s.support.mean())
    assert abs(np.mean(shares) - 0.05) < 4 * np.std(shares, ddof=1) / np.sqrt(12) + 1 / 300


def naive_boruta_decisions(hits_by_round, alpha, correction):
    """Decide round by round with statsmodels' corrections and scipy's exact binomial test."""
    F = hits_by_round.shape[1]
    state, hits = ["open"] * F, np.zeros(F, int)
    for n, row in enumerate(hits_by_round, start=1):
        active = [f for f in range(F) if state[f] != "out"]
        hits[active] += row[active]
        up = [stats.binomtest(int(hits[f]), n, 0.5, alternative="greater").pvalue for f in active]
        down = [stats.binomtest(int(hits[f]), n, 0.5, alternative="less").pvalue for f in active]
        for p, verdict in ((up, "in"), (down, "out")):
            if correction == "bonferroni":
                passed = np.array(p) <= alpha / F
            else:
                passed = multipletests(p, alpha, "fdr_bh")[0] & (np.array(p) <= alpha / n)
            for f, ok in zip(active, passed, strict=True):
                if ok and state[f] == "open":
                    state[f] = verdict
    return state


@pytest.mark.parametrize("correction", ["bonferroni", "fdr"])
def test_boruta_decides_like_the_tests_it_is_made_of(correction):
    from nullforest.evaluation.baselines.boruta import _CONFIRMED, _REJECTED, _decide

    rng = np.random.default_rng(5)
    rates = np.r_[np.full(6, 0.95), np.full(6, 0.6), np.full(28, 0.05)]
    hits_by_round = (rng.random((30, 40)) < rates).astype(int)
    state, hits = np.zeros(40, int), np.zeros(40, int)
    for n, row in enumerate(hits_by_round, start=1):
        active = state != _REJECTED
        hits[active] += row[active]
        _decide(state, hits, n, 0.05, correction)
    words = {_CONFIRMED: "in", _REJECTED: "out", 0: "open"}
    assert [words[int(s)] for s in state] == naive_boruta_decisions(hits_by_round, 0.05, correction)
    assert {"in", "out"} <= {words[int(s)] for s in state}


@pytest.mark.parametrize("statistic", ["gini", "permutation", "frequency"])
def test_boruta_confirms_the_signal_and_repeats_itself(statistic):
    rng = np.random.default_rng(0)
    data = rng.normal(size=(60, 20))
    y = (data[:, 4] > 0).astype(int)
    how = {"trees": 60, "rounds": 25, "statistic": statistic, "seed": 3}
    if statistic == "frequency":
        how["max_depth"] = 2  # a strong feature ends its trees early and is split on less often
    one = nf.baselines.boruta(data, y, n_jobs=1, **how)
    two = nf.baselines.boruta(data, y, n_jobs=2, **how)
    assert one.support[4]
    np.testing.assert_array_equal(one.values, two.values)
    np.testing.assert_array_equal(one.counts, two.counts)
    assert one.forests <= 25
    assert one.tally.n_nodes == one.counts.sum() > 0


def test_every_stop_but_the_sequential_guess_decides_like_the_full_test():
    rng = np.random.default_rng(0)
    M, alpha = 199, 0.05
    for true_p in (0.001, 0.03, 0.05, 0.08, 0.5):
        for _repeat in range(40):
            exceeds = rng.random(M) < true_p
            full = (1 + exceeds.sum()) / (1 + M)
            outcome = {}
            for rule in STOPS:
                stop, d, m = Stopping(rule, M, alpha), 0, 0
                while m == 0 or not stop.done(d, m):
                    d, m = d + int(exceeds[m]), m + 1
                outcome[rule] = (stop.pvalue(d, m), m)
            assert outcome["none"] == (full, M)
            p, m = outcome["certain"]
            assert (p <= alpha) == (full <= alpha)
            assert m <= M
            if full <= alpha:
                assert p >= full  # an upper bound of the p-value, so still valid
            p, m = outcome["besag_clifford"]
            assert p == (8 / m if exceeds.sum() >= 8 and m < M else p)
            if exceeds.sum() < 8:
                assert p == full


def test_besag_and_clifford_give_exact_pvalues():
    # Stopped at h exceedances p = h / m is valid and exact: with p uniform, P(p <= a) = a at the
    # attainable a. 4 binomial standard errors.
    rng = np.random.default_rng(0)
    n, a = 4000, 8 / 160
    small = 0
    for _repeat in range(n):
        chance, stop, d, m = rng.random(), Stopping("besag_clifford", 199, 0.05), 0, 0
        while m == 0 or not stop.done(d, m):
            d, m = d + (rng.random() < chance), m + 1
        small += stop.pvalue(d, m) <= a
    assert abs(small / n - a) < 4 * np.sqrt(a * (1 - a) / n)


def test_the_sequential_test_keeps_its_errors():
    # Wald: P(select | p = p0) <= a / (1 - b) and P(not | p = p1) <= b / (1 - a).
    rng = np.random.default_rng(0)
    stop = Stopping("sprt", 10**6, 0.2)
    n = 400
    for chance, wrong, bound in [
        (1.2 * 0.2, lambda p: p <= 0.2, 0.05 / 0.8),
        (0.8 * 0.2, lambda p: p > 0.2, 0.2 / 0.95),
    ]:
        mistakes = 0
        for _repeat in range(n):
            d = m = 0
            while m == 0 or not stop.done(d, m):
                d, m = d + (rng.random() < chance), m + 1
            mistakes += wrong(stop.pvalue(d, m))
        assert mistakes / n <= bound + 4 * np.sqrt(bound * (1 - bound) / n)


def test_variable_permutation_equals_a_slow_refit():
    from nullforest._util.randomness import COLUMNS, forest_seed, stream
    from nullforest.run.permutation import permuted_errors

    how = {"trees": 15, "candidates": 2}
    full = nf.baselines.variable_permutation(X, Y, permutations=9, stop="none", seed=2, **how)
    how["max_depth"] = None  # published tests grow full trees
    observed = permuted_errors(nf.grow(X, Y, seed=2, probes=0, **how), X)[0]
    for f in range(X.shape[1]):
        as_large = 0
        for b in range(9):
            shuffled = X.copy()
            shuffled[:, f] = X[stream(2, COLUMNS, f, b).permutation(40), f]
            forest = nf.grow(shuffled, Y, seed=forest_seed(2, COLUMNS, f, b), probes=0, **how)
            as_large += permuted_errors(forest, shuffled)[0][f] >= observed[f]
        assert full.pvalues[f] == (1 + as_large) / 10
    assert full.forests == 1 + 9 * 6


def test_stopping_early_changes_the_cost_and_not_the_choice():
    how = {"trees": 15, "candidates": 2, "permutations": 39, "seed": 2}
    full = nf.baselines.variable_permutation(X, Y, stop="none", **how)
    early = nf.baselines.variable_permutation(X, Y, stop="certain", **how)
    np.testing.assert_array_equal(full.support, early.support)
    assert early.forests < full.forests
    some = nf.baselines.variable_permutation(X, Y, stop="certain", features=[0, 3], **how)
    np.testing.assert_array_equal(some.pvalues[[0, 3]], early.pvalues[[0, 3]])
    assert (np.delete(some.pvalues, [0, 3]) == 1).all()
    assert "4 features were not tested" in some.notes[0]
    cut = nf.baselines.variable_permutation(X, Y, max_seconds=0.0, **how)
    assert "Stopped by max_seconds after 1 of 6" in cut.notes[0]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: nf.baselines.variable_permutation(X, Y, stop="soon"), "no stop 'soon'"),
        (lambda: nf.baselines.variable_permutation(X, Y, error="fdr"), "besag_clifford"),
        (lambda: nf.baselines.variable_permutation(X, Y, features=[9]), "no feature 9"),
        (lambda: nf.baselines.boruta(X, Y, correction="none"), "correction"),
        (lambda: nf.baselines.boruta(X, Y, percentile=0), "percentile"),
        (lambda: nf.baselines.boruta(X, Y, rounds=0), "rounds"),
        (lambda: nf.baselines.boruta(X, Y, statistic="depth"), "no Boruta on"),
        (lambda: nf.baselines.breiman_cutler(X, Y, trees=1), "at least two trees"),
    ],
)
def test_bad_requests_are_refused_in_a_sentence(call, words):
    with pytest.raises(nf.InputError, match=words):
        call()
