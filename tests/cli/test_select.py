"""`nullforest select` does what its options say, and overwrites nothing."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from typing import get_args, get_type_hints

import numpy as np
import pandas as pd
import pytest

import nullforest as nf
from nullforest.cli import options
from nullforest.data.readers.roles import Roles
from nullforest.data.targets import Task
from nullforest.nulls import Kind
from nullforest.selection.error_rates import ErrorRate


def _answer(path):
    answer = json.loads(path.read_text())
    answer.pop("seconds")
    return answer


def test_outputs_agree_with_the_library(data, frame, tmp_path, run, quick):
    table, answer, tally = (tmp_path / name for name in ("t.csv", "a.json", "f.tally"))
    result = run(
        *["select", data, "--target", "ill", "--ids", "person", "--seed", 3, *quick],
        *["--table", table, "--json", answer, "--tally", tally],
    )
    assert result.exit_code == 0, result.stderr
    X = frame.drop(columns=["person", "ill"])
    forest = nf.grow(X, frame["ill"], trees=200, candidates=8, seed=3)
    selection = nf.select(forest.tally, null="paper").with_effects(X, frame["ill"])
    got = json.loads(answer.read_text())
    assert list(got)[:15] == [
        "n_samples",
        "n_features",
        "trees",
        "nodes",
        "candidates",
        "draw",
        "null",
        "error",
        "alpha",
        "threshold",
        "level",
        "expected_false_positives",
        "expected_agreement",
        "seconds",
        "selected",
    ]
    for row, expected in zip(got["selected"], selection.to_dict()["selected"], strict=True):
        assert row.pop("difference") == pytest.approx(
            expected.pop("difference"), rel=1e-6
        )  # float32
        assert row == expected
    np.testing.assert_array_equal(nf.Tally.load(tally).counts, forest.tally.counts)
    written = pd.read_csv(table)
    assert list(written["feature"]) == list(selection.table["feature"])
    # The position in the file, where the ids and the target are columns too.
    assert [frame.columns[i] for i in written["column"]] == list(written["feature"])
    for path in (table, answer, tally):
        assert f"wrote {path}" in result.stdout


def test_the_seed_decides_and_the_number_of_cores_does_not(data, tmp_path, run, quick):
    arguments = ["select", data, "--target", "ill", "--drop", "person", *quick]
    answers = []
    for i, (seed, jobs) in enumerate([(1, 1), (1, 2), (2, 2)]):
        path = tmp_path / f"{i}.tally"
        assert run(*arguments, "--seed", seed, "--jobs", jobs, "--tally", path).exit_code == 0
        answers.append(nf.Tally.load(path))
    assert answers[0] == answers[1]
    assert not np.array_equal(answers[1].counts, answers[2].counts)


def test_nothing_is_overwritten_without_being_asked(data, tmp_path, run, quick):
    out = tmp_path / "out.json"
    out.write_text("precious")
    # So many trees that the test would not end, were they grown before the check.
    slow = ["--trees", 2_000_000_000]
    arguments = ["select", data, "--target", "ill", "--drop", "person", "--json", out]
    result = run(*arguments, *slow)
    assert result.exit_code == 2
    assert "exists already" in result.stderr
    assert out.read_text() == "precious"
    assert run(*arguments, *quick, "--force").exit_code == 0
    assert _answer(out)["n_features"] == 30


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--table", "people.csv", "--force"], "would overwrite the data"),
        (["--table", "a", "--json", "a"], "both name"),
        (["--table", "nowhere/a.csv"], "There is no folder"),
        (["--report", "."], "is a folder"),
    ],
)
def test_outputs_that_cannot_be_are_refused_at_once(
    arguments, words, data, tmp_path, run, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    before = data.read_bytes()
    result = run("select", data, "--target", "ill", "--trees", 2_000_000_000, *arguments)
    assert result.exit_code == 2
    assert words in result.stderr
    assert data.read_bytes() == before


def test_a_closed_pipe_does_not_cost_the_results(data, tmp_path, quick):
    out = tmp_path / "out.json"
    arguments = ["select", data, "--target", "ill", "--drop", "person", "--json", out, *quick]
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "nullforest", *[str(a) for a in arguments]],
            stdout=writer,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    finally:
        os.close(writer)
    assert _answer(out)["n_features"] == 30
    assert "Traceback" not in done.stderr


def test_a_terminal_that_cannot_show_a_name_does_not_end_the_run(
    frame, tmp_path, command, quick, monkeypatch
):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    path = tmp_path / "names.csv"
    frame.rename(columns={"gene 3": "Größe"}).to_csv(path, index=False)
    done = command("select", path, "--target", "ill", "--drop", "person", *quick)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Gr\\xf6\\xdfe" in done.stdout


def test_a_disk_that_fails_is_said_and_the_other_files_are_written(
    data, tmp_path, run, quick, monkeypatch
):
    def full(self, path):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(nf.Selection, "to_csv", full)
    table, out = tmp_path / "t.csv", tmp_path / "out.json"
    arguments = ["--target", "ill", "--drop", "person", "--table", table, "--json", out]
    result = run("select", data, *arguments, *quick)
    assert result.exit_code == 2
    assert "could not be written: No space left on device." in result.stderr
    assert "gene 3" in result.stdout
    assert not table.exists()
    assert out.exists()


def test_nothing_selected_is_explained(data, run):
    arguments = ["--alpha", "1e-12", "--error", "fwer", "--trees", 5, "--null", "paper"]
    result = run("select", data, "--target", "ill", "--drop", "person", *arguments)
    assert result.exit_code == 0
    assert "Nothing was selected. The most significant feature" in result.stdout


def test_quiet_prints_nothing(data, tmp_path, run, quick):
    out = tmp_path / "out.json"
    arguments = ["--target", "ill", "--drop", "person", "--json", out, "--quiet", *quick]
    result = run("select", data, *arguments)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")
    assert out.exists()


@pytest.mark.parametrize("draw", ["node", "tree"])
def test_options_of_the_forest_reach_it(draw, data, tmp_path, run):
    path = tmp_path / "f.tally"
    result = run(
        *["select", data, "--target", "ill", "--drop", "person", "--tally", path],
        *["--draw", draw, "--trees", 50, "--candidates", 6, "--set", "max_depth=2"],
        *["--set", "min_leaf=3", "--set", "replace=true"],
    )
    assert result.exit_code == 0, result.stderr
    tally = nf.Tally.load(path)
    assert (tally.n_trees, tally.candidates, tally.draw) == (50, 6, draw)
    assert tally.nodes_per_tree.max() <= 3


def test_trees_grow_until_the_selection_has_settled(data, tmp_path, run, frame):
    path, out = tmp_path / "f.tally", tmp_path / "out.json"
    arguments = ["select", data, "--target", "ill", "--drop", "person"]
    result = run(*arguments, "--tally", path, "--json", out)
    assert result.exit_code == 0, result.stderr
    grown = nf.grow(frame.drop(columns=["person", "ill"]), frame["ill"])
    assert nf.Tally.load(path) == grown.tally
    expected = nf.select(grown).agreement.expected
    assert _answer(out)["expected_agreement"] == expected
    said = f"is expected to have a Jaccard index of {expected:.2f} with this one"
    assert said in " ".join(result.stdout.split())


def test_full_trees_have_no_limit_of_depth(data, tmp_path, run, frame, quick):
    path = tmp_path / "f.tally"
    arguments = ["select", data, "--target", "ill", "--drop", "person", "--set", "max_depth=none"]
    assert run(*arguments, "--tally", path, *quick).exit_code == 0
    X, how = frame.drop(columns=["person", "ill"]), {"trees": 200, "candidates": 8}
    assert nf.Tally.load(path) == nf.grow(X, frame["ill"], max_depth=None, **how).tally


@pytest.mark.parametrize("report", [False, True])
@pytest.mark.parametrize("resume", [False, True])
def test_limits_of_trees_and_time_are_said(data, tmp_path, run, report, resume):
    out = tmp_path / "out.json"
    arguments = ["select", data, "--target", "ill", "--drop", "person", "--json", out, "--force"]
    arguments += ["--report", tmp_path / "r.html"] if report else []
    # An unusual level, at which few trees do not settle.
    arguments += ["--alpha", 0.5, "--error", "fpr"]

    def notes(name, *more):
        again = ["--resume", tmp_path / name] if resume else []
        result = run(*arguments, *more, *again)
        assert result.exit_code == 0, result.stderr
        answer = _answer(out)
        assert all(
            " ".join(note.split()) in " ".join(result.stdout.split()) for note in answer["notes"]
        )
        return answer["trees"], " ".join(answer["notes"])

    trees, said = notes("a", "--max-trees", 60)
    assert trees == 60
    assert "The largest number of trees was reached before the selection had settled" in said
    trees, said = notes("b", "--max-seconds", 0, "--jobs", 1)
    assert "The time was over" in said
    trees, said = notes("c", "--max-seconds", 0, "--jobs", 1, "--trees", 10_000_000)
    assert f"Stopped by --max-seconds after {trees} of 10000000 trees." in said
    assert trees < 10_000_000
    refused = run(*arguments, "--trees", 50, "--max-trees", 60)
    assert refused.exit_code == 2
    assert "--max-trees is for --trees auto; omit one" in refused.stderr


def test_notes_tell_what_was_left_out_and_assumed(frame, tmp_path, run, quick):
    frame["batch"] = 7
    frame.loc[[1, 5], "gene 2"] = np.nan
    frame["grade"] = np.where(frame["ill"] == "yes", 3, np.arange(len(frame)) % 2 + 1)
    path = tmp_path / "notes.csv"
    frame.to_csv(path, index=False)
    arguments = ["--target", "grade", "--ids", "person", "--drop", "ill", *quick]
    result = run("select", path, *arguments)
    assert result.exit_code == 0, result.stderr
    assert (
        "1 column has the same value in all samples, so that no node can split it: 'batch'"
        in result.stdout
    )
    assert "2 values are missing in 1 of 31 columns (most in 'gene 2'" in result.stdout
    assert "taken for classes; --task regression takes them for amounts" in result.stdout


def test_a_numeric_target_means_regression(frame, tmp_path, run, quick):
    path, out = tmp_path / "numbers.csv", tmp_path / "out.json"
    frame["height"] = frame["gene 3"] * 2 + frame["gene 11"]
    frame.to_csv(path, index=False)
    arguments = ["--target", "height", "--drop", "person", "--drop", "ill", "--json", out]
    result = run("select", path, *arguments, *quick)
    assert result.exit_code == 0, result.stderr
    top = [row["feature"] for row in _answer(out)["selected"]][:2]
    assert sorted(top) == ["gene 11", "gene 3"]


def test_the_words_of_the_options_are_those_of_the_library():
    assert get_args(options.ErrorName) == get_args(ErrorRate)
    assert get_args(options.NullName) == get_args(Kind)
    assert get_args(get_args(get_type_hints(Roles, include_extras=True)["task"])[0]) == get_args(
        Task
    )


def test_without_arguments_the_help_is_shown(run):
    result = run()
    assert "Usage: nullforest" in result.output
    assert "select" in result.output


def test_help_does_not_wait_for_the_heavy_libraries(command):
    code = (
        "import sys\nfrom typer.testing import CliRunner\nfrom nullforest.cli.app import app\n"
        "assert CliRunner().invoke(app, ['select', '--help']).exit_code == 0\n"
        "print([m for m in ('scipy', 'pandas', 'sklearn', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    shown = command("--version")
    assert (shown.returncode, shown.stdout) == (0, f"nullforest {nf.__version__}\n")
