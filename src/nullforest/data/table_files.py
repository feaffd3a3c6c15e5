"""Rank tables in files, for data larger than memory; built block by block.

A folder holds the table's arrays one after the other, as the kernel has them in memory, so that a
forest reads from the mapped files what it would read from memory: with `draw="tree"` the columns of
a tree's pool and nothing else. `values.bin` holds the values of X by columns; thresholds and
out-of-bag predictions need them. `table.json` is written first, to mark the folder as a table's,
and replaced last, with the size and the checksum of every file.
"""

from __future__ import annotations

import io
import mmap
import os
import shutil
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import InputError
from nullforest._util.files import locked, read_sealed, write_sealed

FORMAT = "nullforest rank table 3"
#: The arrays of a table, in the order in which the kernel gives them, and their types.
PARTS = {"block": np.uint8, "differs": np.uint64, "known": np.uint32, "flags": np.uint8}
#: All files of a table beside its description.
FILES = (*(f"{name}.bin" for name in (*PARTS, "values")), "names.npy")
#: Bytes that may be read past the end of the first one.
SLACK = 64
#: Columns shorter than this are read alone: what lies beside them is another feature's.
LONG = 2**16
#: Bytes of mapped files that may lie in memory before the kernel lets them go.
RESIDENT = 2 * 2**30
#: Bytes that are read at a time to verify a file.
CHUNK = 2**24
#: Largest value of a flag: its two bits are "has ties" and "has missing values".
MOST_FLAG = 3


@dataclass
class Arrays:
    """The arrays of a table and the maps behind them, if they lie in files."""

    parts: dict[str, NDArray[Any]]
    values: Any = None
    maps: list[mmap.mmap] = field(default_factory=list)


class InMemory:
    """Takes a table block by block into memory."""

    def __init__(self, n_features: int) -> None:
        self.n_features = n_features
        self.parts: dict[str, NDArray[Any]] = {}
        self.done = 0

    def add(self, parts: dict[str, NDArray[Any]], values: NDArray[Any]) -> None:
        """Take the next columns; their values stay where they are."""
        n = len(parts["known"])
        for name, array in parts.items():
            width = len(array) // n
            if name not in self.parts:
                size = self.n_features * width * array.itemsize
                slack = SLACK if name == "block" else 0
                self.parts[name] = aligned(size + slack).view(array.dtype)
            self.parts[name][self.done * width : (self.done + n) * width] = array
        self.done += n

    def arrays(self) -> Arrays:
        """The finished table."""
        return Arrays(self.parts)


class InFolder:
    """Takes a table block by block into the files of a folder; see :func:`in_folder`."""

    def __init__(self, folder: Path, stack: ExitStack, keep_values: bool) -> None:
        self._folder, self._stack, self._keep_values = folder, stack, keep_values
        self._files: dict[str, IO[bytes]] = {}
        self._sums: dict[str, dict[str, int]] = {}
        self._dtype: str | None = None

    def add(self, parts: dict[str, NDArray[Any]], values: NDArray[Any]) -> None:
        """Take the next columns."""
        for name, array in parts.items():
            self._write(f"{name}.bin", array.data)
        if self._keep_values:
            if values.dtype.str != (self._dtype or values.dtype.str):
                raise InputError("The columns of X are of several types; save them as one.")
            self._dtype = values.dtype.str
            for begin in range(0, values.shape[1], 64):  # a few at a time: no second copy
                columns = np.ascontiguousarray(values[:, begin : begin + 64].T)
                self._write("values.bin", columns.data)

    def finish(self, about: dict[str, Any], names: Any) -> None:
        """Write what makes the folder a table."""
        self._write("block.bin", bytes(SLACK))
        if names is not None:
            content = io.BytesIO()
            np.save(content, names, allow_pickle=False)
            self._write("names.npy", content.getvalue())
        with _disk_errors(self._folder):
            self._stack.close()
        about = about | {"values": self._dtype, "files": self._sums}
        _describe(self._folder, {"finished": True, **about})

    def _write(self, name: str, content: Any) -> None:
        with _disk_errors(self._folder):
            if name not in self._files:  # "x": no link is followed, no other file replaced
                self._files[name] = self._stack.enter_context((self._folder / name).open("xb"))
            self._files[name].write(content)
        sums = self._sums.setdefault(name, {"bytes": 0, "crc32": 0})
        sums["bytes"] += memoryview(content).nbytes
        sums["crc32"] = zlib.crc32(content, sums["crc32"])


