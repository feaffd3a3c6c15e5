"""Calls on damaged files of our own: tallies, checkpoints of forests, rank tables; and maps."""

from __future__ import annotations

import gzip
import io
import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import nibabel
import numpy as np

import nullforest as nf
from fuzz.damage import damage_folder, damaged
from fuzz.inputs import HOSTILE, Rng, label, pick
from fuzz.library import small_forest
from fuzz.outcomes import REFUSED, RESULT, Say, check, check_selection, place_of
from nullforest.data.readers.tables import read_table
from nullforest.datasets.simulate.cortical_surface import read_maps, read_mesh
from nullforest.tallies.file_format import to_arrays


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


def _surface(kind: str, rng: Rng) -> bytes:
    """Maps of six subjects on ten vertices, or a mesh, in one of the formats."""
    values = rng.normal(size=(6, 10)).astype(np.float32)
    out = io.BytesIO()
    match kind:
        case ".npz":
            np.savez(out, X=values, vertex=np.arange(10))
        case ".func.gii":
            arrays = [nibabel.gifti.GiftiDataArray(row) for row in values]
            out.write(nibabel.gifti.GiftiImage(darrays=arrays).to_bytes())
        case ".surf.gii":
            points = nibabel.gifti.GiftiDataArray(values[:, :3], intent="pointset")
            faces = nibabel.gifti.GiftiDataArray(np.eye(3, dtype=np.int32), intent="triangle")
            out.write(nibabel.gifti.GiftiImage(darrays=[points, faces]).to_bytes())
        case _:
            out.write(nibabel.MGHImage(values.T[:, None, None], np.eye(4)).to_bytes())
    return gzip.compress(out.getvalue()) if kind == ".mgz" else out.getvalue()


def surfaces(rng: Rng, folder: Path, say: Say) -> str:
    """Maps and meshes of the cortex, whole, damaged and under another name."""
    kinds = [".npz", ".func.gii", ".surf.gii", ".mgh", ".mgz"]
    kind = pick(rng, kinds)
    content, what = _surface(kind, rng), "whole"
    if rng.random() < 0.7:
        content, what = damaged(content, rng)
    path = folder / f"maps{kind if rng.random() < 0.9 else pick(rng, [*kinds, '.txt', '.foo'])}"
    path.write_bytes(content)
    say(f"{path.name}, {what}")
    if path.name.endswith(".surf.gii"):
        read_mesh(path)
    else:
        maps = read_maps(path)
        check(np.isfinite(maps.values).all(), "infinite values were read")
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
