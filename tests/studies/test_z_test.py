"""The z-test of Breiman and Cutler: its scores from slow loops, and its known weaknesses."""

import numpy as np
import pytest
from scipy import stats

import nullforest as nf
from naive import baselines as naive
from studies.published.z_test import z_test

RNG = np.random.default_rng(2)
X = RNG.normal(size=(40, 6))
Y = (X[:, 0] + 0.7 * RNG.normal(size=40) > 0).astype(int)


def test_z_scores_equal_their_definition():
    s = z_test(X, Y, trees=40, candidates=2, seed=6)
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
            [z_test(data, y, trees=trees, candidates=2, seed=r).values for r in range(runs)],
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
            s = z_test(data, y, trees=trees, candidates=2, seed=r)
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
            s = z_test(rng.normal(size=(n, 5)), np.arange(n) % 2, trees=300, candidates=2, seed=r)
            rejected.append(s.support.mean())
        assert np.mean(rejected) > 0.05 + 4 * np.std(rejected, ddof=1) / np.sqrt(runs)


def test_one_tree_has_no_standard_error():
    with pytest.raises(nf.InputError, match="at least two trees"):
        z_test(X, Y, trees=1)
