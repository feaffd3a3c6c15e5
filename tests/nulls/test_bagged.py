"""The bagged null model on forests that follow it, and its refusals."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import nullforest as nf
from naive import nulls as naive
from nullforest.nulls import bagged
from nullforest.nulls.binomial_mixture import BinomialMixture
from nullforest.nulls.rates import (
    COUPLINGS,
    TABLE_COUPLINGS,
    RateModel,
    TreeLoads,
    coupling_weights,
    latent_grid,
    relative_to_mean,
    win_table,
)
from nullforest.nulls.stages import bulk_end
from nullforest.tallies.tally import N_COUPLING_BINS
from nulls.forests import associated_rates, nodes_like, tally_of


def bulk_and_slope(tally, null):
    """Counts in the bulk, where it ends, and the slope of its mean in the null mean."""
    (mixture,) = null.distributions
    end = bulk_end(mixture)
    more = mixture.scale_rates(1.01)
    slope = (more.mean_up_to(end) - mixture.mean_up_to(end)) / (0.01 * mixture.mean)
    return tally.counts[tally.counts <= end], end, slope


def standard_error(tally, null):
    """Standard error of the estimated mean: noise of the bulk's mean ÷ its slope in the mean."""
    bulk, _, slope = bulk_and_slope(tally, null)
    return bulk.std() / np.sqrt(len(bulk)) / slope


# The histogram of the couplings, and the mean count up to which the rates must be told apart.
@pytest.mark.parametrize("mean", [0.5, 5.0, 50.0])
@pytest.mark.parametrize(("contrasts", "bins"), [(1, (12,)), (2, (12,)), (2, (5, 10, 15))])
def test_counts_are_the_integral_over_the_latent_contrasts(mean, contrasts, bins):
    tally = tally_of(np.full(2000, 3 * 300), trees=180, candidates=100)
    histogram = np.bincount(bins, minlength=N_COUPLING_BINS)
    # Hardly any nodes per tree, so that saturation is left out of the comparison.
    rates, weights = RateModel(histogram, TreeLoads.of(tally), 1e-9, contrasts).rates(mean)
    expected_rates, mass = naive.rates_on_dense_grid(
        COUPLINGS[list(bins)], np.full(len(bins), 1 / len(bins)), 100, contrasts
    )
    k = np.unique(np.geomspace(1, 40 * mean + 20, 15).astype(int))
    expected = np.array([stats.poisson.sf(i, mean * expected_rates) @ mass for i in k])
    reached = np.array([stats.poisson.sf(i, mean * rates) @ weights for i in k])
    large = expected > 1e-8
    assert large.sum() >= 4
    np.testing.assert_allclose(reached[large], expected[large], rtol=1e-4)


def test_contrasts_agree_with_simulation():
    rng = np.random.default_rng(3)
    tally = tally_of(np.full(2000, 900), trees=180, candidates=20)
    histogram = np.bincount([14], minlength=N_COUPLING_BINS)
    rates, weights = RateModel(histogram, TreeLoads.of(tally), 1e-6).rates(5.0)
    drawn = associated_rates(rng, 100_000, bins=(14,))
    for k in (2, 5, 12, 20):
        each = stats.poisson.sf(k, 5.0 * drawn)
        reached = stats.poisson.sf(k, 5.0 * rates) @ weights
        assert abs(reached - each.mean()) < 4 * each.std() / np.sqrt(len(each))  # 4 standard errors


@pytest.mark.parametrize("pool", [2000, 300])
def test_without_coupling_counts_are_binomial(pool):
    counts = np.random.default_rng(1).multinomial(20_000, np.full(2000, 1 / 2000))
    tally = tally_of(counts, trees=400, bins=(0,), pool=np.full(400, pool))
    null = bagged.from_tally(tally)
    k = np.arange(25)
    binomial = [naive.pooled_sf(i, 400, pool / 2000, 50, null.mean, [1.0], [1.0]) for i in k]
    # The first bin stands for r = .002: rates differ by a hundredth or so, the counts' variance
    # by less than a thousandth.
    np.testing.assert_allclose(null.sf(k), binomial, rtol=0.05, atol=1e-12)
    assert null.mean == pytest.approx(10, rel=0.02)


