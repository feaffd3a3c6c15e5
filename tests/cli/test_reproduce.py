"""`nullforest reproduce` runs, resumes and refuses bad input."""

from __future__ import annotations

from pathlib import Path

import pytest

from nullforest.cli import reproduce as command
from nullforest.evaluation import paper
from nullforest.evaluation.paper import low_dimensional

from .conftest import Run


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let --quick take the smallest settings, so that the test is about the command."""
    monkeypatch.setitem(low_dimensional.SETTINGS, "quick", low_dimensional.SETTINGS["tiny"])


def test_command_and_library_name_the_same_experiments() -> None:
    assert command.NAMES == paper.NAMES


@pytest.mark.usefixtures("small")
def test_results_land_in_the_folder_and_are_used_again(run: Run, tmp_path: Path) -> None:
    arguments = ["reproduce", "low_dimensional", "--quick", "--runs", 2, "--jobs", 1, "--out"]
    result = run(*arguments, tmp_path)
    assert result.exit_code == 0, result.output
    assert "low_dimensional: 100%" in result.output
    words = " ".join(result.output.split())  # lines are wrapped
    assert "cannot tell whether the 11 claims hold" in words
    assert "--runs 10" in words
    names = {path.name for path in tmp_path.iterdir()}
    expected = {f"low_dimensional.{end}" for end in ("csv", "md", "png")}
    assert names == expected | {"facts.json", "index.html", "reproduction.md", "runs"}
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "runs").iterdir()}
    first = (tmp_path / "low_dimensional.csv").read_bytes()
    assert run(*arguments, tmp_path, "--finished").exit_code == 0
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert (tmp_path / "low_dimensional.csv").read_bytes() == first


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--maps", "none.npz"], "no file"),
        (["power", "--finished"], "No setting is finished"),
    ],
)
def test_bad_requests_end_with_a_sentence(
    run: Run, tmp_path: Path, arguments: list[str], words: str
) -> None:
    result = run("reproduce", *arguments, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert words in result.output
