"""X as columns: whatever holds a matrix, in memory, sparse or on disk, by one protocol.

Matrices that are not in memory are read by blocks of columns and never whole. A kind of matrix is
recognised by its type, so that none of the packages that make them need be installed for the
others.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nullforest._util.column_store import ColumnStore
from nullforest._util.errors import InputError, optional, reason_of
from nullforest._util.files import as_path, reading
from nullforest.data.dense import Names, as_floats, as_matrix, check_axes, coded_columns

#: Bytes of a memory-mapped array that are in memory at a time.
AT_ONCE = 2**28


@dataclass(frozen=True)
class Source:
    """A matrix that is read by blocks of columns."""

    shape: tuple[int, int]
    read: Callable[[int, int], NDArray[Any]]  # columns from begin to end as a dense array
    itemsize: int = 8  # of a value once it is read
    together: int = 1  # columns that are stored together: blocks should be multiples of it
    at_once: int = 2**62  # bytes that are read at a time, where the reader has a limit


class ParquetColumns:
    """A Parquet file as a matrix, read by blocks of columns.

    Parameters
    ----------
    path : path
        The file; rows are samples.
    drop : iterable of str
        Columns that are not features: the target, names of samples.

    Examples
    --------
    >>> import numpy as np, nullforest as nf, pandas as pd, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "table.parquet"
    >>> frame = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 6)), columns=list("abcdef"))
    >>> frame.assign(ill=frame["c"] > 0).to_parquet(path)
    >>> X = nf.ParquetColumns(path, drop=["ill"])
    >>> forest = nf.grow(X, X.column("ill"), trees=20)
    >>> str(forest.tally.names[forest.tally.counts.argmax()])
    'c'
    """

    def __init__(self, path: Any, drop: Iterable[str] = ()) -> None:
        parquet = optional("pyarrow.parquet", "parquet", "Reading Parquet")
        self.path = as_path(path)
        with reading(self.path, "Parquet"):
            self.file = parquet.ParquetFile(self.path)
        names = [name for name in self.file.schema_arrow.names if not name.startswith("__index_")]
        dropped = set(drop)
        if missing := sorted(dropped - set(names)):
            raise InputError(f"{self.path} has no column {missing[0]!r} to leave out.")
        self.names = np.array([name for name in names if name not in dropped], dtype=str)
        self.shape = (int(self.file.metadata.num_rows), len(self.names))

    def column(self, name: str) -> NDArray[Any]:
        """One column by its name, such as the target."""
        return self._columns([name])[0]

    def read(self, begin: int, end: int) -> NDArray[Any]:
        """Some of the features, (S, end - begin)."""
        columns = self._columns(self.names[begin:end].tolist())
        for name, values in zip(self.names[begin:end], columns, strict=True):
            if values.dtype.kind in "mM":
                raise InputError(f"Column {str(name)!r} holds dates, not numbers; drop it.")
        return np.stack(columns, axis=1)

    def _columns(self, names: list[str]) -> list[NDArray[Any]]:
        import pyarrow

        try:
            table = self.file.read(columns=names)
            return [table.column(name).to_numpy() for name in names]  # nulls become NaN
        except (pyarrow.ArrowException, OSError, KeyError) as error:
            raise InputError(
                f"{', '.join(names):.60} of {self.path} cannot be read ({reason_of(error)}); a "
                "column is missing, or the file is damaged."
            ) from None


@dataclass(frozen=True)
class Columns:
    """The columns of X.

    Attributes
    ----------
    values : array, sparse matrix, or what reads a matrix on disk
    source : Source
        The same, by blocks of columns.
    names : (F,) str or None
    categories : (F,) bool or None
        Columns that are codes of categories without an order.
    """

    values: Any
    source: Source
    names: Names | None = None
    categories: NDArray[np.bool_] | None = None


def as_columns(X: Any, *, small: int = 0) -> Columns:
    """X as columns of floats; what cannot be one is refused by name.

    Matrices on disk below `small` bytes are simply read.

    Examples
    --------
    >>> as_columns(np.array([[1, 2], [3, 4]])).source.read(1, 2).tolist()
    [[2.0], [4.0]]
    """
    if type(X) in (np.ndarray, np.memmap) and X.dtype.kind == "f" and X.ndim == 2:
        values = as_floats(X)
        return Columns(values, source_of_array(values))
    X, names = unwrapped(X)
    X, categories = coded_columns(X)
    if is_sparse(X):
        X = sparse_columns(X)
    source = source_of(X)
    bytes_read = 0.0 if source is None else float(np.prod(source.shape)) * max(4, source.itemsize)
    if source is not None and not is_sparse(X) and bytes_read < small:
        X, source = source.read(0, source.shape[1]), None
    if source is None:
        X, own_names = as_matrix(X)
        names, source = (names if own_names is None else own_names), source_of_array(X)
    return Columns(X, source, names, categories)


def unwrapped(X: Any) -> tuple[Any, Names | None]:
    """The matrix inside an AnnData object, with the names of its variables; else X itself."""
    if _made_by(X, "anndata") and hasattr(X, "var_names"):
        names = np.array([str(name) for name in X.var_names], dtype=str)
        if (inner := X.X) is None:
            raise InputError("This AnnData holds no matrix X; give one of its layers as X.")
        # In row order a column is spread over the whole file; in memory it stays as sparse.
        # A view of an AnnData in memory holds a scipy matrix, which needs nothing of this.
        by_rows = hasattr(inner, "to_memory") and getattr(inner, "format", "") == "csr"
        return (inner.to_memory() if by_rows else inner), names
    if isinstance(X, ParquetColumns):
        return X, X.names
    return X, None


def is_sparse(X: Any) -> bool:
    """Whether X is a sparse matrix in memory."""
    return hasattr(X, "tocsc") and hasattr(X, "toarray")


def sparse_columns(X: Any) -> Any:
    """A sparse matrix by columns, in the form that the kernel reads: sorted, nothing twice."""
    check_axes(X)
    if X.dtype.kind == "c":
        raise InputError("X holds complex numbers; give its real part, or its absolute values.")
    columns = X.tocsc()
    if columns.dtype not in (np.float32, np.float64):
        short = columns.dtype.kind == "b" or columns.dtype.itemsize <= 2
        columns = columns.astype(np.float32 if short else np.float64)
    if not columns.has_canonical_format:
        columns = columns.copy() if columns is X else columns
        columns.sum_duplicates()
    return columns


def source_of(X: Any) -> Source | None:
    """X as a matrix read by columns; None where it is an ordinary matrix in memory."""
    if is_sparse(X):
        return Source(X.shape, lambda begin, end: X[:, begin:end].toarray(), X.dtype.itemsize)
    if isinstance(X, ParquetColumns):
        return Source(X.shape, X.read)
    if isinstance(X, ColumnStore):
        return Source(X.shape, X.read, X.itemsize, X.together, X.at_once)
    if _made_by(X, "anndata") and hasattr(X, "to_memory"):  # sparse columns of a backed AnnData
        S, F = map(int, X.shape)  # in some releases numbers of NumPy
        return Source((S, F), lambda begin, end: X[:, begin:end].toarray())
    if _made_by(X, "zarr", "h5py") and hasattr(X, "shape") and hasattr(X, "dtype"):
        check_axes(X)
        chunks = getattr(X, "chunks", None)
        return Source(
            tuple(X.shape),
            lambda begin, end: np.asarray(X[:, begin:end]),
            X.dtype.itemsize,
            1 if chunks is None else int(chunks[1]),
        )
    return None


def source_of_array(array: NDArray[Any]) -> Source:
    """An array as a matrix read by columns; a memory-mapped one releases what was read."""
    S, F = array.shape
    mapped = _map_of(array) if isinstance(array, np.memmap) else None
    if mapped is None:
        return Source((S, F), lambda begin, end: array[:, begin:end], array.itemsize)

    def read(begin: int, end: int) -> NDArray[Any]:
        # In row order a few columns are spread over all pages of the file, and the system maps
        # whatever surrounds each.
        block = np.empty((S, end - begin), array.dtype)
        rows = max(1, AT_ONCE // (F * array.itemsize))
        for first in range(0, S, rows):
            block[first : first + rows] = array[first : first + rows, begin:end]
            mapped.madvise(mmap.MADV_DONTNEED)
        return block

    return Source((S, F), read, array.itemsize)


def _map_of(array: np.memmap[Any, Any]) -> mmap.mmap | None:
    """The map behind a memory-mapped array, unless it is copied on writing."""
    if array.mode not in ("r", "r+"):
        return None
    base: Any = array
    while isinstance(base, np.ndarray):
        base = base.base
    return base if isinstance(base, mmap.mmap) and hasattr(base, "madvise") else None


def _made_by(X: Any, *packages: str) -> bool:
    return any(kind.__module__.split(".")[0] in packages for kind in type(X).__mro__)
