"""In what order does each feature put the samples? The table every forest on X shares."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import InputError
from nullforest._util.progress import progress_bar
from nullforest.engine import _native
from nullforest.engine.data.matrices import (
    Source,
    is_sparse,
    source_of,
    source_of_array,
    sparse_columns,
    unwrapped,
)
from nullforest.engine.data.table_files import (
    PARTS,
    SLACK,
    Arrays,
    InFolder,
    InMemory,
    aligned,
    in_folder,
    open_folder,
)
from nullforest.tallies.tally import Names

if TYPE_CHECKING:
    from nullforest.engine.probes.sampling import Strata

Floats = NDArray[np.float32] | NDArray[np.float64]

#: Bytes of X that are read at a time where it is not in memory.
BLOCK = 2**28
#: Matrices on disk below this many bytes are simply read.
SMALL = 2**28


def n_threads(n_jobs: int | None) -> int:
    """Threads meant by `n_jobs`: -1 is all cores this process may use, None is one."""
    if n_jobs is None:
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    if n_jobs < 0:
        return max(1, (cores or 1) + 1 + int(n_jobs))
    if n_jobs == 0:
        raise InputError("n_jobs = 0 means no work at all; use a number of cores, or -1 for all.")
    return int(n_jobs)


def as_matrix(X: Any, *, min_samples: int = 1) -> tuple[Floats, Names | None]:
    """X as a float32 or float64 matrix, copied only where its type demands it, and its names."""
    names: Names | None = None
    columns = getattr(X, "columns", None)
    if columns is not None and hasattr(X, "to_numpy"):
        names = np.array([str(c) for c in columns], dtype=str)
        X = _frame_values(X)
    elif hasattr(X, "toarray"):
        X = _dense(X)
    array = X if isinstance(X, np.ndarray) else _array_of(X)
    if array.ndim != 2:
        raise InputError(
            f"X must be a table of samples × features, not an array of {array.ndim} axes."
        )
    if array.shape[0] < min_samples or array.shape[1] < 1:
        raise InputError(
            f"X has {array.shape[0]} samples and {array.shape[1]} features; at least "
            f"{min_samples} and 1 are needed."
        )
    return _as_floats(array), names


def _array_of(X: Any) -> NDArray[Any]:
    try:
        return np.asarray(X)
    except ValueError:
        raise InputError("The rows of X have different lengths; give a full table.") from None


def _frame_values(frame: Any) -> NDArray[Any]:
    """The values of a pandas or polars frame, read in place where it stores one block."""
    array: NDArray[Any] = frame.to_numpy()
    if array.dtype.kind == "O" and hasattr(frame, "iloc"):
        try:
            return np.asarray(frame.to_numpy(dtype=np.float64, na_value=np.nan))  # pandas' NA
        except (TypeError, ValueError):
            return array  # text: the message for arrays says so
    return array


def _dense(X: Any) -> NDArray[Any]:
    """A sparse matrix as a dense one; the ranks of the zeros are needed too."""
    needed, memory = float(np.prod(X.shape)) * max(4, X.dtype.itemsize), _memory()
    if needed > memory / 2:  # ranks and trees need room beside it
        raise InputError(
            f"X is sparse and would take {needed / 2**30:.3g} GiB as a dense matrix, more than "
            f"half of this machine's {memory / 2**30:.3g} GiB; use float32, or give fewer "
            "features at a time."
        )
    array: NDArray[Any] = X.toarray()
    return array


def _as_floats(array: NDArray[Any]) -> Floats:
    if array.dtype in (np.float32, np.float64) and array.dtype.isnative:
        whole_steps = not any(step % array.itemsize for step in array.strides)
        return array if whole_steps and array.flags.aligned else array.copy()
    if array.dtype.kind == "b" or (array.dtype.kind in "iuf" and array.dtype.itemsize <= 2):
        return array.astype(np.float32)  # up to 16 bits fit a float32 exactly
    if array.dtype.kind in "iu" or (array.dtype.kind == "f" and array.dtype.itemsize <= 8):
        return array.astype(array.dtype.newbyteorder("=") if array.dtype.kind == "f" else float)
    try:
        if array.dtype.kind in "cmMV":
            raise TypeError(f"their type is {array.dtype}")
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"X holds values that are not numbers ({error}); encode text and dates as numbers, "
            "or drop those columns."
        ) from None


class RankTable:
    """The order of the samples in every feature, sorted once for many forests.

    Parameters
    ----------
    X : array-like, DataFrame, sparse matrix, Zarr, HDF5, AnnData or ParquetColumns, (S, F)
        The data. Arrays of float32 and float64 are read in place (any order, memory-mapped too)
        and must not change while the table is in use. Sparse matrices and those on disk are read
        by blocks of columns and never whole. NaN means missing.
    n_jobs : int
        Threads to sort with; -1 for all cores.
    feature_names : iterable of str, optional
        Names, where X has none.
    folder : path, optional
        Keep the table in files there, for data larger than memory; see :meth:`open`. Where X
        is on disk, or its table larger than half of the memory, a temporary folder is used if
        none is given.
    keep_values : bool
        With a folder: keep the values of X there too, by columns. Without them forests have no
        trees to predict with and no out-of-bag predictions.

    Examples
    --------
    >>> import numpy as np, nullforest as nf
    >>> from nullforest.engine import RankTable
    >>> X = np.random.default_rng(0).normal(size=(40, 200))
    >>> table = RankTable(X)
    >>> table.shape
    (40, 200)
    >>> one = nf.grow(table, X[:, 3] > 0, trees=10)
    >>> two = nf.grow(table, X[:, 4] > 0, trees=10)
    """

    #: Sent to a cluster once, it need not be sent again.
    unchanging = True

    def __init__(
        self,
        X: Any,
        *,
        n_jobs: int = -1,
        feature_names: Iterable[str] | None = None,
        folder: Any = None,
        keep_values: bool = True,
    ) -> None:
        X, names = unwrapped(X)
        sparse = is_sparse(X)
        X = sparse_columns(X) if sparse else X
        source = source_of(X)
        if source is not None and not sparse and folder is None:
            size = float(np.prod(source.shape)) * max(4, source.itemsize)
            if size < SMALL:
                X, source = source.read(0, source.shape[1]), None
        if source is None:
            X, found = as_matrix(X, min_samples=2)
            names = names if found is None else found
            source = source_of_array(X)
        S, F = source.shape
        if S < 2 or F < 1:
            raise InputError(f"X has {S} samples and {F} features; at least 2 and 1 are needed.")
        if max(S, F) >= 2**31 or S > 2**22:
            raise InputError(
                f"X is {S} × {F}; the engine takes up to 4 194 304 samples and 2³¹ features."
            )
        if feature_names is not None:
            names = np.array([str(n) for n in feature_names], dtype=str)
        if names is not None and len(names) != F:
            raise InputError(f"{len(names)} feature names for {F} features.")
        self.feature_names = names
        self.folder: Path | None = None
        self._temporary: Any = None
        self._arrays: Arrays | None = None
        if folder is None and (not (sparse or isinstance(X, np.ndarray)) or _too_large(S, F)):
            folder = tempfile.mkdtemp(prefix="nullforest-")
            self._temporary = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        if folder is None and not sparse:
            self.values: Any = X
            self.native = _native.RankTable(X, n_threads(n_jobs))
            self._refuse_infinite(self.native.infinite_feature)
            return
        self.values = X if sparse else None
        if folder is None:
            sink = InMemory(F)
            fingerprint = self._build(source, sink, n_jobs)
            self._attach(sink.arrays(), S, fingerprint)
            return
        self.folder = Path(folder)
        # An array that was given without a folder stays where it is, beside its table.
        if self._temporary is not None and isinstance(X, np.ndarray):
            self.values = X
        keep_values = keep_values and self.values is None
        needed = _table_bytes(S, F) + (S * F * max(4, source.itemsize) if keep_values else 0)
        with in_folder(self.folder, needed, keep_values=keep_values) as files:
            fingerprint = self._build(source, files, n_jobs)
            about = {"shape": [S, F], "fingerprint": f"{fingerprint:016x}"}
            files.finish(about, self.feature_names)
        self._attach(open_folder(self.folder)[0], S, fingerprint)

    @classmethod
    def open(cls, folder: Any) -> RankTable:
        """The table that was built in a folder; nothing is read before it is needed.

        Examples
        --------
        >>> import numpy as np, nullforest as nf, tempfile
        >>> X, folder = np.random.default_rng(0).normal(size=(40, 200)), tempfile.mkdtemp()
        >>> built = nf.RankTable(X, folder=folder)
        >>> table = nf.RankTable.open(folder)
        >>> nf.grow(table, X[:, 3] > 0, trees=10).tally == nf.grow(X, X[:, 3] > 0, trees=10).tally
        True
        """
        arrays, about, names = open_folder(Path(folder))
        table = cls.__new__(cls)
        table.feature_names, table.folder, table._temporary = names, Path(folder), None
        table.values = None
        table._attach(arrays, int(about["shape"][0]), int(about["fingerprint"], 16))
        return table

    def _build(self, source: Source, sink: InMemory | InFolder, n_jobs: int) -> int:
        """Rank block after block of the columns; the fingerprint of them all."""
        S, F = source.shape
        width = max(1, BLOCK // (S * max(4, source.itemsize)))
        width = max(width // source.together, 1) * source.together
        fingerprint = 0
        with progress_bar("Ranking features") as tell:
            for begin in range(0, F, width):
                tell(begin, F)
                values = _as_floats(source.read(begin, min(begin + width, F)))
                block = _native.RankTable(values, n_threads(n_jobs), begin)
                if block.infinite_feature >= 0:
                    self._refuse_infinite(begin + block.infinite_feature)
                parts: dict[str, NDArray[Any]] = dict(zip(PARTS, block.arrays(), strict=True))
                parts["block"] = parts["block"][:-SLACK]
                sink.add(parts, values)
                fingerprint = (fingerprint + block.fingerprint) % 2**64
        return fingerprint

    def _attach(self, arrays: Arrays, n_samples: int, fingerprint: int) -> None:
        self._arrays = arrays
        if arrays.values is not None:
            self.values = arrays.values
        try:
            self.native = _native.RankTable(
                native_values(self.values),
                n_samples,
                arrays.parts["block"],
                arrays.parts["differs"],
                arrays.parts["known"],
                arrays.parts["flags"],
                fingerprint,
                arrays.most_resident,
                0 if arrays.values is None else arrays.values.nbytes,  # the caller's own are theirs
            )
        except ValueError as error:
            raise InputError(f"The files in {self.folder} are damaged: {error}.") from None

    def __reduce__(self) -> Any:
        """What travels to another process: the folder, if there is one, else the arrays."""
        if self.folder is not None:
            return _opened, (str(self.folder), self.values if self._has_own_values else None)
        about = (self.shape[0], self.native.fingerprint, self.feature_names)
        return _assembled, (self._parts, self.values, *about)

    @cached_property
    def _parts(self) -> tuple[NDArray[Any], ...]:
        """The table's arrays; always the same objects, by which joblib knows them again."""
        return self.native.arrays()

    @property
    def _has_own_values(self) -> bool:
        """Whether the values of X lie elsewhere than in the table's folder."""
        kept = None if self._arrays is None else self._arrays.values
        return self.values is not None and self.values is not kept

    def without_values(self) -> RankTable:
        """The same table to grow trees from that need no thresholds; it travels lighter."""
        if self.values is None or (self.folder is not None and not self._has_own_values):
            return self
        if self._light is None:
            about = (self.shape[0], self.native.fingerprint, self.feature_names)
            self._light = (
                _assembled(self._parts, None, *about)
                if self.folder is None
                else RankTable.open(self.folder)
            )
            if "strata" in self.__dict__:
                self._light.__dict__["strata"] = self.strata
        return self._light

    _light: RankTable | None = None

    def _refuse_infinite(self, feature: int) -> None:
        if feature >= 0:
            names = self.feature_names
            name = f"x{feature}" if names is None else names[feature]
            raise InputError(
                f"Feature {name} holds an infinite value; replace it by a number, or by NaN for "
                "missing."
            )

    @property
    def matrix(self) -> Floats:
        """The values of X as one dense matrix."""
        if self.values is None:
            raise InputError(
                "The values of X were not kept with the table; build it with keep_values=True, or "
                "grow with keep_trees=False and oob=False."
            )
        return _as_floats(_dense(self.values)) if is_sparse(self.values) else self.values

    @property
    def shape(self) -> tuple[int, int]:
        """Samples and features."""
        return self.native.n_samples, self.native.n_features

    @cached_property
    def strata(self) -> Strata:
        """The kinds of features, by the ties of their columns."""
        from nullforest.engine.probes.sampling import sort_into_strata  # it knows this module

        return sort_into_strata(*_native.tie_profile(self.native), self.shape[0])

    @property
    def nbytes(self) -> int:
        """Memory that the table takes beside X."""
        return int(self.native.bytes)

    def __sizeof__(self) -> int:
        """Memory that the table takes, for those who share memory out."""
        values = self.values if isinstance(self.values, np.ndarray) else None
        return self.nbytes + (0 if values is None else values.nbytes)


