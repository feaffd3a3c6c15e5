"""Tables: the columns of a file are sorted into features, target and what is said of samples."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nullforest._util.errors import InputError
from nullforest._util.files import as_path
from nullforest._util.words import Setting, listed
from nullforest.data.dataset import Dataset
from nullforest.data.dense import coded_columns
from nullforest.data.readers.formats import (
    TableFile,
    found_files,
    kind_of,
    number_of,
    single,
    text_of,
    texts_of,
)
from nullforest.data.readers.options import (
    OF_GENES,
    OF_IMAGES,
    MatrixOptions,
    SurvivalColumns,
    TargetName,
    columns_of,
)
from nullforest.data.targets import Task, as_target

if TYPE_CHECKING:
    import pandas as pd

    from nullforest.data.readers.feature_matrix import FeatureMatrix

#: Rows per column from which a table whose rows are named is taken for features × samples.
_TALL = 5


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
    annotations: Any = None,
    bins: Any = "auto",
    class_weight: Any = None,
    **of_matrix: Any,
) -> Dataset:
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
    annotations : path, optional
        Columns about the features: CSV or TSV, their names in the first column; or for AnnData a
        column of the genes.
    bins : int, "auto" or None
        See :class:`~nullforest.RankTable`.
    class_weight : dict or "balanced", optional
        See :func:`nullforest.grow`.
    **of_matrix
        Options of images and matrices of genes: layer, names, obs_filter, mask, mesh, atlas,
        sample_table, matched_only; see :class:`nullforest.data.readers.options.MatrixOptions`.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import nullforest as nf
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("name,age,height,ill\nA,31,1.7,yes\nB,62,1.6,no\nC,45,1.8,no\n")
    >>> data = nf.read_table(path, target="ill", ids="name")
    >>> data.feature_names.tolist(), data.target.labels.tolist(), data.target.task
    (['age', 'height'], ['yes', 'no', 'no'], 'classification')
    """
    drop, adjust = tuple(drop), tuple(adjust)
    paths = found_files(path)
    kind = kind_of(paths)
    if kind == "h5ad" and annotations is not None and not Path(annotations).exists():
        of_matrix, annotations = of_matrix | {"names": str(annotations)}, None
    options = MatrixOptions(**of_matrix)
    roles = {"blocks": blocks, "adjust": adjust, "task": task, "class_weight": class_weight}
    if kind:
        for option, value in {"drop": drop, "transpose": transpose, "decimal": decimal}.items():
            if value:
                words = f" is for tables, and {paths[0]} is none; leave it out."
                raise InputError(Setting(option), words, setting=option)
        from nullforest.data.readers.matrix_files import read_matrix

        matrix = read_matrix(paths, kind, options)
        data = matrix_table(matrix, target, options, str(path), ids=ids, **roles)
    else:
        options.refuse((*OF_GENES, *OF_IMAGES), "a table")
        file = TableFile(single(paths), decimal)
        source, beside = str(file.path), options.sample_table is not None
        if file.names is not None and not (transpose or beside):
            # Before pandas is imported, which is slow.
            if not {*columns_of(target)} <= {*file.names}:
                _hint_to_transpose(file, file.names, target)
            _roles(file.names, target, ids, blocks, adjust, drop, source)
        frame = file.read(transpose=transpose)
        if beside:
            from nullforest.data.readers.feature_matrix import frame_matrix

            matrix = frame_matrix(frame, drop, source)
            data = matrix_table(matrix, target, options, source, ids=ids, **roles)
        else:
            for option in ("obs_filter", "matched_only"):
                if getattr(options, option):
                    words, needed = " needs a table of samples, ", Setting("sample_table")
                    raise InputError(Setting(option), words, needed, ".", setting=option)
            data = table_of(frame, target, ids=ids, drop=drop, source=source, **roles)
        if decimal is None and file.decimal == ",":
            note = "Numbers were read with a decimal comma."
            data = replace(data, remarks=(note, *data.remarks))
    if annotations is not None:
        from nullforest.data.annotations import joined, matched, read_annotations

        columns = matched(read_annotations(as_path(annotations)), data.names, str(annotations))
        data = replace(data, annotations=joined(data.annotations, columns))
    return replace(data, bins=bins)


