"""`nullforest` with --time and --event."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import nullforest as nf
from nullforest.data.readers.roles import SurvivalColumns
from nullforest.data.readers.tables import read_table

SURVIVAL = ["--time", "days", "--event", "died"]


@pytest.fixture
def patients():
    X, y, _ = nf.simulate.survival(120, 30, 2, 3.0, 0.4, seed=1)
    frame = pd.DataFrame(X, columns=[f"gene {i}" for i in range(30)])
    frame.insert(0, "days", np.ceil(1000 * y["time"]))
    frame["died"] = y["event"].astype(int)
    return frame


@pytest.fixture
def data(patients, tmp_path):
    patients.to_csv(tmp_path / "patients.csv", index=False)
    return tmp_path / "patients.csv"


def target_of(frame):
    return frame.rename(columns={"days": "time", "died": "event"})[["event", "time"]]


def test_select_is_grow_and_select(patients, data, tmp_path, run):
    answer, tally, page = (tmp_path / name for name in ("a.json", "f.tally", "r.html"))
    result = run(
        *["select", data, *SURVIVAL, "--max-trees", 500],
        *["--json", answer, "--tally", tally, "--report", page, "--table", tmp_path / "t.csv"],
    )
    assert result.exit_code == 0, result.stderr
    X = patients.drop(columns=["days", "died"])
    forest = nf.grow(X, target_of(patients), max_trees=500)
    assert nf.Tally.load(tally) == forest.tally
    assert forest.tally.shadows is not None
    selected = [row["feature"] for row in json.loads(answer.read_text())["selected"]]
    assert selected == nf.select(forest).selected.tolist()
    assert {"gene 28", "gene 29"} <= set(selected)
    words = page.read_text("utf-8")
    events = int(patients["died"].sum())
    assert "log-rank scores (Hothorn and Lausen, 2003)" in words
    assert f"{events} of 120 samples" in words
    assert "median follow-up" in words
    assert "--time days --event died" in words
    assert "--task" not in words
    again = nf.select(forest)
    again.to_html(tmp_path / "again.html", X, target_of(patients))
    assert f"{events} of 120 samples" in (tmp_path / "again.html").read_text("utf-8")
    assert "log-rank scores" in again.to_markdown()


def test_blocks_resume_and_merge(patients, data, tmp_path, run):
    patients["site"] = np.arange(120) % 3
    patients["died"] = patients["died"].map({1: "True", 0: "False"})
    patients.to_csv(data, index=False)
    fixed = ["select", data, *SURVIVAL, "--blocks", "site", "--trees", 60]
    first, second = tmp_path / "a.tally", tmp_path / "b.tally"
    assert run(*fixed, "--tally", first, "--resume", tmp_path / "run").exit_code == 0
    assert run("select", "--resume", tmp_path / "run", "--force").exit_code == 0
    assert run(*fixed, "--set", "first_tree=60", "--tally", second).exit_code == 0
    merged = run("merge", first, second, "--report", tmp_path / "m.html")
    assert merged.exit_code == 0, merged.stderr
    assert "log-rank scores" in (tmp_path / "m.html").read_text("utf-8")
    assert len(nf.Tally.load(first).shadows) >= 24


def test_compare_and_audit(data, tmp_path, run):
    few = ["--trees", 50, "--permutations", 3]
    compared = run("compare", data, *SURVIVAL, "--methods", "paper,altmann", *few)
    assert compared.exit_code == 0, compared.stderr
    assert {"paper", "altmann"} <= {*compared.output.split()}
    audited = run("audit", data, *SURVIVAL, "--nulls", "bagged", *few)
    assert audited.exit_code == 0, audited.stderr
    assert run("audit", data).exit_code == 2


@pytest.mark.parametrize(
    ("given", "change", "message"),
    [
        (["--time", "days"], {}, "both --time and --event"),
        ([*SURVIVAL, "--target", "died"], {}, "omit --target"),
        (
            [*SURVIVAL, "--task", "regression"],
            {},
            "--task is for classes and numbers; survival times need none",
        ),
        ([*SURVIVAL, "--drop", "died"], {}, "cannot be left out"),
        ([*SURVIVAL, "--ids", "days"], {}, "cannot hold the ids"),
        (["--time", "days", "--event", "days"], {}, "cannot hold both"),
        (["--time", "day", "--event", "died"], {}, "column of times 'day' is not in"),
        (["--time", "days", "--event", "dead"], {}, "did you mean 'died'"),
        (SURVIVAL, {"died": 2}, "values other than 1 and 0 (event and censored)"),
        (SURVIVAL, {"died": "dead"}, "values other than 1 and 0 (event and censored)"),
        (SURVIVAL, {"died": 0}, "no event"),
        (SURVIVAL, {"died": None}, "have missing values in 120 of 120 samples"),
        (SURVIVAL, {"days": -3.5}, "negative values in 120 of 120"),
        (SURVIVAL, {"days": np.inf}, "infinite values in 120 of 120"),
        (SURVIVAL, {"days": "long"}, "are no numbers"),
        (SURVIVAL, {"days": 12}, "predict the event itself as classes"),
    ],
)
def test_bad_input_is_one_sentence(given, change, message, patients, data, tmp_path, run):
    patients.assign(**change).to_csv(data, index=False)
    result = run("select", data, *given, "--table", tmp_path / "t.csv")
    assert result.exit_code == 2
    assert message in result.stderr.replace("\n", " ")
    assert not (tmp_path / "t.csv").exists()


def test_tables_of_every_format_hold_survival_times(patients, data, tmp_path, run):
    target = SurvivalColumns(event="died", time="days")
    expected = read_table(data, target)
    assert expected.target.task == "survival"
    assert expected.target.name == "days (event: died)"
    assert expected.feature_names.tolist() == [f"gene {i}" for i in range(30)]
    assert [row[0] for row in expected.target.survival.tolist()] == patients["died"].astype(
        bool
    ).tolist()
    patients.to_parquet(tmp_path / "p.parquet")
    patients.T.add_prefix("p").to_csv(tmp_path / "t.csv")
    for path, options in [("p.parquet", {}), ("t.csv", {"transpose": True})]:
        again = read_table(tmp_path / path, target, **options).target
        np.testing.assert_array_equal(again.survival, expected.target.survival)
    result = run("select", tmp_path / "t.csv", *SURVIVAL)
    assert result.exit_code == 2
    assert "give --transpose" in result.stderr.replace("\n", " ")
    for name in ("s.npz", "s.csv"):
        sizes = ["--samples", 60, "--features", 20, "--relevant", 2, "--censoring", 0.5]
        assert run("simulate", "survival", tmp_path / name, *sizes).exit_code == 0
        simulated = read_table(tmp_path / name, SurvivalColumns("event", "time"))
        assert simulated.X.shape == (60, 20)
        np.testing.assert_array_equal(
            simulated.target.survival["event"],
            nf.simulate.survival(60, 20, 2, censoring=0.5)[1]["event"],
        )


def test_what_a_covariate_says_of_survival_is_adjusted_for(tmp_path, run):
    rng = np.random.default_rng(5)
    n = 300
    frame = pd.DataFrame(rng.normal(size=(n, 30))).add_prefix("gene ")
    age = rng.normal(size=n)
    frame["gene 3"] = age + 0.5 * rng.normal(size=n)  # tells the time through age alone
    hazard = np.exp(1.2 * age + 1.0 * frame["gene 8"])
    frame["days"], frame["died"] = np.ceil(1000 * rng.exponential(1 / hazard)), 1
    frame.loc[rng.random(n) < 0.3, "died"] = 0
    frame.assign(age=60 + 10 * age).to_csv(tmp_path / "patients.csv", index=False)
    selected = {}
    for name, options in {"plain": ("--drop", "age"), "adjusted": ("--adjust", "age")}.items():
        given = ("select", tmp_path / "patients.csv", *SURVIVAL, *options, "--max-trees", 4000)
        result = run(*given, "--json", tmp_path / name)
        assert result.exit_code == 0, result.stderr
        rows = json.loads((tmp_path / name).read_text())["selected"]
        selected[name] = {row["feature"] for row in rows}
    assert {"gene 3", "gene 8"} <= selected["plain"]
    assert "gene 8" in selected["adjusted"]
    assert "gene 3" not in selected["adjusted"]
