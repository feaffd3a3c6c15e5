"""Columns of data frames and masked values: one rule in `grow` and in the estimators."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import nullforest as nf

S = 40
RNG = np.random.default_rng(0)
X = RNG.normal(size=(S, 4))
y = np.arange(S) % 2
FRAME = pd.DataFrame(X, columns=list("abcd"))
FITS = {
    "grow": lambda X, y: nf.grow(X, y, trees=3).tally,
    "ForestSelector": lambda X, y: nf.ForestSelector(trees=3).fit(X, y).tally_,
    "ForestClassifier": lambda X, y: nf.ForestClassifier(3, random_state=0).fit(X, y).tally_,
    "ForestRegressor": lambda X, y: nf.ForestRegressor(3, random_state=0).fit(X, y).tally_,
    "wrapper": lambda X, y: (
        nf.wrappers.BackwardElimination(nf.ForestSelector(trees=3), resume=None, progress=False)
        .fit(X, y)
        .tally_
    ),
}

REFUSED = {
    "text": (FRAME.assign(b="x"), r"Column 'b' holds text \('x'\)"),
    "text and None": (FRAME.assign(c=[None, "z"] * 20), r"Column 'c' holds text \('z'\)"),
    "category": (FRAME.assign(b=pd.Categorical(["u", "v"] * 20)), "Column 'b' holds text"),
    "dates": (FRAME.assign(d=pd.Timestamp("2020")), "Column 'd' holds dates"),
    "dates alone": (pd.DataFrame({"d": pd.date_range("2020", periods=S)}), "Column 'd' holds d"),
    "time zone": (FRAME.assign(d=pd.Timestamp("2020", tz="UTC")), "Column 'd' holds dates"),
    "durations": (FRAME.assign(a=pd.Timedelta("1d")), "Column 'a' holds durations"),
    "complex": (FRAME.assign(a=1j), "Column 'a' holds complex numbers"),
    "equal names": (pd.concat([FRAME, FRAME["a"]], axis=1), "Two features have the name 'a'"),
    "equal as text": (FRAME.set_axis([1, "1", 2, 3], axis=1), "Two features have the name '1'"),
    "polars text": (pl.DataFrame({"a": X[:, 0], "b": ["x"] * S}), r"Column 'b' holds text"),
    "polars dates": (
        pl.DataFrame({"a": X[:, 0], "b": pd.date_range("2020", periods=S)}),
        "Column 'b' holds dates",
    ),
}


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
@pytest.mark.parametrize(("frame", "message"), REFUSED.values(), ids=REFUSED)
def test_columns_that_are_not_numbers_are_named(fit, frame, message):
    takes_categories = fit in (FITS["grow"], FITS["ForestSelector"])
    if takes_categories and message.startswith("Column") and "numbers" not in message:
        assert fit(frame, y).n_features == frame.shape[1]
        return
    with pytest.raises(nf.InputError, match=message):
        fit(frame, y)


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
def test_several_levels_of_names_are_joined(fit):
    columns = pd.MultiIndex.from_tuples([("age", "mean"), ("age", "sd"), ("bmi", "mean"), ("n", 1)])
    names = fit(FRAME.set_axis(columns, axis=1), y).names
    assert names.tolist() == ["age_mean", "age_sd", "bmi_mean", "n_1"]


def test_missing_values_of_an_object_column_leave_the_frame_alone():
    frame = pd.DataFrame({"a": pd.Series([1, pd.NA] * 20, dtype=object)})
    assert nf.grow(frame, y, trees=2).tally.names.tolist() == ["a"]
    assert frame["a"].isna().sum() == 20
    assert frame["a"][1] is pd.NA


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_masked_values_are_missing(fit, dtype):
    values = np.round(10 * X).astype(dtype)
    mask = RNG.random(X.shape) < 0.1
    masked = np.ma.masked_array(values, mask)
    expected = fit(np.where(mask, np.nan, values.astype(float)), y)
    assert fit(masked, y).counts.tolist() == expected.counts.tolist()
    assert fit(masked, y).fingerprint == expected.fingerprint
    assert masked.mask.sum() == mask.sum()
    unmasked = fit(np.ma.masked_array(values), y)
    assert unmasked.fingerprint == fit(values, y).fingerprint


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
def test_masked_targets_are_refused(fit):
    with pytest.raises(nf.InputError, match="y has masked values"):
        fit(X, np.ma.masked_array(y, np.arange(S) == 3))


def test_forests_predict_from_masked_arrays():
    forest = nf.grow(X, y, trees=5)
    mask = RNG.random(X.shape) < 0.1
    expected = forest.predict(np.where(mask, np.nan, X))
    np.testing.assert_array_equal(forest.predict(np.ma.masked_array(X, mask)), expected)
