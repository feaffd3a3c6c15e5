"""Forests of other programs, tested from their files."""

from __future__ import annotations

import json

import lightgbm
import numpy as np
import pandas as pd
import pytest

import nullforest as nf


@pytest.fixture
def model(frame, tmp_path):
    X, y = frame.iloc[:, 2:].set_axis([f"gene_{i}" for i in range(30)], axis=1), frame["ill"]
    forest = lightgbm.LGBMClassifier(
        boosting_type="rf",
        n_estimators=100,
        subsample=0.6,
        subsample_freq=1,
        colsample_bytree=0.3,
        min_child_samples=3,
        verbose=-1,
        n_jobs=1,
    ).fit(X, y)
    path = tmp_path / "forest.txt"
    forest.booster_.save_model(path)
    return path


def test_a_forest_is_tested_and_written(run, model, tmp_path):
    outputs = [tmp_path / name for name in ("t.csv", "s.json", "r.html", "f.tally")]
    options = zip(("--table", "--json", "--report", "--tally"), outputs, strict=True)
    result = run("test", model, "--n-samples", 60, *[word for pair in options for word in pair])
    assert result.exit_code == 0, result.output
    assert "LightGBM random forest: 100 trees" in result.output
    assert "gene_3" in result.output
    assert "column" not in pd.read_csv(outputs[0])
    assert json.loads(outputs[1].read_text())["null"] == "bagged"
    assert "nullforest test" in outputs[2].read_text()
    assert nf.Tally.load(outputs[3]) == nf.tally(model, n_samples=60)
    again = run("test", outputs[3], "--quiet", "--json", tmp_path / "again.json")
    assert again.exit_code == 0, again.output
    same = [
        json.loads(path.read_text())["selected"] for path in (outputs[1], tmp_path / "again.json")
    ]
    assert same[0] == same[1]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "no file"),
        (b"sepal,petal\n1,2\n", "holds no forest"),
        (b"\x1f\x8b damaged", "damaged"),
        (b'{"format": "nullforest forest", "version": 1}', "damaged"),
        (b'{"format": "nullforest forest", "version": 9}', "upgrade"),
        (b'{"learner": {}}', "damaged"),
        (b"tree\nversion=v4\naverage_output\nfeature_names=a b\n", "damaged|no tree|No tree"),
        (b"tree\nversion=v4\nnum_class=1\n", "boosted"),
    ],
)
def test_other_files_are_refused_in_a_sentence(run, tmp_path, content, words):
    path = tmp_path / "forest"
    if content is not None:
        path.write_bytes(content)
    result = run("test", path, "--table", tmp_path / "t.csv")
    assert result.exit_code == 2
    assert np.any([word in result.output for word in words.split("|")]), result.output
    assert "Traceback" not in result.output
    assert not (tmp_path / "t.csv").exists()


def test_nothing_is_overwritten_and_what_lacks_is_named(run, model, tmp_path):
    (tmp_path / "t.csv").write_text("mine")
    result = run("test", model, "--n-samples", 60, "--table", tmp_path / "t.csv")
    assert result.exit_code == 2
    assert (tmp_path / "t.csv").read_text() == "mine"
    result = run("test", model)
    assert result.exit_code == 2
    assert "n-samples" in result.output
    result = run("test", model, "--n-samples", 60, "--candidates", 7)
    assert result.exit_code == 2
    assert "candidates" in result.output
