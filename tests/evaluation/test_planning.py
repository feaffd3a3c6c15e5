"""Planning: prefixes of one forest, the advice, and what more trees would change."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import nullforest as nf
from nullforest.cli.app import app
from nullforest.selection.forecast import null_of_more_trees, rates_given_counts


def test_a_plan_equals_forests_grown_apart():
    found = nf.plan(
        80, 150, 6, 0.5, trees=[60, 150], candidates=[12, 40], runs=2, seed=3, null="bagged"
    )
    rows = []
    for seed in (3, 4):
        X, y, relevant = nf.simulate.independent(80, 150, 6, 0.5, seed=seed, dtype=np.float32)
        for candidates in (12, 40):
            for trees in (60, 150):
                tally = nf.grow(X, y, trees=trees, candidates=candidates, seed=seed).tally
                selection = nf.select(tally, 0.05, "fdr", "bagged")
                rows.append((candidates, trees, selection.support[relevant].mean()))
    expected = pd.DataFrame(rows, columns=["candidates", "trees", "power"])
    expected = expected.groupby(["candidates", "trees"])["power"].mean().to_numpy()
    assert np.allclose(found.table["power"], expected)
    assert (found.table["next_level"] > found.table["level"]).all()
    best = found.table["power"].max()
    assert best - found.power <= max(0.01, found.table["power_se"].max())
    assert f"{found.trees} trees" in found.headline()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"n_relevant": 0}, "n_relevant"),
        ({"runs": 0}, "runs"),
        ({"trees": [0]}, "trees"),
        ({"candidates": [51]}, "candidates"),
        ({"alpha": 2.0}, "alpha"),
    ],
)
def test_a_plan_that_cannot_be_is_refused(settings, words):
    with pytest.raises(nf.InputError, match=words):
        nf.plan(**{"n_samples": 20, "n_features": 50, "n_relevant": 2, **settings})


@pytest.mark.parametrize("kind", ["probes", "bagged", "paper"])
def test_the_null_of_more_trees_is_that_of_a_longer_forest(kind):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((80, 400)), rng.permutation(np.arange(80) % 2)
    short, long = (nf.null(nf.grow(X, y, trees=t).tally, kind) for t in (300, 900))
    ahead = null_of_more_trees(short, 3.0)
    # The mean of 400 counts of mean about 8 is known to 2 %; 5 standard errors of two of them.
    assert ahead.mean == pytest.approx(long.mean, rel=0.1)
    assert ahead.threshold(0.05) == pytest.approx(long.threshold(0.05), rel=0.1, abs=1)


def test_what_more_trees_would_select_is_what_they_select():
    gained = expected = now = 0.0
    for seed in range(4):
        X, y, _ = nf.simulate.independent(100, 300, 15, 0.4, seed=seed)
        few = nf.select(nf.grow(X, y, trees=100, seed=seed).tally, 0.05, "fwer", "bagged")
        many = nf.select(nf.grow(X, y, trees=800, seed=seed).tally, 0.05, "fwer", "bagged")
        outlook = nf.more_trees(few, factors=(8,), draws=40)
        row = outlook.table.iloc[0]
        assert row["trees"] == 800
        assert row["selected"] == pytest.approx(outlook.probabilities.sum())
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
    outlook = nf.more_trees(nf.grow(X, y, trees=2000).tally, error="fwer", null="bagged", draws=20)
    assert "hardly" in outlook.headline()
    with pytest.raises(nf.InputError, match="factors"):
        nf.more_trees(outlook.selection, factors=(1,))


def test_the_command_plans_and_looks_at_a_finished_forest(tmp_path):
    run = CliRunner().invoke
    study = ["--n-samples", "60", "--n-features", "100", "--n-relevant", "5"]
    forest = ["--trees", "50", "--trees", "100", "--candidates", "10", "--runs", "1"]
    files = ["--table", str(tmp_path / "plan.csv"), "--json", str(tmp_path / "plan.json")]
    result = run(app, ["plan", *study, *forest, *files])
    assert result.exit_code == 0, result.output
    assert "trees with 10 candidates" in result.stdout
    answer = json.loads((tmp_path / "plan.json").read_text())
    table = pd.read_csv(tmp_path / "plan.csv")
    assert [row["trees"] for row in answer["table"]] == table["trees"].tolist() == [50, 100]
    assert answer["n_samples"] == 60
    again = run(app, ["plan", *study, *forest, *files])
    assert again.exit_code == 2
    assert "--force" in again.stderr
    X, y, _ = nf.simulate.independent(60, 100, 5, 0.6)
    nf.grow(X, y, trees=100).tally.save(tmp_path / "forest.tally")
    result = run(app, ["plan", "--forest", str(tmp_path / "forest.tally"), "--null", "bagged"])
    assert result.exit_code == 0, result.output
    assert "More trees would" in result.stdout
    assert run(app, ["plan"]).exit_code == 2
