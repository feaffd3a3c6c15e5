"""`nullforest simulate` writes data that the other commands, and NumPy, read back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import nullforest as nf

from .conftest import Run


def test_npz_holds_data_and_truth(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "data.npz"
    result = run(
        "simulate", "independent", path,
        "--samples", 40, "--features", 30, "--relevant", 4, "--seed", 7,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "40 samples × 30 features, 4 relevant" in result.output
    X, y, relevant = nf.simulate.independent(40, 30, 4, seed=7)
    with np.load(path) as written:
        np.testing.assert_array_equal(written["X"], X)
        np.testing.assert_array_equal(written["y"], y)
        np.testing.assert_array_equal(written["relevant"], relevant)


@pytest.mark.parametrize("name", ["data.csv", "data.csv.gz"])
def test_csv_can_be_selected_from(run: Run, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    result = run("simulate", "independent", path, "--features", 50, "--relevant", 3,
                 "--relevance", 0.8)  # fmt: skip
    assert result.exit_code == 0, result.output
    truth = pd.read_csv(tmp_path / "data.truth.csv")
    assert truth["relevant"].sum() == 3
    table = tmp_path / "table.csv"
    result = run("select", path, "--target", "y", "--trees", 200, "--error", "fdr", "--null",
                 "paper", "--table", table)  # fmt: skip
    assert result.exit_code == 0, result.output
    found = pd.read_csv(table).set_index("feature")["selected"]
    assert found[truth.set_index("feature")["relevant"]].all()


def test_maps_of_the_user_are_taken(run: Run, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "maps.npz", X=rng.normal(2.5, 0.3, (8, 60)), vertex=np.arange(60))
    path = tmp_path / "data.npz"
    result = run("simulate", "cortical", path, "--maps", tmp_path / "maps.npz", "--samples", 12,
                 "--region", 0.02)  # fmt: skip
    assert result.exit_code == 0, result.output
    with np.load(path) as written:
        assert written["X"].shape == (12, 60)
        assert written["relevant"].sum() == 1


def test_nothing_is_overwritten_unasked(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    (tmp_path / "data.truth.csv").write_text("mine")
    result = run("simulate", "independent", path)
    assert result.exit_code == 2
    assert "exists already" in result.output
    assert (tmp_path / "data.truth.csv").read_text() == "mine"
    assert not path.exists()
    assert run("simulate", "independent", path, "--force").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["independent", "data.xyz"], "tells no format"),
        (["independent", "none/data.csv"], "no folder"),
        (["independent", "data.csv", "--relevant", "2000"], "--relevant 2000 must lie"),
        (["cortical", "data.csv", "--maps", "none.npz"], "no file"),
    ],
)
def test_bad_requests_end_with_a_sentence(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("simulate", *arguments)
    assert result.exit_code == 2
    assert words in result.output
    assert list(tmp_path.iterdir()) == []
