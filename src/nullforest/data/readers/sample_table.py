"""Samples of a matrix matched with the rows of a table: participants.tsv, phenotypes, barcodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nullforest._util.errors import InputError, reason_of
from nullforest._util.words import listed
from nullforest.data.readers.feature_matrix import FeatureMatrix
from nullforest.data.readers.formats import TableFile
from nullforest.data.readers.survival_columns import TargetName, columns_of
from nullforest.data.readers.text import text_of, texts_of

if TYPE_CHECKING:
    import pandas as pd

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
    here, there = _keys(matrix.samples.index, "the data"), _keys(frame.index, str(path))
    common = [key for key in here if key in there]
    only_here = [here[key][1] for key in here if key not in there]
    only_there = [there[key][1] for key in there if key not in here]
    if not common:
        raise InputError(
            f"No sample of the data ({listed(only_here)}) has a row in {path} "
            f"({listed(only_there)}); name the column of samples with --ids."
        )
    sides = []
    if only_here:
        sides.append(f"{_samples(only_here)} no row with a target in {path}: {listed(only_here)}")
    if only_there:
        sides.append(f"{_samples(only_there)} a row there but no data: {listed(only_there)}")
    if sides and not matched_only:
        raise InputError(
            f"{'; '.join(sides)}. Correct the table or the list of files, or give --matched-only "
            "to leave them out."
        )
    kept = matrix.of_samples(
        np.array([here[key][0] for key in common], np.int64),
        frame.iloc[[there[key][0] for key in common]].set_axis(
            [here[key][1] for key in common], axis=0
        ),
    )
    return _noted(kept, f"Left out: {'; '.join(sides)}.") if sides else kept


def filtered(matrix: FeatureMatrix, condition: str) -> FeatureMatrix:
    """The samples for which a condition on their columns holds, such as `tissue == "skin"`."""
    try:
        mask: Any = matrix.samples.eval(condition, engine="python")
        mask = np.asarray(mask, bool)
    except Exception as error:  # pandas raises anything over an expression
        raise InputError(
            f"--obs-filter {condition} cannot be used ({reason_of(error)}); give a condition on "
            f"the columns {listed(list(matrix.samples.columns))}, such as \"tissue == 'skin'\"."
        ) from None
    if mask.shape != (len(matrix.samples),):
        raise InputError(
            f"--obs-filter {condition} is no condition; write for instance \"tissue == 'skin'\"."
        )
    if not mask.any():
        raise InputError(f"--obs-filter {condition} leaves no sample; give another condition.")
    kept = matrix.of_samples(np.flatnonzero(mask), matrix.samples[mask])
    return _noted(kept, f"{mask.sum()} of {len(mask)} samples have {condition}.")


def with_target(matrix: FeatureMatrix, target: Sequence[str]) -> FeatureMatrix:
    """The samples that have a target, in all of its columns."""
    known = matrix.samples[list(target)].notna().all(axis=1).to_numpy()
    if known.all():
        return matrix
    left = matrix.samples.index[~known].tolist()
    kept = matrix.of_samples(np.flatnonzero(known), matrix.samples[known])
    return _noted(kept, f"Left out: {_samples(left)} no value in {listed(target)}: {listed(left)}.")


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
            f"{listed(again)} occurs more than once in {where}; give one image or row per sample, "
            "or name another column of samples with --ids."
        )
    return {key: (place, texts[place]) for place, key in enumerate(keys)}


def _by_order(matrix: FeatureMatrix, frame: pd.DataFrame, path: Path) -> FeatureMatrix:
    n = len(matrix.samples)
    if len(frame) != n:
        raise InputError(
            f"The data have {n} samples without names and {path} has {len(frame)} rows; give a row "
            "for each, in the same order."
        )
    kept = matrix.of_samples(np.arange(n), frame.set_axis(matrix.samples.index, axis=0))
    return _noted(
        kept, f"The samples have no names; the rows of {path.name} were taken in their order."
    )


def _samples(names: list[str]) -> str:
    return "1 sample has" if len(names) == 1 else f"{len(names)} samples have"


def _noted(matrix: FeatureMatrix, note: str) -> FeatureMatrix:
    return replace(matrix, notes=(*matrix.notes, note))
