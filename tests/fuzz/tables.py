"""Calls of the readers of tables: text, NPY, NPZ and Parquet, whole and damaged."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow
import pyarrow.parquet

import nullforest as nf
from fuzz.damage import damaged
from fuzz.inputs import NAMES, Rng, names, pick
from fuzz.outcomes import RESULT, Say, check
from nullforest.data.readers.tables import read_table

CELLS = [
    *("3e2147483648", "1e999", "-1e-999", "1e-400", "0x10", "1_000", "9" * 400, "." * 20),
    *("NaN", "NA", "", " ", "inf", "-Infinity", "None", "null", "#N/A", "TRUE", "yes"),
    *("1,5", "1.234,5", "1 234", "+1", "--1", "1e", "e1", "٣", "½", "a", "ü", "2020-01-01"),
    *('"', '"a', '""', "'", "\x00", "\r", "\\", "=1+1", "\x1b[31m", "a\nb", "x" * 5000, "\ud800"),
]


def _text_table(rng: Rng) -> tuple[bytes, str, bool]:
    """A table of text, its separator, and whether every reader should read it."""
    S, F = pick(rng, [0, 1, 3, *[12, 30] * 4]), pick(rng, [1, 2, 5, 20])
    sound = rng.random() < 0.3
    header = ["target", *(f"f{i}" for i in range(F))] if sound else ["target", *names(rng, F)]
    rows: list[list[str]] = [
        [str(i % 2), *(f"{x:.6g}" for x in rng.normal(size=F))] for i in range(S)
    ]
    separator = pick(rng, [",", ",", "\t", ";", " ", "|"])
    if not sound:
        for _ in range(int(rng.integers(0, 3))):
            if rows:
                row = pick(rng, rows)
                row[int(rng.integers(len(row)))] = pick(rng, CELLS)
        if rows and rng.random() < 0.15:
            pick(rng, rows).append("1")
        if rng.random() < 0.1:
            header = pick(rng, [header[1:], [*header, ""], ["", *header], [], header * 2])
        if rng.random() < 0.1:
            rows = [[f"s{i}", *row] for i, row in enumerate(rows)]
    ending = pick(rng, ["\n", "\n", "\r\n", "\r"])
    text = ending.join(separator.join(row) for row in [header, *rows]) + ending
    coding = "utf-8" if sound else pick(rng, ["utf-8"] * 17 + ["utf-8-sig", "latin-1", "utf-16"])
    return (
        text.encode(coding, "surrogatepass" if coding == "utf-8" else "replace"),
        separator,
        sound,
    )


def _array(rng: Rng) -> Any:
    shape = pick(rng, [*[(20, 5)] * 9, (1, 1), (0, 3), (3, 0), (7,), (), (2, 3, 4)])
    dtype = pick(rng, ["f8"] * 8 + [">f8", "f4", "f2", "i8", "?", "c16", "U3", "S2", "O", "M8[s]"])
    if rng.random() < 0.1:
        return np.zeros(20, [("target", int), ("a", float), ("b", pick(rng, ["U3", "O", "3f8"]))])
    return np.asarray(rng.normal(size=shape).round(1)).astype(dtype)


def _npy(rng: Rng) -> bytes:
    out = io.BytesIO()
    np.save(out, _array(rng))
    content = out.getvalue()
    if rng.random() < 0.1:  # a header that promises more than there is
        content = content.replace(b"(20, 5)", pick(rng, [b"(10**9,)", b"(2**62,5)", b"(-1, 5)"]))
    return content


def _npz(rng: Rng) -> bytes:
    out = io.BytesIO()
    arrays = {"X": _array(rng), "target": np.arange(20) % 2}
    if rng.random() < 0.3:
        arrays[pick(rng, ["feature_names", "names", "y", "ids", "../x", "a/b"])] = pick(
            rng, [np.array(list("abcde")), np.arange(20), np.array([None] * 5)]
        )
    if rng.random() < 0.1:
        arrays.pop("X")
    pick(rng, [np.savez, np.savez_compressed])(out, **arrays)
    return out.getvalue()


def _parquet(rng: Rng) -> bytes:
    S = pick(rng, [0, 1, *[20] * 6])
    columns: dict[str, Any] = {"target": pyarrow.array([i % 2 for i in range(S)])}
    odd = [
        pyarrow.array([[1.0, 2.0]] * S),
        pyarrow.array([{"a": 1}] * S, pyarrow.struct([("a", pyarrow.int64())])),
        pyarrow.array(["a", None] * S)[:S],
        pyarrow.array([None] * S, pyarrow.null()),
        pyarrow.array([b"a"] * S, pyarrow.binary()),
        pyarrow.array(["a", "b"] * S)[:S].dictionary_encode(),
        pyarrow.array([0] * S, pyarrow.timestamp("us")),
        pyarrow.array([None, 1] * S, pyarrow.int64())[:S],
        pyarrow.array([0] * S, pyarrow.decimal128(5, 2)),
        pyarrow.array([True] * S),
    ]
    for i in range(pick(rng, [1, 3, 8])):
        plain = pyarrow.array(rng.normal(size=S))
        name = pick(rng, NAMES) if rng.random() < 0.1 else f"f{i}"
        columns[name] = pick(rng, odd) if rng.random() < 0.15 else plain
    if rng.random() < 0.1:
        columns["target"] = pick(rng, odd)
    table = pyarrow.table(columns)
    if rng.random() < 0.1:
        frame = pd.DataFrame(rng.normal(size=(S, 2)))
        frame.columns = pd.MultiIndex.from_tuples([("target", "a"), ("b", "c")])
        table = pyarrow.Table.from_pandas(frame)
    out = io.BytesIO()
    pyarrow.parquet.write_table(table, out)
    return out.getvalue()


_PACKED = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


def readers(rng: Rng, folder: Path, say: Say) -> str:
    """`read_table` and `ParquetColumns` on tables of every format, whole and damaged."""
    kind = pick(rng, [".csv", ".csv", ".tsv", ".txt", ".npy", ".npz", ".parquet"])
    sound, separator = False, ""
    match kind:
        case ".npy":
            content = _npy(rng)
        case ".npz":
            content = _npz(rng)
        case ".parquet":
            content = _parquet(rng)
        case _:
            content, separator, sound = _text_table(rng)
            if rng.random() < 0.2:
                packed = pick(rng, list(_PACKED))
                content, kind = _PACKED[packed](content), kind + packed
    what = "whole"
    if rng.random() < 0.3:
        content, what = damaged(content, rng)
    path = folder / f"table{kind if rng.random() < 0.97 else pick(rng, ['.csv', '.foo', ''])}"
    path.write_bytes(content)
    if path.suffix == ".parquet" and rng.random() < 0.3:
        say(f"ParquetColumns({path.name}), {what}")
        columns = nf.ParquetColumns(path, drop=["target"])
        nf.grow(columns, columns.column("target"), trees=2, probes=0)
        return RESULT
    given: dict[str, Any] = {"target": "target"}
    for name, plausible in [
        ("target", ["f0", "x0", "0", "", "Target"]),
        ("ids", ["f1", "x1", "nobody"]),
        ("drop", [["f0"], ["nobody"], ["target"]]),
        ("task", ["classification", "regression", "auto", "both"]),
        ("transpose", [True]),
        ("decimal", [",", "."]),
    ]:
        if rng.random() < 0.04:
            given[name] = pick(rng, plausible)
    say(f"read_table({path.name}, {given}), {what}")
    wanted = given.pop("target")
    table = read_table(path, wanted, **given)
    X = table.table.matrix
    check(len(X) == table.n_samples, "X and y have different lengths")
    check(X.shape[1] == len(table.feature_names), "names and features differ")
    check(np.isfinite(X[~np.isnan(X)]).all(), "infinite values were read")
    if sound and what == "whole" and not given and wanted == "target" and separator != "|":
        expected = pd.read_csv(io.BytesIO(_unpacked(content, path)), sep=separator)
        varying = expected.drop(columns="target")
        check(len(X) == len(expected), "rows were lost")
        for name, values in zip(table.feature_names, X.T, strict=True):
            check(np.allclose(values, varying[name], rtol=1e-6), f"column {name} was changed")
    return RESULT


def _unpacked(content: bytes, path: Path) -> bytes:
    unpack = {".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress}
    return unpack.get(path.suffix, bytes)(content)
