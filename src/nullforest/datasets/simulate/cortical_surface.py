"""Readers of surface maps and their meshes: NPZ, GIFTI, MGH and CIFTI."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import InputError
from nullforest._util.files import reading
from nullforest.data.readers.images.surfaces import load_mesh, read_overlay
from nullforest.data.readers.images.volumes import load

#: Brain structure of a CIFTI file whose vertices are taken.
CIFTI_STRUCTURE = "CIFTI_STRUCTURE_CORTEX_LEFT"


@dataclass(frozen=True)
class Maps:
    """Maps of one surface.

    Attributes
    ----------
    values : (subjects, vertices) float
    vertices : (vertices,) int or None
        Number of each column's vertex on the whole mesh; None where the columns are the mesh.
    """

    values: NDArray[np.float64]
    vertices: NDArray[np.int64] | None = None


def read_maps(source: Any) -> Maps:
    """Read maps from a matrix, a file, or a list of files with one or more subjects each.

    Parameters
    ----------
    source : array-like, path, or list of paths
        A matrix subjects × vertices; an NPZ file (`X`, and `vertex` where not all vertices of
        the mesh are held); a GIFTI file (.gii, one data array per subject); MGH files (.mgh,
        .mgz, one subject or a stack); a CIFTI file (.dscalar.nii or .dtseries.nii, left cortex);
        a text file (.txt) that lists such files, one per line.
    """
    if isinstance(source, str | Path):
        maps = _read_file(Path(source))
    elif isinstance(source, Iterable) and all(isinstance(item, str | Path) for item in source):
        maps = _stack([_read_file(Path(item)) for item in source])
    else:
        maps = Maps(np.asarray(source, float))
    return _checked(maps)


def read_mesh(mesh: Any) -> tuple[Any, Any]:
    """Coordinates and triangles of a mesh: a file of a surface, or the pair itself."""
    if not isinstance(mesh, str | Path):
        coordinates, faces = mesh
        return coordinates, faces
    surface = load_mesh(Path(mesh))
    return surface.coordinates, surface.faces


def _read_file(path: Path) -> Maps:
    name = path.name.lower()
    if name.endswith((".gii", ".gii.gz", ".mgh", ".mgz")):
        return Maps(read_overlay(path).astype(float))
    with reading(path):
        if name.endswith(".npz"):
            return _read_npz(path)
        if name.endswith(".txt"):
            lines = [line.strip() for line in path.read_text("utf-8").splitlines()]
            return _stack([_read_file(path.parent / line) for line in lines if line])
        if name.endswith((".dscalar.nii", ".dtseries.nii")):
            return _read_cifti(path)
    raise InputError(
        f"{path.name} is of no known kind; give .npz, .gii, .mgh, .mgz, .dscalar.nii, "
        ".dtseries.nii, or a .txt file that lists such files."
    )


def _read_npz(path: Path) -> Maps:
    with np.load(path, allow_pickle=False) as arrays:
        if "X" not in arrays:
            raise InputError(
                f"{path.name} holds no array X (subjects × vertices), only "
                f"{', '.join(arrays.files)}; save it under that name."
            )
        vertices = np.asarray(arrays["vertex"], np.int64) if "vertex" in arrays else None
        return Maps(np.asarray(arrays["X"], float), vertices)


def _read_cifti(path: Path) -> Maps:
    image = load(path)
    for structure, columns, model in image.header.get_axis(1).iter_structures():
        if structure == CIFTI_STRUCTURE:
            values = np.asarray(image.get_fdata(), float)[:, columns]
            return Maps(values, np.asarray(model.vertex, np.int64))
    raise InputError(f"{path.name} holds no vertices of the left cortex.")


def _stack(parts: list[Maps]) -> Maps:
    if not parts:
        raise InputError("The list of files is empty; give at least two subjects.")
    for part in parts:
        if part.values.shape[1] != parts[0].values.shape[1]:
            raise InputError(
                f"One file has {parts[0].values.shape[1]} vertices and another "
                f"{part.values.shape[1]}; bring all to one mesh first."
            )
    return Maps(np.vstack([part.values for part in parts]), parts[0].vertices)


def _checked(maps: Maps) -> Maps:
    if maps.values.ndim != 2 or len(maps.values) < 2:
        raise InputError(
            "The covariance needs a table of at least two subjects × vertices; this one has the "
            f"shape {maps.values.shape}."
        )
    if not np.all(np.isfinite(maps.values)):
        raise InputError("The maps hold missing or infinite values; leave out those vertices.")
    if maps.vertices is not None and len(maps.vertices) != maps.values.shape[1]:
        raise InputError(
            f"{len(maps.vertices)} vertex numbers for {maps.values.shape[1]} columns; give one "
            "for each."
        )
    return maps
