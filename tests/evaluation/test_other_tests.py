"""The other published tests: their p-values from slow loops, and their known weaknesses."""

import numpy as np
import pytest
from scipy import stats

import nullforest as nf
from naive import baselines as naive
from nullforest.evaluation.baselines.janitza import mirrored_pvalues

RNG = np.random.default_rng(2)
X = RNG.normal(size=(40, 6))
Y = (X[:, 0] + 0.7 * RNG.normal(size=40) > 0).astype(int)


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
    assert s.values[s.support].min() > s.values[~s.support].max()
    if statistic == "corrected_gini":
        np.testing.assert_array_equal(
            s.values, nf.baselines.corrected_gini(data, y, trees=200, seed=1)
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


def naive_boruta_decisions(hits_by_round, alpha):
    """Decide round by round with scipy's exact binomial test."""
    F = hits_by_round.shape[1]
    state, hits = ["open"] * F, np.zeros(F, int)
    for n, row in enumerate(hits_by_round, start=1):
        active = [f for f in range(F) if state[f] != "out"]
        hits[active] += row[active]
        up = [stats.binomtest(int(hits[f]), n, 0.5, alternative="greater").pvalue for f in active]
        down = [stats.binomtest(int(hits[f]), n, 0.5, alternative="less").pvalue for f in active]
        for p, verdict in ((up, "in"), (down, "out")):
            passed = np.array(p) <= alpha / F
            for f, ok in zip(active, passed, strict=True):
                if ok and state[f] == "open":
                    state[f] = verdict
    return state


def test_boruta_decides_like_the_tests_it_is_made_of():
    from nullforest.evaluation.baselines.boruta import _CONFIRMED, _REJECTED, _decide

    rng = np.random.default_rng(5)
    rates = np.r_[np.full(6, 0.95), np.full(6, 0.6), np.full(28, 0.05)]
    hits_by_round = (rng.random((30, 40)) < rates).astype(int)
    state, hits = np.zeros(40, int), np.zeros(40, int)
    for n, row in enumerate(hits_by_round, start=1):
        active = state != _REJECTED
        hits[active] += row[active]
        _decide(state, hits, n, 0.05)
    words = {_CONFIRMED: "in", _REJECTED: "out", 0: "open"}
    assert [words[int(s)] for s in state] == naive_boruta_decisions(hits_by_round, 0.05)
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


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: nf.baselines.boruta(X, Y, rounds=0), "rounds"),
        (lambda: nf.baselines.boruta(X, Y, statistic="depth"), "no Boruta on"),
    ],
)
def test_bad_requests_are_refused_in_a_sentence(call, words):
    with pytest.raises(nf.InputError, match=words):
        call()
