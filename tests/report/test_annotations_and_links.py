"""Annotations stand beside names in every result; links are filled in and checked."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import nullforest as nf
from nullforest.data.annotations import matched
from nullforest.report.render import check_link, filled


def _selection():
    tally = nf.Tally.from_counts(
        [12, 1, 2, 2, 3], nodes_per_tree=[4] * 5, n_samples=20, feature_names=list("abcde")
    )
    return nf.select(tally, alpha=0.01, null="paper")


def test_annotations_are_in_table_csv_and_json(tmp_path):
    notes = pd.DataFrame({"gene": ["a", "e", "zzz"], "symbol": ["XIST", None, "X"]})
    selection = _selection().with_annotations(notes)
    assert selection.table["symbol"].to_dict() == {0: "XIST", 4: "", 2: "", 3: "", 1: ""}
    selection.to_csv(tmp_path / "t.csv")
    assert pd.read_csv(tmp_path / "t.csv")["symbol"][0] == "XIST"
    selection.to_json(tmp_path / "t.json")
    assert json.loads((tmp_path / "t.json").read_text())["selected"][0]["symbol"] == "XIST"
    again = selection.with_annotations({"place": {"a": "Xq13"}})
    assert list(again.annotations) == ["symbol", "place"]


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (pd.DataFrame({"gene": ["a"]}), "one column more"),
        (pd.DataFrame({"gene": ["a", "a"], "s": ["1", "2"]}), "several rows"),
        (pd.DataFrame({"gene": ["a"], "count": ["1"]}), "rename"),
        (pd.DataFrame({"gene": ["q"], "s": ["1"]}), "names none of the 5 features"),
        ("file.csv", "DataFrame"),
    ],
)
def test_wrong_annotations_are_refused(table, words):
    with pytest.raises(nf.InputError, match=words):
        matched(table, np.array(list("abcde")))


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ("javascript:alert('{feature}')", "no web address"),
        ("https://example.org/", "names no feature"),
        ("https://example.org/{symbol}", "no such column"),
    ],
)
def test_wrong_links_are_refused(link, words):
    with pytest.raises(nf.InputError, match=words):
        check_link(link)
    with pytest.raises(nf.InputError, match=words):
        _selection().to_html("unused.html", link=link)


def test_a_link_without_its_annotation_is_no_link():
    link = "https://example.org/{symbol}?q={feature}"
    assert filled(link, {"feature": "a b&c", "symbol": "X/Y"}) == (
        "https://example.org/X%2FY?q=a%20b%26c"
    )
    assert filled(link, {"feature": "a", "symbol": ""}) == ""


def test_notebooks_show_headline_table_and_counts():
    X, y, _ = nf.simulate.independent(60, 600, 4, 0.8)
    names = ["<script>alert(1)</script>", *(f"f{i}" for i in range(599))]
    selection = nf.watch(X, y, trees=300, feature_names=names)
    html = selection._repr_html_()
    assert nf.select(selection.tally).headline() in html
    assert html.count("<tr>") == 1 + min(selection.n_selected, 20)
    assert "data:image/png;base64," in html
    assert "higher in" in html
    assert "<script" not in html
    nothing = nf.select(selection.tally, 1e-9, "fwer")
    assert "Nothing was selected" in nothing._repr_html_()
