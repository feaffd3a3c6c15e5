"""The same table gives the same selection, whatever file it comes in."""

from __future__ import annotations

import csv
import html
import io
import json
import re
import shlex

import numpy as np
import pyarrow as pa
import pytest

FORMATS = [
    "csv",
    "tsv",
    "csv.gz",
    "tsv.bz2",
    "csv.xz",
    "csv.zst",
    "parquet",
    "npz",
    "npy",
    "semicolon.csv",
    "r.csv",
    "csv2.csv",
    "table.txt",
    "genes.csv",
]


def _save(frame, path, kind):
    """Write the table; say what to give beside --target."""
    features = frame.drop(columns=["person", "ill"])
    target, beside = "ill", ["--ids", "person"]
    if kind == "parquet":
        frame.to_parquet(path)
    elif kind == "npz":
        np.savez(
            path,
            X=features.to_numpy(),
            feature_names=features.columns.to_numpy(str),
            ill=frame["ill"].to_numpy(str),
            person=frame["person"].to_numpy(str),
        )
    elif kind == "npy":
        ill = (frame["ill"] == "yes").to_numpy(np.float32)
        np.save(path, np.column_stack([features.to_numpy(), ill]))
        target, beside = "-1", []
    elif kind == "csv.zst":
        text = frame.to_csv(index=False).encode()
        with pa.output_stream(str(path), compression="zstd") as file:
            file.write(text)
    elif kind == "semicolon.csv":
        frame.to_csv(path, index=False, sep=";")
    elif kind == "r.csv":  # the names of the rows first, under no name
        frame.set_index("person").rename_axis(None).to_csv(path)
        beside = []
    elif kind == "csv2.csv":  # write.csv2 of R
        frame.set_index("person").rename_axis(None).to_csv(path, sep=";", decimal=",")
        beside = []
    elif kind == "table.txt":  # write.table of R: no name above the names of the rows
        text = frame.set_index("person").to_csv(sep=" ", quoting=csv.QUOTE_NONNUMERIC)
        path.write_text(text.removeprefix('"person" '))
        beside = []
    elif kind == "genes.csv":
        frame.set_index("person").T.to_csv(path)
        beside = ["--transpose"]
    else:
        frame.to_csv(path, index=False, sep="\t" if kind.startswith("tsv") else ",")
    return ["--target", target, *beside]


@pytest.mark.parametrize("kind", FORMATS)
def test_every_format_gives_the_same_selection(kind, frame, data, tmp_path, run, quick):
    expected, out = tmp_path / "expected.json", tmp_path / "out.json"
    by_csv = ["--target", "ill", "--ids", "person", "--json", expected]
    assert run("select", data, *by_csv, *quick).exit_code == 0
    path = tmp_path / f"table.{kind}"
    arguments = _save(frame, path, kind)
    result = run("select", path, *arguments, "--json", out, *quick)
    assert result.exit_code == 0, result.stderr
    want, got = json.loads(expected.read_text()), json.loads(out.read_text())
    if kind == "npy":  # columns without names, and classes as numbers
        for row in want["selected"]:
            row["feature"] = row["feature"].replace("gene ", "x")
    if kind == "csv2.csv":
        assert "Numbers were read with a decimal comma." in got["notes"]
        got["notes"].remove("Numbers were read with a decimal comma.")
    assert {row["feature"] for row in want["selected"]} >= (
        {"x3", "x11"} if kind == "npy" else {"gene 3", "gene 11"}
    )
    for answer in (want, got):
        del answer["seconds"]
    # Sums of values depend on how these lie in memory; classes have other names in some formats.
    of_data = [
        [(row.pop("difference"), row.pop("auc")) for row in answer["selected"]]
        for answer in (want, got)
    ]
    np.testing.assert_allclose(*of_data, rtol=1e-6)
    for answer in (want, got):
        del answer["effects"]
        for row in answer["selected"]:
            del row["higher_in"]
    assert got == want


def test_the_command_in_the_report_reads_the_table_the_same_way(frame, tmp_path, run, quick):
    path, page = tmp_path / "genes.csv", tmp_path / "out.html"
    frame.set_index("person").T.to_csv(path, sep=";", decimal=",")
    options = ["--transpose", "--decimal", ","]
    tallies = tmp_path / "a.tally", tmp_path / "b.tally"
    result = run(
        "select", path, "-t", "ill", *options, *quick, "--report", page, "--tally", tallies[0]
    )
    assert result.exit_code == 0, result.stderr
    again = shlex.split(html.unescape(re.search("<code>(.*)</code>", page.read_text())[1]))[1:]
    assert run(*again, "--tally", tallies[1]).exit_code == 0
    assert tallies[0].read_bytes() == tallies[1].read_bytes()


def test_names_of_any_kind_survive_to_table_json_and_report(frame, tmp_path, run, quick):
    import pandas as pd

    odd = 'Größe, "β₂" <b>&amp;</b> [red]日本[/red]'
    frame = frame.rename(columns={"gene 3": odd, "ill": "krank, ja"})
    path = tmp_path / "Daten, neu.csv"
    frame.to_csv(path, index=False)
    table, answer, report = (tmp_path / f"out.{end}" for end in ("csv", "json", "html"))
    result = run(
        *["select", path, "--target", "krank, ja", "--drop", "person", *quick],
        *["--table", table, "--json", answer, "--report", report],
    )
    assert result.exit_code == 0, result.stderr
    assert odd in result.stdout
    assert odd in list(pd.read_csv(table)["feature"])
    assert odd in [row["feature"] for row in json.loads(answer.read_text())["selected"]]
    page = report.read_text()
    assert "Größe, &quot;β₂&quot; &lt;b&gt;&amp;amp;&lt;/b&gt; [red]日本[/red]" in page
    assert "<b>" not in page


def test_a_spreadsheet_with_a_byte_order_mark_reads_like_any_other(frame, tmp_path, run, quick):
    path = tmp_path / "excel.csv"
    text = io.StringIO()
    frame.set_index("ill").to_csv(text)
    path.write_bytes(b"\xef\xbb\xbf" + text.getvalue().encode())
    result = run("select", path, "--target", "ill", "--drop", "person", *quick)
    assert result.exit_code == 0, result.stderr
