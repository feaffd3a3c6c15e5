"""Matrices on disk that are read by columns: a shape, and a function that fetches columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ColumnStore:
    """A matrix of samples × features on disk, of which columns are read when they are needed.

    Attributes
    ----------
    size : (int, int)
        Samples and features in the file.
    fetch : callable
        Columns, by increasing numbers, as a dense array of all samples of the file.
    itemsize : int
        Bytes of a value once it is read.
    together : int
        Columns that are stored together: blocks should be multiples of it.
    at_once : int
        Bytes that are read at a time; a reader may need as much again for itself.
    rows : array of int, optional
        Samples of the file that the matrix has; all of them where not given.

    Examples
    --------
    >>> import numpy as np
    >>> values = np.arange(12.0).reshape(3, 4)
    >>> store = ColumnStore(values.shape, lambda columns: values[:, columns])
    >>> store.of_rows(np.array([0, 2]))[:, [1, 3]]
    array([[ 1.,  3.],
           [ 9., 11.]])
    """

    size: tuple[int, int]
    fetch: Callable[[Ints], NDArray[Any]]
    itemsize: int = 8
    together: int = 1
    at_once: int = 2**25
    rows: Ints | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Samples and features."""
        S, F = self.size
        return S if self.rows is None else len(self.rows), F

    def read(self, begin: int, end: int) -> NDArray[Any]:
        """Columns from `begin` to `end`, (S, end - begin)."""
        return self[:, begin:end]

    def __getitem__(self, key: tuple[slice, Any]) -> NDArray[Any]:
        """`store[:, columns]`, where columns are a slice, numbers or a mask."""
        every, columns = key
        if every != slice(None):
            raise TypeError("A matrix on disk is read by whole columns.")
        wanted = np.arange(self.shape[1], dtype=np.int64)[columns]
        in_order, place = np.unique(wanted, return_inverse=True)
        values = self.fetch(in_order)
        if len(in_order) != len(wanted) or not np.array_equal(in_order, wanted):
            values = values[:, place]
        return values if self.rows is None else values[self.rows]

    def of_rows(self, rows: Ints) -> ColumnStore:
        """The same file with some of the samples."""
        return replace(self, rows=rows if self.rows is None else self.rows[rows])
