"""Mixtures of binomials, and distributions with a spliced tail, against double loops."""

import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from naive import nulls as naive
from nullforest.nulls import _binomial
from nullforest.nulls.binomial_mixture import _CELL as CELL
from nullforest.nulls.binomial_mixture import _RARE as RARE
from nullforest.nulls.binomial_mixture import BinomialMixture, merge_rates
from nullforest.nulls.stages import Spliced

components = st.lists(
    st.tuples(st.integers(0, 25), st.floats(0, 1), st.floats(0.01, 1)), min_size=1, max_size=6
)


@given(components)
@settings(max_examples=60, deadline=None)
def test_survival_function_is_the_double_loop(parts):
    trials, chances, weights = map(list, zip(*parts, strict=True))
    mixture = BinomialMixture(trials, chances, weights)
    k = np.arange(-1, 27)
    expected = [naive.mixture_sf(max(i, -1), trials, chances, weights) for i in k]
    np.testing.assert_allclose(mixture.sf(k), expected, rtol=1e-9, atol=1e-15)
    assert mixture.pmf(k).sum() == pytest.approx(1, abs=1e-12)
    assert np.all(np.diff(mixture.sf(k)) <= 1e-15)
    np.testing.assert_allclose(
        mixture.sf(k[:-1]) - mixture.sf(k[1:]), mixture.pmf(k[1:]), atol=1e-12
    )
    assert mixture.pmf(k) @ k == pytest.approx(mixture.mean, abs=1e-10)
    assert mixture.pmf(k) @ (k - mixture.mean) ** 2 == pytest.approx(mixture.variance, abs=1e-9)


@given(components, st.integers(0, 26), st.floats(0.001, 0.9))
@settings(max_examples=60, deadline=None)
def test_quantile_and_mean_below_it(parts, end, tail):
    mixture = BinomialMixture(*map(list, zip(*parts, strict=True)))
    at = mixture.quantile(tail)
    assert mixture.sf(at) <= tail + 1e-12
    assert at == 0 or mixture.sf(at - 1) > tail - 1e-12
    k = np.arange(end + 1)
    inside = mixture.pmf(k)
    if inside.sum() > 1e-9:
        assert mixture.mean_up_to(end) == pytest.approx((k @ inside) / inside.sum(), abs=1e-6)


def test_deep_tails_keep_their_relative_accuracy():
    nodes, chances, weights = 4_500_000, np.array([1e-6, 1e-5]), np.array([0.7, 0.3])
    mixture = BinomialMixture([nodes, nodes], chances, weights)
    mpmath.mp.dps = 40
    for k in (20, 100, 160, 700, 30_000):  # tails from .3 to 1e-30, and counts beyond the table
        exact = mpmath.mpf(0)
        for p, w in zip(chances.tolist(), weights.tolist(), strict=True):
            term = mpmath.mpf(w) * mpmath.binomial(nodes, k + 1)
            term *= mpmath.mpf(p) ** (k + 1) * (1 - mpmath.mpf(p)) ** (nodes - k - 1)
            odds = mpmath.mpf(p) / (1 - mpmath.mpf(p))
            for j in range(k + 1, k + 200):  # terms fall off at least like 45/k beyond that
                exact += term
                term *= odds * (nodes - j) / (j + 1)
        if exact > 1e-250:
            assert float(mixture.sf(k)) == pytest.approx(float(exact), rel=1e-9)
        else:
            assert 0 <= float(mixture.sf(k)) < 1e-250


def test_every_argument_is_understood():
    mixture = BinomialMixture([4], [0.5], [2.0])
    assert mixture.sf(-3) == 1
    assert mixture.sf(0.5) == mixture.sf(0)
    assert mixture.sf(1e9) == 0
    assert mixture.pmf(0.5) == 0
    assert mixture.pmf(-1) == mixture.pmf(5) == 0
    assert mixture.sf(np.zeros((2, 3))).shape == (2, 3)
    assert BinomialMixture([4], [1.0], [1]).sf(3) == pytest.approx(1)


