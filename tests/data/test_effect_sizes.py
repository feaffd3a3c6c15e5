"""Effect sizes of all features at once equal those of each feature by itself."""

from __future__ import annotations

import json
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from scipy.stats import mannwhitneyu, rankdata

import nullforest as nf
from naive import effects as naive
from nullforest.data import column_blocks
from nullforest.data.effect_sizes import effect_sizes


def _data(seed=0, n=40, missing=True):
    """Columns of many kinds: continuous, few values, mostly zero, constant, extreme, missing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 12))
    X[:, 3] = rng.integers(0, 3, n)
    X[:, 4] = (rng.random(n) < 0.1) * rng.normal(size=n)
    X[:, 5] = 7.0
    X[:, 6] *= 1e200
    X[:, 7] *= 1e-200
    X[:, 8] += 1e6
    if missing:
        X[rng.random((n, 12)) < 0.2] = np.nan
        X[:, 9] = np.nan
        X[1:, 10] = np.nan
    return X


def _assert_equal(found, expected):
    for name, each in zip(found.columns, zip(*expected, strict=True), strict=True):
        if isinstance(each[0], str):
            assert found.columns[name].tolist() == list(each)
        else:
            np.testing.assert_allclose(found.columns[name], each, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_two_classes_are_compared_as_pair_by_pair(seed, missing):
    X = _data(seed, missing=missing)
    y = np.random.default_rng(seed).permutation(np.r_[np.repeat("ill", 15), np.repeat("well", 25)])
    found = effect_sizes(X, y)
    assert found.comparison == "two classes"
    assert found.classes == ("ill", "well")
    _assert_equal(found, [naive.two_classes(column, y) for column in X.T])


@pytest.mark.parametrize("missing", [False, True])
def test_the_class_that_stands_out_is_named(missing):
    X, y = _data(missing=missing), np.arange(40) % 4
    X[y == 2, 0] -= 5
    found = effect_sizes(X, y)
    _assert_equal(found, [naive.several_classes(column, y) for column in X.T])
    assert found.columns["stands_out"][0] == "2"
    assert found.columns["auc"][0] < 0.2


@pytest.mark.parametrize("missing", [False, True])
def test_numbers_are_correlated_by_ranks(missing):
    X, y = _data(missing=missing), np.random.default_rng(1).normal(size=40).round(1)
    found = effect_sizes(X, y).columns["correlation"]
    expected = [naive.correlation(column, y) for column in X.T]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@given(
    arrays(float, (9, 3), elements=st.sampled_from([0.0, 1.0, 2.0, 2.5, np.nan])),
    arrays(np.int64, 9, elements=st.integers(0, 1)).filter(lambda y: len(set(y)) == 2),
)
@settings(max_examples=100, deadline=None)
def test_ties_and_gaps_change_nothing(X, y):
    expected = [naive.two_classes(column, y) for column in X.T]
    _assert_equal(effect_sizes(X, y), expected)


def test_the_auc_is_the_statistic_of_mann_and_whitney():
    X, y = _data(3, missing=False), np.arange(40) % 2
    found = effect_sizes(X, y).columns["auc"]
    expected = [mannwhitneyu(c[y == 1], c[y == 0]).statistic / 400 for c in X.T]
    np.testing.assert_allclose(found, expected)


def test_larger_values_with_earlier_events_mean_a_higher_hazard():
    rng = np.random.default_rng(5)
    risk = rng.normal(size=200)
    time, censored = rng.exponential(np.exp(-risk)), rng.exponential(1.0, 200)
    event, time = time <= censored, np.minimum(time, censored).round(2)
    y = np.array(list(zip(event, time, strict=True)), [("event", bool), ("time", float)])
    X = np.column_stack([risk, -risk, np.zeros(200)])
    found = effect_sizes(X, y)
    assert found.columns["hazard"].tolist() == ["higher", "lower", ""]
    assert found.columns["correlation"][0] > 0.4
    scores = naive.log_rank_scores(event, time)
    expected = np.corrcoef(rankdata(risk), scores)[0, 1]
    assert found.columns["correlation"][0] == pytest.approx(expected)


@pytest.mark.parametrize(
    "made",
    [
        partial(pd.DataFrame, columns=list("abcdefghijkl")),
        sparse.csr_matrix,
        np.asfortranarray,
        nf.RankTable,
    ],
)
def test_every_kind_of_matrix_in_blocks(made, monkeypatch):
    X, y = np.nan_to_num(_data(2)), np.arange(40) % 2
    expected = effect_sizes(X, y)
    monkeypatch.setattr(column_blocks, "AT_ONCE", 100)  # two or three columns at a time
    found = effect_sizes(made(X), y)
    _assert_equal(found, list(zip(*expected.columns.values(), strict=True)))


def test_targets_without_a_single_comparison_have_none():
    X = _data(missing=False)
    assert effect_sizes(X, np.random.default_rng(0).normal(size=(40, 2))) is None
    assert effect_sizes(X, None, criterion="neighbourhood") is None


def test_table_csv_and_json_carry_them(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 500)), np.repeat(["no", "yes"], 30)
    X[y == "yes", 3] += 3
    X[:, 4] = 1.0
    s = nf.watch(X, y, trees=200)
    expected = effect_sizes(X, y)
    assert s.table.columns[-4:].tolist() == ["selected", "higher_in", "difference", "auc"]
    for name, values in expected.columns.items():
        np.testing.assert_array_equal(s.table.sort_index()[name], values)
    s.to_csv(tmp_path / "t.csv")
    table = pd.read_csv(tmp_path / "t.csv", index_col="column", keep_default_na=False).sort_index()
    assert table["higher_in"].tolist() == expected.columns["higher_in"].tolist()
    s.to_json(tmp_path / "t.json")
    told = json.loads((tmp_path / "t.json").read_text("utf-8"))
    row = told["selected"][0]
    assert (row["feature"], row["higher_in"]) == ("x3", "yes")
    assert row["auc"] > 0.9
    assert told["effects"]["descriptive"] is True
    assert told["effects"]["columns"]["difference"].startswith("difference of the means, yes − no")
    fitted = nf.ForestSelector(trees=100, random_state=0).fit(X, y).selection_
    np.testing.assert_array_equal(fitted.effects.columns["auc"], expected.columns["auc"])


def test_other_data_are_refused():
    X, y = _data(missing=False), np.arange(40) % 2
    selection = nf.select(nf.grow(X, y, trees=20))
    assert selection.effects is None
    with pytest.raises(nf.InputError, match="features"):
        selection.with_effects(X[:, :5], y)
    with pytest.raises(nf.InputError, match="samples"):
        selection.with_effects(X[:20], y)


def test_categories_have_no_direction():
    frame = pd.DataFrame({"age": np.arange(40.0), "site": list("abcd") * 10})
    found = effect_sizes(frame, np.repeat(["x", "y"], 20)).columns
    assert found["higher_in"].tolist() == ["y", ""]
    assert found["auc"][0] == 1.0
    assert np.isnan(found["auc"][1])
