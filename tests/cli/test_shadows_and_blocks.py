"""`nullforest select` with shadows and blocks."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import nullforest as nf


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(80, 8)), columns=[f"gene{i}" for i in range(8)])
    frame["site"] = np.where(np.arange(80) % 2, "Paris", "Oslo")
    frame["ill"] = np.where(frame["gene3"] + 0.5 * rng.normal(size=80) > 0, "yes", "no")
    return frame


def test_blocks_are_a_column_that_is_no_feature(table, tmp_path, run):
    data, answer, tally = (tmp_path / name for name in ("d.csv", "a.json", "f.tally"))
    table.to_csv(data, index=False)
    result = run(
        *["select", data, "--target", "ill", "--blocks", "site"],
        *["--json", answer, "--tally", tally, "--report", tmp_path / "r.html"],
    )
    assert result.exit_code == 0, result.stderr
    X = table.drop(columns=["site", "ill"])
    forest = nf.grow(X, table["ill"], blocks=table["site"])
    assert nf.Tally.load(tally) == forest.tally
    got = json.loads(answer.read_text())
    assert got["null"] == "shadows"
    page = (tmp_path / "r.html").read_text()
    assert "permuted as a whole within each site" in page
    assert "--blocks site" in page
    assert f"--set shadows={len(forest.tally.shadows)}" in page


def test_text_is_a_category_and_covariates_are_no_features(table, tmp_path, run):
    rng = np.random.default_rng(1)
    table["age"] = rng.integers(20, 80, 80)
    table["stage"] = np.array(["I", "III", "II"])[rng.integers(0, 3, 80)]
    data, tally, page = (tmp_path / name for name in ("d.csv", "f.tally", "r.html"))
    table.to_csv(data, index=False)
    chosen = ["--blocks", "site", "--adjust", "age"]
    result = run("select", data, "-t", "ill", *chosen, "--tally", tally, "--report", page)
    assert result.exit_code == 0, result.stderr
    assert "1 column is of categories without an order: 'stage'" in " ".join(result.output.split())
    X = table.drop(columns=["ill"])
    assert nf.Tally.load(tally) == nf.grow(X, table["ill"], blocks="site", adjust="age").tally
    assert "within each site among samples of similar age" in page.read_text()
    assert "--adjust age" in page.read_text()
    for command in ("audit", "compare"):
        result = run(command, data, "-t", "ill", "--drop", "site")
        assert result.exit_code == 2
        assert "Column 'stage' holds categories without an order" in " ".join(result.stderr.split())


def test_the_number_of_shadows_can_be_given(table, tmp_path, run):
    data, tally = tmp_path / "d.csv", tmp_path / "f.tally"
    table.drop(columns="site").to_csv(data, index=False)
    fixed = ["select", data, "--target", "ill", "--trees", 200, "--tally", tally]
    assert run(*fixed, "--set", "shadows=7").exit_code == 0
    assert len(nf.Tally.load(tally).shadows) == 7
    assert run(*fixed, "--force").exit_code == 0
    assert nf.Tally.load(tally).shadows is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--blocks", "sit"], "column of blocks"),
        (["--blocks", "ill"], "cannot hold the blocks"),
        (["--drop", "site", "--adjust", "gene33"], "The covariate 'gene33' is not in"),
        (["--blocks", "site", "--set", "shadows=0"], "blocks need shadows"),
        (["--drop", "site", "--set", "shadows=many"], 'must be a whole number or "auto"'),
    ],
)
def test_wrong_blocks_and_shadows_are_said(table, tmp_path, run, given, message):
    data = tmp_path / "d.csv"
    table.to_csv(data, index=False)
    result = run("select", data, "--target", "ill", *given)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr


def test_a_missing_block_is_said(table, tmp_path, run):
    table.loc[3, "site"] = None
    data = tmp_path / "d.csv"
    table.to_csv(data, index=False)
    result = run("select", data, "--target", "ill", "--blocks", "site")
    assert result.exit_code == 2
    assert "has missing values" in " ".join(result.stderr.split())