def _opened(folder: str, values: Any) -> RankTable:
    """A table from its folder, with values that lie elsewhere, if any."""
    table = RankTable.open(folder)
    if values is not None:
        assert table._arrays is not None
        table.values = values
        table._attach(table._arrays, table.shape[0], table.native.fingerprint)
    return table


def _assembled(
    arrays: tuple[NDArray[Any], ...],
    values: Any,
    n_samples: int,
    fingerprint: int,
    names: Names | None,
) -> RankTable:
    """A table from its arrays, which came from elsewhere."""
    table = RankTable.__new__(RankTable)
    table.feature_names, table.folder, table._temporary = names, None, None
    table.values = values
    parts = dict(zip(PARTS, arrays, strict=True))
    if parts["block"].ctypes.data % 64:  # as it came over a network
        block = aligned(parts["block"].nbytes)
        block[:] = parts["block"]
        parts["block"] = block
    table._attach(Arrays(parts), n_samples, fingerprint)
    return table


def native_values(values: Any) -> Any:
    """The values of X as the engine takes them: an array, the parts of sparse columns, or None."""
    if not is_sparse(values):
        return values
    return values.data, values.indices.astype(np.int32), values.indptr.astype(np.int64)


def values_of(X: Any) -> tuple[Any, tuple[int, int]]:
    """The values of X, for trees to predict from: dense or sparse columns; and their shape."""
    if isinstance(X, RankTable):
        if X.values is None:
            return X.matrix, X.shape  # says why not
        return native_values(X.values), X.shape
    X, _ = unwrapped(X)
    if is_sparse(X):
        columns = sparse_columns(X)
        return native_values(columns), columns.shape
    source = source_of(X)
    matrix = as_matrix(X if source is None else source.read(0, source.shape[1]))[0]
    return matrix, matrix.shape


def _too_large(n_samples: int, n_features: int) -> bool:
    """Whether the table of so many ranks would take more than half of the memory."""
    return _table_bytes(n_samples, n_features) > _memory() / 2


def _table_bytes(n_samples: int, n_features: int) -> float:
    """About what a table takes: ranks of 1, 2 or 4 bytes and a bit for each."""
    per_rank = 1.3 if n_samples <= 512 else 2.125 if n_samples <= 65536 else 4.125
    return n_samples * n_features * per_rank


def _memory() -> float:
    if not hasattr(os, "sysconf"):
        return float("inf")
    return float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