@contextmanager
def in_folder(folder: Path, needed: float, *, keep_values: bool) -> Iterator[InFolder]:
    """Begin a table of about `needed` bytes in a folder that holds none yet."""
    with locked(folder, "a rank table"), ExitStack() as stack:
        earlier = _description(folder)
        if earlier is not None and earlier["finished"]:
            raise InputError(
                f"{folder} holds a rank table already; open it with RankTable.open, or give "
                "another folder."
            )
        for path in (folder / name for name in FILES):
            if earlier is not None:
                path.unlink(missing_ok=True)  # left by a process that was interrupted
            elif os.path.lexists(path):
                raise InputError(
                    f"{path} exists and does not belong to a rank table; give another folder."
                )
        free = shutil.disk_usage(folder).free
        if needed > free:
            raise InputError(
                f"The table of ranks would take about {needed / 2**30:.3g} GiB, but {folder} has "
                f"{free / 2**30:.3g} GiB left; give a folder on a larger disk (RankTable(X, "
                "folder=...)), or fewer features at a time."
            )
        _describe(folder, {"finished": False})
        yield InFolder(folder, stack, keep_values)


def open_folder(folder: Path, *, verify: bool) -> tuple[Arrays, dict[str, Any], Any]:
    """The arrays of a finished table, its description, and the names of its features."""
    about = _description(folder)
    if about is None or not about["finished"]:
        raise InputError(
            f"There is no finished rank table in {folder}; build one with RankTable(X, folder=...)."
        )
    try:
        arrays, names = _contents(folder, about, verify)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"The rank table in {folder} is damaged ({error}); build it again."
        ) from None
    return arrays, about, names


def _contents(folder: Path, about: dict[str, Any], verify: bool) -> tuple[Arrays, Any]:
    (S, F), files = about["shape"], about["files"]
    types = {f"{name}.bin": np.dtype(kind) for name, kind in PARTS.items()}
    lengths = {"known.bin": F, "flags.bin": F, "differs.bin": F * -(-S // 64)}
    if about["values"] is not None:
        types["values.bin"], lengths["values.bin"] = np.dtype(about["values"]), S * F
    for name in {*types, *files}:
        path, sums = folder / name, files[name]
        whole = sums["bytes"] == path.stat().st_size
        if name in lengths:
            whole = whole and sums["bytes"] == lengths[name] * types[name].itemsize
        if not whole or (verify and _crc32(path) != sums["crc32"]):
            raise ValueError(f"{name} has changed since it was written")
    arrays = Arrays({})
    mapped = {name: _mapped(folder / name, kind, arrays.maps) for name, kind in types.items()}
    arrays.parts = {name: mapped[f"{name}.bin"] for name in PARTS}
    if arrays.parts["known"].max() > S or arrays.parts["flags"].max() > MOST_FLAG:
        raise ValueError("a number is out of its range")
    if len(arrays.parts["block"]) // F < LONG:
        arrays.maps[0].madvise(mmap.MADV_RANDOM)
    if "values.bin" in mapped:
        arrays.values = mapped["values.bin"].reshape(F, S).T
    names = None
    if "names.npy" in files:
        names = np.load(folder / "names.npy", allow_pickle=False)
        if names.shape != (F,) or names.dtype.kind != "U":
            raise ValueError("names.npy does not hold one name per feature")
    return arrays, names


def _describe(folder: Path, about: dict[str, Any]) -> None:
    with _disk_errors(folder):
        write_sealed(folder / "table.json", {"format": FORMAT, **about})


def _description(folder: Path) -> dict[str, Any] | None:
    """What `table.json` says; None where there is none."""
    return read_sealed(folder / "table.json", FORMAT, "a rank table")


def _crc32(path: Path) -> int:
    total = 0
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            total = zlib.crc32(chunk, total)
    return total


@contextmanager
def _disk_errors(folder: Path) -> Iterator[None]:
    """Say in a sentence that a disk is full."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"The rank table could not be written to {folder} ({error.strerror}); give a folder "
            "on a disk with more room."
        ) from None


def aligned(size: int) -> NDArray[np.uint8]:
    """Zeroed memory that begins with a page, in large pages where the system has them."""
    memory = mmap.mmap(-1, max(size, 1), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):  # a kernel without large pages
            memory.madvise(mmap.MADV_HUGEPAGE)  # candidates lie anywhere in the table
    return np.frombuffer(memory, np.uint8, size)


def _mapped(path: Path, dtype: Any, maps: list[mmap.mmap]) -> NDArray[Any]:
    with path.open("rb") as file:
        maps.append(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    array: NDArray[Any] = np.frombuffer(maps[-1], dtype)
    return array