def fourth_derivative(k, rate):
    """Of P(Poisson(rate) > k) by the rate."""
    pmf = stats.poisson.pmf(k - np.arange(4)[:, None], np.maximum(rate, 0))
    return pmf[3] - 3 * pmf[2] + 3 * pmf[1] - pmf[0]


@given(st.integers(0, 2**32 - 1), st.floats(0.1, 300))
@example(36683, 1.1015625)  # at 1.8e-8 off by 1.9e-4 of it
@settings(max_examples=8, deadline=None)
def test_merged_rates_give_the_same_counts(seed, mean):
    rng = np.random.default_rng(seed)
    rates = rng.lognormal(0, 0.7, 20_000)
    weights = rng.random(20_000)
    rates, weights = rates / np.average(rates, weights=weights), weights / weights.sum()
    few, mass = merge_rates(rates, weights, mean)
    assert len(few) < 700
    assert mass.sum() == pytest.approx(1)
    assert few @ mass == pytest.approx(1)
    k = np.unique(np.geomspace(1, 12 * mean + 10, 12).astype(int))
    expected = np.array([stats.poisson.sf(i, mean * rates) @ weights for i in k])
    merged = np.array([stats.poisson.sf(i, mean * few) @ mass for i in k])
    np.testing.assert_allclose(merged[expected > 1e-5], expected[expected > 1e-5], rtol=1e-4)
    # On a cell of width w a two-point Gauss rule is off by at most max |f''''| w^4 / (64 · 4!),
    # since a quadratic of such a cell is at most w^2 / 8. Here f = P(Poisson(rate) > k).
    rate = mean * rates
    width = 2 * CELL * rate / (1 + np.sqrt(rate))
    for i, p, q in zip(k, expected, merged, strict=True):
        steepest = np.max([np.abs(fourth_derivative(i, rate + d * width)) for d in (-1, 0, 1)], 0)
        bound = (steepest * width**4 / (64 * 24)) @ weights
        assert abs(q - p) <= bound + 1e-9 * p


@given(components, components, st.integers(-1, 20))
@example([(5, 1.0, 1.0)], [(7, 0.001953125, 1.0)], 4)  # the tail is scaled up by 1e16
@example([(7, 1.0, 1.0)], [(7, 1.401298464324817e-45, 1.0)], 6)  # its inverse is infinite
@settings(max_examples=40, deadline=None)
def test_a_spliced_distribution_is_one(bulk_parts, tail_parts, splice_point):
    bulk = BinomialMixture(*map(list, zip(*bulk_parts, strict=True)))
    tail = BinomialMixture(*map(list, zip(*tail_parts, strict=True)))
    spliced = Spliced(bulk, tail, splice_point)
    k = np.arange(-1, 27)
    assert np.all(np.diff(spliced.sf(k)) <= 1e-12)
    assert spliced.pmf(k).sum() == pytest.approx(1, abs=1e-9)
    assert spliced.pmf(k) @ k == pytest.approx(spliced.mean, abs=1e-6)
    below = k[k <= splice_point]
    np.testing.assert_array_equal(spliced.sf(below), bulk.sf(below))


@given(components, components, st.floats(0.1, 0.9))
@settings(max_examples=20, deadline=None)
def test_an_average_of_mixtures_is_the_weighted_sum(one, other, share):
    parts = [BinomialMixture(*map(list, zip(*each, strict=True))) for each in (one, other)]
    average = BinomialMixture.average(parts, [share, 1 - share])
    k = np.arange(-1, 27)
    expected = share * parts[0].sf(k) + (1 - share) * parts[1].sf(k)
    np.testing.assert_allclose(average.sf(k), expected, atol=1e-12)


