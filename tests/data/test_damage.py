"""Files of arrays that are unusual or damaged: read, or refused in a sentence."""

from __future__ import annotations

import io
import zipfile
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest

from nullforest._util.errors import InputError
from nullforest.data.readers.tables import read_table

X = np.random.default_rng(0).normal(size=(20, 4))
Y = np.arange(20) % 2


@pytest.mark.parametrize("dtype", [">f8", ">f4", ">i4"])
def test_arrays_of_the_other_byte_order_are_read(dtype, tmp_path):
    values = (100 * X).astype(dtype)
    np.savez(tmp_path / "big.npz", X=values, y=Y.astype(">i8"), names=np.array(list("abcd"), ">U1"))
    table = read_table(tmp_path / "big.npz", "y")
    np.testing.assert_array_equal(table.table.values, values)
    np.testing.assert_array_equal(table.target.labels, Y)
    np.save(tmp_path / "big.npy", np.column_stack([values, Y]).astype(dtype))
    np.testing.assert_array_equal(read_table(tmp_path / "big.npy", "-1").table.values, values)
    rows = np.array([(0.5, 1), (0.7, 2)], dtype=[("a", ">f8"), ("y", ">i4")])
    np.save(tmp_path / "rows.npy", rows)
    assert read_table(tmp_path / "rows.npy", "y").table.values.ravel().tolist() == [0.5, 0.7]


def test_an_encrypted_archive_is_refused(tmp_path):
    path = tmp_path / "secret.npz"
    np.savez(path, X=X, y=Y)
    content = bytearray(path.read_bytes())
    # The lowest bit of a member's flags says "encrypted": in its local and its central header.
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = content.find(mark)
        while at >= 0:
            content[at + place] |= 1
            at = content.find(mark, at + 4)
    path.write_bytes(content)
    with pytest.raises(InputError, match="encrypted"):
        read_table(path, "y")


@pytest.mark.parametrize("kind", ["npy", "npz", "parquet", "csv.gz", "csv"])
def test_damage_anywhere_is_a_table_or_a_sentence(kind, tmp_path):
    path = tmp_path / f"data.{kind}"
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=Y)
    if kind == "npy":
        np.save(path, frame.to_numpy())
    elif kind == "npz":
        np.savez(path, X=X, y=Y)
    elif kind == "parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False)
    good = path.read_bytes()
    rng = np.random.default_rng(2)
    target = "-1" if kind == "npy" else "y"
    for position in rng.choice(len(good), 150):
        bad = bytearray(good)
        if position % 4:
            bad[position] ^= int(rng.integers(1, 256))
        else:
            del bad[position:]
        path.write_bytes(bytes(bad))
        with suppress(InputError, MemoryError):  # a shape of 10¹⁸ rows may be claimed
            _ = read_table(path, target).table


def test_an_archive_under_the_name_of_an_array_is_refused(tmp_path):
    buffer = io.BytesIO()
    np.savez(buffer, X=X)
    (tmp_path / "x.npy").write_bytes(buffer.getvalue())
    with pytest.raises(InputError, match=r"end its name in \.npz"):
        read_table(tmp_path / "x.npy", "0")
    with zipfile.ZipFile(tmp_path / "empty.npz", "w"):
        pass
    with pytest.raises(InputError, match="no matrix X"):
        read_table(tmp_path / "empty.npz", "y")


def test_parquet_with_several_levels_of_names(tmp_path):
    frame = pd.DataFrame(X, columns=pd.MultiIndex.from_product([["a", "b"], ["m", "n"]]))
    frame[("y", "")] = Y
    frame.index = pd.MultiIndex.from_product([["p", "q"], range(10)], names=["site", "visit"])
    path = tmp_path / "levels.parquet"
    frame.to_parquet(path)
    table = read_table(path, "y")
    assert table.feature_names.tolist() == ["a/m", "a/n", "b/m", "b/n"]
    assert table.sample_ids[:2].tolist() == ["p/0", "p/1"]
    by_site = read_table(path, "y", ids="site", drop=["visit"])
    assert by_site.sample_ids[0] == "p"
    assert by_site.columns is None


@pytest.mark.parametrize("nested", [[[1, 2]] * 20, [{"k": 1}] * 20])
def test_nested_columns_of_parquet_are_refused_by_name(nested, tmp_path):
    path = tmp_path / "nested.parquet"
    pd.DataFrame({"a": X[:, 0], "deep": nested, "y": Y}).to_parquet(path)
    with pytest.raises(InputError, match="'deep' holds several values in a sample"):
        read_table(path, "deep")
    with pytest.raises(InputError, match=r"Column 'deep' holds (ndarray|dict) values"):
        _ = read_table(path, "y").table
    assert read_table(path, "y", drop=["deep"]).table.values.shape == (20, 1)


def test_names_that_utf8_cannot_write_are_replaced(tmp_path):
    path = tmp_path / "odd.npz"
    np.savez(path, X=X, y=np.array(["u\udc80", "v"])[Y], names=np.array(["a\udc80", "b", "c", "d"]))
    table = read_table(path, "y")
    assert table.feature_names[0] == "a\\udc80"
    "".join(table.feature_names).encode()
    "".join(table.target.labels).encode()


@pytest.mark.parametrize("name", ["x" * 300 + ".csv", "a\0b.csv", "x/" * 3000])
def test_paths_that_no_file_can_have_are_refused(name):
    with pytest.raises(InputError, match=r"cannot be read|no file"):
        read_table(name, "y")
