"""`nullforest select --report` writes the page; a page that fails costs no other file."""

from __future__ import annotations

import html
import re
import shlex

import pytest

import nullforest.report
from nullforest.cli import outputs


def _arguments(data, *more):
    return ["select", data, "--target", "ill", "--ids", "person", *more]


def test_the_page_says_how_to_repeat_the_run(data, tmp_path, run, quick):
    page, tally = tmp_path / "out.html", tmp_path / "a.tally"
    options = ["--error", "fdr", "--seed", 5, "--set", "samples=0.7"]
    options += ["--set", "max_depth=4", "--set", "replace=true"]
    result = run(*_arguments(data, *quick, *options), "--report", page, "--tally", tally)
    assert result.exit_code == 0, result.stderr
    text = page.read_text()
    assert 'id="trajectory" >' in text  # trees were watched
    for words in ("people.csv", "0.7 of all, with replacement", "Benjamini Y, Hochberg Y"):
        assert words in text
    program, *again = shlex.split(html.unescape(re.search("<code>(.*)</code>", text)[1]))
    assert program == "nullforest"
    copy = tmp_path / "b.tally"
    assert run(*again, "--tally", copy).exit_code == 0
    assert copy.read_bytes() == tally.read_bytes()  # without --report nothing is watched


def test_duplicated_columns_and_rare_classes_are_warned_of(frame, tmp_path, run, quick):
    frame["copy of 3"] = frame["gene 3"]
    frame["ill"] = ["yes"] * 5 + ["no"] * (len(frame) - 5)
    data, page = tmp_path / "odd.csv", tmp_path / "out.html"
    frame.to_csv(data, index=False)
    assert run(*_arguments(data, *quick, "--report", page)).exit_code == 0
    text = html.unescape(page.read_text())
    assert "copy of 3 (= gene 3)" in text
    assert "5 of 60 samples are 'yes'" in text


def test_a_path_that_cannot_be_written_any_more_costs_only_the_report(
    data, tmp_path, run, quick, monkeypatch
):
    page = tmp_path / "gone" / "out.html"
    page.parent.mkdir()
    table, answer = tmp_path / "t.csv", tmp_path / "a.json"
    check = outputs.Outputs.check

    def check_then_lose_the_folder(self, **arguments):
        check(self, **arguments)
        page.parent.rmdir()

    monkeypatch.setattr(outputs.Outputs, "check", check_then_lose_the_folder)
    result = run(*_arguments(data, *quick, "--report", page, "--table", table, "--json", answer))
    assert result.exit_code == 2
    assert f"{page} could not be written: No such file or directory." in result.stderr
    assert "gene 3" in result.stdout
    assert table.exists()
    assert answer.exists()
    assert f"wrote {page}" not in result.stdout
    assert f"wrote {table}" in result.stdout


@pytest.mark.parametrize("error", [ValueError("no ink"), MemoryError()])
def test_a_page_that_cannot_be_made_costs_only_the_report(
    data, tmp_path, run, quick, monkeypatch, error
):
    def fails(summary):
        raise error

    monkeypatch.setattr(nullforest.report, "render", fails)
    page, table = tmp_path / "out.html", tmp_path / "t.csv"
    result = run(*_arguments(data, *quick, "--report", page, "--table", table))
    assert result.exit_code == 2
    reason = str(error) or "MemoryError"
    assert f"{page} could not be written: {reason}." in result.stderr
    assert table.exists()
    assert not page.exists()


def test_annotations_and_links_are_checked_before_the_forest(data, tmp_path, run, quick):
    notes, page, table = tmp_path / "notes.csv", tmp_path / "out.html", tmp_path / "t.csv"
    wrong = _arguments(data, *quick, "--report", page, "--annotations", notes)
    result = run(*wrong)
    assert result.exit_code == 2
    assert f"There is no file {notes}" in result.stderr
    notes.write_text("name,place\nno such gene,1p\n")
    result = run(*wrong)
    assert result.exit_code == 2
    assert "names none of the" in result.stderr
    result = run(*_arguments(data, *quick, "--report", page, "--link", "https://example.org/"))
    assert result.exit_code == 2
    assert "write {feature}" in result.stderr
    assert not page.exists()
    notes.write_text("name,place\ngene 3,Xq13\n")
    link = ["--link", "https://example.org/{place}/{feature}"]
    result = run(*wrong, *link, "--table", table)
    assert result.exit_code == 0, result.stderr
    text = page.read_text()
    assert 'href="https://example.org/Xq13/gene%203"' in text
    assert "Xq13" in table.read_text()
