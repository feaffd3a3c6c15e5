"""`nullforest compare` and `nullforest audit`: tables, files, and sentences for what is wrong."""

import json

import pandas as pd

QUICK = ("--trees", "100", "--candidates", "8")


def test_compare_prints_a_table_and_writes_files(run, data, tmp_path):
    result = run(
        "compare", data, "-t", "ill", "--drop", "person", "--methods", "paper,altmann,boruta_py_",
        *QUICK,
    )  # fmt: skip
    assert result.exit_code == 2
    assert "no method 'boruta_py_'" in result.stderr
    result = run(
        "compare", data, "-t", "ill", "--drop", "person", "--methods", "paper, altmann, janitza",
        "--relevant", "gene 3,gene 11", "--permutations", "19", "--json", tmp_path / "c.json",
        "--table", tmp_path / "c.csv", *QUICK,
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert "altmann" in result.stdout
    assert "selected by both of two methods" in result.stdout
    stored = json.loads((tmp_path / "c.json").read_text())
    assert [row["method"] for row in stored["methods"]] == ["paper", "altmann", "janitza"]
    assert {"gene 3", "gene 11"} <= set(stored["methods"][0]["features"])
    assert stored["methods"][0]["power"] == 1.0
    assert len(pd.read_csv(tmp_path / "c.csv")) == 30
    assert (
        "exists already"
        in run("compare", data, "-t", "ill", "--json", tmp_path / "c.json", *QUICK).stderr
    )


def test_compare_takes_the_truth_from_a_file(run, data, tmp_path):
    names = tmp_path / "truth.txt"
    names.write_text("gene 3\ngene 11\n")
    arguments = ("compare", data, "-t", "ill", "--drop", "person", "--methods", "paper", *QUICK)
    assert "power" in run(*arguments, "--relevant", names).stdout
    assert "no feature" in run(*arguments, "--relevant", "gene 99").stderr


def test_audit_gives_a_verdict_a_table_and_a_picture(run, data, frame, tmp_path):
    result = run(
        "audit", data, "-t", "ill", "--drop", "person", "--nulls", "paper,bagged",
        "--alphas", "0.05,0.01", "--permutations", "3", "--json", tmp_path / "a.json",
        "--table", tmp_path / "a.csv", "--plot", tmp_path / "qq.png", *QUICK,
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert "At α = 0.01 the paper's null model selects" in result.stdout
    assert json.loads((tmp_path / "a.json").read_text())["forests"] == 3
    assert len(pd.read_csv(tmp_path / "a.csv")) == 4
    assert (tmp_path / "qq.png").stat().st_size > 1000
    assert "is no list of numbers" in run("audit", data, "-t", "ill", "--alphas", "few").stderr


def test_audit_permutes_within_blocks(run, frame, tmp_path):
    frame["site"] = [f"site {i % 3}" for i in range(len(frame))]
    path = tmp_path / "sites.csv"
    frame.to_csv(path, index=False)
    arguments = ("--nulls", "paper", "--permutations", "2", "--ids", "person", *QUICK)
    result = run("audit", path, "-t", "ill", "--blocks", "site", *arguments)
    assert result.exit_code == 0, result.stderr
    frame["site"] = frame["ill"]
    frame.to_csv(path, index=False)
    result = run("audit", path, "-t", "ill", "--blocks", "site", *arguments)
    assert result.exit_code == 2
    assert "constant within every block" in result.stderr
