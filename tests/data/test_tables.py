"""The columns of a table become features and a target."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import nullforest as nf
from nullforest._util.errors import InputError
from nullforest.data.covariates import as_covariates, bins_of
from nullforest.data.readers.tables import read_table, table_of

N = 40


def _frame(**columns):
    rng = np.random.default_rng(0)
    return pd.DataFrame({"a": rng.normal(size=N), "b": rng.normal(size=N), **columns})


@pytest.mark.parametrize(
    ("y", "task", "noted"),
    [
        (["u", "v"] * 20, "classification", False),
        ([True, False] * 20, "classification", False),
        ([0, 1] * 20, "classification", False),
        ([0.5, 1.5] * 20, "classification", False),
        ([1, 2, 3, 4] * 10, "classification", True),
        ([float(i) for i in range(6)] * 6 + [0.0] * 4, "classification", True),
        (list(range(7)) * 5 + [0] * 5, "regression", False),  # more than six are a quantity
        (list(range(10)) * 4, "regression", False),
        ([0.5, 1.5, 2.5, 3.5] * 10, "regression", False),
        (list(np.linspace(0, 1, N)), "regression", False),
        (pd.Categorical(["u", "v"] * 20), "classification", False),
    ],
)
def test_the_type_of_the_target_tells_the_task(y, task, noted):
    table = table_of(_frame(y=y), "y")
    assert table.target.task == task
    assert any("taken for classes" in note for note in table.notes) == noted


def test_the_task_can_be_overridden():
    frame = _frame(y=[1, 2, 3, 4] * 10)
    assert table_of(frame, "y", task="regression").target.task == "regression"
    frame = _frame(y=list(range(10)) * 4)
    assert table_of(frame, "y", task="classification").target.task == "classification"


def test_short_numbers_stay_short_and_long_ones_keep_all_digits():
    short = pd.DataFrame({"a": np.arange(N, dtype=np.float32), "b": np.arange(N, dtype=np.int16)})
    short["y"] = ["u", "v"] * 20
    assert table_of(short, "y").table.matrix.dtype == np.float32
    short["b"] = np.arange(N, dtype=np.int64) + 2**40
    table = table_of(short, "y")
    np.testing.assert_array_equal(table.table.matrix[:, 1], np.arange(N) + 2.0**40)


def test_columns_of_other_kinds_become_numbers():
    table = table_of(
        _frame(
            flag=[True, False] * 20,
            whole=pd.array([1, None, *range(2, N)], dtype="Int64"),
            text=[f"{i}.5" for i in range(N)],
            grade=pd.Categorical([1, 2] * 20),
            y=["u", "v"] * 20,
        ),
        "y",
    )
    named = dict(zip(table.feature_names, table.table.matrix.T, strict=True))
    assert named["flag"][:2].tolist() == [1.0, 0.0]
    assert np.isnan(named["whole"][1])
    assert named["text"][3] == 3.5
    assert named["grade"][:2].tolist() == [0.0, 1.0]


def test_dates_are_numbers_and_text_is_a_category():
    day = pd.date_range("2020-01-01", periods=N)
    frame = _frame(day=day, group=["u", "v", "w", "u"] * 10, y=["u", "v"] * 20)
    table = table_of(frame, "y")
    assert np.all(np.diff(table.table.matrix[:, 2]) > 0)
    assert table.categories.tolist() == [False, False, False, True]
    assert any(
        "1 column is of categories without an order: 'group'" in note for note in table.notes
    )


def test_covariates_are_no_features():
    frame = _frame(age=np.arange(N), sex=["f", "m"] * 20, y=["u", "v", "v", "u"] * 10)
    table = table_of(frame, "y", adjust=["age", "sex"])
    assert table.feature_names.tolist() == ["a", "b"]
    assert table.covariate_names == ("age", "sex")
    expected = bins_of(as_covariates(frame[["age", "sex"]], N), table.target.responses, None)
    np.testing.assert_array_equal(table.target.blocks, expected)
    with pytest.raises(InputError, match="The covariate 'agee' is not in the table"):
        table_of(frame, "y", adjust=["agee"])
    with pytest.raises(InputError, match="'y' is the target and cannot be a covariate too"):
        table_of(frame, "y", adjust=["y"])
    with pytest.raises(InputError, match="'age' has missing or infinite values"):
        table_of(frame.assign(age=np.nan), "y", adjust=["age"])


def test_constant_and_empty_columns_are_never_split_and_have_a_note():
    half = [1.0, np.nan] * 20
    table = table_of(_frame(c=3, gone=np.nan, half=half, y=["u", "v"] * 20), "y")
    assert table.feature_names.tolist() == ["a", "b", "c", "gone", "half"]
    assert table.table.n_varying == 3
    assert any("2 columns have the same value" in n and "'c', 'gone'" in n for n in table.notes)
    assert any("20 values are missing in 1 of 5" in note for note in table.notes)
    only = table_of(_frame(y=["u", "v"] * 20).assign(a=1, b=2), "y")
    with pytest.raises(InputError, match="Every feature has the same value in all samples"):
        nf.grow(only, trees=2)
    one = table_of(_frame(gap=[np.nan, *range(N - 1)], y=["u", "v"] * 20), "y")
    assert any("1 value is missing in 1 of 3" in note for note in one.notes)


def test_ids_come_from_the_named_column_or_from_the_index():
    frame = _frame(name=[f"s{i}" for i in range(N)], y=["u", "v"] * 20)
    assert table_of(frame, "y", ids="name").sample_ids[:2].tolist() == ["s0", "s1"]
    indexed = frame.set_index("name")
    assert table_of(indexed, "y").sample_ids[:2].tolist() == ["s0", "s1"]
    assert table_of(indexed, "y").feature_names.tolist() == ["a", "b"]
    assert table_of(indexed, "y", ids="name").feature_names.tolist() == ["a", "b"]


def test_arrays_beside_the_matrix_of_an_archive_are_no_features(tmp_path):
    path = tmp_path / "data.npz"
    X = _frame().to_numpy(np.float32)
    np.savez(path, X=X, y=[0, 1] * 20, age=np.arange(N), title="study")
    table = read_table(path, "y")
    assert table.feature_names.tolist() == ["x0", "x1"]
    np.testing.assert_array_equal(table.table.matrix, X)
    assert any("'age'" in note for note in table.notes)
    assert read_table(path, "age").target.task == "regression"


def test_a_structured_array_has_names(tmp_path):
    path = tmp_path / "data.npy"
    rows = np.array([(0.5, 1, b"u"), (0.7, 2, b"v")], dtype=[("a", "f4"), ("b", "i4"), ("y", "S1")])
    np.save(path, rows)
    assert read_table(path, "y").feature_names.tolist() == ["a", "b"]


def test_a_header_that_is_one_name_short_means_row_names(tmp_path):
    path = tmp_path / "from_r.tsv"
    path.write_text("a\tb\ty\nr1\t1\t2\tu\nr2\t3\t5\tv\n")
    table = read_table(path, "y")
    assert table.sample_ids.tolist() == ["r1", "r2"]
    assert table.table.matrix.tolist() == [[1.0, 2.0], [3.0, 5.0]]


def test_a_separator_at_the_end_of_rows_does_not_shift_columns(tmp_path):
    path = tmp_path / "trailing.csv"
    path.write_text("a,b,y\n1,2,u,\n3,5,v,\n")
    with pytest.raises(InputError, match="end with a separator"):
        read_table(path, "y")
