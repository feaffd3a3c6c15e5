"""File formats: what a file is, and the DataFrame of a table; its columns are named.

Rows are samples. An index that is not merely 0, 1, 2, … names the samples. pandas and pyarrow are
imported once a file has passed the checks that need neither.
"""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import io
import lzma
import os
import re
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import InputError, optional, reason_of
from nullforest._util.files import as_path, reading
from nullforest._util.words import Setting

if TYPE_CHECKING:
    import pandas as pd

#: Separator by the ending of the name, where the header holds it.
_SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": "\t"}
_COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
_BINARY = (".parquet", ".pq", ".npz", ".npy")
_FORMATS = "CSV and TSV (also as .gz, .bz2, .xz or .zst), Parquet, NPZ and NPY"
#: Kinds of files that hold a matrix, by the ends of their names; the first that fits.
_MATRICES = {
    ".h5ad": "h5ad",
    ".h5": "10x",
    ".mtx": "mtx",
    ".mtx.gz": "mtx",
    ".bed": "plink",
    ".bim": "plink",
    ".fam": "plink",
    ".vcf": "vcf",
    ".vcf.gz": "vcf",
    ".vcf.bgz": "vcf",
    ".bcf": "vcf",
    ".dscalar.nii": "cifti",
    ".dtseries.nii": "cifti",
    ".nii": "nifti",
    ".nii.gz": "nifti",
    ".gii": "surface",
    ".gii.gz": "surface",
    ".mgh": "mgh",
    ".mgz": "mgh",
}
#: Names of FreeSurfer's files of one value per vertex, which have no ending of their own.
_FREESURFER = re.compile(r"^[lr]h\.(thickness|curv|sulc|area|volume|avg_curv|w-g\.pct|jacobian)")
#: Keys under which an NPZ archive may keep its matrix and the names of the matrix' columns.
_MATRIX_KEYS = ("X", "x", "data")
_NAME_KEYS = ("feature_names", "features", "feature", "names", "columns")
#: Lines that the separator and the decimal mark are told from; a wide line takes a megabyte.
_LINES = 6
#: Characters that are searched for a name: a fraction of a second.
_SEARCHED = 20_000_000
_DECIMAL_COMMA, _DECIMAL_POINT = re.compile(r"[+-]?\d+,\d+"), re.compile(r"[+-]?\d*\.\d+")


def found_files(named: Any) -> list[Path]:
    """The files named by a path, a pattern such as "sub-*.nii.gz", or a list of either."""
    several = named if isinstance(named, list | tuple) else [named]
    files: list[Path] = []
    for path in map(as_path, several):
        if any(sign in str(path) for sign in "*?[") and not path.exists():
            matches = sorted(Path(path.anchor).glob(str(path.relative_to(path.anchor))))
            if not matches:
                raise InputError(f"No file matches {path}; check the pattern.")
            files += matches
        else:
            files.append(path)
    if not files:
        raise InputError("There is no file; give at least one.")
    return files


def single(paths: Sequence[Path]) -> Path:
    """The only file; several are refused."""
    if len(paths) > 1:
        raise InputError(
            f"{len(paths)} files were given ({paths[0]}, {paths[1]}, …), which only images can be "
            "read from; give one."
        )
    return paths[0]


def kind_of(paths: Sequence[Path]) -> str | None:
    """Kind of the files, by the name of the first; None for tables."""
    name = paths[0].name.lower()
    kinds = (kind for ending, kind in _MATRICES.items() if name.endswith(ending))
    kind = next(kinds, "surface" if _FREESURFER.match(name) else None)
    # A folder of Cell Ranger; os.path answers where a name is too long for a file, too.
    matrices = (paths[0] / f"matrix.mtx{end}" for end in ("", ".gz"))
    if kind is None and any(os.path.exists(path) for path in matrices):  # noqa: PTH110
        return "mtx"
    return kind


