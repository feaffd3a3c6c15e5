"""How does a rank table that is larger than memory come about? Block by block, into files.

A folder holds the table's arrays one after the other, as the engine has them in memory, so that a
forest reads from the mapped files what it would read from memory: with `draw="tree"` the columns of
a tree's pool and nothing else. `values.bin` are the values of X by columns; thresholds and
out-of-bag predictions need them. `table.json` appears last; without it the table is not whole.
"""

from __future__ import annotations

import json
import mmap
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import InputError
from nullforest._util.files import writing

FORMAT = "nullforest rank table 1"
#: The arrays of a table, in the order in which the engine gives them, and their types.
PARTS = {"block": np.uint8, "differs": np.uint64, "known": np.uint32, "flags": np.uint8}
#: Bytes that may be read past the end of the first one.
SLACK = 64
#: Columns shorter than this are read alone: what lies beside them is another feature's.
LONG = 2**16
#: Bytes of mapped files that may lie in memory before the engine lets them go.
RESIDENT = 2 * 2**30


@dataclass
class Arrays:
    """The arrays of a table and the maps behind them, if they lie in files."""

    parts: dict[str, NDArray[Any]]
    values: Any = None
    maps: list[mmap.mmap] = field(default_factory=list)

    @property
    def most_resident(self) -> int:
        """Bytes of the files that may lie in memory; 0 where nothing is a file."""
        return RESIDENT if self.maps else 0


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
    """Takes a table block by block into the files of a folder."""

    def __init__(self, folder: Path, files: dict[str, Any], keep_values: bool) -> None:
        self.folder, self._files, self._keep_values = folder, files, keep_values
        self.dtype = ""

    def add(self, parts: dict[str, NDArray[Any]], values: NDArray[Any]) -> None:
        """Take the next columns."""
        for name, array in parts.items():
            self._files[name].write(array.data)
        if self._keep_values:
            if values.dtype.str != (self.dtype or values.dtype.str):
                raise InputError("The columns of X are of several types; save them as one.")
            self.dtype = values.dtype.str
            for begin in range(0, values.shape[1], 64):  # a few at a time: no second copy
                self._files["values"].write(np.ascontiguousarray(values[:, begin : begin + 64].T))

    def finish(self, about: dict[str, Any], names: Any) -> None:
        """Write what makes the folder a table."""
        self._files["block"].write(bytes(SLACK))
        for file in self._files.values():
            file.close()
        if names is not None:
            np.save(self.folder / "names.npy", names, allow_pickle=False)
        with writing(self.folder / "table.json") as out:
            json.dump({"format": FORMAT, "values": self.dtype or None, **about}, out)


@contextmanager
def in_folder(folder: Path, needed: float, *, keep_values: bool) -> Iterator[InFolder]:
    """Begin a table of about `needed` bytes in a folder that holds none yet."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"The folder {folder} cannot be made ({error.strerror}); give another name."
        ) from None
    if (folder / "table.json").exists():
        raise InputError(
            f"{folder} holds a rank table already; open it with RankTable.open, or give another "
            "folder."
        )
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise InputError(
            f"The table of ranks would take about {needed / 2**30:.3g} GiB, but {folder} has "
            f"{free / 2**30:.3g} GiB left; give a folder on a larger disk (RankTable(X, "
            "folder=...)), or fewer features at a time."
        )
    with ExitStack() as stack:
        names = [*PARTS, *(["values"] if keep_values else [])]
        files = {n: stack.enter_context((folder / f"{n}.bin").open("wb")) for n in names}
        yield InFolder(folder, files, keep_values)


def open_folder(folder: Path) -> tuple[Arrays, dict[str, Any], Any]:
    """The arrays of a finished table, what is known of it, and the names of its features."""
    path = folder / "table.json"
    if not path.exists():
        raise InputError(
            f"There is no finished rank table in {folder}; build one with RankTable(X, folder=...)."
        )
    try:
        about: dict[str, Any] = json.loads(path.read_text("utf-8"))
        known = about["format"] == FORMAT
        S, F = (int(n) for n in about["shape"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} does not describe a rank table ({error}).") from None
    if not known:
        raise InputError(f"{path} is of another version of nullforest; build the table again.")
    arrays = Arrays({})
    for name, dtype in PARTS.items():
        arrays.parts[name] = _mapped(folder / f"{name}.bin", dtype, arrays.maps)
    if len(arrays.parts["known"]) != F:
        raise InputError(f"{folder / 'known.bin'} is cut short; build the table again.")
    if len(arrays.parts["block"]) // max(F, 1) < LONG:
        arrays.maps[0].madvise(mmap.MADV_RANDOM)
    if about["values"] is not None:
        values = _mapped(folder / "values.bin", np.dtype(about["values"]), arrays.maps)
        if len(values) != S * F:
            raise InputError(f"{folder / 'values.bin'} is cut short; build the table again.")
        arrays.values = values.reshape(F, S).T
    names_file = folder / "names.npy"
    names = np.load(names_file, allow_pickle=False) if names_file.exists() else None
    return arrays, about, names


def aligned(size: int) -> NDArray[np.uint8]:
    """Zeroed memory that begins with a page, in large pages where the system has them."""
    memory = mmap.mmap(-1, max(size, 1), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):  # a kernel without large pages
            memory.madvise(mmap.MADV_HUGEPAGE)  # candidates lie anywhere in the table
    return np.frombuffer(memory, np.uint8, size)


def _mapped(path: Path, dtype: Any, maps: list[mmap.mmap]) -> NDArray[Any]:
    try:
        with path.open("rb") as file:
            one = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        maps.append(one)
        array: NDArray[Any] = np.frombuffer(one, dtype)
        return array
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read ({error}); build the table again.") from None
