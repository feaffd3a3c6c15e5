"""Rank tables: the order of the samples in every feature, shared by all forests on X.

With many samples the values of a column are ranked into quantile bins: those of a column with more
than B distinct values are joined to at most B bins of about equal numbers of samples. A value that
r of the n known ones are smaller than lies in bin floor(r B / n) (missing values are a bin of their
own, and B is one less). A split lies between two bins; the values within a bin count as ties, for
features, shadows and virtual probes, so that every null model applies as it is. Where no column has
more than 256 distinct values and there are two classes, the search counts members and ones per
value, from one byte for each sample (`native/kernels/sweep.hpp`). Thresholds lie between
values of X, as they do without bins.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nullforest import _native
from nullforest._util.checks import n_threads, whole_number
from nullforest._util.errors import InputError, refused
from nullforest._util.files import as_path, temporary_folder
from nullforest._util.progress import progress_bar
from nullforest._util.words import listed
from nullforest.data import dense, table_files
from nullforest.data.dense import Floats, Names, as_floats
from nullforest.data.matrices import Source, as_columns, is_sparse
from nullforest.data.strata import Strata, stratify
from nullforest.data.table_files import PARTS, SLACK, Arrays, InFolder, InMemory

#: Bytes of X that are read at a time where it is not in memory.
BLOCK = 2**28
#: Matrices on disk below this many bytes are simply read.
SMALL = 2**28
#: From this number of samples on, columns are binned by default. A split then moves by at most one
#: part in 256 of the samples, far less than the best split varies between samples of the data.
BINNED_FROM = 20_000
#: Codes of bins take one byte.
MOST_BINS = 256
#: Up to here bins would not make the search faster.
EXACT_UP_TO = 512


class RankTable:
    """The order of the samples in every feature, sorted once for many forests.

    Parameters
    ----------
    X : array-like, DataFrame, sparse matrix, Zarr, HDF5, AnnData or ParquetColumns, (S, F)
        The data. Arrays of float32 and float64 are read in place (any order, memory-mapped too)
        and must not change while the table is in use. Sparse matrices and those on disk are read
        by blocks of columns and never whole. NaN and masked values are missing.
    n_jobs : int
        Threads to sort with; -1 for all cores.
    feature_names : iterable of str, optional
        Names, where X has none; all different.
    folder : path, optional
        Keep the table in files there, for data larger than memory; see :meth:`open`. Where X
        is on disk, or its table larger than half of the memory, a temporary folder is used if
        none is given.
    keep_values : bool
        With a folder: keep the values of X there too, by columns. Without them forests have no
        trees to predict with and no out-of-bag predictions.
    categories : (F,) bool, optional
        Columns whose numbers are codes of categories without an order. Where not given, the
        columns of a DataFrame that hold such categories, or text.
    bins : int, "auto" or None
        Rank the values of a column into at most so many quantile bins, 2 to 256, for a faster
        search with many samples; None for exact ranks. "auto": 256 from 20 000 samples on; see
        this module.

    Examples
    --------
    >>> import numpy as np, nullforest as nf
    >>> from nullforest.data.rank_table import RankTable
    >>> X = np.random.default_rng(0).normal(size=(40, 200))
    >>> table = RankTable(X)
    >>> table.shape
    (40, 200)
    >>> one = nf.grow(table, X[:, 3] > 0, trees=10)
    >>> two = nf.grow(table, X[:, 4] > 0, trees=10)
    """

    #: Sent to a cluster once, it need not be sent again.
    unchanging = True
    categories: NDArray[np.bool_] | None = None
    #: Most quantile bins of a column, 0 for exact ranks; known to the table that was built.
    bins = 0

    def __init__(
        self,
        X: Any,
        *,
        n_jobs: int = -1,
        feature_names: Iterable[str] | None = None,
        folder: Any = None,
        keep_values: bool = True,
        categories: Any = None,
        bins: int | Literal["auto"] | None = "auto",
    ) -> None:
        columns = as_columns(X, small=SMALL if folder is None else 0)
        X, source = columns.values, columns.source
        in_memory = isinstance(X, np.ndarray)
        sparse = not in_memory and is_sparse(X)
        self.categories = columns.categories if categories is None else categories
        S, F = source.shape
        if S < 2 or F < 1:
            raise InputError(f"X has {S} samples and {F} features; at least 2 and 1 are needed.")
        if max(S, F) >= 2**31 or S > 2**22:
            raise InputError(
                f"X is {S} × {F}; the kernel takes up to 4 194 304 samples and 2³¹ features."
            )
        names = columns.names if feature_names is None else feature_names
        names = None if names is None else dense.unique_names(names)
        if names is not None and len(names) != F:
            raise InputError(f"{len(names)} feature names for {F} features.")
        if self.categories is not None and np.shape(self.categories) != (F,):
            raise InputError(f"categories must say for each of the {F} features whether it is one.")
        self.feature_names = names
        self.bins = 0 if bins is None else MOST_BINS if S >= BINNED_FROM else 0
        if bins not in (None, "auto"):
            self.bins = whole_number("bins", bins, 2, MOST_BINS, ', "auto" or None')
            if S <= EXACT_UP_TO:
                why = f"is for more than {EXACT_UP_TO} samples, and X has {S}; omit it."
                raise refused("bins", self.bins, why)
        self.folder: Path | None = None
        temporary = False
        self._arrays: Arrays | None = None
        if folder is None and (_too_large(S, F) or not (sparse or in_memory)):
            folder, temporary = temporary_folder(self), True
        if folder is None and not sparse:
            self.values: Any = X
            self.native = _native.RankTable(X, n_threads(n_jobs), 0, self.bins)
            if self.native.infinite_feature >= 0:
                self._refuse_infinite(self.native.infinite_feature)
            return
        self.values = X if sparse else None
        if folder is None:
            sink = InMemory(F)
            fingerprint = self._build(source, sink, n_jobs)
            self._attach(sink.arrays(), S, fingerprint)
            return
        self.folder = as_path(folder)
        # An array that was given without a folder stays where it is, beside its table.
        if temporary and in_memory:
            self.values = X
        keep_values = keep_values and self.values is None
        needed = _table_bytes(S, F) + (S * F * max(4, source.itemsize) if keep_values else 0)
        with table_files.in_folder(self.folder, needed, keep_values=keep_values) as files:
            fingerprint = self._build(source, files, n_jobs)
            about = {"shape": [S, F], "fingerprint": f"{fingerprint:016x}"}
            files.finish(about, self.feature_names)
        self._attach(table_files.open_folder(self.folder, verify=False)[0], S, fingerprint)

    @classmethod
    def of(cls, X: Any, n_jobs: int = -1, feature_names: Iterable[str] | None = None) -> RankTable:
        """X itself where it is a rank table, else the table of X."""
        return X if isinstance(X, cls) else cls(X, n_jobs=n_jobs, feature_names=feature_names)

    @classmethod
    def open(cls, folder: Any, *, verify: bool = True) -> RankTable:
        """Open the table that was built in a folder.

        Parameters
        ----------
        folder : path
            The folder that was given to :class:`RankTable`.
        verify : bool
            Read all files, compare their checksums and verify every column (about 1 GB/s). False
            reads nothing before it is needed, but a damaged file can give a wrong forest or end
            the process.

        Examples
        --------
        >>> import numpy as np, nullforest as nf, tempfile
        >>> X, folder = np.random.default_rng(0).normal(size=(40, 200)), tempfile.mkdtemp()
        >>> built = nf.RankTable(X, folder=folder)
        >>> table = nf.RankTable.open(folder)
        >>> nf.grow(table, X[:, 3] > 0, trees=10).tally == nf.grow(X, X[:, 3] > 0, trees=10).tally
        True
        """
        arrays, about, names = table_files.open_folder(as_path(folder), verify=verify)
        table = cls.__new__(cls)
        table.feature_names, table.folder = names, Path(folder)
        table.values = None
        S, fingerprint = int(about["shape"][0]), int(about["fingerprint"], 16)
        table._attach(arrays, S, fingerprint, verify=verify)
        return table

    def _build(self, source: Source, sink: InMemory | InFolder, n_jobs: int) -> int:
        """Rank block after block of the columns; the fingerprint of them all."""
        S, F = source.shape
        width = max(1, min(BLOCK, source.at_once) // (S * max(4, source.itemsize)))
        width = max(width // source.together, 1) * source.together
        fingerprint = 0
        with progress_bar("Ranking features") as tell:
            for begin in range(0, F, width):
                tell(begin, F)
                values = as_floats(source.read(begin, min(begin + width, F)))
                block = _native.RankTable(values, n_threads(n_jobs), begin, self.bins)
                if block.infinite_feature >= 0:
                    self._refuse_infinite(begin + block.infinite_feature)
                parts: dict[str, NDArray[Any]] = dict(zip(PARTS, block.arrays(), strict=True))
                parts["block"] = parts["block"][:-SLACK]
                sink.add(parts, values)
                fingerprint = (fingerprint + block.fingerprint) % 2**64
        return fingerprint

    def _attach(
        self, arrays: Arrays, n_samples: int, fingerprint: int, verify: bool = False
    ) -> None:
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
                table_files.RESIDENT if arrays.maps else 0,  # bytes of files in memory
                0 if arrays.values is None else arrays.values.nbytes,  # not those of the caller
            )
            if verify:
                self.native.verify()
        except ValueError as error:
            raise InputError(f"The files in {self.folder} are damaged: {error}.") from None

    def __reduce__(self) -> Any:
        """What is sent to another process: the folder, if there is one, else the arrays."""
        return self._recipe(self.values if self._has_own_values else None)

    def _recipe(self, values: Any) -> tuple[Callable[..., RankTable], tuple[Any, ...]]:
        if self.folder is not None:
            return _opened, (str(self.folder), values)
        about = (self.shape[0], self.native.fingerprint, self.feature_names)
        return _assembled, (self._parts, values, *about)

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
        """The same table without the values of X, for trees without thresholds; less to send."""
        if not self._has_own_values:
            return self
        if self._light is None:
            build, arguments = self._recipe(None)
            self._light = build(*arguments)
            if "strata" in self.__dict__:
                self._light.__dict__["strata"] = self.strata
        return self._light

    _light: RankTable | None = None

    def _refuse_infinite(self, feature: int) -> None:
        name = f"x{feature}" if self.feature_names is None else self.feature_names[feature]
        raise InputError(
            f"Feature {name} holds an infinite value; replace it by a number, or by "
            "NaN for missing."
        )

    @property
    def matrix(self) -> Floats:
        """The values of X as one dense matrix."""
        if self.values is None:
            raise InputError(
                "The values of X were not kept with the table; build it with keep_values=True, or "
                "grow with keep_trees=False and oob=False."
            )
        return as_floats(dense.densified(self.values)) if is_sparse(self.values) else self.values

    @property
    def shape(self) -> tuple[int, int]:
        """Samples and features."""
        return self.native.n_samples, self.native.n_features

    @property
    def n_varying(self) -> int:
        """Features that differ between samples; the others can never split a node."""
        return self.native.n_varying

    @cached_property
    def fingerprint(self) -> str:
        """Hash of all that trees can see of X: order, ties and missing values of each feature."""
        values = f"{self.native.fingerprint:016x}"
        if self.categories is not None:
            values += np.packbits(self.categories).tobytes().hex()
        elif not self.native.has_missing:
            return values
        # Missing values rank last, as ties do; only their number tells the two apart.
        known = self.native.arrays()[2].tobytes()
        return hashlib.blake2b(values.encode() + known, digest_size=8).hexdigest()

    @cached_property
    def strata(self) -> Strata:
        """The strata of the features, by the ties of their columns."""
        return stratify(*self._tie_profile, self.shape[0])

    @property
    def levels(self) -> NDArray[np.float64]:
        """Effective number of distinct values of each feature, as a Tally holds it."""
        return np.repeat(self.shape[0] ** 2 / self._tie_profile[1][:, None], 2, axis=1)

    @cached_property
    def _tie_profile(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        return _native.tie_profile(self.native)

    @property
    def names(self) -> Names:
        """Names of the features; `x0`, `x1`, … where X has none."""
        if self.feature_names is not None:
            return self.feature_names
        return np.array([f"x{column}" for column in range(self.shape[1])], str)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What a user should hear of the columns: constant ones, missing values, categories."""
        notes = []
        levels, _, missing = self._tie_profile
        constant = np.flatnonzero(levels == 1)
        if len(constant):
            several = len(constant) > 1
            notes.append(
                f"{len(constant)} column{'s have' if several else ' has'} the same value in all "
                f"samples, so that no node can split {'them' if several else 'it'}: "
                f"{listed(self.names[constant])}."
            )
        gaps = np.flatnonzero(np.where(levels == 1, 0, missing))
        if len(gaps):
            number, most = int(missing[gaps].sum()), gaps[missing[gaps].argmax()]
            notes.append(
                f"{number} {'values are' if number > 1 else 'value is'} missing in {len(gaps)} of "
                f"{self.shape[1]} columns (most in {str(self.names[most])!r}: {missing[most]} of "
                f"{self.shape[0]}); each split sends them to the side that fits better."
            )
        if self.categories is not None and self.categories.any():
            columns = self.names[self.categories]
            notes.append(
                f"{len(columns)} column{'s are' if len(columns) > 1 else ' is'} of categories "
                f"without an order: {listed(columns)}."
            )
        return tuple(notes)

    def numeric(self) -> RankTable:
        """The table itself, unless it holds categories, which are then refused by name."""
        if self.categories is not None:
            raise InputError(
                f"Column {str(self.names[self.categories][0])!r} holds categories without an "
                "order, which only a forest with shadows takes (nullforest.grow, "
                "ForestSelector); encode it as numbers, or drop it."
            )
        return self

    @property
    def nbytes(self) -> int:
        """Memory that the table takes beside X."""
        return int(self.native.bytes)

    def __sizeof__(self) -> int:
        """Memory that the table takes, for schedulers that allot memory."""
        values = self.values if isinstance(self.values, np.ndarray) else None
        return self.nbytes + (0 if values is None else values.nbytes)


