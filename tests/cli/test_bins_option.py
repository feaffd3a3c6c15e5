"""The setting --set bins=: the selection is that of a table with as many bins."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd

import nullforest as nf


def test_bins_reach_the_forest(tmp_path, run):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(600, 8)), columns=list("abcdefgh"))
    frame["y"] = (frame["a"] + rng.normal(size=600) > 0).astype(int)
    frame.to_csv(tmp_path / "t.csv", index=False)
    tally, page = tmp_path / "t.tally", tmp_path / "t.html"
    given = ["select", tmp_path / "t.csv", "--target", "y", "--trees", 40, "--set", "bins=16"]
    result = run(*given, "--tally", tally, "--json", tmp_path / "t.json", "--report", page)
    assert result.exit_code == 0, result.stderr
    table = nf.RankTable(frame.drop(columns="y"), bins=16)
    assert np.array_equal(
        nf.Tally.load(tally).counts, nf.grow(table, frame["y"], trees=40).tally.counts
    )
    assert "--set bins=16" in page.read_text()
    assert json.loads((tmp_path / "t.json").read_text())["n_samples"] == 600


def test_bad_bins_are_refused(tmp_path, run):
    frame = pd.DataFrame({"a": np.arange(600.0), "y": np.arange(600) % 2})
    frame.to_csv(tmp_path / "t.csv", index=False)
    for bins, said in [("few", 'whole number, "auto" or None'), ("1", "between 2 and 256")]:
        result = run("select", tmp_path / "t.csv", "--target", "y", "--set", f"bins={bins}")
        assert result.exit_code == 2
        assert said in result.stderr
