"""Summaries agree with their selection; pages load nothing and escape every name."""

from __future__ import annotations

import base64
import gzip
import json
import re
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.stats import spearmanr

import nullforest as nf
from nullforest.data.targets import as_target
from nullforest.report import render, render_html, render_markdown, summarize
from nullforest.report.cautions import cautions
from nullforest.selection.error_rates import ERROR_RATES


def _selection(error="fpr", alpha=0.01, names=None):
    rng = np.random.default_rng(2)
    counts = rng.poisson(3.0, 200)
    counts[:3] = 20, 45, 400
    tally = nf.Tally.from_counts(
        counts, nodes_per_tree=np.full(1, counts.sum()), n_samples=50, feature_names=names
    )
    return nf.select(tally, alpha=alpha, error=error, null="paper")


def _data_of(page):
    packed = re.search(r'id="data">([^<]*)<', page)[1]
    return json.loads(gzip.decompress(base64.b64decode(packed)))


def test_the_summary_is_plain_data():
    summary = summarize(_selection(), {"seed": 3}, command="nullforest demo")
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


def test_the_ties_give_back_every_feature():
    selection = _selection()
    ties = summarize(selection)["ties"]
    of_feature = np.array(ties["of_feature"])
    np.testing.assert_array_equal(np.array(ties["count"])[of_feature], selection.counts)
    np.testing.assert_array_equal(np.array(ties["p_value"])[of_feature], selection.pvalues)
    expected = selection.null.expected_counts()
    np.testing.assert_array_equal(np.array(ties["expected_count"])[of_feature], expected)
    assert all(a <= b for a, b in pairwise(ties["p_value"]))
    assert len(ties["count"]) == len(np.unique(selection.counts))


@pytest.mark.parametrize("error", ERROR_RATES)
def test_the_slider_lists_what_select_gives(error):
    selection = _selection(alpha=0.037)
    summary = summarize(selection)
    slider = summary["slider"]
    listed = slider["by_error"][error]
    assert 0.037 in slider["alpha"]
    for i, alpha in list(enumerate(slider["alpha"]))[::5]:
        there = nf.select(selection.tally, alpha, error, selection.null)
        assert listed["threshold"][i] == there.threshold
        assert listed["threshold_label"][i] == str(there.threshold)
        # Sums of the same terms in another order: a few hundred roundings at the most.
        assert listed["level"][i] == pytest.approx(there.level, rel=1e-12)
        assert listed["expected_false_positives"][i] == pytest.approx(
            there.expected_false_positives, rel=1e-12
        )


def test_the_page_needs_no_network_and_escapes_names(tmp_path):
    names = ["<script>alert(1)</script>", "a & b", *[f"f{i}" for i in range(198)]]
    selection = _selection(names=names)
    path = tmp_path / "report.html"
    selection.to_html(path)
    page = path.read_text()
    assert page == render_html(selection) == render(summarize(selection))
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert _data_of(page)["names"] == names
    assert not re.search(r"<(?:script|link|img|iframe)[^>]*(?:src|href)=(?![\"']?data:)", page)
    assert "default-src 'none'" in page
    assert selection.headline() in page
    assert "arXiv:1410.2838" in page


def test_an_empty_selection_is_explained():
    counts = np.full(50, 4)
    tally = nf.Tally.from_counts(counts, nodes_per_tree=[200], n_samples=50)
    selection = nf.select(tally, alpha=1e-6, null="paper")
    assert "Nothing was selected" in render_html(selection)
    assert "Nothing was selected" in selection.to_markdown()


def test_markdown_says_the_same_and_escapes_names():
    names = ["<b>|a_1|</b>", "c*d", *[f"f{i}" for i in range(198)]]
    selection = _selection("fdr", names=names)
    summary = summarize(selection, {"seed": 3}, command="nullforest select x.csv")
    text = render_markdown(summary)
    assert text.count("\n| ") >= selection.n_selected
    assert r"\<b\>\|a\_1\|\</b\>" in text
    assert r"c\*d" in text
    for words in ("| seed | 3 |", "nullforest select x.csv", "Benjamini Y, Hochberg Y"):
        assert words in text
    for row in summary["rows"]:
        assert f"| {row['count']} | {row['expected_count']:.3g} | {row['p_value']:.2g} |" in text


