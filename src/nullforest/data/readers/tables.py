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
from nullforest._util.words import Sentence, Setting, listed
from nullforest.data.annotations import joined, matched
from nullforest.data.dataset import Dataset
from nullforest.data.dense import coded_columns
from nullforest.data.readers.annotation_file import read_annotations
from nullforest.data.readers.formats import TableFile
from nullforest.data.readers.matrix_files import found_files, kind_of, read_matrix, single
from nullforest.data.readers.options import OF_GENES, OF_IMAGES, MatrixOptions
from nullforest.data.readers.survival_columns import (
    SurvivalColumns,
    TargetName,
    columns_of,
    survival_columns,
)
from nullforest.data.readers.text import text_of, texts_of
from nullforest.data.readers.transposed import frame_matrix, hint_to_transpose
from nullforest.data.targets import Task, as_target

if TYPE_CHECKING:
    import pandas as pd

    from nullforest.data.readers.feature_matrix import FeatureMatrix


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
        if drop or transpose or decimal:
            option = "drop" if drop else "transpose" if transpose else "decimal"
            raise InputError(
                Sentence(Setting(option), f" is for tables, and {paths[0]} is none; leave it out."),
                setting=option,
            )
        matrix = read_matrix(paths, kind, options)
        data = matrix_table(matrix, target, options, str(path), ids=ids, **roles)
    else:
        options.refuse((*OF_GENES, *OF_IMAGES), "a table")
        file = TableFile(single(paths), decimal)
        data = _of_file(file, target, options, ids, drop, transpose, roles)
        if decimal is None and file.layout is not None and file.layout.decimal == ",":
            note = "Numbers were read with a decimal comma."
            data = replace(data, remarks=(note, *data.remarks))
    if annotations is not None:
        further = matched(read_annotations(as_path(annotations)), data.names, str(annotations))
        data = replace(data, annotations=joined(data.annotations, further))
    return replace(data, bins=bins)


def _of_file(
    file: TableFile,
    target: TargetName,
    options: MatrixOptions,
    ids: str | None,
    drop: tuple[str, ...],
    transpose: bool,
    roles: dict[str, Any],
) -> Dataset:
    """The data set of a table, or of one that another table describes."""
    source = str(file.path)
    beside = options.sample_table is not None
    if file.layout is not None and not transpose and not beside:
        names = file.layout.names  # before pandas is imported, which is slow
        if not {*columns_of(target)} <= {*names}:
            hint_to_transpose(file, target)
        _roles(names, target, (ids, roles["blocks"]), roles["adjust"], drop, source)
    frame = file.read(transpose=transpose)
    if beside:
        matrix = frame_matrix(frame, drop, source)
        return matrix_table(matrix, target, options, source, ids=ids, **roles)
    if options.obs_filter or options.matched_only:
        option = "obs_filter" if options.obs_filter else "matched_only"
        needed = Setting("sample_table", "FILE", " ")
        raise InputError(
            Sentence(Setting(option), " needs a table of samples, ", needed, "."), setting=option
        )
    return table_of(frame, target, ids=ids, drop=drop, source=source, **roles)


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
            Sentence(
                f"{source} says nothing of its samples; give a table with their target, ",
                Setting("sample_table", "FILE", " "),
                ".",
            )
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
    target, (ids, blocks), adjust, beside = _roles(
        names, target, (ids, blocks), adjust, drop, source
    )
    index = frame.index  # 0, 1, 2, … are no names
    numbered = getattr(index, "start", None) == 0 and getattr(index, "step", None) == 1
    sample_ids = None if numbered else texts_of(index)
    if ids is not None:
        sample_ids = texts_of(frame.iloc[:, names.index(ids)])
    targets = columns_of(target)
    outcome = [frame.iloc[:, names.index(name)] for name in targets]
    if isinstance(target, SurvivalColumns):
        y: Any = survival_columns(outcome[0], outcome[1], target)
    else:
        y = outcome[0]
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
        X, used, about = matrix.usable(source)
        annotations = matrix.annotations
        if annotations is not None:
            annotations = annotations.iloc[used].reset_index(drop=True)
        return replace(
            data,
            X=X,
            feature_names=matrix.feature_names[used],
            remarks=(*matrix.notes, *about),
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
