"""Tables of text: separator, decimal mark and names from the first lines, values by pandas."""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import io
import lzma
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import InputError, optional

if TYPE_CHECKING:
    import pandas as pd

#: Separator by the ending of the name, where the header holds it.
SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": "\t"}
#: Lines that the separator and the decimal mark are told from; a wide line takes a megabyte.
_LINES = 6
#: Characters that are searched for a name: a fraction of a second.
_SEARCHED = 20_000_000
_DECIMAL_COMMA, _DECIMAL_POINT = re.compile(r"[+-]?\d+,\d+"), re.compile(r"[+-]?\d*\.\d+")


@dataclass(frozen=True)
class Layout:
    """How a file of text is divided into fields; `names` are those of the header."""

    names: list[str]
    separator: str
    decimal: str
    encoding: str = "utf-8-sig"


def layout_of(path: Path, decimal: str | None = None) -> Layout:
    """The layout of a table, from its first lines."""
    encoding = _encoding(path)
    with _opened(path) as file, io.TextIOWrapper(file, encoding, newline="") as text:
        lines = list(islice((line for line in text if line.strip()), _LINES))
    if not lines:
        raise InputError(f"{path} holds no header; give one with a name per column.")
    kind = next(suffix for suffix in reversed(path.suffixes) if suffix.lower() in SEPARATORS)
    separator = _separator(path, lines, SEPARATORS[kind.lower()])
    fields = csv.reader(lines, delimiter=separator, skipinitialspace=separator == " ")
    try:
        names = [name.strip() for name in next(fields)]
        closed = fields.line_num < len(lines) or len(lines) == 1
        cells = [cell.strip() for row in fields for cell in row]
    except csv.Error:  # a field of more than 128 KiB
        closed = False
    if not closed:
        raise InputError(f"The header of {path} holds a quote that is not closed; correct it.")
    if decimal is None:
        commas = separator != "," and any(map(_DECIMAL_COMMA.fullmatch, cells))
        decimal = "," if commas and not any(map(_DECIMAL_POINT.fullmatch, cells)) else "."
    return Layout(names, separator, decimal, encoding)


def read_text(path: Path, layout: Layout, *, transpose: bool) -> pd.DataFrame:
    """The values of a table; with `transpose`, rows of the file become columns."""
    import pandas as pd

    names = layout.names
    with _opened(path) as file:
        frame = pd.read_csv(
            file,
            sep=r"\s+" if layout.separator == " " else layout.separator,
            decimal=layout.decimal,
            dtype=str if transpose else None,
            encoding=layout.encoding.removesuffix("-sig"),  # pandas passes over the mark itself
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
    return _transposed(frame, path, layout.decimal) if transpose else frame


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


def row_names(path: Path, layout: Layout) -> set[str]:
    """The first field of every line; of a large file, of its first lines."""
    with _opened(path) as file, io.TextIOWrapper(file, layout.encoding, errors="replace") as text:
        lines = text.readlines(_SEARCHED)
    return {line.strip().partition(layout.separator)[0].strip('" ') for line in lines}


def _encoding(path: Path) -> str:
    """UTF-8, or UTF-16 where the file begins with its mark, as Excel's "Unicode text" does."""
    with _opened(path) as file:
        mark = file.read(2)
    return "utf-16" if mark in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8-sig"


def _separator(path: Path, lines: list[str], usual: str) -> str:
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


def _transposed(frame: pd.DataFrame, path: Path, decimal: str) -> pd.DataFrame:
    import pandas as pd

    if not (frame.attrs["first_column"] and frame.index.is_unique):
        raise InputError(
            f"The first column of {path} does not name the rows, since names repeat; with "
            "--transpose every row needs a name of its own."
        )
    columns: dict[str, Any] = {}
    for name, row in zip(frame.index, frame.to_numpy(object), strict=True):
        cells = [str(cell).replace(decimal, ".") if isinstance(cell, str) else cell for cell in row]
        values = np.array([number_of(cell) for cell in cells])
        columns[str(name)] = row if (np.isnan(values) & ~pd.isna(row)).any() else values
    turned = pd.DataFrame(columns, index=frame.columns)
    turned.attrs["first_column"] = None
    return turned


def _opened(path: Path) -> IO[bytes]:
    kind = path.suffix.lower()
    if kind == ".zst":
        pyarrow = optional("pyarrow", "parquet", "Reading a .zst file")
        return cast(IO[bytes], pyarrow.input_stream(str(path), compression="zstd"))
    openers: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
    return cast(IO[bytes], openers.get(kind, open)(path, "rb"))
