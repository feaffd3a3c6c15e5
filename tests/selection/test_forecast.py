"""Forecasts: what more trees would select is what they select."""

import numpy as np
import pytest

import nullforest as nf
from nullforest.selection.forecast import rates_given_counts


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


def test_a_null_distribution_that_is_not_known_for_more_trees_is_said():
    X, y, _ = nf.simulate.independent(60, 40, 4, 0.7)
    other = nf.baselines.janitza(X, y, trees=50)
    with pytest.raises(nf.InputError, match="is not known for more trees"):
        nf.more_trees(other)