@pytest.mark.parametrize(
    ("error", "cited"),
    [("fdr", "Hochberg"), ("fdr_by", "Yekutieli"), ("fwer", "Holm"), ("fpr", None)],
)
def test_the_methods_cite_what_was_used(error, cited):
    summary = summarize(_selection(error))
    assert len(summary["references"]) == (2 if cited is None else 3)
    if cited is not None:
        assert cited in summary["references"][-1]
        assert cited in summary["methods"]


def test_cautions_name_what_is_wrong():
    selection = _selection()
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 200))
    fine = np.arange(50) % 2
    assert cautions(selection, X, as_target(fine, 50)) == []
    X[:, 7] = X[:, 100] = X[:, 3]
    X[:, 9] = 0.0
    X[:, 10] = -0.0
    rare = np.where(np.arange(50) < 4, "ill", "well")
    imbalance, duplicates = cautions(selection, X, as_target(rare, 50))
    assert "4 of 50 samples are 'ill'" in imbalance
    assert "3 columns repeat others: x7 (= x3), x10 (= x9), x100 (= x3)." in duplicates
    page = render_html(selection, X=X, y=rare)
    assert "are imbalanced" in page
    assert "columns repeat others" in page
    assert "are imbalanced" not in render_html(selection, y=rng.normal(size=50))
    for kind in (pd.DataFrame, sparse.csc_array, sparse.csr_matrix, nf.RankTable):
        assert "3 columns repeat others" in render_html(selection, X=kind(X))
    with pytest.raises(nf.InputError, match="give the same data"):
        render_html(selection, X=X[:, :9])


@pytest.mark.parametrize("criterion", ["variance", "gini", "entropy"])
def test_the_target_is_described_as_the_forest_took_it(criterion):
    rng = np.random.default_rng(3)
    y = np.arange(100) % 10  # numbers or classes: the forest knows
    X = rng.normal(size=(100, 600))
    X[:, :3] += 0.5 * y[:, None]
    selection = nf.select(nf.grow(X, y, trees=300, criterion=criterion, keep_trees=False))
    numbers = criterion == "variance"
    effects = selection.with_effects(X, y).effects
    assert effects.comparison == ("numbers" if numbers else "several classes")
    if numbers:
        expected = spearmanr(X[:, 0], y).statistic
        assert effects.columns["correlation"][0] == pytest.approx(expected)
    shown = summarize(selection, X=X, y=y)["pictures"]
    assert shown["target"]["kind"] == ("numbers" if numbers else "classes")
    splits = [sum(bars["number"]) for bars in shown["splits"]["bars"]]
    assert splits == selection.counts[shown["columns"]].tolist()
    display = selection.plot("features", X=X, y=y, number=2)
    assert (display.target.classes is None) == numbers
    plt.close(display.figure_)


def test_few_trees_are_cautioned_against():
    counts = np.zeros(400, int)
    counts[:30] = 1
    tally = nf.Tally.from_counts(counts, nodes_per_tree=[3] * 10, n_samples=50)
    few, unsettled = cautions(nf.select(tally, 0.05, "fpr", "paper"))
    assert "Few trees for this alpha" in few
    assert "The selection has not settled" in unsettled
    assert "to select about 0 features instead of 0" in unsettled
    (words,) = cautions(nf.select(tally, 0.1, "fpr", "paper"))  # reached: .072
    assert "The selection has not settled" in words
    assert "features instead of 30" in words


def test_a_selection_that_has_settled_is_not_cautioned_against():
    X, y, _ = nf.simulate.independent(100, 300, n_relevant=5, relevance=0.8)
    settled = nf.select(nf.grow(X, y, trees=2000).tally, 0.01, "fwer")
    assert settled.agreement.settled
    assert cautions(settled) == []
    ended = nf.watch(X, y, 0.3, "fpr", max_trees=150)  # this has a note of its own
    assert "had settled" in ended.notes[-1]
    assert not any("has not settled" in words for words in cautions(ended))
