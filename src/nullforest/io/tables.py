"""Which columns are features, and which is the target? A file becomes a Table."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nullforest._util.errors import InputError
from nullforest.io.feature_columns import features_of
from nullforest.io.formats import names_rows, read_frame
from nullforest.io.target_column import TASKS, KnownTask, Task, target_of
from nullforest.io.words import listed


@dataclass(frozen=True, eq=False)
class Table:
    """Features and target of a data set, ready for a forest.

    Attributes
    ----------
    X : (S, F) float32 or float64
        Features; missing values are NaN.
    y : (S,)
        Target: classes as they are, or numbers as float64.
    feature_names : (F,) str
    target : str
        Name of the target.
    task : {"classification", "regression"}
    sample_ids : (S,) str or None
        Names of the samples, where the table has any.
    notes : tuple of str
        What was assumed and what was left out, in plain sentences.
    """

    X: NDArray[np.floating[Any]]
    y: NDArray[Any]
    feature_names: NDArray[np.str_]
    target: str
    task: KnownTask
    sample_ids: NDArray[np.str_] | None = None
    notes: tuple[str, ...] = ()


def read_table(
    path: Any,
    target: str,
    *,
    ids: str | None = None,
    drop: Iterable[str] = (),
    task: Task = "auto",
) -> Table:
    r"""Read features and target from a file.

    Parameters
    ----------
    path : str or Path
        CSV or TSV (also as .gz, .bz2, .xz, .zst), Parquet, NPZ (a matrix `X`, its
        `feature_names`, other arrays as columns) or NPY (columns `x0`, `x1`, …).
    target : str
        Name of the column to predict; a column number where columns have no names.
    ids : str, optional
        Column that names the samples.
    drop : iterable of str
        Columns to leave out.
    task : {"auto", "classification", "regression"}
        What the target is; told from its type unless given.

    Returns
    -------
    Table

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from nullforest.io import read_table
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("name,age,height,ill\nA,31,1.7,yes\nB,62,1.6,no\nC,45,1.8,no\n")
    >>> table = read_table(path, target="ill", ids="name")
    >>> table.feature_names.tolist(), table.y.tolist(), table.task
    (['age', 'height'], ['yes', 'no', 'no'], 'classification')
    """
    path = Path(path)
    frame = read_frame(path)
    return table_of(frame, target, ids=ids, drop=drop, task=task, source=str(path))


def table_of(
    frame: pd.DataFrame,
    target: str,
    *,
    ids: str | None = None,
    drop: Iterable[str] = (),
    task: Task = "auto",
    source: str = "the table",
) -> Table:
    """Sort the columns of a DataFrame into features and target; see :func:`read_table`."""
    if task not in TASKS:
        raise InputError(f"There is no task {task!r}; choose one of {', '.join(TASKS)}.")
    if frame.index.name is not None and frame.index.name in (target, ids, *drop):
        frame = frame.reset_index()
    names = [str(name) for name in frame.columns]
    _check_unique(names, source)
    if len(frame) < 2:
        raise InputError(
            f"{source} has {len(frame)} row{'' if len(frame) == 1 else 's'} of data; a forest "
            "needs at least 2 samples, one per row."
        )
    target = _resolved(target, names, "target", source)
    beside = {_resolved(name, names, "column to leave out", source) for name in drop}
    if target in beside:
        raise InputError(f"{target!r} is the target and cannot be left out too.")
    sample_ids = _strings(frame.index) if names_rows(frame.index) else None
    if ids is not None:
        ids = _resolved(ids, names, "column of ids", source)
        if ids == target:
            raise InputError(f"{target!r} is the target and cannot hold the ids too.")
        sample_ids = _strings(_column(frame, names, ids))
        beside.add(ids)
    notes: list[str] = []
    y, kind = target_of(_column(frame, names, target), target, task, notes)
    # What lies beside the matrix of an archive is about the samples and no feature.
    spare = set(frame.attrs.get("columns_beside", ())) - beside - {target}
    if spare:
        notes.append(f"Arrays beside the matrix were left out: {listed(sorted(spare))}.")
    keep = [i for i, name in enumerate(names) if name != target and name not in beside | spare]
    if not keep:
        raise InputError(f"{source} has no columns left beside the target; there are no features.")
    X, kept, about = features_of(frame.iloc[:, keep], [names[i] for i in keep], source)
    return Table(
        X=X,
        y=y,
        feature_names=np.array(kept, str),
        target=target,
        task=kind,
        sample_ids=sample_ids,
        notes=(*notes, *about),
    )


def _column(frame: pd.DataFrame, names: Sequence[str], name: str) -> pd.Series[Any]:
    return frame.iloc[:, names.index(name)]


def _strings(values: Any) -> NDArray[np.str_]:
    return np.asarray(values).astype(str)


def _check_unique(names: Sequence[str], source: str) -> None:
    again = pd.Index(names)
    again = again[again.duplicated()].unique()
    if len(again):
        raise InputError(
            f"{source} has several columns of the same name ({listed(list(again))}); give each "
            "column a name of its own."
        )


def _resolved(name: str, names: Sequence[str], what: str, source: str) -> str:
    """The column meant by `name`; where there is none, say which ones are close."""
    if name in names:
        return name
    unnamed = names[0].startswith("x") and names[-1] == f"x{len(names) - 1}"
    if unnamed and name.lstrip("-").isdigit() and -len(names) <= int(name) < len(names):
        return names[int(name)]
    folded = {known.casefold(): known for known in names}
    close = [folded[name.strip().casefold()]] if name.strip().casefold() in folded else []
    close = close or difflib.get_close_matches(name, names, n=3)
    hint = f"did you mean {' or '.join(repr(known) for known in close)}?" if close else ""
    hint = hint or f"it has {len(names)} columns: {listed(list(names))}."
    raise InputError(f"The {what} {name!r} is not in {source}; {hint}")
