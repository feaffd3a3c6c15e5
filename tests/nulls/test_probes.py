"""The probe null model: stages, strata, and what replaces probes that cannot be used."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

import nullforest as nf
from naive import nulls as naive
from nullforest.nulls import constants, probes
from nullforest.nulls.binomial_mixture import BinomialMixture
from nullforest.nulls.probes import NullSample
from nullforest.nulls.rates import RateModel, TreeLoads
from nullforest.nulls.stages import RandomEffect, estimate_scale, splice
from nulls.forests import associated_rates, probes_of, tally_of


def forest(rng, *, mean=4.0, features=3000, n_probes=1500, wins=80.0, factor=1.0, candidates=150):
    """Probes and features with equal sample associations; features win `factor` times as much."""
    counts = rng.poisson(factor * mean * associated_rates(rng, features))
    evaluated = rng.poisson(wins * associated_rates(rng, n_probes))
    return tally_of(
        counts,
        trees=1000,
        candidates=candidates,
        probes=probes_of(evaluated, features, trees=1000),
    )


def sample_of(wins, thinning, weights=None):
    """A null sample of columns with the same thinning."""
    weights = np.ones(len(wins)) if weights is None else weights
    each = np.full(len(wins), thinning), np.ones(len(wins), int), weights, weights**2
    return NullSample(np.asarray(wins), *each, np.zeros(18, int))


def splice_point(sample, size, end):
    """Splice point of a sample in a forest without competition, whose tail is not fitted."""
    trees = TreeLoads(np.ones(1), np.ones(1), 1, end, 1, float(end), 1.0, 1.0)
    rates = RateModel(np.zeros(18, int), trees, 1.0)
    bulk, size_beyond = sample.thinned(1.0), sample.effective_sample_size()
    return splice(bulk, size_beyond, end, size, 0.0, rates).splice_point


def test_thinning_is_the_double_loop():
    rng = np.random.default_rng(0)
    wins, weights = rng.poisson(12 * rng.gamma(2, 0.5, 60)), rng.uniform(0.5, 3, 60)
    for k in range(8):
        expected = naive.thinned_sf(k, wins.tolist(), 0.2 * 0.7, weights.tolist())
        assert sample_of(wins, 0.2, weights).thinned(0.7).sf(k) == pytest.approx(
            expected, rel=1e-10
        )


def test_effective_sample_size_is_the_plain_variance():
    """Columns within .05 in √(expected count) are merged, which changes it by up to 2 %."""
    rng = np.random.default_rng(12)
    wins, weights = rng.poisson(30 * rng.gamma(2, 0.5, 300)), rng.choice([0.5, 1.0, 2.0], 300)
    sample = sample_of(wins, 0.3, weights)
    k = [0, 3, 8, 15, 22]
    expected = [naive.effective_sample_size(i, wins.tolist(), 0.3, weights.tolist()) for i in k]
    found = [sample.effective_sample_size()(i) for i in k]
    np.testing.assert_allclose(found, expected, rtol=0.02)
    for least in (5, 20, 60):
        last = splice_point(sample, least, 60)
        before, after = (sample.effective_sample_size()(i) for i in (last, last + 1))
        assert before >= least > after


def test_effective_sample_size_is_infinite_where_every_column_exceeds_the_count():
    sample = sample_of(np.full(60, 30), 1.0)
    assert [sample.effective_sample_size()(k) for k in (0, 29, 30, 31)] == [np.inf, np.inf, 0, 0]
    assert splice_point(sample, 25, 31) == 29


@pytest.mark.parametrize("mean", [100.0, 1000.0])
def test_the_splice_point_of_large_counts_is_in_their_tail(mean):
    # Every column exceeds a count of 0, so that the tail beyond it has no variance at all. It had
    # no effective sample size either, and the sample was not used.
    null = probes.from_tally(forest(np.random.default_rng(0), mean=mean, wins=20 * mean))
    splice_point = null.distributions[0].splice_point
    assert splice_point > mean
    # 25 of 1 500 probes lie beyond it, and the features are as many; the splice point is a whole
    # number, and so is the tail.
    assert 0.5 * 25 / 1500 < null.sf(splice_point) < 2 * 25 / 1500


def test_likelihood_of_the_random_effect_is_the_loop_over_its_grid():
    rng = np.random.default_rng(3)
    counts = rng.binomial(60, 0.1 * np.exp(rng.normal(-0.05, 0.3, 200)))
    effect = RandomEffect(lambda factor: BinomialMixture([60], [0.1 * factor], [1.0]), counts)
    end = int(stats.binom.isf(constants.BULK_TAIL, 60, 0.1))
    sigmas = constants.SIGMAS
    expected = naive.random_effect(60, 0.1, counts.tolist(), end, sigmas)
    np.testing.assert_allclose(effect.log_likelihood, expected, rtol=1e-9)


def test_bulk_is_the_double_loop_over_probes_and_random_effect():
    rng = np.random.default_rng(10)
    tally = forest(rng)
    counts = rng.poisson(4 * np.exp(rng.normal(0, 0.5, 3000)) * associated_rates(rng, 3000))
    tally = tally_of(counts, trees=1000, candidates=150, probes=tally.probes)
    wins, q = tally.probes.wins, 150 / 3000
    q *= estimate_scale(lambda x: [sample_of(wins, q).thinned(x)], [counts], 1.0)
    effect = RandomEffect(sample_of(wins, q).thinned, counts)
    factors, shares = effect.average(effect.log_likelihood, constants.NO_EFFECT)
    null = probes.from_tally(tally)
    splice_point = null.distributions[0].splice_point
    k = np.arange(splice_point + 1)
    expected = sum(
        share * stats.binom.sf(k[:, None], wins, np.minimum(factor * q, 1)).mean(1)
        for factor, share in zip(factors, shares, strict=True)
    )
    np.testing.assert_allclose(null.sf(k), expected, rtol=1e-6)  # wins are merged, to 1e-6
    # Merged columns change the effective sample size by up to 2 %.
    last, beyond = (
        naive.effective_sample_size(at, wins.tolist(), q, [1.0] * len(wins))
        for at in (splice_point, splice_point + 1)
    )
    assert last >= 0.98 * constants.SPLICE_SIZE
    assert beyond < 1.02 * constants.SPLICE_SIZE


@pytest.mark.parametrize("unequal", [0.0, 0.4])
def test_features_may_differ_more_than_the_probes(unequal):
    """Rates that differ by e^x, x ~ N(0, unequal²), besides their sample associations.

    At each level the number of features beyond it is binomial, and the level itself is marked by
    the probes; four standard errors of both, and 10 % for σ, which is estimated.
    """
    rng = np.random.default_rng(11)
    ratios = {0.05: [], 0.01: []}
    for _ in range(4):
        tally = forest(rng, n_probes=4000, features=8000)
        rates = associated_rates(rng, 8000) * np.exp(rng.normal(-(unequal**2) / 2, unequal, 8000))
        counts = rng.poisson(4 * rates)
        null = probes.from_tally(tally_of(counts, trees=1000, candidates=150, probes=tally.probes))
        p = null.sf(counts) + rng.random(8000) * null.pmf(counts)
        for alpha, found in ratios.items():
            found.append((p < alpha).mean() / alpha)
    for alpha, found in ratios.items():
        noise = np.sqrt((1 / (alpha * 8000) + 1 / (alpha * 4000)) / 4)
        assert np.mean(found) == pytest.approx(1, abs=4 * noise + 0.1)


@pytest.mark.parametrize("factor", [1.0, 0.4])
def test_mean_follows_the_counts_and_the_ratio_to_the_probes_is_told(factor):
    rng = np.random.default_rng(2)
    tally = forest(rng, factor=factor)
    null = probes.from_tally(tally)
    # The features' and the probes' means each carry √(variance/number); V is near 1 here.
    variance = tally.counts.var() / tally.counts.mean() ** 2
    error = np.sqrt(variance / tally.n_features + variance / len(tally.probes))
    assert null.mean == pytest.approx(4 * factor, rel=5 * error)
    ratio = 150 / 3000 * 80 / (4 * factor)
    assert null.describe()["probe_to_feature_ratio"] == pytest.approx(ratio, rel=6 * error)


def test_extrapolated_tail_holds_the_level():
    rng = np.random.default_rng(3)
    tally = forest(rng, n_probes=4000, features=20_000)
    null = probes.from_tally(tally)
    p = null.sf(tally.counts) + rng.random(20_000) * null.pmf(tally.counts)
    for alpha in (0.05, 0.01, 0.001):
        # α·F features lie beyond the level; α·P probes mark it, or 25 where it is extrapolated.
        noise = np.sqrt(1 / (alpha * 20_000) + 1 / max(alpha * 4000, constants.SPLICE_SIZE))
        assert (p < alpha).mean() / alpha == pytest.approx(1, abs=4 * noise)


def test_note_is_given_where_the_tail_is_extrapolated():
    null = probes.from_tally(forest(np.random.default_rng(4)))
    assert null.notes_at(0.05) == null.notes
    assert "extrapolated" in null.notes_at(1e-5)[-1]
    with pytest.raises(nf.InputError):
        null.notes_at(2.0)


def test_strata_are_tested_with_their_own_probes():
    rng = np.random.default_rng(5)
    features = np.repeat([0, 1], [2000, 1000])
    counts = np.concatenate([rng.poisson(2, 2000), rng.poisson(12, 1000)])
    strata = np.repeat([0, 1], [500, 500])
    wins = np.concatenate([rng.poisson(20, 500), rng.poisson(120, 500)])
    evaluated = probes_of(wins, 3000, trees=1000, strata=strata, feature_strata=features, bins=2)
    tally = tally_of(counts, trees=1000, candidates=300, probes=evaluated, bins=(2,))
    null = probes.from_tally(tally)
    p = null.pvalues(counts)
    for number, mean in [(0, 2), (1, 12)]:
        here = features == number
        alone = null.stratum(number)
        assert alone.mean == pytest.approx(mean, rel=0.1)
        np.testing.assert_array_equal(p[here], alone.pvalues(counts[here]))
        assert (p[here] <= 0.05).mean() < 0.08
    k = np.arange(40)
    shares = 2 / 3 * null.stratum(0).sf(k) + 1 / 3 * null.stratum(1).sf(k)
    np.testing.assert_allclose(null.sf(k), shares, rtol=1e-12)
    limits = null.thresholds(0.01)
    assert set(limits[:2000]) == {null.stratum(0).threshold(0.01)}
    assert limits[0] < null.threshold(0.01) <= limits[-1]
    with pytest.raises(nf.InputError, match="one count for each"):
        null.pvalues([3, 4])


def test_stratum_with_few_selections_takes_the_common_scale():
    rng = np.random.default_rng(6)
    features = np.repeat([0, 1], [3000, 20])
    counts = np.concatenate([rng.poisson(2, 3000), rng.poisson(1, 20)])
    wins = np.concatenate([rng.poisson(40, 500), rng.poisson(20, 500)])
    evaluated = probes_of(
        wins, 3020, trees=1000, strata=np.repeat([0, 1], 500), feature_strata=features, bins=2
    )
    null = probes.from_tally(
        tally_of(counts, trees=1000, candidates=300, probes=evaluated, bins=(2,))
    )
    assert null.stratum(1).mean / null.stratum(0).mean == pytest.approx(0.5, rel=0.05)


def test_thinning_above_one_is_told_and_handled():
    tally = forest(np.random.default_rng(7), mean=8.0, wins=3.0)
    null = probes.from_tally(tally)
    assert "too few nodes" in null.notes[0]
    assert null.mean == pytest.approx(8, rel=0.1)
    assert null.sf(60) < 0.05


def test_probes_evaluated_in_too_few_trees_are_left_out():
    rng = np.random.default_rng(8)
    tally = forest(rng)
    evaluated = tally.probes
    trees, wins = evaluated.trees.copy(), evaluated.wins.copy()
    trees[:200], wins[:200] = 10, rng.poisson(0.8, 200)
    null = probes.from_tally(
        replace(tally, null_columns=replace(evaluated, trees=trees, wins=wins))
    )
    assert null.notes == ()
    assert null.mean == pytest.approx(probes.from_tally(tally).mean, rel=0.05)


@pytest.mark.parametrize("wins", [np.zeros(400, int), np.arange(10)], ids=["no wins", "few"])
def test_too_few_probes_or_wins_leave_the_bagged_model(wins):
    rng = np.random.default_rng(9)
    counts = rng.poisson(3, 1000)
    tally = tally_of(counts, probes=probes_of(wins, 1000, bins=2), bins=(2,))
    null = probes.from_tally(tally)
    assert "the bagged null model" in null.notes[0]
    # Four standard errors of the mean of 1 000 Poisson counts, half of them beyond the bulk.
    assert null.mean == pytest.approx(3, abs=4 * np.sqrt(3 / 500))
    assert "extrapolated" in null.notes_at(0.05)[-1]


def test_counts_beyond_what_the_probes_wins_allow_leave_the_bagged_model():
    counts = np.repeat([2, 1, 0], [2, 300, 99_698])
    wins = np.repeat([1, 0], [8, 392])
    evaluated = probes_of(wins, len(counts), trees=20, bins=2)
    null = probes.from_tally(
        tally_of(counts, trees=20, candidates=100, probes=evaluated, bins=(2,))
    )
    assert "won too seldom" in null.notes[0]
    p = null.pvalues(counts)
    # 302 counts tell the mean to 6 %; a Poisson tail bounds the share above zero.
    assert p[5] == pytest.approx(302 / len(counts), rel=0.25)
    assert p[0] < p[5] < p[-1] == 1


def test_no_feature_selected_at_all():
    tally = tally_of(np.zeros(300, int), probes=probes_of(np.zeros(100, int), 300))
    null = probes.from_tally(tally)
    assert 0 < null.mean < 0.1
    assert np.all(null.pvalues(tally.counts) == 1)


def test_a_tally_without_what_is_needed_is_refused():
    tally = forest(np.random.default_rng(0))
    with pytest.raises(nf.InputError, match="no probes"):
        probes.from_tally(replace(tally, null_columns=None))
    with pytest.raises(nf.InputError, match="candidates"):
        probes.from_tally(replace(tally, candidates=None))


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=20, deadline=None)
@example(1012720)  # a forest without a single split
def test_any_probes_give_a_distribution(seed):
    rng = np.random.default_rng(seed)
    n, n_probes = int(rng.integers(2, 80)), int(rng.integers(1, 90))
    counts = rng.negative_binomial(0.7, rng.uniform(0.02, 0.6), n)
    evaluated = probes_of(
        np.minimum(rng.negative_binomial(0.7, rng.uniform(0.02, 0.6), n_probes), counts.sum()),
        n,
        trees=rng.integers(0, 41, n_probes),
        strata=rng.integers(0, 3, n_probes),
        feature_strata=rng.integers(0, 3, n),
    )
    if not evaluated.trees.any():
        return
    tally = tally_of(counts, trees=40, candidates=int(rng.integers(1, n + 1)), probes=evaluated)
    null = probes.from_tally(tally)
    k = np.arange(-1, min(null.largest, 3000) + 1)
    sf = null.sf(k)
    assert np.all(np.diff(sf) <= 1e-12)
    assert null.pmf(k).sum() + sf[-1] == pytest.approx(1, abs=1e-9)
    p = null.pvalues(counts)
    assert np.all((p > 0) & (p <= 1))
    assert np.all(null.pvalues(counts, mid=True) <= p)


def test_counts_far_above_zero_leave_random_effects_without_a_bulk():
    """Of a bulk around 400 nothing is left when rates are eleven times as large."""
    rng = np.random.default_rng(12)
    counts = rng.poisson(400, 200)
    evaluated = probes_of(rng.poisson(600, 300), 200, trees=750, bins=2)
    null = probes.from_tally(
        tally_of(counts, trees=500, candidates=200, probes=evaluated, bins=(2,))
    )
    assert null.mean == pytest.approx(
        400, rel=0.02
    )  # four errors of 200 counts of 400 ± 20 are 1.4 %
    assert 0.02 < (null.pvalues(counts) <= 0.1).mean() < 0.2


@pytest.mark.parametrize(("pool", "warned"), [(10, True), (200, False)])
def test_saturated_trees_are_noted(pool, warned):
    X, y, _ = nf.simulate.independent(60, 300, 0, 0.0, seed=5)
    tally = nf.grow(X, y, trees=200, candidates=pool, draw="tree", max_depth=None, seed=1).tally
    assert any("feature of a pool" in note for note in probes.from_tally(tally).notes) == warned
