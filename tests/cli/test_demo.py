"""The demo finds the genes that tell a patient's sex."""

from __future__ import annotations

import json
import re

from nullforest.datasets import load_leukemia_sex


def test_demo_finds_known_probes_and_writes_its_files(tmp_path, run):
    out = tmp_path / "new" / "demo"
    result = run("demo", "--out", out)
    assert result.exit_code == 0, result.stderr
    found = re.search(r"found (\d+) of the 16 known probe sets", result.stdout)
    assert found is not None
    # 11 of the 16 genes differ between the sexes so clearly that a t-test with the strictest
    # correction finds them; see the test of the data set.
    assert int(found[1]) >= 10
    answer = json.loads((out / "selection.json").read_text())
    known = set(load_leukemia_sex().feature_names[load_leukemia_sex().known])
    assert sum(row["feature"] in known for row in answer["selected"]) == int(found[1])
    assert (out / "table.csv").exists()
    assert (out / "report.html").exists()
    again = run("demo", "--out", out)
    assert again.exit_code == 2
    assert "exists already" in again.stderr
