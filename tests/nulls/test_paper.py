"""The paper's null against its own formula, enumeration, many digits, and simulation."""

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import nullforest as nf
from naive import null_counts as naive
from nullforest import InputError
from nullforest.nulls.paper import PaperNull

rng = np.random.default_rng(0)


@pytest.mark.parametrize(("T", "K", "F_n", "F"), [(20, 12, 5, 40), (60, 7, 30, 500), (8, 30, 3, 9)])
def test_strategy_two_equals_the_integer_partitions_of_the_paper(T, K, F_n, F):
    null = PaperNull([K] * T, [F_n] * T, F)
    k = np.arange(26)
    expected = [naive.paper_strategy_two_pmf(int(j), T, K, F_n, F) for j in k]
    # The partition sum adds up to 1 958 positive terms in doubles: 1e-11 covers its own error.
    np.testing.assert_allclose(null.pmf(k), expected, rtol=1e-11, atol=1e-300)


def test_strategy_one_is_one_binomial_over_all_nodes_of_unequal_trees():
    nodes = rng.integers(1, 30, 50)
    null = PaperNull(nodes, [80] * 50, 80)
    k = np.arange(60)
    np.testing.assert_allclose(null.pmf(k), stats.binom.pmf(k, nodes.sum(), 1 / 80), rtol=1e-11)