def _opened(folder: str, values: Any) -> RankTable:
    """A table from its folder, with values that lie elsewhere, if any."""
    table = RankTable.open(folder, verify=False)  # it was, where the table comes from
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
    """A table from its arrays, which another process sent."""
    table = RankTable.__new__(RankTable)
    table.feature_names, table.folder = names, None
    table.values = values
    parts = dict(zip(PARTS, arrays, strict=True))
    if parts["block"].ctypes.data % 64:  # as it came over a network
        block = table_files.aligned(parts["block"].nbytes)
        block[:] = parts["block"]
        parts["block"] = block
    table._attach(Arrays(parts), n_samples, fingerprint)
    return table


def native_values(values: Any) -> Any:
    """The values of X as the kernel takes them: an array, the parts of sparse columns, or None."""
    if not is_sparse(values):
        return values
    return values.data, values.indices.astype(np.int32), values.indptr.astype(np.int64)


def values_of(X: Any) -> tuple[Any, tuple[int, int]]:
    """The values of X, for trees to predict from: dense or sparse columns; and their shape."""
    if isinstance(X, RankTable):
        if X.values is None:
            return X.matrix, X.shape  # says why not
        return native_values(X.values), X.shape
    columns = as_columns(X)
    if is_sparse(columns.values) or isinstance(columns.values, np.ndarray):
        return native_values(columns.values), columns.source.shape
    return as_floats(columns.source.read(0, columns.source.shape[1])), columns.source.shape


def _too_large(n_samples: int, n_features: int) -> bool:
    """Whether the table of so many ranks would take more than half of the memory."""
    needed = _table_bytes(n_samples, n_features)
    return needed > SMALL and needed > dense.system_memory() / 2


def _table_bytes(n_samples: int, n_features: int) -> float:
    """Approximate size of a table: 8 to 10 bits, 2 or 4 bytes a rank, and a bit for each."""
    per_rank = 1.4 if n_samples <= 1024 else 2.125 if n_samples <= 65536 else 4.125
    return n_samples * n_features * per_rank
