"""What the terminal shows: expected errors, tables of 80 columns, no control characters."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from nullforest.cli.app import app

QUICK = ("--trees", "60", "--candidates", "8")


@pytest.fixture
def narrow(data, tmp_path):
    """The standard output of a command in a terminal of 80 columns."""

    def invoke(*arguments: object) -> str:
        words = [str(a) for a in arguments]
        result = CliRunner().invoke(app, words, env={"COLUMNS": "80"})
        assert result.exit_code == 0, result.output
        return result.stdout

    return invoke


@pytest.mark.parametrize(
    ("error", "words"),
    [
        ("fdr", "At most {0.05} false positives are expected among"),
        ("fdr_by", "At most {0.05} false positives are expected among"),
        ("fpr", "At most "),
        ("fwer", "The probability of any false positive among"),
    ],
)
def test_the_expected_errors_are_always_printed(error, words, run, data, quick):
    arguments = ["select", data, "-t", "ill", "--drop", "person", *quick, "--error", error]
    shown = run(*arguments).stdout
    n = int(shown.split()[0])
    assert n > 1
    assert words.replace("{0.05}", f"{0.05 * n:.3g}") in shown


def test_fdr_is_the_default_of_every_command(run):
    for command in ("select", "compare", "merge", "plan"):
        assert "[default: fdr]" in " ".join(run(command, "--help").output.split())


def test_headers_fit_80_columns(narrow, data, tmp_path, run, quick):
    common = [data, "-t", "ill", "--drop", "person", *QUICK]
    tally = tmp_path / "a.tally"
    methods = "paper,bagged,probes,altmann_permutation,altmann_gini,janitza,boruta"
    pages = {
        "feature count expected p q": narrow("select", *common, "--tally", tally),
        "method selected fpr fnr fdr power seconds forests": narrow(
            *["compare", *common, "--methods", methods, "--relevant", "gene 3,gene 11"],
            *["--permutations", 9, "--rounds", 5],
        ),
        "null alpha reached low high ratio": narrow(
            "audit", *common, "--permutations", 3, "--nulls", "paper,bagged"
        ),
        "candidates trees power": narrow(
            *["plan", "--n-samples", 40, "--n-features", 50, "--n-relevant", 5, "--runs", 1],
            *["--trees", 50, "--candidates", 8],
        ),
    }
    for header, page in pages.items():
        table = [line for line in page.splitlines() if not line.startswith(("note:", "wrote"))]
        assert any(" ".join(line.split()).startswith(header) for line in table), page
        assert "…" not in page
        rows = [line for line in table if "  " in line.strip()]
        assert max(map(len, rows)) <= 80


def test_control_characters_do_not_reach_the_terminal(run, frame, tmp_path, quick):
    evil = "gene\x1b]0;owned\x07\x1b[2J\u202e3\x9b31m"
    frame = frame.rename(columns={"gene 3": evil, "gene 5": "a\x1bb"})
    frame["gene 4"] = 1.0
    frame = frame.rename(columns={"gene 4": "const\x1b[5m"})
    data, table = tmp_path / "evil\x1b[1m.csv", tmp_path / "t.csv"
    frame.to_csv(data, index=False)
    shown = []
    for more in (["--alpha", 0.05], ["--alpha", 1e-300], ["--target", "none\x1b[3m"]):
        result = run("select", data, "-t", "ill", "--drop", "person", *quick, *more)
        shown += [result.stdout, result.stderr]
    shown.append(run("compare", data, "-t", "ill", "--relevant", "x\x1by").stderr)
    for text in shown:
        assert not {c for c in text if ord(c) < 32 or 127 <= ord(c) < 160} - {"\n"}
        assert "\u202e" not in text
    assert run("select", data, "-t", "ill", "--drop", "person", *quick, "--table", table,
               "--force").exit_code == 0  # fmt: skip
    assert evil in set(pd.read_csv(table)["feature"])  # files keep the name


def test_lone_surrogates_in_names_reach_every_output(run, tmp_path, quick):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 12))
    names = np.array(["odd\udcff", *[f"f{i}" for i in range(11)]])
    path = tmp_path / "odd.npz"
    np.savez(path, X=X, y=X[:, 0] > 0, names=names)
    outputs = [tmp_path / name for name in ("t.csv", "t.json", "t.html", "t.tally")]
    options = ("--table", "--json", "--report", "--tally")
    pairs = [word for pair in zip(options, outputs, strict=True) for word in pair]
    result = run("select", path, "-t", "y", *quick, *pairs)
    assert result.exit_code == 0, result.output
    table, answer, page, _ = outputs
    assert "odd\\udcff" in set(pd.read_csv(table)["feature"])
    assert json.loads(answer.read_text())["selected"][0]["feature"] == "odd\\udcff"
    assert "odd\\udcff" in page.read_text()


@pytest.mark.parametrize("arguments", [["--help"], ["select", "DATA", "-t", "ill", *QUICK]])
def test_a_full_standard_output_is_said(arguments, data, tmp_path):
    words = [str(data) if word == "DATA" else word for word in arguments]
    table = tmp_path / "t.csv"
    if len(words) > 1:
        words += ["--drop", "person", "--table", str(table)]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "nullforest", *words],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == "Error: The output could not be written: No space left on device.\n"
    assert len(words) == 1 or table.exists()  # files are written first


LONG = "x" * 300


@pytest.mark.parametrize(
    "arguments",
    [
        ["select", LONG, "-t", "ill"],
        ["select", "DATA", "-t", LONG],
        ["select", "DATA", "-t", "ill", "--ids", LONG],
        ["select", "DATA", "-t", "ill", "--drop", LONG],
        ["select", "DATA", "-t", "ill", "--table", LONG],
        ["select", "DATA", "-t", "ill", "--drop", "person", "--resume", LONG],
        ["select", "--resume", LONG],
        ["compare", "DATA", "-t", "ill", "--relevant", LONG],
        ["compare", "DATA", "-t", "ill", "--drop", "person", "--methods", LONG],
        ["audit", "DATA", "-t", "ill", "--nulls", LONG],
        ["audit", "DATA", "-t", "ill", "--alphas", LONG],
        ["merge", LONG],
        ["simulate", "independent", f"{LONG}.csv"],
        ["simulate", "cortical", "a.npz", "--maps", LONG],
        ["demo", "--out", LONG],
    ],
)
def test_arguments_of_300_characters_end_in_a_sentence(arguments, run, data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run(*[str(data) if word == "DATA" else word for word in arguments])
    assert isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: ")
    assert len(result.stderr.strip().splitlines()) == 1


def test_relevant_names_in_another_encoding_are_refused(run, data, tmp_path):
    names = tmp_path / "names.txt"
    names.write_bytes("gène 3\n".encode("latin-1"))
    result = run("compare", data, "-t", "ill", "--drop", "person", "--relevant", names)
    assert result.exit_code == 2
    assert "is not text in UTF-8" in result.stderr


HEAVY = "('scipy', 'pandas', 'sklearn', 'pyarrow')"


@pytest.mark.parametrize(
    "arguments",
    [
        ["select", "none.csv", "-t", "ill"],
        ["select", "people.csv", "-t", "il"],
        ["select", "people.csv", "-t", "ill", "--ids", "nobody"],
        ["select", "people.csv", "-t", "ill", "--alpha", "2"],
        ["select", "people.csv", "-t", "ill", "--table", "people.csv"],
        ["audit", "people.csv", "-t", "il"],
        ["audit", "people.csv", "-t", "ill", "--plot", "x.foo"],
        ["compare", "people.csv", "-t", "il"],
        ["merge", "none.tally"],
        ["simulate", "independent", "data.xyz"],
    ],
)
def test_errors_do_not_wait_for_the_heavy_libraries(arguments, data, tmp_path):
    code = (
        "import sys\nfrom typer.testing import CliRunner\nfrom nullforest.cli.app import app\n"
        f"result = CliRunner().invoke(app, {arguments!r})\n"
        "assert result.exit_code == 2, result.output\n"
        f"print([m for m in {HEAVY} if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ},
    )
    assert done.stdout.strip() == "[]", done.stderr
