"""Matrices of features, with what their file or a table beside it says of their samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nullforest._util.column_store import ColumnStore
from nullforest._util.errors import InputError, reason_of, refused
from nullforest._util.words import Setting, listed
from nullforest.data.readers.formats import TableFile, text_of, texts_of
from nullforest.data.readers.roles import TargetName, columns_of

if TYPE_CHECKING:
    import pandas as pd

    from nullforest.data.readers.images.geometry import Geometry

#: Columns that name the samples, where none is given: BIDS, PLINK, and what others often write.
_USUAL = (
    "participant_id",
    "iid",
    "#iid",
    "sample_id",
    "sample",
    "subject_id",
    "subject",
    "barcode",
)
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

    @classmethod
    def of_image(
        cls, X: Any, geometry: Geometry, names: Sequence[str], unit: str, *, numbered: bool
    ) -> FeatureMatrix:
        """The features of images; `numbered` samples have no names and are matched by order."""
        import pandas as pd

        samples = pd.DataFrame(index=pd.Index(names))
        samples.attrs["numbered"] = numbered
        return cls(X, geometry.names, samples, geometry.coordinates(), geometry, unit)

    @property
    def units(self) -> str:
        """Several features."""
        return "vertices" if self.unit == "vertex" else f"{self.unit}s"

    def of_samples(self, rows: Ints, samples: pd.DataFrame) -> FeatureMatrix:
        """The same features of some samples, in the order given, of which `samples` tells."""
        X = self.X
        if not np.array_equal(rows, np.arange(X.shape[0])):
            if isinstance(X, ColumnStore):
                X = X.of_rows(rows)
            else:
                X = X.iloc[rows] if hasattr(X, "iloc") else X[rows]
        return replace(self, X=X, samples=samples)

    def annotated(self, column: str, values: NDArray[Any]) -> FeatureMatrix:
        """The same matrix with a further column of annotations."""
        import pandas as pd

        annotations = pd.DataFrame() if self.annotations is None else self.annotations
        return replace(self, annotations=annotations.assign(**{column: values}))

    def usable(self, source: str) -> tuple[Any, Ints, list[str]]:
        """The features that a forest may split, their numbers, and notes.

        Voxels and vertices without variation lie outside of the brain and are no features. The
        forest itself passes over constant features, whatever their kind.
        """
        X, F = self.X, self.X.shape[1]
        if self.geometry is None:
            return X, np.arange(F), []
        # NaN where all values are missing; neither makes a copy of the images.
        low, high = np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)
        if (infinite := np.flatnonzero(np.isinf(low) | np.isinf(high))).size:
            row = np.flatnonzero(np.isinf(X[:, infinite[0]]))[0]
            raise InputError(
                f"The {self.unit} {self.feature_names[infinite[0]]!r} is infinite in sample "
                f"{self.samples.index[row]!s}; replace it by a number, or by NaN."
            )
        varies = (low != high) | np.isnan(X).any(axis=0)
        varies &= ~np.isnan(low)
        if not varies.any():
            raise InputError(
                f"Every {self.unit} of {source} has the same value in all samples, so no split is "
                "possible; give other samples, or another mask."
            )
        if varies.all():
            return X, np.arange(F), []
        left = self.feature_names[~varies]
        note = (
            f"{len(left)} {self.units if len(left) > 1 else self.unit} left out, since all samples "
            f"have the same value: {listed(left)}."
        )
        return X[:, varies], np.flatnonzero(varies), [note]


def frame_matrix(frame: pd.DataFrame, drop: Iterable[str], source: str) -> FeatureMatrix:
    """The columns of a table as features of samples that another table describes.

    The rows are named by the index or by the first column, which holds text.
    """
    import pandas as pd

    frame = frame.set_axis([text_of(name) for name in frame.columns], axis=1)
    if isinstance(frame.index, pd.RangeIndex):
        first = frame.iloc[:, 0]
        if not (first.dtype == object or isinstance(first.dtype, pd.StringDtype)):
            raise InputError(
                f"{source} does not name its samples; put their names into its first column, "
                "or give ",
                Setting("transpose"),
                " if its columns are samples.",
            )
        frame = frame.iloc[:, 1:].set_axis(first, axis=0)
    if absent := sorted(set(drop) - set(frame.columns)):
        raise InputError(f"The column to leave out {absent[0]!r} is not in {source}.")
    frame = frame.drop(columns=list(drop))
    return FeatureMatrix(
        X=frame,
        feature_names=texts_of(frame.columns),
        samples=pd.DataFrame(index=pd.Index(texts_of(frame.index))),
        unit="column",
    )


def with_sample_table(
    matrix: FeatureMatrix,
    path: Path,
    target: TargetName,
    ids: str | None = None,
    *,
    matched_only: bool = False,
) -> FeatureMatrix:
    """The samples of a matrix that a table has a row for, with that row.

    Parameters
    ----------
    matrix : FeatureMatrix
        Its samples have names; samples that are merely numbered, such as the volumes of a 4-D
        image, are matched by order.
    path : Path
        The table.
    target : str or SurvivalColumns
        Column of the target: a row without a value there is no row.
    ids : str, optional
        Column that names the samples; `participant_id`, `IID` and the like, or else the first
        column, where not given.
    matched_only : bool
        Leave out samples and rows that have no counterpart, with a note, instead of refusing them.
    """
    frame = TableFile(path).read()
    frame = frame.set_axis([text_of(name) for name in frame.columns], axis=1)
    if matrix.samples.attrs.get("numbered"):
        return _by_order(matrix, frame, path)
    frame = _named(frame, ids, path)
    for name in columns_of(target):
        column = frame[name] if name in frame.columns else None
        if column is not None and not getattr(column, "ndim", 1) > 1:
            frame = frame[column.notna().to_numpy()]
    data_rows, table_rows = _keys(matrix.samples.index, "the data"), _keys(frame.index, str(path))
    common = [key for key in data_rows if key in table_rows]
    only_data = [data_rows[key][1] for key in data_rows if key not in table_rows]
    only_table = [table_rows[key][1] for key in table_rows if key not in data_rows]
    if not common:
        raise InputError(
            f"No sample of the data ({listed(only_data)}) has a row in {path} "
            f"({listed(only_table)}); name the column of samples with ",
            Setting("ids"),
            ".",
            setting="ids",
        )
    sides = []
    if only_data:
        sides.append(f"{_samples(only_data)} no row with a target in {path}: {listed(only_data)}")
    if only_table:
        sides.append(f"{_samples(only_table)} a row there but no data: {listed(only_table)}")
    if sides and not matched_only:
        raise InputError(
            f"{'; '.join(sides)}. Correct the table or the list of files, or give ",
            Setting("matched_only"),
            " to leave them out.",
        )
    matched = matrix.of_samples(
        np.array([data_rows[key][0] for key in common], np.int64),
        frame.iloc[[table_rows[key][0] for key in common]].set_axis(
            [data_rows[key][1] for key in common], axis=0
        ),
    )
    return _noted(matched, f"Left out: {'; '.join(sides)}.") if sides else matched


def filtered(matrix: FeatureMatrix, condition: str) -> FeatureMatrix:
    """The samples for which a condition on their columns holds, such as `tissue == "skin"`."""
    try:
        mask: Any = matrix.samples.eval(condition, engine="python")
        mask = np.asarray(mask, bool)
    except Exception as error:  # pandas raises anything over an expression
        columns = listed(list(matrix.samples.columns))
        raise refused(
            "obs_filter",
            condition,
            f"cannot be used ({reason_of(error)}); give a condition on the columns {columns}, such "
            "as \"tissue == 'skin'\".",
        ) from None
    if mask.shape != (len(matrix.samples),):
        raise refused(
            "obs_filter", condition, "is no condition; write for instance \"tissue == 'skin'\"."
        )
    if not mask.any():
        raise refused("obs_filter", condition, "leaves no sample; give another condition.")
    matrix = matrix.of_samples(np.flatnonzero(mask), matrix.samples[mask])
    return _noted(matrix, f"{mask.sum()} of {len(mask)} samples have {condition}.")


def with_target(matrix: FeatureMatrix, target: Sequence[str]) -> FeatureMatrix:
    """The samples that have a target, in all of its columns."""
    has_target = matrix.samples[list(target)].notna().all(axis=1).to_numpy()
    if has_target.all():
        return matrix
    left = matrix.samples.index[~has_target].tolist()
    matrix = matrix.of_samples(np.flatnonzero(has_target), matrix.samples[has_target])
    return _noted(
        matrix, f"Left out: {_samples(left)} no value in {listed(target)}: {listed(left)}."
    )


def _named(frame: pd.DataFrame, ids: str | None, path: Path) -> pd.DataFrame:
    """The table with the names of its samples as the index."""
    names = list(frame.columns)
    if ids is not None and ids not in names:
        raise InputError(
            f"The column of ids {ids!r} is not in {path}; it has the columns {listed(names)}."
        )
    if ids is None:
        folded = {name.casefold(): name for name in reversed(names)}
        usual = [folded[name] for name in _USUAL if name in folded]
        unnamed = getattr(frame.index, "start", None) is not None
        ids = usual[0] if usual else names[0] if unnamed else None
    return frame if ids is None else frame.set_index(ids)


def _keys(names: Any, where: str) -> dict[str, tuple[int, str]]:
    """Place and name of each sample by what it is matched by; "sub-" does not count."""
    texts = texts_of(names).tolist()
    keys = [name.strip().removeprefix("sub-") for name in texts]
    again = [name for name, number in Counter(keys).items() if number > 1]
    if again:
        raise InputError(
            f"{listed(again)} occurs more than once in {where}; give one image or row per "
            "sample, or name another column of samples with ",
            Setting("ids"),
            ".",
        )
    return {key: (place, texts[place]) for place, key in enumerate(keys)}


def _by_order(matrix: FeatureMatrix, frame: pd.DataFrame, path: Path) -> FeatureMatrix:
    n = len(matrix.samples)
    if len(frame) != n:
        raise InputError(
            f"The data have {n} samples without names and {path} has {len(frame)} rows; give a row "
            "for each, in the same order."
        )
    matrix = matrix.of_samples(np.arange(n), frame.set_axis(matrix.samples.index, axis=0))
    return _noted(
        matrix, f"The samples have no names; the rows of {path.name} were taken in their order."
    )


def _samples(names: list[str]) -> str:
    return "1 sample has" if len(names) == 1 else f"{len(names)} samples have"


def _noted(matrix: FeatureMatrix, note: str) -> FeatureMatrix:
    return replace(matrix, notes=(*matrix.notes, note))
