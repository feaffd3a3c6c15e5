"""Checkpoints: folders from which interrupted work resumes.

`checkpoint.json` states what a folder belongs to: the kind of work and its identity (data, names,
settings). Every other file is a part of the work: a zip archive of arrays and one JSON entry, which
holds the fingerprint of the identity and the name of the file. Files appear by rename, so that a
kill or a full disk at any moment leaves the state before. One process at a time holds the folder.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from nullforest._util import files
from nullforest._util.errors import InputError

FORMAT = "nullforest checkpoint 1"
HEADER = "checkpoint.json"
#: Writing takes at most this share of the time, however large the parts.
MOST_WRITING = 0.05
#: Seconds between two writings, at most: longer times overflow the clocks of other libraries.
DAY = 86400.0
#: Entry of a part that says what it is.
_ABOUT = "part"


class DamagedError(InputError):
    """A file of a checkpoint cannot be read, though it bears the right name."""


@dataclass(frozen=True)
class Part:
    """A finished part of the work: anything that JSON can hold, and arrays."""

    content: Any
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)


class Checkpoint:
    """A folder that keeps finished parts of a long work; entered, it is held by this process.

    Parameters
    ----------
    folder : path or None
        Made where it is missing. None keeps nothing.
    kind : str
        What the work is, as a noun.
    identity : mapping of str to number, str or None
        All that the result depends on, large things by their :func:`digest`. A folder of another
        identity is refused.
    every : float
        Seconds between two writings, for :attr:`due`.
    """

    def __init__(
        self, folder: Any, kind: str, identity: Mapping[str, Any], *, every: float = 0.0
    ) -> None:
        if not isinstance(every, int | float) or not every >= 0.0:
            raise InputError(f"{every} is no time between two savings; give a number of seconds.")
        self.folder = None if folder is None else files.as_path(folder)
        self.kind, self.identity = kind, dict(identity)
        self.fingerprint = digest([FORMAT, kind, self.identity])
        self.interval = min(every, DAY)
        self._next = time.monotonic() + self.interval
        self._is_new, self._written = False, set[str]()
        self._held = ExitStack()

    @staticmethod
    def open(folder: Any, kind: str) -> Checkpoint | None:
        """The checkpoint in a folder, as its own header describes it; None where there is none."""
        header = files.read_sealed(files.as_path(folder) / HEADER, f"{FORMAT}, {kind}", f"a {kind}")
        return None if header is None else Checkpoint(folder, kind, header["identity"])

    def __enter__(self) -> Self:
        if self.folder is None:
            return self
        with ExitStack() as stack:
            stack.enter_context(files.locked(self.folder, f"a {self.kind}"))
            earlier = Checkpoint.open(self.folder, self.kind)
            self._is_new = earlier is None
            if earlier is None:
                header = {"format": f"{FORMAT}, {self.kind}", "identity": self.identity}
                with self._saving(HEADER) as path:
                    files.write_sealed(path, header)
            elif earlier.fingerprint != self.fingerprint:
                raise self._difference(earlier.identity)
            self._held = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def _difference(self, theirs: dict[str, Any]) -> InputError:
        """Name the first thing in which this work differs from the one in the folder."""
        what = "description"
        for name in [*self.identity, *theirs]:
            a, b = (json.dumps(which.get(name)) for which in (theirs, self.identity))
            if a != b:
                what = name if _DIGEST.search(a + b) else f"{name} ({a}, not {b})"
                break
        return InputError(
            f"{self.folder} holds a {self.kind} that differs in its {what}; give the same data and "
            "settings, or another folder."
        )

    @property
    def due(self) -> bool:
        """Whether it is time to write."""
        return time.monotonic() >= self._next

    def write(
        self, name: str, content: Any, arrays: Mapping[str, NDArray[Any]] | None = None
    ) -> None:
        """Keep a part, in place of an earlier one of this name; it is on disk afterwards."""
        if self.folder is None:
            return
        start = time.monotonic()
        about = {"fingerprint": self.fingerprint, "name": name, "content": content}
        text = np.frombuffer(json.dumps(about).encode(), np.uint8)
        archive = io.BytesIO()  # an archive that is cut off by a full disk cannot be closed
        np.savez_compressed(archive, **{_ABOUT: text, **(arrays or {})})  # type: ignore[arg-type]  # numpy's stub takes the keyword `allow_pickle` for a bool
        with self._saving(name) as path, files.writing(path, binary=True) as file:
            file.write(archive.getvalue())
        self._written.add(name)
        now = time.monotonic()
        self.interval = min(max(self.interval, (now - start) / MOST_WRITING), DAY)
        self._next = now + self.interval

    @contextmanager
    def _saving(self, name: str) -> Iterator[Path]:
        """The path of a file to be written."""
        assert self.folder is not None
        path = self.folder / name
        if path.is_symlink():
            raise self._foreign(path)
        try:
            files.remove_partial(path)
            yield path
        except OSError as error:
            raise InputError(
                f"{path} could not be written ({error.strerror}). What was saved before is whole: "
                "make room and give the same command again to resume."
            ) from None

    def _foreign(self, path: Path) -> InputError:
        return InputError(
            f"{path} does not belong to this {self.kind}; move it away, or give another folder."
        )

    def read(self, name: str) -> Part | None:
        """A part that was kept; None where there is none."""
        if self.folder is None or not os.path.lexists(self.folder / name):
            return None
        path = self.folder / name
        if path.is_symlink() or (self._is_new and name not in self._written):
            raise self._foreign(path)
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
                arrays = {entry: archive[entry] for entry in archive.files}
        except Exception as error:  # bytes at random make zip, zlib and numpy say anything
            raise DamagedError(
                f"{path} is damaged ({type(error).__name__}); remove it to do its part again."
            ) from None
        try:
            about = json.loads(arrays.pop(_ABOUT).tobytes())
            ours = (about["fingerprint"], about["name"]) == (self.fingerprint, name)
        except (ValueError, KeyError, TypeError):
            ours = False
        if not ours:
            raise self._foreign(path)
        return Part(about["content"], arrays)


_DIGEST = re.compile(r"\b[0-9a-f]{32}\b")


def digest(value: Any) -> str:
    """Hash of data or settings: arrays by their bytes, functions by their names."""
    total = hashlib.blake2b(digest_size=16)
    _absorb(value, total)
    return total.hexdigest()


def plain(value: Any) -> Any:
    """A setting as it stands in an identity: a number or a word itself, all else by its digest."""
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, bool | int | float | str | None) else digest(value)


def _absorb(value: Any, total: Any) -> None:
    value = value.item() if isinstance(value, np.generic) else value
    if hasattr(value, "tocsc"):
        columns = value.tocsc()
        value = [value.shape, columns.data, columns.indices, columns.indptr]
    elif hasattr(value, "to_numpy"):
        value = [list(getattr(value, "columns", ())), value.to_numpy()]
    if isinstance(value, np.ndarray) and value.dtype.kind != "O":
        total.update(f"array {value.shape} {value.dtype.str}".encode())
        total.update(np.ascontiguousarray(value).reshape(-1).view(np.uint8).data)
    elif isinstance(value, Mapping):
        _absorb([[str(name), value[name]] for name in sorted(value, key=str)], total)
    elif isinstance(value, np.ndarray):
        _absorb(value.tolist(), total)
    elif isinstance(value, list | tuple):
        total.update(f"list {len(value)}".encode())
        for entry in value:
            _absorb(entry, total)
    elif hasattr(value, "__qualname__"):
        total.update(f"{getattr(value, '__module__', '')}.{value.__qualname__}\n".encode())
    else:
        # An object shows its address, which is another one in every process.
        words = re.sub(r" at 0x[0-9a-f]+", "", repr(value))
        total.update(f"{type(value).__name__} {words}\n".encode())
