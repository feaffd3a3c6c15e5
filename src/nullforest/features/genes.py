"""Selection of genes in an AnnData, with the results where scanpy's users look for them."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from nullforest._util.errors import InputError, optional
from nullforest._util.files import writing_beside
from nullforest.data.dataset import Dataset
from nullforest.data.readers.feature_matrix import FeatureMatrix
from nullforest.data.readers.omics.annotated import matrix_of, takes_raw
from nullforest.data.readers.roles import MatrixOptions, SurvivalColumns, TargetName
from nullforest.data.readers.tables import matrix_table
from nullforest.data.targets import Task
from nullforest.nulls import Kind
from nullforest.run.growing import select_table
from nullforest.selection.error_rates import ErrorRate
from nullforest.selection.selection import Selection

#: Key of the results in `uns`, and beginning of the names of their columns.
KEY = "nullforest"
#: Columns of the table that are written for each gene, and what a gene has that was not tested.
_COLUMNS = {
    "count": 0,
    "expected_count": np.nan,
    "p_value": np.nan,
    "q_value": np.nan,
    "selected": False,
}


def select_genes(
    data: Any,
    target: str | None = None,
    *,
    time: str | None = None,
    event: str | None = None,
    blocks: str | None = None,
    adjust: Iterable[str] = (),
    layer: str | None = None,
    names: str | None = None,
    task: Task = "auto",
    alpha: float = 0.05,
    error: ErrorRate = "fdr",
    null: Kind = "auto",
    trees: Any = "auto",
    max_trees: int | None = None,
    key_added: str = KEY,
    **settings: Any,
) -> Selection:
    """Select the genes of an AnnData that a forest uses to predict a column of its cells.

    Results are added to the AnnData: `var["nullforest_count"]`, `..._expected_count`,
    `..._p_value`, `..._q_value`, `..._selected`, direction and size (`..._higher_in`,
    `..._difference`, `..._auc`, or `..._correlation`), and `uns["nullforest"]`. Genes that are
    equal in all cells cannot be selected; their p-values are 1.

    Parameters
    ----------
    data : AnnData
        In memory or backed, sparse or dense; a view becomes an AnnData of its own, as scanpy's
        functions make it.
    target : str, optional
        Column of `obs` to predict: a group, or a number.
    time, event : str, optional
        Columns of `obs` with survival times and events, instead of a target.
    blocks : str, optional
        Column of `obs` with the batch or donor of each cell: genes are tested for what they say
        beyond it.
    adjust : iterable of str
        Columns of `obs` with covariates, such as age or depth; see :func:`nullforest.grow`.
    layer : str, optional
        Layer to take instead of `X`. "raw" takes `raw`, unless a layer has this name; its results
        are in `raw.var`, and those of the genes that are left in `var`.
    names : str, optional
        Column of `var` that is shown beside the names of the genes, such as their symbols.
    task : {"auto", "classification", "regression"}
        What the target is; told from its type unless given.
    alpha, error, null
        As in :func:`nullforest.select`.
    trees, max_trees, **settings
        Of the forest; see :func:`nullforest.grow`.
    key_added : str
        Key of the results in `uns`, and beginning of the names of the columns.

    Returns
    -------
    Selection

    Examples
    --------
    >>> import anndata, numpy as np, nullforest as nf
    >>> rng = np.random.default_rng(0)
    >>> cells = anndata.AnnData(rng.poisson(1.0, size=(80, 300)).astype(np.float32))
    >>> cells.obs["group"] = np.where(cells.X[:, 7] + rng.normal(size=80) > 1, "B", "T")
    >>> selection = nf.select_genes(cells, "group", trees=300)
    >>> cells.var_names[cells.var["nullforest_selected"]].tolist()
    ['7']
    """
    if not (hasattr(data, "var_names") and hasattr(data, "obs")):
        raise InputError("select_genes takes an AnnData; read one with anndata.read_h5ad(path).")
    columns = _target(target, time, event)
    matrix = matrix_of(data, layer=layer, names=names)
    roles: dict[str, Any] = {"blocks": blocks, "adjust": tuple(adjust), "task": task}
    table = matrix_table(matrix, columns, MatrixOptions(), "the AnnData", **roles)
    rate: dict[str, Any] = {"alpha": alpha, "error": error, "null": null}
    selection = select_table(table, trees=trees, max_trees=max_trees, **rate, **settings)
    annotate(data, selection, key_added, layer)
    return selection


def _target(target: str | None, time: str | None, event: str | None) -> TargetName:
    if target is not None and time is None and event is None:
        return target
    if target is None and time is not None and event is not None:
        return SurvivalColumns(event, time)
    raise InputError("Give the column to predict, target=, or both time= and event=.")


def annotate(
    data: Any, selection: Selection, key_added: str = KEY, layer: str | None = None
) -> None:
    """Add a selection to the genes of an AnnData; see :func:`select_genes`."""
    if data.is_view:
        data._init_as_actual(data.copy())
    if takes_raw(data, layer):
        _add_columns(data.raw.var, selection, key_added)
        _add_columns(data.var, selection, key_added, among=data.raw.var_names)
    else:
        _add_columns(data.var, selection, key_added)
    data.uns[key_added] = storable(selection.to_dict())


def _add_columns(var: Any, selection: Selection, key_added: str, among: Any = None) -> None:
    """Add the results to the genes `var`: all of those that were read, or some of them, `among`."""
    if selection.columns is None or len(selection.columns) != len(selection.support):
        raise InputError("The selection does not know its genes; select them with select_genes.")
    genes = var.index if among is None else among
    table = selection.table.sort_index().set_index(genes[selection.columns])
    untested: dict[str, Any] = dict(_COLUMNS)
    if selection.effects is not None:
        for name, values in selection.effects.columns.items():
            untested[name] = "" if values.dtype.kind == "U" else np.nan
    for name, value in untested.items():
        results = table[name].reindex(var.index, fill_value=value)
        var[f"{key_added}_{name}"] = results.to_numpy(object if value == "" else None)


def write_h5ad(source: Path, path: Path, selection: Selection, layer: str | None = None) -> None:
    """Write a copy of an .h5ad file with the selection in `var` and `uns`.

    The matrix is copied by the system and never read, whatever its size.
    """
    anndata = optional("anndata", "omics", "Writing .h5ad")
    h5py = optional("h5py", "omics", "Writing .h5ad")
    with writing_beside(path) as partial:
        shutil.copyfile(source, partial)
        with h5py.File(partial, "r+") as h5:
            var = anndata.io.read_elem(h5["var"])
            among = None
            if layer == "raw" and "raw" not in h5.get("layers", ()):
                raw = anndata.io.read_elem(h5["raw/var"])
                among = raw.index
                _add_columns(raw, selection, KEY)
                anndata.io.write_elem(h5, "raw/var", raw)
            _add_columns(var, selection, KEY, among)
            anndata.io.write_elem(h5, "var", var)
            anndata.io.write_elem(h5, f"uns/{KEY}", storable(selection.to_dict()))


def write_new_h5ad(matrix: FeatureMatrix, data: Dataset, path: Path, selection: Selection) -> None:
    """Write the matrix of a 10x file as .h5ad, with its target in `obs` and the selection."""
    import pandas as pd

    anndata = optional("anndata", "omics", "Writing .h5ad")
    obs = matrix.samples.copy()
    var = pd.DataFrame(index=pd.Index(matrix.feature_names.astype(object)))
    if matrix.annotations is not None:
        var = matrix.annotations.set_axis(var.index, axis=0)
    y = data.target.y
    targets = {name: y[name] for name in y.dtype.names or ()} or {data.target.name: y}
    for name, target in targets.items():
        values = pd.Series(target, index=data.sample_ids).reindex(obs.index)
        is_class = data.target.task == "classification"
        obs[name] = values.astype("category") if is_class else values
    cells = anndata.AnnData(matrix.X, obs=obs, var=var)
    annotate(cells, selection)
    with writing_beside(path) as partial:
        cells.write_h5ad(partial)


def storable(content: Mapping[str, Any]) -> dict[str, Any]:
    """A dict as .h5ad files can hold it: without None, lists of text as arrays.

    Examples
    --------
    >>> storable({"alpha": 0.05, "seconds": None, "notes": [], "selected": [{"feature": "a"}]})
    {'alpha': 0.05, 'notes': array([], dtype='<U1')}
    """
    result: dict[str, Any] = {}
    for name, value in content.items():
        if isinstance(value, Mapping):
            result[name] = storable(value)
        elif isinstance(value, list):
            if all(isinstance(entry, str) for entry in value):
                result[name] = np.array(value, str)
        elif value is not None:
            result[name] = value
    return result
