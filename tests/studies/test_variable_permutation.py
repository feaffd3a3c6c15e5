"""Features permuted one by one: p-values from slow loops, and rules that stop early."""

import numpy as np
import pytest

import nullforest as nf
from studies.published.stopping import STOPS, Stopping
from studies.published.variable_permutation import variable_permutation

RNG = np.random.default_rng(2)
X = RNG.normal(size=(40, 6))
Y = (X[:, 0] + 0.7 * RNG.normal(size=40) > 0).astype(int)


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
    full = variable_permutation(X, Y, permutations=9, stop="none", seed=2, **how)
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
    full = variable_permutation(X, Y, stop="none", **how)
    early = variable_permutation(X, Y, stop="certain", **how)
    np.testing.assert_array_equal(full.support, early.support)
    assert early.forests < full.forests
    some = variable_permutation(X, Y, stop="certain", features=[0, 3], **how)
    np.testing.assert_array_equal(some.pvalues[[0, 3]], early.pvalues[[0, 3]])
    assert (np.delete(some.pvalues, [0, 3]) == 1).all()
    assert "4 features were not tested" in some.notes[0]
    cut = variable_permutation(X, Y, max_seconds=0.0, **how)
    assert "Stopped by max_seconds after 1 of 6" in cut.notes[0]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"stop": "soon"}, "no stop 'soon'"),
        ({"error": "fdr"}, "besag_clifford"),
        ({"features": [9]}, "no feature 9"),
    ],
)
def test_bad_requests_are_refused_in_a_sentence(settings, words):
    with pytest.raises(nf.InputError, match=words):
        variable_permutation(X, Y, **settings)
