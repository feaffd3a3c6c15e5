"""What does a file hold? One reader per format; each gives a DataFrame whose columns are named.

Rows are samples. An index that is not merely 0, 1, 2, … names the samples. Wide text tables
(500 × 100 000) are read by pandas' C parser in one piece, which is the fastest of its engines on
many columns.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import pandas as pd

from nullforest._util.errors import InputError, MissingExtraError

_TEXT = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": "\t"}
_COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
#: Keys under which an NPZ archive may keep its matrix and the names of the matrix' columns.
_MATRIX_KEYS = ("X", "x", "data")
_NAME_KEYS = ("feature_names", "features", "feature", "names", "columns")
_FORMATS = "CSV and TSV (also as .gz, .bz2, .xz or .zst), Parquet, NPZ and NPY"


def read_frame(path: Path) -> pd.DataFrame:
    """Read a table by the format that its name tells.

    Parameters
    ----------
    path : Path
        File to read.

    Returns
    -------
    DataFrame
        All columns, under their own names; duplicates are left for the caller to refuse.
    """
    if not path.exists():
        raise InputError(f"There is no file {path}; check the path.")
    if path.is_dir():
        raise InputError(f"{path} is a folder; give the file inside it.")
    if path.stat().st_size == 0:
        raise InputError(f"{path} is empty; give a file with a header and one row per sample.")
    suffixes = [suffix.lower() for suffix in path.suffixes]
    kind = suffixes[-1] if suffixes else ""
    if kind in _COMPRESSED:
        kind = suffixes[-2] if len(suffixes) > 1 else ""
    readers: dict[str, Callable[[Path], pd.DataFrame]] = {
        ".parquet": _read_parquet,
        ".pq": _read_parquet,
        ".npz": _read_npz,
        ".npy": _read_npy,
    }
    reader = _read_text if kind in _TEXT else readers.get(kind)
    if reader is None or (reader is not _read_text and suffixes[-1] in _COMPRESSED):
        raise InputError(
            f"The name of {path} does not tell a format that can be read; give {_FORMATS}."
        )
    try:
        return reader(path)
    except PermissionError:
        raise InputError(f"{path} may not be read; change its permissions.") from None
    except (
        OSError,
        EOFError,
        lzma.LZMAError,
        zlib.error,
        zipfile.BadZipFile,
        pd.errors.ParserError,
    ) as error:
        reason = str(error).splitlines()[0].strip() if str(error) else type(error).__name__
        raise InputError(
            f"{path} is not a whole {kind.lstrip('.').upper()} file ({reason.rstrip('.')}); it "
            "may be damaged, cut short, or something else under this name."
        ) from None
    except UnicodeDecodeError:
        raise InputError(
            f"{path} is not a table of text in UTF-8; if it is text, save it as UTF-8."
        ) from None


def names_rows(index: pd.Index[Any]) -> bool:
    """Whether an index says more of the rows than their numbers."""
    return not (isinstance(index, pd.RangeIndex) and (index.start, index.step) == (0, 1))


def _opened(path: Path) -> IO[bytes]:
    match path.suffix.lower():
        case ".gz":
            return cast(IO[bytes], gzip.open(path, "rb"))
        case ".bz2":
            return bz2.open(path, "rb")
        case ".xz":
            return lzma.open(path, "rb")
        case ".zst":
            try:
                import pyarrow
            except ImportError:
                raise MissingExtraError("pyarrow", "parquet", "Reading a .zst file") from None
            return cast(IO[bytes], pyarrow.input_stream(str(path), compression="zstd"))
        case _:
            return path.open("rb")


def _read_text(path: Path) -> pd.DataFrame:
    kind = next(suffix for suffix in reversed(path.suffixes) if suffix.lower() in _TEXT)
    header, separator = _header(path, _TEXT[kind.lower()])
    with _opened(path) as file:
        frame = pd.read_csv(file, sep=separator, low_memory=False)
    if isinstance(frame.index, pd.MultiIndex) or frame.shape[1] != len(header):
        raise InputError(
            f"The rows of {path} have more fields than its header has names; give every column "
            "a name."
        )
    if names_rows(frame.index) and frame.iloc[:, -1].isna().all():
        raise InputError(
            f"The rows of {path} end with a separator that its header does not have; remove it."
        )
    frame.columns = pd.Index(header, dtype=object)
    if header[0] == "" and not names_rows(frame.index) and frame.iloc[:, 0].is_unique:
        # R and pandas write the names of the rows as a first column without a name.
        frame.index = pd.Index(frame.iloc[:, 0])
        frame = frame.iloc[:, 1:]
    return frame


def _header(path: Path, separator: str) -> tuple[list[str], str]:
    """Names in the first line, and what separates them."""
    with _opened(path) as file, io.TextIOWrapper(file, "utf-8-sig", newline="") as text:
        first = ""
        while not first.strip():
            first = text.readline()
            if not first:
                raise InputError(f"{path} holds no header; give one with a name per column.")
        if separator not in first:
            # Tables named .csv often hold semicolons, and .txt anything.
            separator = max(";\t,", key=first.count)
        if separator not in first:
            raise InputError(
                f"{path} does not look like a table: its first line has no comma, semicolon or tab."
            )
        names = next(csv.reader(_chain(first, text), delimiter=separator))
    return [name.strip() for name in names], separator


def _chain(first: str, rest: IO[str]) -> Any:
    yield first
    yield from rest


def _read_parquet(path: Path) -> pd.DataFrame:
    try:
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError("pyarrow", "parquet", "Reading Parquet") from None
    try:
        frame: pd.DataFrame = pyarrow.parquet.read_table(path).to_pandas()
    except pyarrow.ArrowInvalid as error:
        raise OSError(str(error)) from None
    frame.columns = frame.columns.astype(str)
    return frame


def _read_npy(path: Path) -> pd.DataFrame:
    with path.open("rb") as file:
        matrix = _loaded(path, file)
    if matrix.dtype.names:
        return pd.DataFrame.from_records(matrix)
    _check_matrix(path, matrix, "The array")
    return pd.DataFrame(matrix, columns=[f"x{i}" for i in range(matrix.shape[1])])


def _read_npz(path: Path) -> pd.DataFrame:
    arrays: dict[str, Any] = {}
    with path.open("rb") as file, _loaded(path, file) as archive:
        for key in archive.files:
            try:
                arrays[key] = archive[key]
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
    _check_matrix(path, matrix, f"The array {key}")
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


def _loaded(path: Path, file: IO[bytes]) -> Any:
    try:
        loaded: Any = np.load(file, allow_pickle=False)
        return loaded
    except ValueError as error:
        raise InputError(
            f"{path} cannot be read as plain arrays ({str(error).splitlines()[0].rstrip('.')}); "
            "save numbers or strings, not Python objects."
        ) from None


def _check_matrix(path: Path, matrix: Any, what: str) -> None:
    if matrix.ndim != 2:
        raise InputError(
            f"{what} of {path} has {matrix.ndim} axes; give a matrix of samples × features."
        )
