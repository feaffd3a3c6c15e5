"""The shadow null model against a plain computation, and by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import nullforest as nf
from naive import nulls as naive
from nullforest.nulls import shadows
from nullforest.nulls.shadows import Rescaled, Scale


def forest(seed=0, F=12, S=80, **settings):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(S, F))
    X[:, F // 2 :] = X[:, F // 2 :] > 0.5
    y = X[:, 0] + rng.normal(size=S) > 0
    return nf.grow(X, y, trees=3000, seed=seed, **{"shadows": 20} | settings).tally


def test_means_and_deviations_are_those_of_plain_loops():
    tally = forest()
    strata = shadows.divided(tally.shadows.wins, tally.shadows.feature_strata)
    moments = shadows.moments_of(tally.shadows.wins, strata)
    expected = naive.shadow_moments(tally.shadows.wins, strata)
    np.testing.assert_allclose(moments.mean, expected["mean"], rtol=1e-12)
    np.testing.assert_allclose(moments.deviation, expected["deviation"], rtol=1e-12)
    np.testing.assert_allclose(moments.rest_mean, expected["others_mean"], rtol=1e-12)
    np.testing.assert_allclose(moments.rest_deviation, expected["others_deviation"], rtol=1e-9)


def test_pvalues_are_tails_of_the_standardised_count():
    tally = forest()
    null = nf.null(tally)
    p = null.pvalues(tally.counts)
    for f, d in enumerate(null.distributions):
        own = stats.gamma(
            (d.scale.mean / d.scale.deviation) ** 2, scale=d.scale.deviation**2 / d.scale.mean
        )
        common = stats.gamma(
            (d.base_scale.mean / d.base_scale.deviation) ** 2,
            scale=d.base_scale.deviation**2 / d.base_scale.mean,
        )
        place = common.isf(own.sf(tally.counts[f] - 1))
        low, high = (float(d.base.sf(at)) for at in (np.floor(place), np.floor(place) + 1))
        share = place - np.floor(place)
        assert p[f] == pytest.approx(low ** (1 - share) * high**share, rel=1e-6)
    # The thresholds are where the p-values pass the level.
    for alpha in (0.05, 0.001):
        thresholds = null.thresholds(alpha)
        assert np.all(null.pvalues(thresholds + 1) <= alpha)
        above = thresholds > 0
        assert np.all(null.pvalues(thresholds)[above] > alpha)
    assert null.describe()["copies"] == 20
    assert np.all(null.pvalues(np.zeros(12)) == 1)


def test_scales_are_inverse_to_each_other():
    own, common = Scale(30.0, 12.0), Scale(50.0, 20.0)
    counts = np.arange(1, 400)
    np.testing.assert_allclose(own.with_tail(own.tail(counts)), counts, rtol=1e-6)
    base = nf.nulls.binomial_mixture.BinomialMixture([100], [0.5], [1.0])
    one = Rescaled(base, common, own)
    sf = one.sf(np.arange(-2, 300))
    assert sf[0] == sf[1] == 1
    assert np.all(np.diff(sf) <= 0)
    assert one.pmf(np.arange(0, 301)).sum() == pytest.approx(1)
    assert one.scale_rates(2.0).mean == 2 * one.mean
    assert one.scale_trials(2.0).mean == 2 * one.mean


def test_features_that_differ_between_blocks_are_set_apart():
    rng = np.random.default_rng(0)
    batch = np.arange(100) % 2
    y = np.where(rng.random(100) < 0.85, batch, 1 - batch)
    X = rng.normal(size=(100, 40))
    X[:, 30:] += 2 * batch[:, None]
    tally = nf.grow(X, y, trees=3000, shadows=20, blocks=batch).tally
    strata = shadows.divided(tally.shadows.wins, tally.shadows.feature_strata)
    assert strata[30:].all()
    assert not strata[:30].any()
    expected = nf.null(tally).expected_counts()
    assert expected[30:].min() > 1.5 * expected[:30].max()


def test_the_rate_is_the_level_on_null_tables():
    """A binomial tolerance: features of one table are nearly independent here."""
    found = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 20))
        X[:, 10:] = X[:, 10:] > 0
        tally = nf.grow(X, np.arange(60) % 2, seed=seed, oob=False).tally
        found.append(nf.null(tally).pvalues(tally.counts))
    p = np.array(found)
    for alpha in (0.05, 0.2):
        error = 4 * np.sqrt(alpha * (1 - alpha) / p.size)  # one in 16 000
        assert np.mean(p <= alpha) <= alpha + error
        # Counts of columns with two values are small, so that their p-values are conservative.
        assert np.mean(p[:, :10] <= alpha) >= alpha - 4 * np.sqrt(
            alpha * (1 - alpha) / p[:, :10].size
        )


def test_small_tables_select_what_is_there():
    from sklearn.datasets import load_diabetes

    data = load_diabetes()
    selection = nf.select(nf.grow(data.data, data.target))
    assert selection.null.kind == "shadows"
    names = {data.feature_names[i] for i in np.flatnonzero(selection.support)}
    assert {"bmi", "s5", "bp"} <= names
    assert selection.n_selected >= 8
