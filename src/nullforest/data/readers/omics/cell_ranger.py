"""10x Genomics: matrices of Cell Ranger, as .h5 or as a folder with matrix.mtx."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import InputError, optional
from nullforest._util.files import reading
from nullforest.data.readers.feature_matrix import FeatureMatrix


def read_10x_h5(path: Path) -> FeatureMatrix:
    """The matrix of an .h5 file of Cell Ranger; the target comes from a table of barcodes."""
    from scipy.sparse import csr_array

    h5py = optional("h5py", "omics", "Reading 10x files")
    with reading(path, "a 10x matrix"), h5py.File(path, "r") as file:
        groups = [key for key in file if "indptr" in file[key] and "barcodes" in file[key]]
        if len(groups) != 1:
            raise InputError(
                f"{path} is no matrix of Cell Ranger; give filtered_feature_bc_matrix.h5, or an "
                ".h5ad file."
            )
        group = file[groups[0]]
        third = "features" in group  # Cell Ranger 3 and later, not 2
        identifiers = _texts(group["features/id" if third else "genes"][:])
        symbols = _texts(group["features/name" if third else "gene_names"][:])
        genes, cells = (int(n) for n in group["shape"][:])
        parts = group["data"][:].astype(np.float32), group["indices"][:], group["indptr"][:]
        return _matrix(
            csr_array(parts, shape=(cells, genes)),  # columns of genes × cells are rows here
            identifiers,
            symbols,
            _texts(group["barcodes"][:]),
        )


def read_10x_mtx(path: Path) -> FeatureMatrix:
    """The matrix of a folder with matrix.mtx, features.tsv (or genes.tsv) and barcodes.tsv."""
    from scipy.io import mmread
    from scipy.sparse import csr_array

    folder = path if path.is_dir() else path.parent
    matrix = _file(folder, "matrix.mtx") if path.is_dir() else path
    features = _file(folder, "features.tsv", "genes.tsv")
    barcodes = [row[0] for row in _rows(_file(folder, "barcodes.tsv"))]
    with reading(matrix, "Matrix Market"):
        stored: Any = mmread(matrix)
        X = csr_array(stored.T).astype(np.float32)
    rows = _rows(features)
    if X.shape != (len(barcodes), len(rows)):
        raise InputError(
            f"{matrix} has {X.shape[1]} genes and {X.shape[0]} cells, {features.name} "
            f"{len(rows)} genes and the barcodes are {len(barcodes)}; give files of one matrix."
        )
    identifiers = [row[0] for row in rows]
    symbols = [row[1] if len(row) > 1 else row[0] for row in rows]
    return _matrix(X, identifiers, symbols, barcodes)


def _matrix(X: Any, identifiers: Any, symbols: Any, barcodes: Any) -> FeatureMatrix:
    import pandas as pd

    names: NDArray[np.str_] = np.array(identifiers, str)
    if len(np.unique(names)) < len(names):
        raise InputError("Genes have equal identifiers; give a matrix with one row per gene.")
    return FeatureMatrix(
        X=X,
        feature_names=names,
        samples=pd.DataFrame(index=pd.Index(np.array(barcodes, str))),
        annotations=pd.DataFrame({"name": np.array(symbols, str)}),
        unit="gene",
    )


def _texts(values: Any) -> list[str]:
    return [value.decode() if isinstance(value, bytes) else str(value) for value in values]


def _file(folder: Path, *names: str) -> Path:
    for name in names:
        for path in (folder / name, folder / f"{name}.gz"):
            if path.exists():
                return path
    raise InputError(
        f"There is no file {folder / names[0]}; a 10x matrix needs it beside the others."
    )


def _rows(path: Path) -> list[list[str]]:
    with reading(path, "a table of 10x"):
        raw = path.read_bytes()
        text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode()
    return [line.split("\t") for line in text.splitlines() if line.strip()]