def test_one_candidate_leaves_the_binomial():
    counts = np.random.default_rng(1).multinomial(3000, np.full(1000, 1 / 1000))
    null = bagged.from_tally(tally_of(counts, candidates=1, bins=(16,)))
    k = np.arange(12)
    np.testing.assert_allclose(null.sf(k), stats.binom.sf(k, 3000, null.mean / 3000), rtol=1e-9)


@pytest.mark.parametrize("mean", [0.4, 3.0, 30.0])
def test_expected_count_is_recovered(mean):
    rng = np.random.default_rng(7)
    counts = rng.poisson(mean * associated_rates(rng, 6000, bins=(14, 8)))
    tally = tally_of(counts, trees=50_000, bins=(14, 8))
    null = bagged.from_tally(tally)
    assert abs(null.mean - mean) < 4 * standard_error(tally, null)
    assert 0.6 < null.describe()["coupling_factor"] < 1.6
    assert null.describe()["pi0"] > 0.95


@pytest.mark.parametrize("relevant", [0.01, 0.1, 0.3])
def test_relevant_features_above_the_bulk_do_not_move_the_expected_count(relevant):
    rng = np.random.default_rng(11)
    n = int(4000 * relevant)
    counts = rng.poisson(3.0 * associated_rates(rng, 4000, bins=(12,)))
    counts[:n] = rng.poisson(80, n)
    tally = tally_of(counts, trees=100_000)
    null = bagged.from_tally(tally)
    assert abs(null.mean - 3.0) < 4 * standard_error(tally, null)
    assert null.describe()["pi0"] == pytest.approx(1 - relevant, abs=0.03)


def test_weak_relevant_features_move_the_expected_count_within_the_bound():
    rng = np.random.default_rng(12)
    counts = rng.poisson(3.0 * associated_rates(rng, 4000))
    counts[:400] = rng.poisson(5, 400)
    null = bagged.from_tally(tally := tally_of(counts, trees=100_000))
    bulk, end, slope = bulk_and_slope(tally, null)
    share = (counts[:400] <= end).sum() / len(bulk)
    # The mean of the bulk moves by at most share · end, and the null mean by that ÷ slope.
    assert abs(null.mean - 3.0) < share * end / slope + 4 * standard_error(tally, null)


def test_p_values_are_uniform_on_the_model():
    rng = np.random.default_rng(5)
    counts = rng.poisson(8.0 * associated_rates(rng, 20_000, bins=(15, 9)))
    null = bagged.from_tally(tally_of(counts, trees=300_000, bins=(15, 9)))
    p = null.sf(counts) + rng.random(len(counts)) * null.pmf(counts)
    for alpha in (0.05, 0.01, 0.001):
        # Four binomial standard errors, and 3 % for the error of the estimated mean.
        noise = 4 * np.sqrt(alpha / len(p)) + 0.03 * alpha
        assert abs((p < alpha).mean() - alpha) < noise


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_any_tally_gives_a_distribution(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 60))
    counts = rng.negative_binomial(0.5, rng.uniform(0.02, 0.5), n)
    trees = int(rng.integers(1, 40))
    tally = tally_of(
        counts,
        trees=trees,
        candidates=int(rng.choice([1, 2, n])),
        bins=tuple(rng.integers(0, N_COUPLING_BINS, 2)),
        pool=rng.integers(1, n + 1, trees),
    )
    null = bagged.from_tally(tally)
    k = np.arange(-1, min(null.largest, 3000) + 1)
    sf = null.sf(k)
    assert np.all(np.diff(sf) <= 1e-15)
    assert np.all((sf >= 0) & (sf <= 1))
    assert null.pmf(k).sum() + sf[-1] == pytest.approx(1, abs=1e-9)
    p = null.pvalues(counts)
    assert np.all((p > 0) & (p <= 1))
    assert null.sf(null.threshold(0.05)) <= 0.05


@pytest.mark.parametrize(
    "counts",
    [[0] * 50, [5000] + [0] * 49, [40] * 20, list(range(100, 120)), [0, 3]],
    ids=["none selected", "one takes all", "all equal", "all relevant", "two features"],
)
def test_odd_counts_are_survived(counts):
    null = bagged.from_tally(tally_of(counts, candidates=min(5, len(counts))))
    assert null.mean > 0
    assert np.all(np.isfinite(null.pvalues(np.array(counts))))
    assert set(null.describe()) >= {"null", "expected_count", "pi0", "dispersion"}


