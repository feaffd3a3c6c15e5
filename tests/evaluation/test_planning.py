"""Planning: prefixes of one forest, and the advice."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import nullforest as nf
from nullforest.cli.app import app


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


def test_the_command_plans(tmp_path):
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
    assert run(app, ["plan"]).exit_code == 2