def test_scaled_trials_and_rates_scale_the_mean():
    mixture = BinomialMixture([40, 10], [0.1, 0.3], [0.5, 0.5])
    assert mixture.scale_trials(3).mean == pytest.approx(3 * mixture.mean)
    assert mixture.scale_rates(2).mean == pytest.approx(2 * mixture.mean)
    spliced = Spliced(mixture, mixture, 8)
    assert spliced.scale_rates(2).mean == pytest.approx(2 * mixture.mean)
    # A bulk whose rates would exceed one is replaced by the tail.
    assert spliced.scale_rates(4).largest == mixture.largest


@given(st.floats(0.3, 300), st.floats(1e-6, 1.0), st.integers(0, 300))
@example(33.7, 0.9999, 32)  # the series of the tail would be long
@example(2265.3, 0.666, 2264)  # terms below the smallest normal number
@settings(max_examples=200, deadline=None)
def test_trials_need_not_be_whole(n, p, k):
    one = BinomialMixture([n], [p], [1.0])
    with mpmath.workdps(40):
        room = max(n - k, 1)  # where no other whole number is below n, the last count takes all
        tail = mpmath.betainc(k + 1, room, 0, p, regularized=True) if n > k else 0
    assert one.beyond(k) == pytest.approx(float(tail), rel=1e-9, abs=1e-290)
    counts = np.arange(int(n))
    tails = np.array([1.0, *(one.beyond(int(i)) for i in counts)])
    np.testing.assert_allclose(one.pmf(counts), -np.diff(tails), rtol=0, atol=1e-12)
    # E[n | n <= k] has the pmf's mean where that adds to one.
    if k < n - 1 and one.beyond(k) < 1 - 1e-6:
        below = np.arange(k + 1)
        pmf = one.pmf(below)
        assert one.mean_up_to(k) == pytest.approx(pmf @ below / pmf.sum(), rel=1e-8, abs=1e-8)


@pytest.mark.parametrize(
    ("trials", "chances", "weights"),
    [([-1.0], [0.5], [1.0]), ([5.0], [np.nan], [1.0]), ([5.0], [], [])],
)
def test_the_native_sums_refuse_what_is_no_binomial(trials, chances, weights):
    parts = [np.array(each, float) for each in (trials, chances, weights)]
    with pytest.raises(ValueError, match=r"binomial|length"):
        _binomial.pmf(*parts, 0, 3)
    with pytest.raises(ValueError, match=r"binomial|length"):
        _binomial.sf(*parts, np.zeros(1))


@pytest.mark.parametrize("mean", [2_000, 200_000])
def test_means_of_large_counts_are_sums_over_every_count(mean):
    rates = np.sort(np.random.default_rng(mean).lognormal(0, 0.4, 40))
    bulk, tail = (
        BinomialMixture(
            np.full(40, 1e7), np.minimum(factor * mean * rates / 1e7, 1), np.full(40, 1 / 40)
        )
        for factor in (1.0, 1.05)
    )
    at = bulk.quantile(0.02)
    beyond = np.arange(at + 1, tail.quantile(1e-15 * tail.sf(at)) + 1)
    factor = float(bulk.sf(at)) / float(tail.sf(at))
    below = bulk.mean - bulk.beyond(at + 1) * bulk.mean_excess(at + 1)
    expected = below + factor * tail.sf(beyond).sum()
    # The slope of a survival function is the pmf.
    stride = len(beyond) // 4096 + 1
    error = (stride**2 - 1) / 12 * factor * tail.pmf(at + 1)
    assert Spliced(bulk, tail, at).mean == pytest.approx(expected, rel=1e-12, abs=error)

    k = np.arange(at + 1, bulk.quantile(RARE * bulk.beyond(at)) + 1)
    pmf = bulk.pmf(k)
    mean_excess = np.average(k - at, weights=pmf)
    variation = np.sqrt(np.average((k - at - mean_excess) ** 2, weights=pmf)) / mean_excess
    # Some 8 standard deviations in 4 096 steps: (8 / 4096)² / 12 = 3e-7.
    assert bulk.excess_variation(at) == pytest.approx(variation, rel=1e-6)
