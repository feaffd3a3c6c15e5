"""Does the probe null say of real features what the probes showed?"""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import nullforest as nf
from naive import nulls as naive
from nullforest.nulls import overdispersion, probe_strata, probes
from nulls.forests import lucky_rates, probes_of, tally_of


def forest(rng, *, mean=4.0, features=3000, n_probes=1500, wins=80.0, factor=1.0, candidates=150):
    """Probes and features of the same luck; features win `factor` times what the probes say."""
    lucky = lucky_rates(rng, n_probes, candidates=20)
    counts = rng.poisson(factor * mean * lucky_rates(rng, features, candidates=20))
    return tally_of(
        counts,
        trees=1000,
        candidates=candidates,
        probes=probes_of(rng.poisson(wins * lucky), features, trees=1000),
    )


def test_thinning_is_the_double_loop():
    rng = np.random.default_rng(0)
    wins = rng.poisson(12 * rng.gamma(2, 0.5, 60))
    weights = rng.uniform(0.5, 3, 60)
    stratum = probe_strata.Stratum(
        wins, np.full(60, 0.2), np.ones(60, int), weights, weights**2, np.zeros(18, int)
    )
    for k in range(8):
        expected = naive.thinned_sf(k, wins.tolist(), 0.2 * 0.7, weights.tolist())
        assert stratum.thinned(0.7).sf(k) == pytest.approx(expected, rel=1e-10)


def test_worth_of_the_probes_is_the_plain_variance():
    """Probes alike within .05 in √(expected count) are taken together: two parts in a hundred."""
    rng = np.random.default_rng(12)
    wins = rng.poisson(30 * rng.gamma(2, 0.5, 300))
    weights = rng.choice([0.5, 1.0, 2.0], 300)
    stratum = probe_strata.Stratum(
        wins, np.full(300, 0.3), np.ones(300, int), weights, weights**2, np.zeros(18, int)
    )
    k = [0, 3, 8, 15, 22]
    expected = [naive.probes_worth(i, wins.tolist(), 0.3, weights.tolist()) for i in k]
    np.testing.assert_allclose(stratum.worth(k), expected, rtol=0.02)
    for least in (5, 20, 60):
        last = stratum.last_with(least)
        assert stratum.worth(last)[0] >= least > stratum.worth(last + 1)[0]


def test_body_is_the_thinned_probes(monkeypatch):
    monkeypatch.setattr(overdispersion, "SPREADS", (0.0,))
    tally = forest(np.random.default_rng(1))
    null = probes.from_tally(tally)
    (splice,) = null.distributions
    wins = tally.probes.wins
    q = splice.body.mean / wins.mean()
    k = np.arange(splice.joint + 1)
    expected = [stats.binom.sf(i, wins, q).mean() for i in k]
    np.testing.assert_allclose(null.sf(k), expected, rtol=1e-9)
    # The joint is the last count known from so many probes; probes nearly alike are taken together,
    # which is worth two parts in a hundred.
    worth = [
        naive.probes_worth(int(at), wins.tolist(), q, [1.0] * len(wins))
        for at in (splice.joint, splice.joint + 1)
    ]
    assert worth[0] >= 0.98 * probes.FEWEST_PROBES
    assert worth[1] < 1.02 * probes.FEWEST_PROBES


def test_body_spread_out_is_the_double_loop_over_probes_and_factors():
    rng = np.random.default_rng(10)
    tally = forest(rng)
    counts = rng.poisson(4 * np.exp(rng.normal(0, 0.5, 3000)) * lucky_rates(rng, 3000))
    tally = tally_of(counts, trees=1000, candidates=150, probes=tally.probes)
    stratum, usable = probes._scaled(probe_strata.stratum_of(tally, 0), counts, lambda: 1.0)
    assert usable
    spread = overdispersion.Spread(stratum.thinned, counts)
    factors, shares = spread.factors(spread.evidence)
    null = probes.from_tally(tally)
    k = np.arange(null.distributions[0].joint + 1)
    expected = sum(
        share * stats.binom.sf(k[:, None], wins, np.minimum(factor * q, 1)) * n
        for factor, share in zip(factors, shares, strict=True)
        for wins, q, n in [(stratum.wins, stratum.thinning, stratum.number)]
    ).sum(1) / len(tally.probes)
    np.testing.assert_allclose(null.sf(k), expected, rtol=1e-9)


