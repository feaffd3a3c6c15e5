"""AnnData: expression matrices with their cells and genes, in memory or in .h5ad files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nullforest._util.column_store import ColumnStore
from nullforest._util.errors import InputError, optional
from nullforest._util.files import reading
from nullforest._util.words import Setting, listed
from nullforest.data.readers.feature_matrix import FeatureMatrix
from nullforest.data.readers.formats import texts_of

if TYPE_CHECKING:
    import pandas as pd

#: Dense matrices of at least this many bytes are read by columns.
_LARGE = 2**28


def read_h5ad(path: Path, *, layer: str | None = None, names: str | None = None) -> FeatureMatrix:
    """Read the matrix of an .h5ad file; a large dense one stays on disk.

    Parameters
    ----------
    path : Path
    layer : str, optional
        Layer to take instead of `X`; "raw" for `raw`.
    names : str, optional
        Column of `var` that is shown beside the name of each gene, such as its symbol.
    """
    anndata = optional("anndata", "omics", "Reading .h5ad")
    with reading(path, "AnnData"):
        data = anndata.read_h5ad(path, backed="r")
        matrix = matrix_of(data, layer=layer, names=names, source=str(path))
        if not isinstance(matrix.X, ColumnStore):
            data.file.close()
        return matrix


def matrix_of(
    data: Any, *, layer: str | None = None, names: str | None = None, source: str = "the AnnData"
) -> FeatureMatrix:
    """The matrix of an AnnData in memory, backed by a file, or a view of either."""
    layers = list(data.layers)
    raw = takes_raw(data, layer)
    if layer is not None and layer not in layers and not raw:
        has = f"it has {listed(layers)}" if layers else "it has none"
        raise InputError(f"{source} has no layer {layer!r}; {has}.")
    part = data.raw if raw else data
    inner = part.X if layer is None or raw else data.layers[layer]
    if inner is None:
        raise InputError(
            f"{source} holds no matrix X; name a layer with ",
            Setting("layer", layers[0] if layers else None),
            ".",
        )
    identifiers = texts_of(part.var_names)
    if len(np.unique(identifiers)) < len(identifiers):
        raise InputError(
            f"Genes of {source} have equal names; call data.var_names_make_unique() and save it "
            "again."
        )
    return FeatureMatrix(
        X=_columns(inner),
        feature_names=identifiers,
        samples=data.obs.copy(),
        annotations=None if names is None else symbols_of(part.var, names, source),
        unit="gene",
    )


def takes_raw(data: Any, layer: str | None) -> bool:
    """Whether a layer means `raw`, the genes before some were left out, not a layer so named."""
    return layer == "raw" and "raw" not in data.layers and data.raw is not None


def symbols_of(var: pd.DataFrame, column: str, source: str) -> pd.DataFrame:
    """The column of names, as annotation of the genes."""
    import pandas as pd

    if column not in var.columns:
        has = f"it has {listed(list(var.columns))}" if len(var.columns) else "it has none"
        raise InputError(f"The genes of {source} have no column {column!r}; {has}.")
    values = var[column].astype(object)
    return pd.DataFrame({"name": texts_of(values.where(values.notna(), ""))})


def _columns(inner: Any) -> Any:
    """The matrix as numpy or scipy have it; a large dense one on disk is left there."""
    if hasattr(inner, "tocsc"):
        return inner
    if hasattr(inner, "to_memory"):  # sparse in a file; its stored values fit where the file does
        return inner.to_memory()
    if isinstance(inner, np.ndarray):
        return np.asarray(inner)
    size = float(np.prod(inner.shape)) * inner.dtype.itemsize
    if not hasattr(inner, "chunks") or size < _LARGE:
        return np.asarray(inner[:, :])
    chunks = inner.chunks
    return ColumnStore(
        tuple(inner.shape),
        lambda columns: np.asarray(inner[:, columns[0] : columns[-1] + 1])[:, columns - columns[0]],
        inner.dtype.itemsize,
        1 if chunks is None else int(chunks[1]),
    )
