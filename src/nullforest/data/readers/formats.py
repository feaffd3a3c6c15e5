"""File formats: one reader each; all give a DataFrame whose columns are named.

Rows are samples. An index that is not merely 0, 1, 2, … names the samples. pandas and pyarrow are
imported once a file has passed the checks that need neither.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from nullforest._util.errors import InputError, optional, reason_of
from nullforest._util.files import reading
from nullforest.data.readers.text import (
    SEPARATORS,
    Layout,
    layout_of,
    read_text,
    row_names,
    texts_of,
)

if TYPE_CHECKING:
    import pandas as pd

_COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
_READERS = (".parquet", ".pq", ".npz", ".npy")
#: Keys under which an NPZ archive may keep its matrix and the names of the matrix' columns.
_MATRIX_KEYS = ("X", "x", "data")
_NAME_KEYS = ("feature_names", "features", "feature", "names", "columns")
_FORMATS = "CSV and TSV (also as .gz, .bz2, .xz or .zst), Parquet, NPZ and NPY"


class TableFile:
    """A file in one of the formats, checked as far as its first lines tell.

    A table of text has a `layout`, with the decimal mark given or told from its first lines.
    """

    def __init__(self, path: Path, decimal: str | None = None) -> None:
        self.path = path
        self.kind = _format_of(path)
        self.layout: Layout | None = None
        if self.kind in SEPARATORS:
            with self._reading():
                self.layout = layout_of(path, decimal)
        elif decimal is not None:
            raise InputError(f"{path} is no table of text; leave out --decimal.")

    def row_names(self) -> set[str]:
        """Names in the first column of a table of text."""
        with self._reading():
            return set() if self.layout is None else row_names(self.path, self.layout)

    def read(self, *, transpose: bool = False) -> pd.DataFrame:
        """All columns under their own names; duplicates are left for the caller to refuse.

        `attrs` hold `first_column`, the position of the first column in the file (None where rows
        and columns were exchanged), and `columns_beside`, the arrays beside a matrix.
        """
        with self._reading():
            if self.layout is not None:
                frame = read_text(self.path, self.layout, transpose=transpose)
            elif transpose:
                raise InputError(f"{self.path} is no table of text; leave out --transpose.")
            else:
                readers = {".npz": _read_npz, ".npy": _read_npy}
                frame = readers.get(self.kind, _read_parquet)(self.path)
        frame.attrs.setdefault("first_column", 0)
        return frame

    def _reading(self) -> AbstractContextManager[None]:
        return reading(self.path, self.kind.lstrip(".").upper())


def _format_of(path: Path) -> str:
    """The ending that tells the format; compression does not count."""
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        raise InputError(f"There is no file {path}; check the path.") from None
    except (OSError, ValueError) as error:  # a name that is too long, or holds a null character
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path} cannot be read ({reason}); check the path.") from None
    if path.is_dir():
        raise InputError(f"{path} is a folder; give the file inside it.")
    if size == 0:
        raise InputError(f"{path} is empty; give a file with a header and one row per sample.")
    *_, before, kind = ["", "", *(suffix.lower() for suffix in path.suffixes)]
    if kind in _COMPRESSED and before in SEPARATORS:
        return before
    if kind not in (*SEPARATORS, *_READERS):
        raise InputError(
            f"The name of {path} does not tell a format that can be read; give {_FORMATS}."
        )
    return kind


def _read_parquet(path: Path) -> pd.DataFrame:
    parquet = optional("pyarrow.parquet", "parquet", "Reading Parquet")
    frame: pd.DataFrame = parquet.read_table(path).to_pandas()
    return frame


def _read_npy(path: Path) -> pd.DataFrame:
    import pandas as pd

    with path.open("rb") as file:
        matrix = _loaded(path, file)
    if not isinstance(matrix, np.ndarray):
        raise InputError(f"{path} is an archive of several arrays; end its name in .npz.")
    matrix = _native(matrix)
    if matrix.dtype.names:
        return pd.DataFrame.from_records(matrix)
    if matrix.ndim != 2:
        raise InputError(
            f"The array of {path} has {matrix.ndim} axes; give a matrix of samples × features."
        )
    return pd.DataFrame(matrix, columns=[f"x{i}" for i in range(matrix.shape[1])])


def _read_npz(path: Path) -> pd.DataFrame:
    import pandas as pd

    arrays: dict[str, Any] = {}
    with path.open("rb") as file, _loaded(path, file) as archive:
        for key in archive.files:
            try:
                arrays[key] = _native(archive[key])
            except ValueError:  # an array of Python objects, which could run code
                continue
    flat = {key: array for key, array in arrays.items() if array.ndim == 2}
    key = next((key for key in _MATRIX_KEYS if key in flat), None)
    if key is None and len(flat) == 1:
        key = next(iter(flat))
    if key is None:
        raise InputError(
            f"{path} holds no matrix X (samples × features); it holds "
            f"{', '.join(arrays) or 'nothing readable'}. Save one with np.savez(path, X=X, y=y)."
        )
    matrix = arrays.pop(key)
    n, F = matrix.shape
    name_key = next((k for k in _NAME_KEYS if k in arrays and arrays[k].shape == (F,)), None)
    names = [f"x{i}" for i in range(F)] if name_key is None else arrays.pop(name_key).astype(str)
    frame = pd.DataFrame(matrix, columns=pd.Index(names, dtype=object))
    frame.attrs["columns_beside"] = []
    for other, values in arrays.items():
        if values.shape == (n,):
            frame.insert(frame.shape[1], other, values, allow_duplicates=True)
            frame.attrs["columns_beside"].append(other)
    return frame


def _loaded(path: Path, file: IO[bytes]) -> Any:  # numpy leaves a file open that is damaged
    try:
        loaded: Any = np.load(file, allow_pickle=False)
        return loaded
    except ValueError as error:
        raise InputError(
            f"{path} cannot be read as plain arrays ({reason_of(error)}); "
            "save numbers or strings, not Python objects."
        ) from None


def _native(array: Any) -> Any:
    """The array as pandas takes it: this machine's byte order, and text that UTF-8 can write."""
    if array.dtype.kind == "U" and array.ndim == 1:
        return texts_of(array)
    return array.astype(array.dtype.newbyteorder("="), copy=False)
