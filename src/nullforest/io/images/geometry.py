"""Geometries: where the features of an image lie, and how maps of them are written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    import pandas as pd
    from scipy.sparse import csr_array

Floats = NDArray[np.float64]


class Geometry(Protocol):
    """The places of an image's features, all of them, constant ones included."""

    @property
    def n_features(self) -> int:
        """Voxels or vertices that are features."""

    @property
    def names(self) -> NDArray[np.str_]:
        """A name for each feature."""

    def coordinates(self) -> pd.DataFrame | None:
        """Millimetres x, y, z of each feature; None where the file does not tell."""

    def neighbours(self) -> csr_array:
        """Features that touch each other, as a symmetric matrix of ones."""

    def regions(self, atlas: Path, names: Path | None) -> NDArray[np.str_]:
        """Region of each feature in an atlas; "" outside all regions."""

    def save(self, folder: Path, name: str, values: ArrayLike) -> list[Path]:
        """Write a map of one value per feature; the files that were written."""

    def draw(self, values: ArrayLike, threshold: float, title: str) -> Any:
        """A figure of a map, by nilearn."""
