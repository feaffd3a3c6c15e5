"""Forecasts: what more trees would select is what they select."""

import numpy as np
import pytest

import nullforest as nf
from nullforest.selection.forecast import _Posterior, _probe_groups, rates_given_counts
from nullforest.tallies.probe_tally import ProbeTally
from nullforest.tallies.tally import N_COUPLING_BINS


@pytest.mark.parametrize("kind", ["probes", "bagged", "paper"])
def test_the_null_of_more_trees_is_that_of_a_longer_forest(kind):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((80, 400)), rng.permutation(np.arange(80) % 2)
    short, long = (nf.null(nf.grow(X, y, trees=t).tally, kind) for t in (300, 900))
    ahead = short.scaled(3.0)
    # The mean of 400 counts of mean about 8 is known to 2 %; 5 standard errors of two of them.
    assert ahead.mean == pytest.approx(long.mean, rel=0.1)
    assert ahead.threshold(0.05) == pytest.approx(long.threshold(0.05), rel=0.1, abs=1)


def test_what_more_trees_would_select_is_what_they_select():
    gained = expected = now = 0.0
    for seed in range(4):
        X, y, _ = nf.simulate.independent(100, 300, 15, 0.4, seed=seed)
        few = nf.select(nf.grow(X, y, trees=100, seed=seed).tally, 0.05, "fwer", "bagged")
        many = nf.select(nf.grow(X, y, trees=800, seed=seed).tally, 0.05, "fwer", "bagged")
        forecast = nf.more_trees(few, factors=(8,), draws=40)
        row = forecast.table.iloc[0]
        assert row["trees"] == 800
        assert row["selected"] == pytest.approx(forecast.probabilities.sum())
        gained += many.n_selected
        expected += row["selected"]
        now += few.n_selected
    assert gained > now  # with so few trees there is something to gain
    # The numbers selected are binomial about their expectation: four standard deviations.
    assert abs(gained - expected) <= 4 * np.sqrt(expected)


def test_rates_are_those_of_the_counts():
    rng = np.random.default_rng(0)
    truth = np.where(rng.random(4000) < 0.9, 3.0, 40.0)
    counts, features = np.unique(rng.poisson(truth), return_counts=True)
    rates, posterior = rates_given_counts(counts, features)
    assert np.allclose(posterior.sum(axis=1), 1)
    mean = features @ (posterior @ rates) / features.sum()
    assert mean == pytest.approx(features @ counts / features.sum(), rel=0.01)


def test_a_large_forest_needs_no_more_trees():
    X, y, _ = nf.simulate.independent(100, 200, 5, 0.7)
    forecast = nf.more_trees(nf.grow(X, y, trees=2000).tally, error="fwer", null="bagged", draws=20)
    assert "hardly" in forecast.headline()
    assert repr(forecast).startswith("<Forecast: More trees would hardly")
    with pytest.raises(nf.InputError, match="factors"):
        nf.more_trees(forecast.selection, factors=(1,))


def test_more_trees_select_on_real_data_what_was_forecast():
    # From a mean count of .8, at which single probes of the 12 known are selected.
    leukemia = nf.datasets.load_leukemia_sex()
    table = nf.RankTable(leukemia.data)
    errors = []
    for seed in range(4):
        how = {"seed": seed, "keep_trees": False, "oob": False}
        few = nf.grow(table, leukemia.target, trees=2000, **how)
        row = nf.more_trees(few.tally, factors=(4,), draws=40).table.iloc[0]
        many = nf.select(nf.grow(table, leukemia.target, trees=6000, more=few))
        assert row["trees"] == many.tally.n_trees == 8000
        assert row["low"] <= row["selected"] <= row["high"]
        # A 90 % interval is 3.3 standard deviations wide; half a feature for whole numbers.
        width = row["high"] - row["low"] + 0.5
        assert abs(many.n_selected - row["selected"]) <= width
        errors.append((row["selected"] - many.n_selected) / width)
    # The mean of four errors has half of the standard deviation, 1/3.3 of the width: three of it.
    assert abs(np.mean(errors)) <= 3 * 0.5 / 3.3


def test_probes_with_large_weights_keep_their_small_rates():
    # Probes with strong sample associations are sampled often, and have small weights. Were their
    # rates drawn from one distribution, the weighted mean of the wins would rise.
    rng = np.random.default_rng(0)
    rates = rng.gamma(1.0, 2.0, 4000)
    wins, weights = rng.poisson(rates), 20 / (1 + rates)
    zeros = np.zeros(4000, int)
    probes = ProbeTally(
        ids=np.arange(4000),
        wins=wins,
        trees=np.full(4000, 100),
        strata=zeros,
        feature_strata=zeros,
        couplings=np.zeros((1, N_COUPLING_BINS), int),
        weights=weights,
    )
    drawn = _Posterior(wins, _probe_groups(probes)).draw(rng)
    blurred = _Posterior(wins, zeros).draw(rng)
    mean = np.average(rates, weights=weights)
    # Two standard errors of a weighted mean of 4 000 rates with a deviation of about 1: .03; the
    # classes of weights are wide, which leaves some of the difference.
    assert np.average(drawn, weights=weights) == pytest.approx(mean, abs=0.1)
    assert np.average(blurred, weights=weights) > mean + 0.1
