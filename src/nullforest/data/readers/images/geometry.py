"""Geometries: where the features of an image lie, their regions, and how maps are written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import InputError, optional
from nullforest._util.words import listed
from nullforest.data.readers.formats import TableFile, texts_of

if TYPE_CHECKING:
    import pandas as pd
    from scipy.sparse import csr_array

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
#: Columns of the number and of the name of a region, as tables of labels call them.
_NUMBERS = ("index", "label", "value", "id", "number", "key", "intensity")
_NAMES = ("name", "region", "structure", "label_name", "roi", "abbreviation")


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
    """A symmetric matrix of ones from pairs of neighbours."""
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


def region_names(path: Path) -> dict[int, str]:
    r"""Names of the regions of an atlas by their numbers, from a table with these two columns."""
    frame = TableFile(path).read().reset_index()
    heads = {str(name).casefold(): name for name in reversed(list(frame.columns))}
    number = next((heads[name] for name in _NUMBERS if name in heads), None)
    name = next((heads[word] for word in _NAMES if word in heads), None)
    if name is None and number is not None and number != heads.get("label"):
        name = heads.get("label")
    if number is None or name is None:
        raise InputError(
            f"{path} does not name the regions of an atlas; give a table with the columns index "
            f"and name instead of {listed(list(frame.columns))}."
        )
    try:
        numbers = frame[number].to_numpy(np.int64)
    except (TypeError, ValueError):
        raise InputError(f"The column {number} of {path} holds no whole numbers.") from None
    return dict(zip(numbers.tolist(), texts_of(frame[name]).tolist(), strict=True))


def named_regions(
    labels: NDArray[np.int64], names: Mapping[int, str] | None, source: str
) -> NDArray[np.str_]:
    """Names of labels; 0 and below is no region."""
    inside = [int(label) for label in np.unique(labels) if label > 0]
    if not inside:
        raise InputError(
            f"No feature lies in a region of {source}; give an atlas in the space of the images."
        )
    if names is not None and not set(names).intersection(inside):
        raise InputError(f"None of the labels of {source} is named ({listed(inside)}).")
    named = {label: (names or {}).get(label, f"region {label}") for label in inside}
    return np.array([named.get(label, "") for label in labels.tolist()], str)
