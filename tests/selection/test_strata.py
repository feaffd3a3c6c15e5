"""Selections in strata: thresholds, expected counts and sentences of each feature's own stratum."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import nullforest as nf
from nullforest.report import summarize
from nullforest.selection.error_rates import ERROR_RATES


@pytest.fixture(scope="module")
def tally():
    """Continuous and few-level columns; the latter are selected much less often."""
    rng = np.random.default_rng(4)
    X = np.hstack([rng.normal(size=(80, 150)), rng.binomial(2, 0.3, (80, 150))])
    y = np.arange(80) % 2
    X[:, :4] += 1.2 * y[:, None]
    X[:, 150:153] += y[:, None]
    return nf.grow(X, y, trees=300, candidates=30).tally


@pytest.fixture(scope="module")
def null(tally):
    return nf.null(tally)


def test_strata_have_different_null_distributions(null):
    assert len(np.unique(null.feature_strata)) > 1
    assert len(np.unique(null.expected_counts())) == len(np.unique(null.feature_strata))


@pytest.mark.parametrize("error", ERROR_RATES)
@pytest.mark.parametrize("alpha", [0.2, 0.05, 1e-6])
def test_every_feature_is_held_to_the_threshold_of_its_stratum(tally, null, error, alpha):
    s = nf.select(tally, alpha, error, null)
    np.testing.assert_array_equal(s.support, s.counts > s.thresholds)
    for number in np.unique(null.feature_strata):
        assert len(np.unique(s.thresholds[null.feature_strata == number])) == 1
    exceeding = sum(
        float(null.stratum(stratum).sf(threshold))
        for stratum, threshold in zip(null.feature_strata, s.thresholds, strict=True)
    )
    assert s.expected_false_positives == pytest.approx(exceeding, rel=1e-9)
    assert s.level == pytest.approx(exceeding / tally.n_features, rel=1e-9)
    # What the error rate promises, were all features null (Holm: Markov's inequality).
    allowed = {"fpr": tally.n_features, "fwer": 1.0}.get(error, max(s.n_selected, 1))
    assert s.expected_false_positives <= alpha * allowed * (1 + 1e-9)


def _texts(s, tmp_path):
    summary = summarize(s)
    return [s.headline(), repr(s), summary["methods"], s.to_markdown(), str(summary["run"])]


@pytest.mark.parametrize("error", ERROR_RATES)
def test_no_sentence_claims_a_common_threshold(tally, null, error, tmp_path):
    s = nf.select(tally, 0.05, error, null)
    assert s.n_selected > 0
    assert np.isnan(s.threshold)
    low, high = s.thresholds.min(), s.thresholds.max()
    for text in _texts(s, tmp_path):
        assert f"{low} to {high} by stratum" in text
    assert s.to_dict()["threshold"] is None
    summary = summarize(s)
    assert summary["decision"]["threshold"] is None
    assert summary["histogram"]["threshold"] is None
    assert "strata by the distinct values of their columns" in summary["methods"]
    display = s.plot()
    assert display.threshold is None
    assert display.threshold_line_ is None
    assert display.selected.sum() == s.n_selected
    s.to_html(tmp_path / "report.html")


def test_the_table_holds_the_expected_count_of_each_stratum(tally, null, tmp_path):
    s = nf.select(tally, null=null)
    for number in np.unique(null.feature_strata):
        rows = s.table.loc[np.flatnonzero(null.feature_strata == number)]
        np.testing.assert_allclose(rows["expected_count"], null.stratum(number).mean)
    s.to_csv(tmp_path / "t.csv")
    written = pd.read_csv(tmp_path / "t.csv")
    np.testing.assert_allclose(written["expected_count"], s.table["expected_count"])


def test_an_empty_selection_names_the_threshold_of_the_feature_it_names(tally, null):
    s = nf.select(tally, 1e-200, "fwer", null)
    best = int(np.argmin(s.pvalues))
    words = s.explanation()
    assert f"{tally.names[best]}, was selected {s.counts[best]} times" in words
    assert f"a count above {s.thresholds[best]} was needed" in words


def test_the_slider_lists_what_select_gives(tally, null):
    s = nf.select(tally, 0.05, "fdr", null)
    slider = summarize(s)["slider"]
    for error in ERROR_RATES:
        listed = slider["by_error"][error]
        for i, alpha in list(enumerate(slider["alpha"]))[::9]:
            there = nf.select(tally, alpha, error, null)
            common = None if np.isnan(there.threshold) else there.threshold
            assert listed["threshold"][i] == common
            expected = there.expected_false_positives
            assert listed["expected_false_positives"][i] == pytest.approx(expected, rel=1e-9)


def test_a_trajectory_without_a_common_threshold_is_drawn():
    rng = np.random.default_rng(4)
    X = np.hstack([rng.normal(size=(60, 60)), rng.binomial(2, 0.3, (60, 60))])
    s = nf.watch(X, np.arange(60) % 2, trees=64, candidates=12)
    assert s.trajectory.thresholds.dtype == float
    labels = [text.get_text() for text in s.plot("trajectory").ax_.get_legend().get_texts()]
    assert ("count to exceed" in labels) == bool(np.isfinite(s.trajectory.thresholds).any())