@pytest.mark.parametrize(
    ("nodes", "pools", "F", "group"),
    [
        ([2, 3], [2, 2], 4, 1),
        ([1, 2, 0], [1, 3, 2], 4, 1),
        ([2, 2], [1, 4], 4, 1),
        ([3, 1], [2, 3], 5, 2),
        ([2, 2], [2, 4], 4, 3),
    ],
)
def test_tiny_forests_equal_the_enumeration_of_all_pools_and_winners(nodes, pools, F, group):
    null = PaperNull(nodes, pools, F, group)
    expected = [float(p) for p in naive.enumerated_pmf(nodes, pools, F, group)]
    k = np.arange(len(expected))
    np.testing.assert_allclose(null.pmf(k), expected, rtol=1e-10, atol=1e-14)
    tails = [math.fsum(expected[j + 1 :]) for j in k]
    np.testing.assert_allclose(null.sf(k), tails, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize(
    ("nodes", "pools", "F"),
    [
        (rng.integers(5, 20, 50), rng.integers(5, 60, 50), 200),
        (rng.integers(1, 6, 40), rng.integers(1, 4, 40), 50),
        (np.full(30, 10), rng.choice([25, 50], 30), 50),
    ],
    ids=["unequal pools", "pools of a few features", "both strategies mixed"],
)
def test_tails_keep_nine_digits_down_to_1e_200(nodes, pools, F):
    exact = naive.exact_pmf(nodes.tolist(), pools.tolist(), F)
    null = PaperNull(nodes, pools, F)
    tail, tails = 0, []
    for p in reversed(exact):
        tails.append(tail)
        tail += p
    tails = tails[::-1]
    k = [j for j, t in enumerate(tails) if t > 1e-200]
    error = [abs(float(s / tails[j]) - 1) for j, s in zip(k, null.sf(k), strict=True)]
    assert len(k) > 90
    assert max(error) < 1e-9
    k = [j for j, p in enumerate(exact) if p > 1e-200]
    error = [abs(float(p / exact[j]) - 1) for j, p in zip(k, null.pmf(k), strict=True)]
    assert max(error) < 1e-9


@pytest.mark.parametrize(("n", "F"), [(500, 20), (50_000, 1_000), (10**8, 10**6)])
def test_binomial_tails_keep_nine_digits(n, F):
    null = PaperNull([n], [F], F)
    mean = n / F
    for k in (int(mean), int(mean + 5 * mean**0.5), int(mean + 30 * mean**0.5 + 30)):
        exact = naive.exact_binomial_tail(k, n, F)
        assert float(null.sf(k) / exact) == pytest.approx(1, abs=1e-9)


def test_simulated_null_forests_follow_the_model():
    nodes, pools, F, forests = [6, 2, 9, 4, 4, 7], [3, 5, 5, 12, 2, 4], 12, 40_000
    counts = naive.simulated_counts(nodes, pools, F, forests, seed=1)
    k = np.arange(max(counts) + 1)
    observed = np.array([(counts > j).mean() for j in k])
    # Dvoretzky-Kiefer-Wolfowitz: P(sup > eps) ≤ 2 exp(−2 n eps²) = 1e-6
    bound = math.sqrt(math.log(2 / 1e-6) / (2 * forests))
    assert np.abs(PaperNull(nodes, pools, F).sf(k) - observed).max() < bound


trees = st.lists(st.tuples(st.integers(0, 12), st.integers(1, 15)), min_size=1, max_size=12)


@given(trees=trees, extra=st.integers(0, 20), alpha=st.floats(1e-6, 0.9))
@settings(max_examples=60, deadline=None)
def test_any_forest_gives_a_distribution_and_the_smallest_threshold(trees, extra, alpha):
    nodes, pools = zip(*trees, strict=True)
    F = max(pools) + extra
    null = PaperNull(nodes, pools, F)
    k = np.arange(null.largest + 1)
    pmf, sf = null.pmf(k), null.sf(k)
    assert pmf.sum() == pytest.approx(1, abs=1e-10)
    assert pmf @ k == pytest.approx(null.mean, abs=1e-9)
    assert pmf @ (k - null.mean) ** 2 == pytest.approx(null.variance, abs=1e-8)
    assert np.all(np.diff(sf) <= 0)
    assert sf[-1] == 0
    threshold = PaperNull(nodes, pools, F).threshold(alpha)
    # A tail may equal alpha to the last digit but one, as 0.1⁶ does 1e-6.
    assert sf[threshold] <= alpha * (1 + 1e-12)
    assert threshold == 0 or sf[threshold - 1] > alpha * (1 - 1e-12)
    assert null.expected_false_positives(threshold) == pytest.approx(F * sf[threshold])


@pytest.mark.parametrize(
    ("nodes", "pools", "F"),
    [
        ([49], [1], 1),
        ([192] * 40, [1] * 40, 1),
        ([162] * 40, [1] * 40, 3),
        ([39, 40, 13], [2, 2, 2], 3),
        ([2, 10], [1, 1], 5),
        ([178], [2], 3),
        ([57, 172, 18, 193] * 5, [2, 1, 1, 2] * 5, 2),
        ([3, 1, 2, 0, 1, 3], [1] * 6, 1000),
    ],
    ids=str,
)
@pytest.mark.parametrize("alpha", [0.5, 0.001, 1e-6, 1e-12])
def test_sums_with_impossible_or_certain_values_end(nodes, pools, F, alpha):
    """Pools of one feature give counts with gaps, which windows have to cross."""
    exact = naive.convolved_pmf(nodes, pools, F)
    tails = np.append(np.cumsum(exact[::-1])[::-1][1:], 0.0)
    null = PaperNull(nodes, pools, F)
    threshold = null.threshold(alpha)
    assert tails[threshold] <= alpha
    assert threshold == 0 or tails[threshold - 1] > alpha
    for fresh in (null, PaperNull(nodes, pools, F)):
        k = np.arange(len(exact))
        np.testing.assert_allclose(fresh.sf(k), tails, rtol=1e-9, atol=1e-200)


def test_one_certain_feature_is_selected_by_the_library():
    tally = nf.Tally.from_counts([49], nodes_per_tree=[49], n_samples=100)
    assert nf.select(tally, 1e-6, "fpr", "paper").threshold == 49


def test_memory_grows_with_the_deviation_and_no_faster():
    """27 million nodes over 3 features: one window of 2e4 values, of 8 bytes each."""
    tracemalloc.start()
    null = PaperNull([27_000_000], [3], 3)
    threshold, k = null.threshold(0.01), np.array([9_001_000, 9_010_000])
    tails = null.sf(k)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50e6
    binomial = stats.binom(27_000_000, 1 / 3)
    assert threshold == binomial.isf(0.01)
    np.testing.assert_allclose(tails, binomial.sf(k), rtol=1e-8)  # scipy's own error


@pytest.mark.parametrize(("nodes", "F"), [(10**14, 2), (2**62, 1000)])
def test_forests_too_large_to_sum_are_refused(nodes, F):
    with pytest.raises(InputError, match="too many"):
        PaperNull([nodes], [F], F).threshold(0.01)


def test_group_of_all_features_wins_every_node():
    null = PaperNull([5, 7], [3, 4], 10).group(10)
    np.testing.assert_allclose(null.pmf([11, 12]), [0, 1], atol=1e-12)


def test_the_order_of_evaluation_does_not_matter():
    nodes, pools = rng.integers(10, 40, 300), rng.integers(50, 90, 300)
    k = np.arange(0, 120)
    one = PaperNull(nodes, pools, 400)
    one.threshold(1e-7)
    other = PaperNull(nodes, pools, 400)
    other.pmf(3)
    np.testing.assert_allclose(one.sf(k), other.sf(k), rtol=1e-9)


def test_pvalues_are_never_zero_unless_impossible():
    null = PaperNull([1000] * 1000, [10_000] * 1000, 10_000)
    p = null.pvalues([0, 100, 5_000, 999_999, 1_000_001])
    assert p[0] == 1
    assert np.all(p[:4] > 0)
    assert p[4] == 0
    plain, mid = null.pvalues([90, 100]), null.pvalues([90, 100], mid=True)
    np.testing.assert_allclose(plain - mid, null.pmf([90, 100]) / 2)


def test_impossible_arguments_are_refused():
    with pytest.raises(InputError, match="between 0 and 1"):
        PaperNull([3], [4], 4).threshold(0)
    with pytest.raises(InputError, match="group"):
        PaperNull([3], [4], 4).group(5)


def test_pools_of_stumps_are_a_binomial_whatever_the_pools():
    # One node per tree: in the pool with F_t/F, and then the winner with 1/F_t.
    T, F = 100_000, 1_000_000
    null = PaperNull(np.ones(T, int), rng.integers(10, 5_000, T), F)
    for k in (0, 3, 12):
        assert float(null.sf(k) / naive.exact_binomial_tail(k, T, F)) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("alpha", [0.05, 0.01, 0.001, 1e-4])
def test_a_sum_with_two_modes_has_a_threshold(alpha):
    # A feature that is the whole pool of one tree wins all of its 10 nodes, or none.
    nodes, pools = [10] + [20] * 5, [1] + [80] * 5
    threshold = PaperNull(nodes, pools, 250).threshold(alpha)
    exact = naive.exact_pmf(nodes, pools, 250)
    assert sum(exact[threshold + 1 :]) <= alpha < sum(exact[threshold:])