def test_a_feature_that_takes_all_is_found():
    null = bagged.from_tally(tally_of([5000] + [0] * 499))
    assert null.pvalues([5000, 0])[0] < 1e-6


def test_constant_columns_do_not_drag_the_expected_count_down():
    counts = np.random.default_rng(2).poisson(50, 2000)
    counts[:60] = 0
    null = bagged.from_tally(tally_of(counts, bins=(2,)))
    assert null.mean == pytest.approx(50, rel=0.06)  # 3 % zeros in the bulk


@pytest.mark.parametrize(
    ("trees", "share", "nodes_per_tree", "mean"),
    [(20, 0.15, 30, 4.5), (40, 0.35, 24, 40.0), (500, 0.05, 9, 0.9), (3000, 0.1, 5, 6.0)],
)
def test_pools_widen_the_counts_as_the_double_sum_says(trees, share, nodes_per_tree, mean):
    rates, weights = np.array([0.3, 1.0, 1.5, 6.0]), np.array([0.3, 0.5, 0.15, 0.05])
    rates /= rates @ weights
    pools = np.full(trees, round(share * 1000))
    tally = tally_of(nodes_like(trees * nodes_per_tree, 1000), trees=trees, pool=pools)
    trials, chances, mass = TreeLoads.of(tally).components(rates, weights, 2 * mean)
    mixture = BinomialMixture(trials, mean * chances, mass)
    k = np.unique(np.geomspace(1, 30 * mean + 20, 12).astype(int))
    expected = np.array(
        [naive.pooled_sf(i, trees, share, nodes_per_tree, mean, rates, weights) for i in k]
    )
    large = expected > 1e-6
    assert large.sum() >= 4
    # Rates are merged twice, right to the third moment in cells of .3 standard deviations; each
    # time a term of the order .3⁴/4! = 3.4e-4 is left.
    np.testing.assert_allclose(mixture.sf(k)[large], expected[large], rtol=1e-3)
    assert mixture.mean == pytest.approx(mean, rel=1e-9)


def test_association_has_no_effect_below_a_won_node_in_saturated_trees():
    tally = tally_of(np.full(20, 50), trees=40, candidates=5, bins=(4, 9, 12, 14, 15))
    histogram = tally.couplings.sum(0, dtype=np.int64)
    rows = coupling_weights(histogram, 0.75)[::-1] * 0.9 * 25  # 25 nodes per tree
    used = np.flatnonzero(rows)
    wins = win_table(5, 3)[::-1][used]
    rates = naive.saturated_rates(
        TABLE_COUPLINGS[::-1][used], rows[used], wins.reshape(len(used), -1).tolist(), 20
    )
    weights = latent_grid(3).weights.ravel()
    variance = weights @ (rates / (weights @ rates) - 1) ** 2
    found = RateModel(histogram, TreeLoads.of(tally), 0.9, 3).variance
    assert found == pytest.approx(variance, rel=1e-10)


@pytest.mark.parametrize("target", [0.05, 0.4])
def test_couplings_are_scaled_to_a_variance(target):
    tally = tally_of(np.full(500, 10), candidates=20, bins=(10, 13))
    rates = RateModel(tally.couplings.sum(0, dtype=np.int64), TreeLoads.of(tally), 1.0)
    assert rates.with_variance(target).variance == pytest.approx(target, rel=1e-3)


@pytest.mark.parametrize("n_features", [2, 5, 9])
def test_few_features_share_the_nodes(n_features):
    rates, weights = np.array([0.8, 1.0, 1.7]), np.array([0.5, 0.3, 0.2])
    rates /= rates @ weights
    pairs = naive.relative_rates(rates.tolist(), weights.tolist(), n_features)
    each, chance = (np.array(column) for column in zip(*pairs, strict=True))
    found, mass = relative_to_mean(rates, weights, n_features)
    # Two values stand for the mean of the others: the remainder is of third order in its deviation.
    order = (weights @ (rates - 1) ** 2 / (n_features - 1)) ** 1.5
    assert mass @ found == pytest.approx(1, abs=order)
    assert mass @ found**2 == pytest.approx(chance @ each**2, abs=order)