def matrix_table(
    matrix: FeatureMatrix,
    target: TargetName,
    options: MatrixOptions,
    source: str = "the data",
    *,
    ids: str | None = None,
    **roles: Any,
) -> Dataset:
    """The table of a matrix whose samples are told of in its own file or in another.

    `roles` are further arguments of :func:`table_of`: blocks, adjust, task.
    """
    from nullforest.data.readers.feature_matrix import filtered, with_sample_table, with_target

    if options.sample_table is not None:
        path = as_path(options.sample_table)
        only = options.matched_only
        matrix = with_sample_table(matrix, path, target, ids, matched_only=only)
        source, ids = str(path), None
    if options.obs_filter is not None:
        matrix = filtered(matrix, options.obs_filter)
    targets = columns_of(target)
    if options.matched_only and {*targets} <= {*matrix.samples.columns}:
        matrix = with_target(matrix, targets)
    if matrix.samples.empty:
        raise InputError(
            f"{source} says nothing of its samples; give a table with their target, ",
            Setting("sample_table"),
            ".",
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
    class_weight: Any = None,
    source: str = "the table",
    matrix: FeatureMatrix | None = None,
) -> Dataset:
    """Sort the columns of a DataFrame into features and target; see :func:`read_table`.

    With a matrix, the DataFrame tells of its samples, and the features are those of the matrix.
    """
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
    target, ids, blocks, adjust, beside = _roles(names, target, ids, blocks, adjust, drop, source)
    index = frame.index  # 0, 1, 2, … are no names
    numbered = getattr(index, "start", None) == 0 and getattr(index, "step", None) == 1
    sample_ids = None if numbered else texts_of(index)
    if ids is not None:
        sample_ids = texts_of(frame.iloc[:, names.index(ids)])
    targets = columns_of(target)
    y: Any = frame.iloc[:, names.index(targets[0])]
    if isinstance(target, SurvivalColumns):
        y = frame.iloc[:, [names.index(name) for name in targets]]
        y = y.set_axis(["event", "time"], axis=1)
    data = Dataset(
        X=None,
        target=as_target(
            y,
            len(frame),
            task=task,
            class_weight=class_weight,
            blocks=None if blocks is None else frame.iloc[:, names.index(blocks)],
            adjust=frame.iloc[:, [names.index(name) for name in adjust]] if adjust else None,
            name=str(target),
        ),
        sample_ids=sample_ids,
        block_name=blocks,
        covariate_names=adjust,
    )
    if matrix is not None:
        X, used, notes = matrix.usable(source)
        annotations = matrix.annotations
        if annotations is not None:
            annotations = annotations.iloc[used].reset_index(drop=True)
        return replace(
            data,
            X=X,
            feature_names=matrix.feature_names[used],
            remarks=(*matrix.notes, *notes),
            columns=used,
            annotations=annotations,
            geometry=matrix.geometry,
        )
    beside |= {*targets, *adjust, *(name for name in (ids, blocks) if name is not None)}
    # Arrays beside the matrix of an archive describe the samples and are no features.
    spare = set(frame.attrs.get("columns_beside", ())) - beside
    keep = [i for i, name in enumerate(names) if name not in beside | spare]
    if not keep:
        raise InputError(f"{source} has no columns left beside the target; there are no features.")
    X, categories = coded_columns(frame.iloc[:, keep])
    return replace(
        data,
        X=X,
        categories=categories,
        feature_names=np.array([names[i] for i in keep], str),
        columns=None if position is None else position[keep],
        remarks=(f"Arrays beside the matrix were left out: {listed(sorted(spare))}.",)
        if spare
        else (),
    )


def _roles(
    names: Sequence[str],
    target: TargetName,
    ids: str | None,
    blocks: str | None,
    adjust: Iterable[str],
    drop: Iterable[str],
    source: str,
) -> tuple[TargetName, str | None, str | None, tuple[str, ...], set[str]]:
    """The columns meant by target, ids, blocks and covariates, and those to leave out."""
    parts = columns_of(target)
    what = ("target",) if len(parts) == 1 else ("column of events", "column of times")
    targets = [_resolved(name, names, of, source) for name, of in zip(parts, what, strict=True)]
    if len({*targets}) < len(targets):
        raise InputError(
            f"{targets[0]!r} cannot hold both the events and the times; name two columns."
        )
    beside = {_resolved(name, names, "column to leave out", source) for name in drop}
    for name in beside.intersection(targets):
        raise InputError(f"{name!r} is the target and cannot be left out too.")
    if ids is not None:
        ids = _resolved(ids, names, "column of ids", source)
    if blocks is not None:
        blocks = _resolved(blocks, names, "column of blocks", source)
    for column, kind in ((ids, "ids"), (blocks, "blocks")):
        if column in targets:
            raise InputError(f"{column!r} is the target and cannot hold the {kind} too.")
    covariates = tuple(_resolved(name, names, "covariate", source) for name in adjust)
    for name in set(covariates).intersection(targets):
        raise InputError(f"{name!r} is the target and cannot be a covariate too.")
    resolved = targets[0] if isinstance(target, str) else SurvivalColumns(*targets)
    return resolved, ids, blocks, covariates, beside


def _resolved(name: str, names: Sequence[str], what: str, source: str) -> str:
    """The column meant by `name`; where there is none, an error lists similar names."""
    if name in names:
        return name
    if not names:
        raise InputError(f"{source} has no columns; give a table of samples × features.")
    unnamed = names[0].startswith("x") and names[-1] == f"x{len(names) - 1}"
    if unnamed and name.lstrip("-").isdigit() and -len(names) <= int(name) < len(names):
        return names[int(name)]
    folded = {other.casefold(): other for other in names}
    close = [folded[name.strip().casefold()]] if name.strip().casefold() in folded else []
    close = close or difflib.get_close_matches(name, names, n=3)
    hint = f"did you mean {' or '.join(map(repr, close))}?" if close else ""
    hint = hint or f"it has {len(names)} columns: {listed(names)}."
    raise InputError(f"The {what} {name!r} is not in {source}; {hint}")


def _hint_to_transpose(file: TableFile, names: Sequence[str], target: TargetName) -> None:
    """Say that a table has its features in rows, where it looks so and the target is no column."""
    rows = file.row_names().difference(names)
    if {*columns_of(target)} <= rows:
        raise InputError(
            f"The target {str(target)!r} is a row of {file.path}, not a column; give ",
            Setting("transpose"),
            " if rows are features.",
        )
    texts = [name for name in rows if name and np.isnan(number_of(name))]
    if len(rows) >= _TALL * len(names) and len(texts) > len(rows) / 2:
        raise InputError(
            f"The target {str(target)!r} is not in {file.path}, which looks like a table of genes "
            f"× samples: {len(rows)} named rows ({listed(sorted(texts))}) and {len(names)} "
            "columns; give ",
            Setting("transpose"),
            ", and the table with the target as ",
            Setting("sample_table"),
            ".",
        )