@pytest.mark.parametrize("unequal", [0.0, 0.4])
def test_features_may_differ_more_than_the_probes(unequal):
    """Rates that differ by e^x, x ~ N(0, unequal²), beside what luck makes of them.

    At each level the number of features beyond it is binomial, and the level itself is marked by
    the probes; four standard errors of both, and 10 % for the spread, which is estimated.
    """
    rng = np.random.default_rng(11)
    ratios = {0.05: [], 0.01: []}
    for _ in range(4):
        tally = forest(rng, n_probes=4000, features=8000)
        rates = lucky_rates(rng, 8000) * np.exp(rng.normal(-(unequal**2) / 2, unequal, 8000))
        counts = rng.poisson(4 * rates)
        null = probes.from_tally(tally_of(counts, trees=1000, candidates=150, probes=tally.probes))
        p = null.sf(counts) + rng.random(8000) * null.pmf(counts)
        for alpha, found in ratios.items():
            found.append((p < alpha).mean() / alpha)
    for alpha, found in ratios.items():
        noise = np.sqrt((1 / (alpha * 8000) + 1 / (alpha * 4000)) / 4)
        assert np.mean(found) == pytest.approx(1, abs=4 * noise + 0.1)


@pytest.mark.parametrize("factor", [1.0, 0.4])
def test_scale_follows_the_counts_and_its_excess_is_told(factor):
    rng = np.random.default_rng(2)
    tally = forest(rng, factor=factor)
    null = probes.from_tally(tally)
    # The features' and the probes' means each carry √(variance/number); V is near 1 here.
    spread = tally.counts.var() / tally.counts.mean() ** 2
    error = np.sqrt(spread / tally.n_features + spread / len(tally.probes))
    assert null.mean == pytest.approx(4 * factor, rel=5 * error)
    said = 150 / 3000 * 80 / (4 * factor)
    assert null.describe()["probe_to_feature_ratio"] == pytest.approx(said, rel=6 * error)


def test_tail_continues_with_the_probes_own_spread():
    rng = np.random.default_rng(3)
    tally = forest(rng, n_probes=4000, features=20_000)
    null = probes.from_tally(tally)
    p = null.sf(tally.counts) + rng.random(20_000) * null.pmf(tally.counts)
    for alpha in (0.05, 0.01, 0.001):
        # α·F features lie beyond the level; α·P probes mark it, or 25 where it is extrapolated.
        noise = np.sqrt(1 / (alpha * 20_000) + 1 / max(alpha * 4000, probes.FEWEST_PROBES))
        assert (p < alpha).mean() / alpha == pytest.approx(1, abs=4 * noise)


def test_note_is_given_where_the_tail_is_extrapolated():
    null = probes.from_tally(forest(np.random.default_rng(4)))
    assert null.tail_note(0.05) is None
    note = null.tail_note(1e-5)
    assert note is not None
    assert "beyond what the probes show" in note
    with pytest.raises(nf.InputError):
        null.tail_note(2.0)


def test_strata_are_judged_by_their_own_probes():
    rng = np.random.default_rng(5)
    features = np.repeat([0, 1], [2000, 1000])
    counts = np.concatenate([rng.poisson(2, 2000), rng.poisson(12, 1000)])
    strata = np.repeat([0, 1], [500, 500])
    wins = np.concatenate([rng.poisson(20, 500), rng.poisson(120, 500)])
    asked = probes_of(wins, 3000, trees=1000, strata=strata, feature_strata=features, bins=2)
    tally = tally_of(counts, trees=1000, candidates=300, probes=asked, bins=(2,))
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


def test_stratum_seldom_chosen_takes_the_common_scale():
    rng = np.random.default_rng(6)
    features = np.repeat([0, 1], [3000, 20])
    counts = np.concatenate([rng.poisson(2, 3000), rng.poisson(1, 20)])
    wins = np.concatenate([rng.poisson(40, 500), rng.poisson(20, 500)])
    asked = probes_of(
        wins, 3020, trees=1000, strata=np.repeat([0, 1], 500), feature_strata=features, bins=2
    )
    null = probes.from_tally(tally_of(counts, trees=1000, candidates=300, probes=asked, bins=(2,)))
    assert null.stratum(1).mean / null.stratum(0).mean == pytest.approx(0.5, rel=0.05)