def test_two_very_unequal_features_share_the_nodes():
    found, _ = relative_to_mean(np.array([0.0, 2.0]), np.array([0.5, 0.5]), 2)
    np.testing.assert_allclose(found, [0.0, 2.0, 0.0, 1.0], atol=1e-2)


@pytest.mark.parametrize("draw", ["node", "tree"])
def test_counts_of_saturated_trees_vary_as_the_null_says(draw):
    variances, expected = [], []
    for seed in range(150):
        X, y, _ = nf.simulate.independent(200, 20, 0, 0.0, seed=seed)
        tally = nf.grow(
            X, y, trees=40, candidates=7, draw=draw, probes=0, seed=seed, n_jobs=1, oob=False
        ).tally
        variances.append(tally.counts.var())
        if seed % 10 == 0:
            expected.append(bagged.from_tally(tally).distributions[0].variance)
    error = np.std(variances) / np.sqrt(len(variances))  # about 3 %
    assert abs(np.mean(variances) - np.mean(expected)) < 4 * error


def test_all_but_the_largest_of_few_counts_inform_the_mean():
    counts = np.array([30, 25, 35, 28, 33, 38, 22, 31, 29, 40, 27, 26, 34, 32, 24, 36, 30, 30])
    # The largest, 10 above the mean, may fall out of the bulk of 18, and half a count is added to
    # their sum of 550: 10/18 + .5/18 is 2 % of the mean.
    alone = bagged.from_tally(tally_of(counts, candidates=5, bins=(4,)))
    assert alone.mean == pytest.approx(counts.mean(), rel=0.02)
    more = bagged.from_tally(tally_of(np.append(counts, [300, 500]), candidates=5, bins=(4,)))
    assert more.mean == pytest.approx(counts.mean(), rel=0.02)


def test_few_features_are_noted():
    assert "20 features" in bagged.from_tally(tally_of([3] * 20)).notes[0]


@pytest.mark.parametrize("trees", [1, 2])
@pytest.mark.parametrize("draw", ["node", "tree"])
def test_one_and_two_trees_have_a_null_distribution(trees, draw):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(60, 300)), rng.normal(size=60)
        s = nf.select(nf.grow(X, y, trees=trees, draw=draw, probes=0).tally, null="bagged")
        assert ((s.pvalues >= 0) & (s.pvalues <= 1)).all()


def test_pools_smaller_than_trees_are_noted():
    tally = tally_of([40] * 200, trees=100, candidates=5, pool=np.full(100, 5))
    assert "16.0 times as many nodes" in bagged.from_tally(tally).notes[0]
    assert bagged.from_tally(replace(tally, pool_per_tree=np.full(100, 150))).notes == ()


def test_a_tally_without_what_is_needed_is_refused():
    whole = tally_of([3] * 200)
    with pytest.raises(nf.InputError, match="couplings"):
        bagged.from_tally(replace(whole, couplings=None))
    with pytest.raises(nf.InputError, match="candidates"):
        bagged.from_tally(replace(whole, candidates=None))
    with pytest.raises(nf.InputError, match="random cut points"):
        bagged.from_tally(replace(whole, splitter="random"))


def test_unequal_pools_saturate_as_their_mean_says():
    tally = tally_of(np.full(400, 10), trees=200, pool=np.arange(200) % 100 + 300)
    trees = TreeLoads.of(tally)
    rates = np.array([0.1, 1.0, 30.0])
    pool, nodes = tally.pool_per_tree, tally.nodes_per_tree
    expected = [(pool * -np.expm1(-0.7 * nodes / pool * x)).sum() for x in rates]
    np.testing.assert_allclose(trees.saturate(rates, 0.7), expected, rtol=1e-4)
    many = np.geomspace(1e-6, 1e3, 5000)
    each = np.concatenate([trees.saturate(part, 0.7) for part in np.split(many, 10)])
    np.testing.assert_allclose(trees.saturate(many, 0.7), each, rtol=1e-6)
