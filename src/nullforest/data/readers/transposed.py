"""Tables of genes × samples: recognised, and joined with a table of the samples."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from nullforest._util.errors import InputError
from nullforest._util.words import listed
from nullforest.data.readers.feature_matrix import FeatureMatrix
from nullforest.data.readers.formats import TableFile
from nullforest.data.readers.survival_columns import TargetName, columns_of
from nullforest.data.readers.text import number_of, text_of, texts_of

if TYPE_CHECKING:
    import pandas as pd

#: Rows per column from which a table whose rows are named is taken for features × samples.
_TALL = 5


def hint_to_transpose(file: TableFile, target: TargetName) -> None:
    """Say that a table has its features in rows, where it looks so and the target is no column."""
    names = file.row_names() - set(file.layout.names if file.layout else ())
    if {*columns_of(target)} <= names:
        raise InputError(
            f"The target {str(target)!r} is a row of {file.path}, not a column; give --transpose "
            "if rows are features."
        )
    columns = len(file.layout.names) if file.layout else 0
    texts = [name for name in names if name and np.isnan(number_of(name))]
    if len(names) >= _TALL * columns and len(texts) > len(names) / 2:
        raise InputError(
            f"The target {str(target)!r} is not in {file.path}, which looks like a table of genes "
            f"× samples: {len(names)} named rows ({listed(sorted(texts))}) and {columns} columns; "
            "give --transpose, and the table with the target as --sample-table FILE."
        )


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
                f"{source} does not name its samples; put their names into its first column, or "
                "give --transpose if its columns are samples."
            )
        frame = frame.iloc[:, 1:].set_axis(first, axis=0)
    dropped = set(drop)
    if unknown := sorted(dropped - set(frame.columns)):
        raise InputError(f"The column to leave out {unknown[0]!r} is not in {source}.")
    frame = frame[[name for name in frame.columns if name not in dropped]]
    return FeatureMatrix(
        X=frame,
        feature_names=texts_of(frame.columns),
        samples=pd.DataFrame(index=pd.Index(texts_of(frame.index))),
        unit="column",
    )