def test_thinning_above_one_is_told_and_handled():
    tally = forest(np.random.default_rng(7), mean=8.0, wins=3.0)
    null = probes.from_tally(tally)
    assert "too few trees" in null.notes[0]
    assert null.mean == pytest.approx(8, rel=0.1)
    assert null.sf(60) < 0.05


def test_probes_asked_in_too_few_trees_are_left_out():
    rng = np.random.default_rng(8)
    tally = forest(rng)
    asked = tally.probes
    trees, wins = asked.trees.copy(), asked.wins.copy()
    trees[:200], wins[:200] = 10, rng.poisson(0.8, 200)
    null = probes.from_tally(replace(tally, probes=replace(asked, trees=trees, wins=wins)))
    assert null.notes == ()
    assert null.mean == pytest.approx(probes.from_tally(tally).mean, rel=0.05)


@pytest.mark.parametrize("wins", [np.zeros(400, int), np.arange(10)], ids=["no wins", "few"])
def test_probes_that_say_too_little_leave_the_bagged_model(wins):
    rng = np.random.default_rng(9)
    counts = rng.poisson(3, 1000)
    tally = tally_of(counts, probes=probes_of(wins, 1000, bins=2), bins=(2,))
    null = probes.from_tally(tally)
    assert "the bagged model" in null.notes[0]
    # Four standard errors of the mean of 1 000 Poisson counts, half of them lost to the cut.
    assert null.mean == pytest.approx(3, abs=4 * np.sqrt(3 / 500))
    assert null.tail_note(0.05) is not None


def test_counts_beyond_what_the_probes_wins_allow_leave_the_bagged_model():
    counts = np.repeat([2, 1, 0], [2, 300, 99_698])
    wins = np.repeat([1, 0], [8, 392])
    asked = probes_of(wins, len(counts), trees=20, bins=2)
    null = probes.from_tally(tally_of(counts, trees=20, candidates=100, probes=asked, bins=(2,)))
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


def test_what_cannot_be_known_is_asked_for():
    tally = forest(np.random.default_rng(0))
    with pytest.raises(nf.InputError, match="no probes"):
        probes.from_tally(replace(tally, probes=None))
    with pytest.raises(nf.InputError, match="candidates"):
        probes.from_tally(replace(tally, candidates=None))


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=20, deadline=None)
def test_any_probes_give_a_distribution(seed):
    rng = np.random.default_rng(seed)
    n, n_probes = int(rng.integers(2, 80)), int(rng.integers(1, 90))
    counts = rng.negative_binomial(0.7, rng.uniform(0.02, 0.6), n)
    asked = probes_of(
        rng.negative_binomial(0.7, rng.uniform(0.02, 0.6), n_probes),
        n,
        trees=rng.integers(0, 41, n_probes),
        strata=rng.integers(0, 3, n_probes),
        feature_strata=rng.integers(0, 3, n),
    )
    if not asked.trees.any():
        return
    tally = tally_of(counts, trees=40, candidates=int(rng.integers(1, n + 1)), probes=asked)
    null = probes.from_tally(tally)
    k = np.arange(-1, min(null.largest, 3000) + 1)
    sf = null.sf(k)
    assert np.all(np.diff(sf) <= 1e-12)
    assert null.pmf(k).sum() + sf[-1] == pytest.approx(1, abs=1e-9)
    p = null.pvalues(counts)
    assert np.all((p > 0) & (p <= 1))
    assert np.all(null.pvalues(counts, mid=True) <= p)


def test_counts_far_above_zero_leave_factors_without_a_body():
    """Of a body around 400 nothing is left when rates are eleven times as large."""
    rng = np.random.default_rng(12)
    counts = rng.poisson(400, 200)
    asked = probes_of(rng.poisson(600, 300), 200, trees=750, bins=2)
    null = probes.from_tally(tally_of(counts, trees=500, candidates=200, probes=asked, bins=(2,)))
    assert null.mean == pytest.approx(
        400, rel=0.02
    )  # four errors of 200 counts of 400 ± 20 are 1.4 %
    assert 0.02 < (null.pvalues(counts) <= 0.1).mean() < 0.2


@pytest.mark.parametrize(("pool", "warned"), [(10, True), (200, False)])
def test_a_crowded_pool_is_noted(pool, warned):
    X, y, _ = nf.simulate.independent(60, 300, 0, 0.0, seed=5)
    tally = nf.grow(X, y, trees=200, candidates=pool, draw="tree", seed=1).tally
    assert any("feature of its pool" in note for note in probes.from_tally(tally).notes) == warned