class TableFile:
    """A file in one of the formats, checked as far as its first lines tell.

    Attributes
    ----------
    path : Path
    kind : str
        The ending that tells the format; compression does not count.
    names : list of str or None
        Names in the header of a table of text; None for the other formats.
    decimal : str or None
        Decimal mark of a table of text, as it was given or as its first lines tell.
    """

    def __init__(self, path: Path, decimal: str | None = None) -> None:
        self.path, self.decimal = path, decimal
        self.names: list[str] | None = None
        try:
            size = path.stat().st_size
        except FileNotFoundError:
            raise InputError(f"There is no file {path}; check the path.") from None
        except (OSError, ValueError) as error:  # a name too long, or with a null character
            reason = getattr(error, "strerror", None) or error
            raise InputError(f"{path} cannot be read ({reason}); check the path.") from None
        if path.is_dir():
            raise InputError(f"{path} is a folder; give the file inside it.")
        if size == 0:
            raise InputError(f"{path} is empty; give a file with a header and one row per sample.")
        *_, before, self.kind = ["", "", *(suffix.lower() for suffix in path.suffixes)]
        if self.kind in _COMPRESSED and before in _SEPARATORS:
            self.kind = before
        self._form = self.kind.lstrip(".").upper()
        if self.kind in _SEPARATORS:
            with reading(path, self._form):
                self._read_header()
        elif self.kind not in _BINARY:
            raise InputError(
                f"The name of {path} does not tell a format that can be read; give {_FORMATS}."
            )
        elif decimal is not None:
            raise self._no_text("decimal")

    def _no_text(self, setting: str) -> InputError:
        words = f"{self.path} is no table of text; leave out "
        return InputError(words, Setting(setting), ".", setting=setting)

    def read(self, *, transpose: bool = False) -> pd.DataFrame:
        """All columns under their own names; duplicates are left for the caller to refuse.

        `attrs` hold `first_column`, the position of the first column in the file (None where rows
        and columns were exchanged), and `columns_beside`, the arrays beside a matrix.
        """
        with reading(self.path, self._form):
            if self.names is not None:
                return self._read_text(self.names, transpose=transpose)
            if transpose:
                raise self._no_text("transpose")
            readers = {".npz": _read_npz, ".npy": _read_npy}
            frame = readers.get(self.kind, _read_parquet)(self.path)
        frame.attrs.setdefault("first_column", 0)
        return frame

    def row_names(self) -> set[str]:
        """The first field of every line of a table of text; of a large file, of its first lines."""
        with reading(self.path, self._form), self._text("replace") as text:
            lines = text.readlines(_SEARCHED)
        return {line.strip().partition(self._separator)[0].strip('" ') for line in lines}

    def _read_header(self) -> None:
        """Names, separator, decimal mark and encoding, from the first lines."""
        with _opened(self.path) as file:
            mark = file.read(2)
        # UTF-16 where the file begins with its mark, as Excel's "Unicode text" does.
        utf16 = mark in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
        self._encoding = "utf-16" if utf16 else "utf-8-sig"
        with self._text() as text:
            lines = list(islice((line for line in text if line.strip()), _LINES))
        if not lines:
            raise InputError(f"{self.path} holds no header; give one with a name per column.")
        self._separator = separator = _separator_of(self.path, lines, _SEPARATORS[self.kind])
        fields = csv.reader(lines, delimiter=separator, skipinitialspace=separator == " ")
        try:
            self.names = [name.strip() for name in next(fields)]
            closed = fields.line_num < len(lines) or len(lines) == 1
            cells = [cell.strip() for row in fields for cell in row]
        except csv.Error:  # a field of more than 128 KiB
            closed = False
        if not closed:
            raise InputError(
                f"The header of {self.path} holds a quote that is not closed; correct it."
            )
        if self.decimal is None:
            commas = separator != "," and any(map(_DECIMAL_COMMA.fullmatch, cells))
            points = commas and any(map(_DECIMAL_POINT.fullmatch, cells))
            self.decimal = "," if commas and not points else "."

    def _text(self, errors: str | None = None) -> io.TextIOWrapper:
        return io.TextIOWrapper(_opened(self.path), self._encoding, errors, newline="")

    def _read_text(self, names: list[str], *, transpose: bool) -> pd.DataFrame:
        """The values of a table of text; with `transpose`, rows of the file become columns."""
        import pandas as pd

        path = self.path
        with _opened(path) as file:
            frame = pd.read_csv(
                file,
                sep=r"\s+" if self._separator == " " else self._separator,
                decimal=self.decimal or ".",
                dtype=str if transpose else None,
                encoding=self._encoding.removesuffix("-sig"),  # pandas passes over the mark itself
                low_memory=False,
                float_precision="round_trip",  # the other parsers crash on an exponent above 2³¹
            )
        if isinstance(frame.index, pd.MultiIndex) or frame.shape[1] != len(names):
            raise InputError(
                f"The rows of {path} have more fields than its header has names; give every column "
                "a name."
            )
        named = not isinstance(frame.index, pd.RangeIndex)  # R writes no name for the row names
        if named and frame.iloc[:, -1].isna().all():
            raise InputError(
                f"The rows of {path} end with a separator that its header does not have; remove it."
            )
        frame.columns = pd.Index(names, dtype=object)
        if not named and (transpose or names[0] == "") and frame.iloc[:, 0].is_unique:
            # R and pandas also write the row names as a first column without a name.
            frame, named = frame.iloc[:, 1:].set_axis(frame.iloc[:, 0], axis=0), True
        frame.attrs["first_column"] = int(named)
        if not transpose:
            return frame
        if not (named and frame.index.is_unique):
            raise InputError(
                f"The first column of {path} does not name the rows, since names repeat; with ",
                Setting("transpose"),
                " every row needs a name of its own.",
            )
        columns: dict[str, Any] = {}
        for name, row in zip(frame.index, frame.to_numpy(object), strict=True):
            points = (c.replace(self.decimal or ".", ".") if isinstance(c, str) else c for c in row)
            values = np.array([number_of(cell) for cell in points])
            columns[str(name)] = row if (np.isnan(values) & ~pd.isna(row)).any() else values
        turned = pd.DataFrame(columns, index=frame.columns)
        turned.attrs["first_column"] = None
        return turned


