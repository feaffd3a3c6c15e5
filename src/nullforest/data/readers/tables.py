"""Tables: the features and the target of a file."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import InputError, check_known
from nullforest._util.files import as_path
from nullforest._util.words import listed
from nullforest.data.readers.formats import TableFile
from nullforest.data.readers.matrix_files import (
    MatrixOptions,
    found_files,
    kind_of,
    read_matrix,
    single,
)
from nullforest.data.readers.survival_columns import (
    SurvivalColumns,
    TargetName,
    columns_of,
    survival_columns,
)
from nullforest.data.readers.text import text_of, texts_of
from nullforest.data.readers.transposed import frame_matrix, hint_to_transpose

if TYPE_CHECKING:
    import pandas as pd

    from nullforest.data.readers.feature_matrix import FeatureMatrix
    from nullforest.data.readers.images.geometry import Geometry
    from nullforest.data.readers.target_column import KnownTask, Task


@dataclass(frozen=True, eq=False)
class Table:
    """Features and target of a data set, ready for a forest.

    Attributes
    ----------
    X : (S, F) array of float32 or float64, sparse matrix, or ColumnStore
        Features; missing values are NaN. Large genotypes and matrices stay on disk.
    y : (S,)
        Target: classes as they are, numbers as float64, or a structured array of events and times.
    feature_names : (F,) str
    target : str
        Name of the target.
    task : {"classification", "regression", "survival"}
    sample_ids : (S,) str or None
        Names of the samples, where the table has any.
    blocks : (S,) str or None
        Block of each sample (site, batch), where a column of blocks was named.
    adjust : (S, K) float64 or None
        Covariates of each sample, where columns of covariates were named.
    categories : (F,) bool or None
        Features that are codes of categories without an order; None where there are none.
    notes : tuple of str
        What was assumed and what was left out, one sentence each.
    columns : (F,) int or None
        Position of each feature among the columns of the file, from 0; None where it has none.
    annotations : DataFrame or None
        What the file says of each feature beside its name: symbol, position, coordinates.
    geometry : Geometry or None
        Where the features lie in an image; see :func:`nullforest.write_maps`.
    """

    X: Any
    y: NDArray[Any]
    feature_names: NDArray[np.str_]
    target: str
    task: KnownTask
    sample_ids: NDArray[np.str_] | None = None
    blocks: NDArray[np.str_] | None = None
    adjust: NDArray[np.float64] | None = None
    categories: NDArray[np.bool_] | None = None
    notes: tuple[str, ...] = ()
    columns: NDArray[np.int64] | None = None
    annotations: pd.DataFrame | None = None
    geometry: Geometry | None = None


def read_table(
    path: Any,
    target: TargetName,
    *,
    ids: str | None = None,
    blocks: str | None = None,
    adjust: Iterable[str] = (),
    drop: Iterable[str] = (),
    task: Task = "auto",
    transpose: bool = False,
    decimal: str | None = None,
    **of_matrix: Any,
) -> Table:
    r"""Read features and target from a file.

    Parameters
    ----------
    path : str or Path, or list of them
        CSV or TSV (also as .gz, .bz2, .xz, .zst), Parquet, NPZ (a matrix `X`, its
        `feature_names`, other arrays as columns) or NPY (columns `x0`, `x1`, …). Genes and
        variants: docs/genomics.md; images, one or several files or a pattern such as
        ``sub-*.nii.gz``: docs/neuroimaging.md.
    target : str or SurvivalColumns
        Name of the column to predict; a column number where columns have no names. Survival times
        have two columns, ``SurvivalColumns(event="died", time="days")``.
    ids : str, optional
        Column that names the samples.
    blocks : str, optional
        Column of the block of each sample, such as its site or batch; no feature.
    adjust : iterable of str
        Columns of covariates, such as age; no features.
    drop : iterable of str
        Columns to leave out.
    task : {"auto", "classification", "regression"}
        What the target is; told from its type unless given.
    transpose : bool
        Rows of the file are features, the target among them, and columns are samples; the first
        column names the rows. For tables of text.
    decimal : {".", ","}, optional
        Decimal mark of a table of text; told from its first lines unless given.
    **of_matrix
        Options of images and matrices of genes: layer, names, obs_filter, mask, mesh, atlas,
        atlas_labels, sample_table, matched_only; see
        :class:`nullforest.data.readers.matrix_files.MatrixOptions`.

    Returns
    -------
    Table

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from nullforest.data.readers import read_table
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("name,age,height,ill\nA,31,1.7,yes\nB,62,1.6,no\nC,45,1.8,no\n")
    >>> table = read_table(path, target="ill", ids="name")
    >>> table.feature_names.tolist(), table.y.tolist(), table.task
    (['age', 'height'], ['yes', 'no', 'no'], 'classification')
    """
    drop, adjust, options = tuple(drop), tuple(adjust), MatrixOptions(**of_matrix)
    roles: dict[str, Any] = {"blocks": blocks, "adjust": adjust, "task": task}
    paths = found_files(path)
    if kind := kind_of(paths):
        if drop or transpose or decimal:
            option = "drop" if drop else "transpose" if transpose else "decimal"
            raise InputError(f"--{option} is for tables, and {paths[0]} is none; leave it out.")
        matrix = read_matrix(paths, kind, options)
        return matrix_table(matrix, target, options, str(path), ids=ids, **roles)
    options.refuse(("layer", "names", "mask", "mesh", "atlas", "atlas_labels"), "a table")
    path = single(paths)
    file = TableFile(path, decimal)
    beside = options.sample_table is not None
    if file.layout is not None and not transpose and not beside:
        names = file.layout.names  # before pandas is imported, which is slow
        if not {*columns_of(target)} <= {*names}:
            hint_to_transpose(file, target)
        _roles(names, target, (ids, blocks), adjust, drop, str(path))
    frame = file.read(transpose=transpose)
    if beside:
        matrix = frame_matrix(frame, drop, str(path))
        table = matrix_table(matrix, target, options, str(path), ids=ids, **roles)
    else:
        if options.obs_filter or options.matched_only:
            option = "obs-filter" if options.obs_filter else "matched-only"
            raise InputError(f"--{option} needs a table of samples, --sample-table FILE.")
        table = table_of(frame, target, ids=ids, drop=drop, source=str(path), **roles)
    if decimal is None and file.layout is not None and file.layout.decimal == ",":
        note = "Numbers were read with a decimal comma."
        table = replace(table, notes=(note, *table.notes))
    return table


def matrix_table(
    matrix: FeatureMatrix,
    target: TargetName,
    options: MatrixOptions,
    source: str = "the data",
    *,
    ids: str | None = None,
    **roles: Any,
) -> Table:
    """The table of a matrix whose samples are told of in its own file or in another.

    `roles` are further arguments of :func:`table_of`: blocks, adjust, task.
    """
    from nullforest.data.readers.sample_table import filtered, with_sample_table, with_target

    if options.sample_table is not None:
        path = as_path(options.sample_table)
        only = options.matched_only
        matrix = with_sample_table(matrix, path, target, ids, matched_only=only)
        source, ids = str(path), None
    if options.obs_filter is not None:
        matrix = filtered(matrix, options.obs_filter)
    own = columns_of(target)
    if options.matched_only and {*own} <= {*matrix.samples.columns}:
        matrix = with_target(matrix, own)
    if matrix.samples.empty:
        raise InputError(
            f"{source} says nothing of its samples; give a table with their target, "
            "--sample-table FILE."
        )
    return table_of(matrix.samples, target, ids=ids, source=source, matrix=matrix, **roles)


def table_of(
    frame: pd.DataFrame,
    target: TargetName,
    *,
    ids: str | None = None,
    blocks: str | None = None,
    adjust: Iterable[str] = (),
    drop: Iterable[str] = (),
    task: Task = "auto",
    source: str = "the table",
    matrix: FeatureMatrix | None = None,
) -> Table:
    """Sort the columns of a DataFrame into features and target; see :func:`read_table`.

    With a matrix, the DataFrame tells of its samples, and the features are those of the matrix.
    """
    from nullforest.data.column_values import covariates_of
    from nullforest.data.readers.feature_columns import features_of
    from nullforest.data.readers.target_column import TASKS, target_of

    check_known("task", task, TASKS)
    first = frame.attrs.get("first_column", 0)
    position = None if first is None else np.arange(frame.shape[1]) + first
    frame = frame.set_axis([text_of(name) for name in frame.columns], axis=1)
    drop, adjust = tuple(drop), tuple(adjust)
    if {*columns_of(target), ids, blocks, *adjust, *drop} & set(frame.index.names) - {None}:
        position = None
        frame = frame.reset_index()
    names = [text_of(name) for name in frame.columns]
    again = [name for name, number in Counter(names).items() if number > 1]
    if again:
        raise InputError(
            f"{source} has several columns of the same name ({listed(again)}); give each column a "
            "name of its own."
        )
    if len(frame) < 2:
        raise InputError(
            f"{source} has {len(frame)} row{'' if len(frame) == 1 else 's'} of data; a forest "
            "needs at least 2 samples, one per row."
        )
    target, (ids, blocks), adjust, beside = _roles(
        names, target, (ids, blocks), adjust, drop, source
    )
    index = frame.index  # 0, 1, 2, … are no names
    numbered = getattr(index, "start", None) == 0 and getattr(index, "step", None) == 1
    sample_ids = None if numbered else texts_of(index)
    if ids is not None:
        sample_ids = texts_of(frame.iloc[:, names.index(ids)])
        beside.add(ids)
    of_blocks = None
    if blocks is not None:
        column = frame.iloc[:, names.index(blocks)]
        if column.isna().any():
            raise InputError(
                f"The column of blocks {blocks!r} has missing values; name the block of every "
                "sample, or drop those samples."
            )
        of_blocks = texts_of(column)
        beside.add(blocks)
    covariates = None
    if adjust:
        covariates = covariates_of(frame.iloc[:, [names.index(name) for name in adjust]])
        beside |= set(adjust)
    notes: list[str] = []
    own = columns_of(target)
    outcome = [frame.iloc[:, names.index(name)] for name in own]
    kind: KnownTask
    if isinstance(target, SurvivalColumns):
        if task != "auto":
            raise InputError("--task is for --target; survival times need none.")
        y, kind = survival_columns(outcome[0], outcome[1], target), "survival"
    else:
        y, kind = target_of(outcome[0], target, task, notes)
    if matrix is not None:
        X, used, about = matrix.usable(source)
        given = matrix.annotations
        return Table(
            X=X,
            y=y,
            feature_names=matrix.feature_names[used],
            target=str(target),
            task=kind,
            sample_ids=sample_ids,
            blocks=of_blocks,
            adjust=covariates,
            notes=(*matrix.notes, *notes, *about),
            columns=used,
            annotations=None if given is None else given.iloc[used].reset_index(drop=True),
            geometry=matrix.geometry,
        )
    # Arrays beside the matrix of an archive describe the samples and are no features.
    spare = set(frame.attrs.get("columns_beside", ())) - beside - {*own}
    if spare:
        notes.append(f"Arrays beside the matrix were left out: {listed(sorted(spare))}.")
    keep = [i for i, name in enumerate(names) if name not in beside | spare | {*own}]
    if not keep:
        raise InputError(f"{source} has no columns left beside the target; there are no features.")
    X, kept, categories, about = features_of(frame.iloc[:, keep], [names[i] for i in keep], source)
    used = np.array(keep)[kept]
    return Table(
        X=X,
        y=y,
        feature_names=np.array([names[i] for i in used], str),
        target=str(target),
        task=kind,
        sample_ids=sample_ids,
        blocks=of_blocks,
        adjust=covariates,
        categories=categories if categories.any() else None,
        notes=(*notes, *about),
        columns=None if position is None else position[used],
    )


def _roles(
    names: Sequence[str],
    target: TargetName,
    about_samples: tuple[str | None, str | None],
    adjust: Iterable[str],
    drop: Iterable[str],
    source: str,
) -> tuple[TargetName, tuple[str | None, str | None], tuple[str, ...], set[str]]:
    """The columns meant by target, ids, blocks and covariates, and those to leave out."""
    target = _resolved_target(target, names, source)
    beside = {_resolved(name, names, "column to leave out", source) for name in drop}
    own = columns_of(target)
    for wrong in beside.intersection(own):
        raise InputError(f"{wrong!r} is the target and cannot be left out too.")
    found: list[str | None] = []
    for given, what in zip(about_samples, ("ids", "blocks"), strict=True):
        name = None if given is None else _resolved(given, names, f"column of {what}", source)
        if name in own:
            raise InputError(f"{name!r} is the target and cannot hold the {what} too.")
        found.append(name)
    covariates = tuple(_resolved(name, names, "covariate", source) for name in adjust)
    for wrong in set(covariates).intersection(own):
        raise InputError(f"{wrong!r} is the target and cannot be a covariate too.")
    return target, (found[0], found[1]), covariates, beside


def _resolved_target(target: TargetName, names: Sequence[str], source: str) -> TargetName:
    if isinstance(target, str):
        return _resolved(target, names, "target", source)
    event = _resolved(target.event, names, "column of events", source)
    time = _resolved(target.time, names, "column of times", source)
    if event == time:
        raise InputError(f"{event!r} cannot hold both the events and the times; name two columns.")
    return SurvivalColumns(event, time)


def _resolved(name: str, names: Sequence[str], what: str, source: str) -> str:
    """The column meant by `name`; where there is none, an error lists similar names."""
    if name in names:
        return name
    if not names:
        raise InputError(f"{source} has no columns; give a table of samples × features.")
    unnamed = names[0].startswith("x") and names[-1] == f"x{len(names) - 1}"
    if unnamed and name.lstrip("-").isdigit() and -len(names) <= int(name) < len(names):
        return names[int(name)]
    folded = {known.casefold(): known for known in names}
    close = [folded[name.strip().casefold()]] if name.strip().casefold() in folded else []
    close = close or difflib.get_close_matches(name, names, n=3)
    hint = f"did you mean {' or '.join(repr(known) for known in close)}?" if close else ""
    hint = hint or f"it has {len(names)} columns: {listed(names)}."
    raise InputError(f"The {what} {name!r} is not in {source}; {hint}")
