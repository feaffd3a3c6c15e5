"""Triangle meshes of cortical surfaces: GIFTI, FreeSurfer, and fsaverage5 of nilearn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import InputError, MissingExtraError, optional
from nullforest._util.files import reading
from nullforest.data.readers.images.geometry import Floats, Ints, nibabel

#: Vertices of a hemisphere of fsaverage5, which comes with nilearn.
_FSAVERAGE5 = 10_242


@dataclass(frozen=True, eq=False)
class SurfaceMesh:
    """Coordinates of the vertices, the triangles between them, and a shape to draw."""

    coordinates: Floats
    faces: Ints
    inflated: Floats | None = None

    def edges(self) -> tuple[Ints, Ints]:
        """Pairs of vertices that a triangle joins, each once."""
        corners = self.faces
        pairs = np.vstack([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]])
        pairs = np.unique(np.sort(pairs, axis=1), axis=0)
        return pairs[:, 0], pairs[:, 1]


def load_mesh(path: Path) -> SurfaceMesh:
    """Read a surface: GIFTI (.surf.gii) or FreeSurfer (lh.white, lh.pial, lh.inflated)."""
    if not path.exists():
        raise InputError(f"There is no file {path}; check the path.")
    with reading(path, "a surface"):
        if path.name.lower().endswith((".gii", ".gii.gz")):
            points, faces = nibabel().load(path).agg_data(("pointset", "triangle"))
            if np.ndim(points) != 2 or np.ndim(faces) != 2:
                raise InputError(f"{path} holds no surface; give a .surf.gii file.")
        else:
            points, faces = nibabel().freesurfer.read_geometry(str(path))
    return SurfaceMesh(np.asarray(points, float), np.asarray(faces, np.int64))


def meshes_of(
    given: Sequence[Path], hemispheres: Sequence[str], sizes: Sequence[int]
) -> list[SurfaceMesh | None]:
    """A mesh for each hemisphere: the one given, fsaverage5 by its number of vertices, or None."""
    if given and len(given) != len(hemispheres):
        sides = " and ".join(side or "one surface" for side in hemispheres)
        raise InputError(
            f"{len(given)} meshes were given with --mesh for {sides}; give one for each, in this "
            "order."
        )
    found: list[SurfaceMesh | None] = []
    for place, (side, size) in enumerate(zip(hemispheres, sizes, strict=True)):
        if given:
            mesh = load_mesh(given[place])
            if len(mesh.coordinates) != size:
                raise InputError(
                    f"{given[place]} has {len(mesh.coordinates)} vertices and the data {size}; "
                    "give the mesh that they belong to."
                )
            found.append(mesh)
        else:
            found.append(_fsaverage5(side) if size == _FSAVERAGE5 else None)
    return found


def _fsaverage5(hemisphere: str) -> SurfaceMesh | None:
    try:
        datasets = optional("nilearn.datasets", "neuro", "The fsaverage5 surface")
    except MissingExtraError:
        return None
    files = datasets.fetch_surf_fsaverage("fsaverage5")
    side = hemisphere or "left"
    inflated = load_mesh(Path(files[f"infl_{side}"])).coordinates
    return replace(load_mesh(Path(files[f"pial_{side}"])), inflated=inflated)


def background(hemisphere: str, size: int) -> NDArray[np.float64] | None:
    """Sulcal depth of fsaverage5, to shade a figure with; None for other meshes."""
    if size != _FSAVERAGE5:
        return None
    datasets = optional("nilearn.datasets", "neuro", "Drawing a surface")
    files = datasets.fetch_surf_fsaverage("fsaverage5")
    path = files[f"sulc_{hemisphere or 'left'}"]
    return np.asarray(nibabel().load(path).agg_data(), float)
