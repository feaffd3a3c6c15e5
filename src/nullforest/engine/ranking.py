"""In what order does each feature put the samples? The table every forest on X shares."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nullforest.engine import _native
from nullforest.errors import InputError
from nullforest.tallies import Names

if TYPE_CHECKING:
    from nullforest.engine.probing import Strata

Floats = NDArray[np.float32] | NDArray[np.float64]


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
    if hasattr(os, "sysconf"):
        needed = float(np.prod(X.shape)) * max(4, X.dtype.itemsize)
        memory = float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
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
    X : array-like or DataFrame, (S, F)
        The data; float32 and float64 are read in place (any order, memory-mapped too) and must
        not change while the table is in use. NaN means missing.
    n_jobs : int
        Threads to sort with; -1 for all cores.
    feature_names : iterable of str, optional
        Names, where X has none.

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

    def __init__(
        self, X: Any, *, n_jobs: int = -1, feature_names: Iterable[str] | None = None
    ) -> None:
        matrix, names = as_matrix(X, min_samples=2)
        self.matrix = matrix
        self.feature_names = (
            names if feature_names is None else np.array([str(n) for n in feature_names], dtype=str)
        )
        S, F = matrix.shape
        if self.feature_names is not None and len(self.feature_names) != F:
            raise InputError(f"{len(self.feature_names)} feature names for {F} features.")
        if max(S, F) >= 2**31 or S > 2**22:
            raise InputError(
                f"X is {S} × {F}; the engine takes up to 4 194 304 samples and 2³¹ features."
            )
        self.native = _native.RankTable(matrix, n_threads(n_jobs))
        infinite = self.native.infinite_feature
        if infinite >= 0:
            name = f"x{infinite}" if self.feature_names is None else self.feature_names[infinite]
            raise InputError(
                f"Feature {name} holds an infinite value; replace it by a number, or by NaN for "
                "missing."
            )

    @property
    def shape(self) -> tuple[int, int]:
        """Samples and features."""
        return self.native.n_samples, self.native.n_features

    @cached_property
    def strata(self) -> Strata:
        """The kinds of features, by the ties of their columns."""
        from nullforest.engine.probing import sort_into_strata  # it knows this module

        return sort_into_strata(*_native.tie_profile(self.native), self.shape[0])

    @property
    def nbytes(self) -> int:
        """Memory that the table takes beside X."""
        return int(self.native.bytes)
