"""Matrices of features with what their file says of samples and features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nullforest._util.column_store import ColumnStore
from nullforest._util.errors import InputError
from nullforest._util.progress import progress_bar
from nullforest._util.words import listed

if TYPE_CHECKING:
    import pandas as pd

    from nullforest.data.readers.images.geometry import Geometry

#: Bytes of a dense block of columns that is checked at a time.
_BLOCK = 2**26
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class FeatureMatrix:
    """The features of a file that is no table: an image, a matrix of genes, genotypes.

    Attributes
    ----------
    X : (S, F) array, sparse matrix or ColumnStore
    feature_names : (F,) str
    samples : DataFrame
        What the file says of each sample; the index names the samples.
    annotations : DataFrame or None
        What the file says of each feature: symbol, chromosome and position, coordinates.
    geometry : Geometry or None
        Where the features lie in an image, so that maps can be written.
    unit : str
        What a feature is: gene, voxel, vertex, variant.
    notes : tuple of str
    """

    X: Any
    feature_names: NDArray[np.str_]
    samples: pd.DataFrame
    annotations: pd.DataFrame | None = None
    geometry: Geometry | None = None
    unit: str = "feature"
    notes: tuple[str, ...] = ()

    @property
    def units(self) -> str:
        """Several features."""
        return "vertices" if self.unit == "vertex" else f"{self.unit}s"

    def of_samples(self, rows: Ints, samples: pd.DataFrame) -> FeatureMatrix:
        """The same features of some samples, in the order given, of which `samples` tells."""
        X = self.X
        if not np.array_equal(rows, np.arange(X.shape[0])):
            if isinstance(X, ColumnStore):
                X = X.subset(rows=rows)
            else:
                X = X.iloc[rows] if hasattr(X, "iloc") else X[rows]
        return replace(self, X=X, samples=samples)

    def annotated(self, column: str, values: NDArray[Any]) -> FeatureMatrix:
        """The same matrix with a further column of annotations."""
        import pandas as pd

        known = pd.DataFrame() if self.annotations is None else self.annotations
        return replace(self, annotations=known.assign(**{column: values}))

    def usable(self, source: str) -> tuple[Any, Ints, list[str]]:
        """The features that a forest may split, their numbers, and notes.

        Voxels and vertices without variation lie outside of the brain and are no features. The
        forest itself passes over constant features, whatever their kind.
        """
        S, F = self.X.shape
        if self.geometry is None:
            return self.X, np.arange(F), []
        low, high, missing = self._profile()
        varies = ((low != high) | (missing > 0)) & (missing < S)
        if not varies.any():
            raise InputError(
                f"Every {self.unit} of {source} has the same value in all samples, so no split is "
                "possible; give other samples, or another mask."
            )
        if varies.all():
            return self.X, np.arange(F), []
        kept, left = np.flatnonzero(varies), self.feature_names[~varies]
        note = (
            f"{len(left)} {self.units if len(left) > 1 else self.unit} left out, since all samples "
            f"have the same value: {listed(left)}."
        )
        X = self.X.subset(columns=kept) if isinstance(self.X, ColumnStore) else self.X[:, kept]
        return X, kept, [note]

    def _profile(self) -> tuple[NDArray[Any], NDArray[Any], Ints]:
        """Smallest and largest value of each feature, and how many are missing."""
        X = self.X
        S, F = X.shape
        if hasattr(X, "tocsc"):
            X = X.tocsc()
            if np.isfinite(X.data).all():  # then zeros that are not stored are taken into account
                low, high = (np.asarray(m.todense()).ravel() for m in (X.min(0), X.max(0)))
                return low, high, np.zeros(F, np.int64)
        low, high, missing = np.empty(F), np.empty(F), np.zeros(F, np.int64)
        width = max(1, _BLOCK // (8 * max(S, 1)))
        with progress_bar(f"Reading {self.units}") as tell:
            for begin in range(0, F, width):
                tell(begin, F)
                here = slice(begin, begin + width)
                block = X[:, here]
                block = np.asarray(block.toarray() if hasattr(block, "toarray") else block)
                gaps = np.isnan(block)
                if np.isinf(block).any():
                    row, column = np.argwhere(np.isinf(block))[0]
                    raise InputError(
                        f"The {self.unit} {self.feature_names[begin + column]!r} is infinite in "
                        f"sample {self.samples.index[row]!s}; replace it by a number, or by NaN."
                    )
                missing[here] = gaps.sum(axis=0)
                low[here] = np.fmin.reduce(block, axis=0)
                high[here] = np.fmax.reduce(block, axis=0)
        return low, high, missing
