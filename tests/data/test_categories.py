"""Categories, text, dates and covariates: columns as they come in a DataFrame."""

from __future__ import annotations

import datetime
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.ensemble import RandomForestClassifier

import nullforest as nf
from naive.categories import ordered
from nullforest._util.errors import InputError
from nullforest.data.category_order import CategoryOrder
from nullforest.data.covariates import LEAST_BIN, bins_of
from nullforest.data.dense import coded_columns
from nullforest.data.shadowed_table import permuted_rows, shadowed
from nullforest.data.targets import as_target

S = 150


def frame_of(seed=0):
    """Columns of all kinds; `group` is related to y by levels whose codes have no order."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, S)
    level = np.where(rng.random(S) < 0.6, y * 3 + rng.integers(0, 3, S), rng.integers(0, 6, S))
    text = np.array(list("cafbde"))
    return pd.DataFrame(
        {
            "group": pd.Categorical(text[level]),
            "text": np.where(rng.random(S) < 0.1, None, text[rng.integers(0, 6, S)]),
            "number": rng.normal(size=S),
            "flag": rng.random(S) < 0.3,
            "whole": rng.poisson(3, S),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, S), "D"),
            "size": pd.Categorical.from_codes(
                rng.integers(-1, 3, S), categories=["S", "M", "L"], ordered=True
            ),
        }
    ), y


def test_columns_of_all_kinds_become_numbers_and_categories():
    frame, _ = frame_of()
    numbers, categories = coded_columns(frame)
    assert categories.tolist() == [True, True, False, False, False, False, False]
    assert list(numbers) == list(frame)
    assert np.isnan(numbers["text"]).sum() == frame["text"].isna().sum()
    assert (numbers["size"].isna() == frame["size"].isna()).all()
    assert (numbers["day"].rank() == frame["day"].rank()).all()
    assert numbers["size"].max() == 2
    plain = frame[["number", "whole"]]
    assert coded_columns(plain)[0] is plain


def test_polars_frames_are_read_alike():
    frame, _ = frame_of()
    of_pandas, categories = coded_columns(frame)
    columns = {name: frame[name].astype(object).where(frame[name].notna(), None) for name in frame}
    table = pl.DataFrame({name: list(values) for name, values in columns.items()}, strict=False)
    table = table.with_columns(pl.col("size").cast(pl.Enum(["S", "M", "L"])))
    of_polars, again = coded_columns(table)
    assert again.tolist() == categories.tolist()
    pd.testing.assert_frame_equal(of_polars.drop(columns="day"), of_pandas.drop(columns="day"))
    assert (of_polars["day"].rank() == of_pandas["day"].rank()).all()


@pytest.mark.parametrize(
    ("column", "sentence"),
    [
        ([f"name {i}" for i in range(S)], "'new' holds text without an order, 150 different"),
        (["1.5"] * 149 + ["high"], "'new' holds text, 'high' in data row 150"),
        (["1,5", "2,5"] * 75, "decimal comma"),
        (["2020-13-45", "2020-01-02"] * 75, "looks like dates"),
        ([{"a": 1}, {"b": 2}] * 75, "'new' holds dict values"),
    ],
)
def test_columns_without_an_order_are_refused_by_name(column, sentence):
    frame, y = frame_of()
    with pytest.raises(InputError, match=sentence):
        nf.grow(frame.assign(new=column), y, trees=10)


@pytest.mark.parametrize(
    "column",
    [
        [datetime.date(2020, 1, 1 + i % 28) for i in range(S)],
        [f"2020-01-{1 + i % 28:02d}" for i in range(S)],
        pd.to_timedelta(np.arange(S) % 28, "D"),
    ],
)
def test_dates_and_durations_are_numbers(column):
    frame, categories = coded_columns(pd.DataFrame({"day": column, "other": np.arange(S)}))
    assert categories is None
    assert frame["day"].rank(method="dense").tolist() == [1 + i % 28 for i in range(S)]


@pytest.mark.parametrize("numbers", [False, True])
def test_a_category_and_each_of_its_shadows_is_ordered_by_the_target(numbers):
    frame, y = frame_of()
    y = y + np.random.default_rng(1).normal(size=S) if numbers else y
    rows = permuted_rows(S, 3, seed=0)
    X = coded_columns(frame)[0].to_numpy()
    response = y if numbers else (y == 0)
    explicit = []
    for row in [np.arange(S), *rows]:
        copy = X[row].copy()
        for column in (0, 1):
            copy[:, column] = ordered(copy[:, column], response)
        explicit.append(copy)
    plain = nf.grow(np.column_stack(explicit), y, trees=80, probes=0)
    tally = nf.grow(frame, y, trees=80, shadows=3).tally
    both = np.concatenate([tally.counts, tally.shadows.wins.ravel()])
    np.testing.assert_array_equal(both, plain.tally.counts)


def test_levels_of_several_classes_lie_along_their_first_component():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 5, 300).astype(float)
    y = np.where(codes < 2, 0, np.where(codes < 4, 1, 2))
    order = CategoryOrder.by_target(np.array([True]), as_target(y, 300))
    positions = order.ordered(codes[:, None])[:, 0]
    assert sorted(set(positions)) == [0, 1, 2, 3, 4]
    sides = [set(positions[codes < 2]), set(positions[(codes >= 2) & (codes < 4)])]
    assert all(max(side) - min(side) == 1 for side in sides)  # equal levels are neighbours


def test_relevant_categories_are_found_and_results_do_not_depend_on_cores_or_sending():
    frame, y = frame_of()
    one = nf.grow(frame, y, seed=3, n_jobs=1)
    two = nf.grow(frame, y, seed=3, n_jobs=2)
    assert one.tally == two.tally
    selection = nf.select(one)
    assert selection.null.kind == "shadows"
    assert selection.support.tolist() == [name == "group" for name in frame]
    table = shadowed(nf.RankTable(frame), 2, 0, as_target(y, S))
    again = pickle.loads(pickle.dumps(table))
    for column in range(table.shape[1]):
        assert np.array_equal(table.native.column(column)[0], again.native.column(column)[0])
    with pytest.raises(InputError, match="without categories"):
        _ = one.oob_prediction


def test_what_categories_cannot_have_is_said():
    frame, y = frame_of()
    with pytest.raises(InputError, match="categories need shadows"):
        nf.grow(frame, y, trees=10, shadows=0)
    with pytest.raises(InputError, match="'group' holds categories without an order"):
        nf.grow(frame, y, trees=10, keep_trees=True)
    with pytest.raises(InputError, match="'group' holds categories without an order"):
        nf.audit(frame, y)
    with pytest.raises(InputError, match="distances have no mean"):
        nf.grow(frame, np.abs(np.subtract.outer(y, y)), criterion="neighbourhood", trees=10)
    with pytest.raises(InputError, match='not with null="bagged"'):
        nf.ForestSelector(null="bagged").fit(frame, y)


def test_a_resumed_forest_with_categories_and_covariates_is_the_same(tmp_path):
    frame, y = frame_of()
    about = {"adjust": "number", "blocks": "flag"}
    part = nf.resume(frame, y, tmp_path / "run", trees=40, **about)
    whole = nf.resume(frame, y, tmp_path / "run", trees=100, **about)
    assert part.n_trees == 40
    grown = nf.grow(frame, y, trees=100, **about)
    assert whole.tally == grown.tally
    assert grown.tally.n_features == frame.shape[1] - 2


def test_categories_and_numbers_of_as_many_levels_are_different_strata():
    rng = np.random.default_rng(4)
    values = rng.integers(0, 5, (120, 6))
    frame = pd.DataFrame(values, columns=list("abcdef")).astype({"a": "category", "d": "category"})
    shadows = nf.grow(frame, np.arange(120) % 2, trees=200).tally.shadows
    assert (shadows.feature_strata == np.array([1, 0, 0, 1, 0, 0])).all()


def test_null_categories_are_selected_at_the_level():
    """400 tables, p ≤ .1: binomial by column, so within 4 standard errors of 1 200 columns."""
    rng = np.random.default_rng(5)
    small = []
    for seed in range(100):
        levels = rng.integers(0, [3, 6, 12, 6], (60, 4))
        frame = pd.DataFrame(levels).astype("category")
        frame.columns = list("abcd")
        tally = nf.grow(frame, np.arange(60) % 2, seed=seed, trees=400, shadows=60).tally
        null = nf.null(tally, "shadows")
        counts = tally.counts.astype(float)
        below, at = null.pvalues(counts), null.pvalues(counts + 1)
        small.append((at + rng.random(4) * (below - at)) <= 0.1)
    rate = np.mean(small)
    # Columns of one table share their shadows; twice the binomial error covers that.
    assert abs(rate - 0.1) < 4 * 2 * np.sqrt(0.1 * 0.9 / np.size(small))


def test_bins_hold_equal_scores_together_and_are_large_enough():
    rng = np.random.default_rng(0)
    age = rng.integers(20, 60, 500).astype(float)[:, None]
    blocks = rng.integers(0, 3, 500)
    bins = bins_of(age, rng.normal(size=(500, 1)), blocks)
    assert np.bincount(bins).min() >= LEAST_BIN
    for number in np.unique(bins):
        here = bins == number
        assert len(set(blocks[here])) == 1
        others = (bins != number) & (blocks == blocks[here][0])
        low, high = age[here].min(), age[here].max()
        assert not np.any((age[others] >= low) & (age[others] <= high))


@pytest.mark.parametrize("classes", [2, 3])
def test_several_covariates_are_binned_by_their_prediction(classes):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(600, 3))
    score = Z[:, 0] + Z[:, 1] ** 2
    y = np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))
    bins = bins_of(Z, as_target(y, 600).responses)
    within = sum(score[bins == b].var() * np.sum(bins == b) for b in np.unique(bins)) / 600
    assert within < 0.25 * score.var()


def test_a_covariate_explains_what_depends_on_it_alone():
    rng = np.random.default_rng(1)
    age = rng.normal(size=240)
    y = (rng.random(240) < 1 / (1 + np.exp(-2 * age))).astype(int)
    X = rng.normal(size=(240, 40))
    X[:, :2] += 1.5 * y[:, None]
    X[:, 2:12] += 1.5 * age[:, None]
    plain = nf.select(nf.grow(X, y, seed=1)).support
    adjusted = nf.select(nf.grow(X, y, seed=1, adjust=age)).support
    assert plain[2:12].sum() >= 8
    assert adjusted[2:12].sum() <= 1
    assert adjusted[:2].all()


@pytest.mark.parametrize(
    ("adjust", "sentence"),
    [
        (np.ones(S), "constant"),
        (np.full(S, np.nan), "missing"),
        (np.zeros(3), "shape"),
        (["a"] * S, "X has no column"),
        (np.array(["a"] * S), "must hold numbers"),
        ("nowhere", "X has no column 'nowhere'"),
        (pd.DataFrame({"sex": ["f"] * S}), "'sex' is constant"),
    ],
)
def test_covariates_that_cannot_be_used_are_refused(adjust, sentence):
    frame, y = frame_of()
    with pytest.raises(InputError, match=sentence):
        nf.grow(frame, y, trees=10, adjust=adjust)


def test_a_selector_takes_blocks_and_covariates_by_name():
    frame, y = frame_of()
    frame["site"] = np.array(["north", "south"])[np.arange(S) % 2]
    selector = nf.ForestSelector(trees=300).fit(frame, y, blocks="site", adjust=["whole"])
    assert selector.n_features_in_ == frame.shape[1]
    assert selector.tally_.n_features == frame.shape[1] - 2
    assert not selector.get_support()[list(frame).index("site")]
    assert "site" not in selector.get_feature_names_out()
    assert selector.transform(frame).shape[1] == selector.get_support().sum()
    arrays = nf.ForestSelector(trees=300).fit(
        frame.drop(columns=["site", "whole"]), y, blocks=frame["site"], adjust=frame[["whole"]]
    )
    assert arrays.tally_ == selector.tally_
    forest = RandomForestClassifier()
    with pytest.raises(InputError, match="omit the estimator"):
        nf.ForestSelector(forest).fit(frame[["number"]], y, adjust=y)
