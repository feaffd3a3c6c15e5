"""`python -m reproduction` runs, resumes and refuses bad input."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from reproduction import low_dimensional, publishing
from reproduction.__main__ import app

Run = Callable[..., Result]


@pytest.fixture
def run() -> Run:
    def invoke(*arguments: object) -> Result:
        return CliRunner().invoke(app, [str(a) for a in arguments], env={"COLUMNS": "200"})

    return invoke


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let --quick take the smallest settings, so that the test is about the command."""
    monkeypatch.setitem(low_dimensional.SETTINGS, "quick", low_dimensional.SETTINGS["tiny"])


@pytest.mark.usefixtures("small")
def test_results_land_in_the_folder_and_are_used_again(run: Run, tmp_path: Path) -> None:
    arguments = ["low_dimensional", "--quick", "--runs", 2, "--jobs", 1, "--out"]
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


@pytest.mark.usefixtures("small")
def test_published_tables_figures_and_page(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publishing, "PUBLISHED", tmp_path / "published")
    monkeypatch.setattr(publishing, "PAGE", tmp_path / "page.md")
    arguments = ["low_dimensional", "--quick", "--runs", 2, "--jobs", 1, "--publish", "--out"]
    assert run(*arguments, tmp_path / "out").exit_code == 0
    names = {path.name for path in (tmp_path / "published").iterdir()}
    assert names == {"facts.json", "low_dimensional.csv", "low_dimensional.png"}
    page = (tmp_path / "page.md").read_text("utf-8")
    assert f"({publishing.FIGURES}low_dimensional.png)" in page
    assert page.endswith(publishing.MAPS)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--maps", "none.npz"], "no file"),
        (["power", "--finished"], "No setting is finished"),
        (["nothing"], "no experiment"),
    ],
)
def test_bad_requests_end_with_a_sentence(
    run: Run, tmp_path: Path, arguments: list[str], words: str
) -> None:
    result = run(*arguments, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert words in result.output
