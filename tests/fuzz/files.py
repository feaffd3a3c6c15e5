"""Calls on hostile and damaged files: tables, tallies, checkpoints of forests, rank tables."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import pandas as pd
import pyarrow
import pyarrow.parquet

import nullforest as nf
from fuzz.damage import damage_folder, damaged
from fuzz.inputs import HOSTILE, NAMES, Rng, label, names, pick
from fuzz.library import small_forest
from fuzz.outcomes import REFUSED, RESULT, Say, check, check_selection, place_of
from nullforest.io import read_table
from nullforest.tallies.file_format import to_arrays

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
    check(len(table.X) == len(table.y), "X and y have different lengths")
    check(table.X.shape[1] == len(table.feature_names), "names and features differ")
    check(np.isfinite(table.X[~np.isnan(table.X)]).all(), "infinite values were read")
    if sound and what == "whole" and not given and wanted == "target" and separator != "|":
        expected = pd.read_csv(io.BytesIO(_unpacked(content, path)), sep=separator)
        varying = expected.drop(columns="target")
        check(table.X.shape[0] == len(expected), "rows were lost")
        for name, values in zip(table.feature_names, table.X.T, strict=True):
            check(np.allclose(values, varying[name], rtol=1e-6), f"column {name} was changed")
    return RESULT


def _unpacked(content: bytes, path: Path) -> bytes:
    unpack = {".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress}
    return unpack.get(path.suffix, bytes)(content)


def tallies(rng: Rng, folder: Path, say: Say) -> str:
    """A damaged tally is refused or equals the whole one; a crafted one selects or is refused."""
    number = int(rng.integers(16))
    whole, path = small_forest(number).tally, folder / "forest.tally"
    if rng.random() < 0.6:
        whole.save(path)
        content, what = damaged(path.read_bytes(), rng)
        say(f"tally of small_forest({number}), {what}")
        path.write_bytes(content)
        check(nf.Tally.load(path) == whole, "a damaged tally was read as another one")
        return RESULT
    arrays = to_arrays(whole)
    name = pick(rng, list(arrays))
    arrays[name], what = _crafted(arrays[name], rng)
    say(f"tally of small_forest({number}) with {name} {what}")
    if arrays[name] is None:
        del arrays[name]
    with path.open("wb") as file:
        pick(rng, [np.savez, np.savez_compressed])(file, **arrays)
    found = nf.Tally.load(path)
    check_selection(nf.select(found, null=pick(rng, ["auto", "probes", "bagged", "paper"])))
    return RESULT


def _crafted(array: np.ndarray, rng: Rng) -> tuple[Any, str]:
    """Another array in the place of one, with a valid checksum."""
    kind = pick(
        rng,
        [
            "missing",
            "shorter",
            "longer",
            "negated",
            "huge",
            "type",
            "axes",
            "value",
            "value",
            "text",
        ],
    )
    match kind:
        case "missing":
            return None, kind
        case "shorter":
            return array[: len(array) // 2] if array.ndim else np.empty(0), kind
        case "longer":
            return np.concatenate([np.atleast_1d(array)] * 2), kind
        case "negated":
            return (-array if array.dtype.kind in "if" else array[::-1]), kind
        case "huge":
            return np.full(array.shape, 2**62), kind
        case "type":
            text = array.dtype.kind == "U"
            return array.astype(
                pick(rng, ["S90", "U2"] if text else ["f4", "c16", "?", "U2"])
            ), kind
        case "axes":
            return array[..., None], kind
        case "text" if array.dtype == np.uint8:  # the header
            text = array.tobytes()
            old = pick(rng, [b"null", b"1", b"nullforest", b"{", b"best", b":"])
            new = pick(rng, [b"-1", b'"a"', b"[]", b"1e999", b"null", b"{}"])
            return np.frombuffer(text.replace(old, new, 1), np.uint8), f"{old!r} → {new!r}"
        case _:
            changed = np.atleast_1d(array).copy()
            if changed.size and changed.dtype.kind in "iuf":
                odd = pick(rng, [0, -1, 10**6, np.iinfo(np.int32).max, np.nan])
                if changed.dtype.kind != "f":
                    odd = 7 if odd != odd else odd % 2**7
                changed.flat[int(rng.integers(changed.size))] = odd
            return changed.reshape(array.shape), kind


@cache
def _data(number: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([number, 5])
    X = rng.normal(size=(30, 10))
    return X, X[:, number] + 0.2 * rng.normal(size=30) > 0


_SETTINGS = {"probes": 50, "feature_names": [f"gene {i}" for i in range(10)], "save_every": 0.0}


@cache
def _resumable(number: int) -> tuple[Path, Any]:
    """A folder with 6 trees of a forest, and the forest of 12."""
    folder = Path(mkdtemp())
    nf.resume(*_data(number), folder, trees=6, **_SETTINGS)
    settings = {k: v for k, v in _SETTINGS.items() if k != "save_every"}
    return folder, nf.grow(*_data(number), trees=12, **settings)


def resuming(rng: Rng, folder: Path, say: Say) -> str:
    """A damaged checkpoint of a forest is refused, or resumes to the undisturbed forest."""
    kept, whole = _resumable(0)
    shutil.copytree(kept, folder / "run")
    what = damage_folder(folder / "run", rng, _resumable(1)[0])
    trees = pick(rng, [12, 12, 6, 3])
    say(f"resume, trees={trees}: {what}")
    forest = nf.resume(*_data(0), folder / "run", trees=trees, **_SETTINGS)
    check(forest.n_trees == trees, "another number of trees")
    if trees == 12:
        check(forest.tally == whole.tally, "another forest than the undisturbed one")
        check(
            np.array_equal(forest.oob_prediction, whole.oob_prediction, True), "other predictions"
        )
    return RESULT


@cache
def _ranked(number: int) -> tuple[Path, Any]:
    folder = Path(mkdtemp())
    X, y = _data(number)
    names = _SETTINGS["feature_names"] if number < 2 else None
    table = nf.RankTable(X, folder=folder, keep_values=number != 1, feature_names=names)
    kept = number != 1
    return folder, nf.grow(table, y, trees=8, probes=50, keep_trees=kept, oob=kept)


def rank_tables(rng: Rng, folder: Path, say: Say) -> str:
    """A damaged rank table is refused, or grows the forest of the undamaged one."""
    number = int(rng.integers(3))
    kept, whole = _ranked(number)
    shutil.copytree(kept, folder / "table")
    what = damage_folder(folder / "table", rng, _ranked((number + 1) % 3)[0])
    say(f"RankTable.open, table {number}: {what}")
    table = nf.RankTable.open(folder / "table")
    on = number != 1
    forest = nf.grow(table, _data(number)[1], trees=8, probes=50, keep_trees=on, oob=on)
    check(forest.tally == whole.tally, "another forest than that of the whole table")
    if on:
        for name, values in whole.trees.arrays.items():
            check(
                np.array_equal(forest.trees.arrays[name], values, equal_nan=True), f"other {name}"
            )
    return RESULT


def hostile_paths(rng: Rng, folder: Path, say: Say) -> str:
    """Readers on what is no file of theirs: folders, links, other formats, no path at all."""
    (folder / "folder").mkdir()
    (folder / "empty").write_bytes(b"")
    (folder / "text").write_text("a,b\n1,2\n")
    (folder / "link").symlink_to(folder / "nowhere")
    (folder / "circle").symlink_to(folder / "circle")
    np.savez(folder / "arrays.npz", X=np.eye(3))
    places = ["folder", "empty", "text", "link", "circle", "arrays.npz", "none", "a" * 300, "a\0b"]
    path: Any = folder / pick(rng, places) if rng.random() < 0.8 else pick(rng, HOSTILE)
    X, y = _data(0)
    uses: dict[str, Any] = {
        "Tally.load": lambda: nf.Tally.load(path),
        "RankTable.open": lambda: nf.RankTable.open(path),
        "RankTable": lambda: nf.RankTable(X, folder=path),
        "resume": lambda: nf.resume(X, y, path, trees=2),
        "ParquetColumns": lambda: nf.ParquetColumns(path),
        "read_table": lambda: read_table(path, "a"),
        "save": lambda: small_forest(0).tally.save(path),
        "to_csv": lambda: nf.select(small_forest(0)).to_csv(path),
        "to_html": lambda: nf.select(small_forest(0)).to_html(path),
    }
    if isinstance(path, str | bytes | int) or path is None:
        path = folder / "none"  # relative names and open files are not for a fuzz test to write
    name = pick(rng, list(uses))
    say(f"{name}({label(path)})")
    try:
        uses[name]()
    except OSError as error:  # the system's own refusal of a path to write to
        check(error.filename and name in ("save", "to_csv", "to_html"), place_of(error))
        return REFUSED
    return RESULT
