"""Data in every form of storage: one tally for every type of X and y, and no copies."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

import nullforest as nf
from nullforest.data.rank_table import RankTable

S, F = 50, 12


def base(dtype):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(S, F)), 2).astype(dtype)
    X[3:6, 4] = np.nan
    return X, X[:, 1] + 0.3 * rng.normal(size=S) > 0


def memmap(X, tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, X)
    return np.load(path, mmap_mode="r")


def strided(X):
    wide = np.full((2 * len(X), 3 * X.shape[1]), 7, X.dtype)
    wide[::2, ::3] = X
    return wide[::2, ::3]


def packed(X):
    """Records of 9 bytes: no value but the first lies on a whole step."""
    records = np.zeros(X.shape, dtype=[("value", X.dtype), ("mark", "u1")])
    records["value"] = X
    return records


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


IN_PLACE = {
    "C order": lambda X, _: np.ascontiguousarray(X),
    "F order": lambda X, _: np.asfortranarray(X),
    "strided": lambda X, _: strided(X),
    "reversed": lambda X, _: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
    "memory map": memmap,
    "read only": lambda X, _: read_only(X),
    "pandas": lambda X, _: pd.DataFrame(X),
}
CONVERTED = {
    "polars": lambda X: pl.DataFrame(dict(zip(map(str, range(F)), X.T, strict=True))),
    "lists": lambda X: X.tolist(),
    "objects": lambda X: X.astype(object),
    "packed records": lambda X: packed(X)["value"],
    "other byte order": lambda X: X.astype(X.dtype.newbyteorder()),
    "pandas with NA": lambda X: pd.DataFrame(X).convert_dtypes(),
    "sparse rows": scipy.sparse.csr_matrix,
    "sparse columns": scipy.sparse.csc_array,
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", IN_PLACE)
def test_floats_are_read_in_place(kind, dtype, tmp_path):
    X, y = base(dtype)
    expected = nf.grow(X, y, trees=10)
    stored = IN_PLACE[kind](X, tmp_path)
    table = RankTable(stored)
    array = stored.to_numpy() if isinstance(stored, pd.DataFrame) else stored
    assert np.shares_memory(table.matrix, array)
    forest = nf.grow(table, y, trees=10)
    if table.feature_names is None:
        assert forest.tally == expected.tally
    assert forest.tally.counts.tolist() == expected.tally.counts.tolist()
    assert forest.tally.couplings.tolist() == expected.tally.couplings.tolist()
    np.testing.assert_array_equal(
        forest.trees.arrays["threshold"], expected.trees.arrays["threshold"]
    )
    np.testing.assert_array_equal(forest.predict(stored), expected.predict(X))


@pytest.mark.parametrize("kind", CONVERTED)
def test_other_types_are_converted(kind):
    X, y = base("float64")
    expected = nf.grow(X, y, trees=10)
    forest = nf.grow(CONVERTED[kind](X), y, trees=10)
    assert forest.tally.counts.tolist() == expected.tally.counts.tolist()
    assert forest.tally.fingerprint == expected.tally.fingerprint
    np.testing.assert_array_equal(forest.predict(CONVERTED[kind](X)), expected.predict(X))


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint8", "int16", "int32", "uint64", "float16", "longdouble"]
)
def test_whole_numbers_of_every_width(dtype):
    X = np.random.default_rng(1).integers(0, 2 if dtype == "bool" else 100, (S, F))
    y = X[:, 0] > X[:, 0].mean()
    expected = nf.grow(X.astype(float), y, trees=5)
    assert nf.grow(X.astype(dtype), y, trees=5).tally == expected.tally


def test_growing_and_predicting_copy_no_data():
    # tracemalloc sees every array that numpy makes; the table of ranks is the engine's own. One
    # copy of X would be 8 MB, and S · F flags of one byte 2 MB.
    X = np.random.default_rng(2).normal(size=(1000, 2000)).astype(np.float32)
    y = X[:, 0] > 0
    tracemalloc.start()
    try:
        forest = nf.grow(X, y, trees=2, candidates=5, max_depth=2)
        forest.predict(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1_500_000


@pytest.mark.parametrize(
    "convert",
    [
        lambda y: y.tolist(),
        lambda y: y.astype(int),
        lambda y: y.astype(float),
        lambda y: y[:, None],
        pd.Series,
        lambda y: pd.Series(y, dtype="boolean"),
        lambda y: pd.Series(y).astype("category"),
        pl.Series,
        lambda y: np.where(y, "yes", "no"),
        lambda y: np.where(y, "yes", "no").astype(object),
        lambda y: pd.DataFrame({"y": y}),
    ],
    ids=range(11),
)
def test_labels_of_every_kind(convert):
    X, y = base("float64")
    expected = nf.grow(X, y, trees=10)
    forest = nf.grow(X, convert(y), trees=10)
    assert forest.tally == expected.tally
    assert len(forest.classes) == 2


@pytest.mark.parametrize("kind", [list, pd.Series, lambda y: y.astype(np.float32)], ids=range(3))
def test_numbers_of_every_kind(kind):
    X, _ = base("float64")
    y = np.float32(X[:, 1]).astype(float)
    assert nf.grow(X, kind(y), trees=5).tally == nf.grow(X, y, trees=5).tally