def number_of(cell: Any) -> float:
    """A cell as a number; NaN where it is none.

    Python reads every text that pandas' parsers crash on. It also reads 1_000, which is a name.
    """
    try:
        return float("nan") if isinstance(cell, str) and "_" in cell else float(cell)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def text_of(value: Any) -> str:
    """A name or class that can be written as UTF-8; names of several levels are joined."""
    parts = value if isinstance(value, tuple) else (value,)
    text = "/".join(part for part in map(str, parts) if part)
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def texts_of(values: Iterable[Any]) -> NDArray[np.str_]:
    """Names or classes as an array."""
    return np.array([text_of(value) for value in values], str)


def _separator_of(path: Path, lines: list[str], usual: str) -> str:
    bare = re.sub(r'"[^"]*"', "", lines[0])
    if usual in bare and not (usual == "," and bare.count(";") > bare.count(",")):
        return usual
    # Tables named .csv often hold semicolons, and .txt anything.
    other = max(";\t,", key=bare.count)
    if other in bare:
        return other
    # Spaces stand in sentences too: the next line must have as many fields, or a row name more.
    header, *rows = csv.reader(lines[:2], delimiter=" ", skipinitialspace=True)
    if len(header) > 1 and rows and len(rows[0]) - len(header) in (0, 1):
        return " "
    raise InputError(
        f"{path} does not look like a table: its first line has no comma, semicolon, tab or "
        "space between names."
    )


def _opened(path: Path) -> IO[bytes]:
    kind = path.suffix.lower()
    if kind == ".zst":
        pyarrow = optional("pyarrow", "parquet", "Reading a .zst file")
        return cast(IO[bytes], pyarrow.input_stream(str(path), compression="zstd"))
    openers: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
    return cast(IO[bytes], openers.get(kind, open)(path, "rb"))


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
