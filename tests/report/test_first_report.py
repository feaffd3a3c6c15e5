"""Does the report show what the selection says, and nothing from elsewhere?"""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from itertools import pairwise

import numpy as np
import pytest

import nullforest as nf
from nullforest.report import render, render_html, summarize
from nullforest.report.histogram import histogram_svg


def _selection(error="fpr", alpha=0.01, names=None):
    rng = np.random.default_rng(2)
    counts = rng.poisson(3.0, 200)
    counts[:3] = 20, 45, 400
    tally = nf.Tally.from_counts(
        counts, nodes_per_tree=np.full(1, counts.sum()), n_samples=50, feature_names=names
    )
    return nf.select(tally, alpha=alpha, error=error, null="paper")


def test_the_summary_is_plain_data():
    summary = summarize(_selection(), {"seed": 3})
    assert json.loads(json.dumps(summary)) == summary


@pytest.mark.parametrize("error", ["fpr", "fdr", "fwer"])
def test_the_histogram_counts_every_feature_once(error):
    selection = _selection(error)
    drawn = summarize(selection)["histogram"]
    bins = drawn["bins"]
    assert sum(b["features"] for b in bins) == 200
    above = sum(b["features"] for b in bins if b["low"] > drawn["threshold"])
    assert above == selection.n_selected
    assert all(b["low"] == a["high"] + 1 for a, b in pairwise(bins))
    assert any(b["high"] == selection.threshold for b in bins)
    for b in bins[:8]:
        k = np.arange(b["low"], b["high"] + 1)
        assert b["expected"] == pytest.approx(200 * selection.null.pmf(k).sum(), abs=1e-9)


def test_the_figure_is_well_formed_and_has_a_bar_per_filled_bin():
    drawn = summarize(_selection())["histogram"]
    svg = ET.fromstring(histogram_svg(drawn))
    bars = svg.findall("rect")
    assert len(bars) == sum(b["features"] > 0 for b in drawn["bins"])
    assert {bar.get("class") for bar in bars} == {"selected", "other"}


def test_the_page_needs_no_network_and_escapes_names(tmp_path):
    names = ["<script>alert(1)</script>", "a & b", *[f"f{i}" for i in range(198)]]
    selection = _selection(names=names)
    path = tmp_path / "report.html"
    selection.to_html(path)
    page = path.read_text()
    assert page == render_html(selection) == render(summarize(selection))
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "http://" not in page
    assert "https://" not in page
    assert "src=" not in page
    assert selection.headline() in page
    assert "Konukoglu" in page


def test_an_empty_selection_is_explained():
    counts = np.full(50, 4)
    tally = nf.Tally.from_counts(counts, nodes_per_tree=[200], n_samples=50)
    page = render_html(nf.select(tally, alpha=1e-6, null="paper"))
    assert "Nothing was selected" in page
