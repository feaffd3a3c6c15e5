"""Geometries: where the features of an image lie, and how maps of them are written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import optional

if TYPE_CHECKING:
    import pandas as pd
    from scipy.sparse import csr_array

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Geometry(Protocol):
    """The places of an image's features, all of them, constant ones included."""

    @property
    def names(self) -> NDArray[np.str_]:
        """A name for each feature."""

    def coordinates(self) -> pd.DataFrame | None:
        """Millimetres x, y, z of each feature; None where the files do not tell."""

    def neighbours(self) -> csr_array:
        """Features that touch each other, as a symmetric matrix of ones."""

    def regions(self, atlas: Sequence[Path], names: Path | None) -> NDArray[np.str_]:
        """Region of each feature in an atlas; "" outside all regions."""

    def save(
        self, folder: Path, name: str, values: NDArray[Any], outside: float = 0.0
    ) -> list[Path]:
        """Write a map of one value per feature, and one for all that are none; the files."""

    def draw(self, values: Floats, threshold: float, title: str) -> Any:
        """A matplotlib figure of a map, by nilearn."""


def nibabel(what: str = "Reading images") -> Any:
    """The package that reads and writes images."""
    return optional("nibabel", "neuro", what)


def touching(a: Ints, b: Ints, n: int) -> csr_array:
    """A symmetric matrix of ones from pairs of neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> touching(np.array([0]), np.array([1]), 3).toarray()
    array([[False,  True, False],
           [ True, False, False],
           [False, False, False]])
    """
    from scipy.sparse import csr_array

    ones = np.ones(2 * len(a), bool)
    return csr_array((ones, (np.r_[a, b], np.r_[b, a])), shape=(n, n))


def touching_voxels(ijk: Ints) -> tuple[Ints, Ints]:
    """Pairs of voxels that share a face, by their row numbers in `ijk`.

    Examples
    --------
    >>> import numpy as np
    >>> touching_voxels(np.array([[0, 0, 0], [0, 0, 1], [5, 5, 5]]))
    (array([0]), array([1]))
    """
    low = ijk.min(axis=0)
    grid = np.full(ijk.max(axis=0) - low + 1, -1, np.int64)
    grid[tuple((ijk - low).T)] = np.arange(len(ijk))
    one, other = [], []
    for axis in range(3):
        first = np.moveaxis(grid, axis, 0)[:-1]
        second = np.moveaxis(grid, axis, 0)[1:]
        both = (first >= 0) & (second >= 0)
        one.append(first[both])
        other.append(second[both])
    return np.concatenate(one), np.concatenate(other)
