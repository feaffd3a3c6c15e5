"""Grayordinates: CIFTI dense scalars, with cortical vertices and subcortical voxels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import InputError
from nullforest._util.files import reading, writing_beside
from nullforest._util.progress import progress_bar
from nullforest._util.words import Setting
from nullforest.data.readers.feature_matrix import FeatureMatrix
from nullforest.data.readers.images.geometry import (
    Floats,
    named_regions,
    nibabel,
    region_names,
    touching,
    touching_voxels,
)
from nullforest.data.readers.images.subjects import subjects_of
from nullforest.data.readers.images.surfaces import (
    SurfaceGeometry,
    SurfaceMesh,
    SurfacePart,
    meshes_of,
)
from nullforest.data.readers.images.volumes import load

if TYPE_CHECKING:
    import pandas as pd
    from scipy.sparse import csr_array

_PREFIX = "CIFTI_STRUCTURE_"
_SIDES = {f"{_PREFIX}CORTEX_LEFT": "left", f"{_PREFIX}CORTEX_RIGHT": "right"}


@dataclass(frozen=True, eq=False)
class GrayordinateGeometry:
    """The brain models of a CIFTI file, and the meshes of its cortical surfaces.

    Attributes
    ----------
    axis : nibabel.cifti2.BrainModelAxis
        Vertices and voxels, in the order of the file's columns.
    header : nibabel header
        NIfTI header of the first file.
    meshes : dict of str to SurfaceMesh or None
        The mesh of each cortical structure.
    """

    axis: Any
    header: Any
    meshes: dict[str, SurfaceMesh | None]

    @property
    def names(self) -> NDArray[np.str_]:
        """Vertices by hemisphere and number, voxels by their indices and structure."""
        texts = []
        for structure, vertex, voxel in zip(
            self.axis.name, self.axis.vertex, self.axis.voxel, strict=True
        ):
            place = str(structure).removeprefix(_PREFIX).lower()
            if vertex >= 0:
                texts.append(f"{_SIDES.get(structure, place)} {vertex}")
            else:
                texts.append(f"{place} {voxel[0]} {voxel[1]} {voxel[2]}")
        return np.array(texts, str)

    def coordinates(self) -> pd.DataFrame | None:
        """Millimetres of voxels, and of vertices where their mesh is known."""
        import pandas as pd

        points = np.full((len(self.axis), 3), np.nan)
        voxels = self.axis.volume_mask
        if voxels.any():
            affine = self.axis.affine
            points[voxels] = self.axis.voxel[voxels] @ affine[:3, :3].T + affine[:3, 3]
        for structure, mesh in self.meshes.items():
            if mesh is not None:
                here = self._of(structure)
                points[here] = mesh.coordinates[self.axis.vertex[here]]
        if np.isnan(points).all():
            return None
        return pd.DataFrame(points.round(3), columns=["x", "y", "z"])

    def neighbours(self) -> csr_array:
        """Vertices that an edge joins, and voxels of one structure or another that share a face."""
        one, other = [], []
        for structure, mesh in self.meshes.items():
            if mesh is None:
                raise InputError(
                    "Clusters on a surface need its mesh; give ",
                    Setting("mesh"),
                    " for each cortical surface, the left one first.",
                )
            here = np.flatnonzero(self._of(structure))
            number = np.full(len(mesh.coordinates), -1, np.int64)
            number[self.axis.vertex[here]] = here
            a, b = mesh.pairs(number)
            one.append(a)
            other.append(b)
        voxels = np.flatnonzero(self.axis.volume_mask)
        if len(voxels):
            a, b = touching_voxels(np.asarray(self.axis.voxel[voxels], np.int64))
            one.append(voxels[a])
            other.append(voxels[b])
        return touching(np.concatenate(one), np.concatenate(other), len(self.axis))

    def regions(self, atlas: Sequence[Path], names: Path | None) -> NDArray[np.str_]:
        """Region of each grayordinate in a .dlabel.nii file of the same brain models."""
        if len(atlas) != 1:
            raise InputError(f"{len(atlas)} atlases were given; give one .dlabel.nii file.")
        image = load(atlas[0])
        with reading(atlas[0], "CIFTI"):
            label_axis, axis = (image.header.get_axis(i) for i in (0, 1))
            labels = np.rint(np.asarray(image.dataobj, float)[0]).astype(np.int64)
        if axis != self.axis:
            raise InputError(
                f"The atlas {atlas[0]} has other brain models than the data; give an atlas on the "
                "same grayordinates."
            )
        texts = {int(key): str(text) for key, (text, _) in label_axis.label[0].items()}
        return named_regions(labels, texts if names is None else region_names(names), str(atlas[0]))

    def save(
        self, folder: Path, name: str, values: NDArray[Any], outside: float = 0.0
    ) -> list[Path]:
        """Write name.dscalar.nii; every grayordinate is a feature, so that none is outside."""
        cifti2 = nibabel("Writing CIFTI").cifti2
        path = folder / f"{name}.dscalar.nii"
        header = cifti2.Cifti2Header.from_axes((cifti2.ScalarAxis([name]), self.axis))
        image = cifti2.Cifti2Image(np.asarray(values, np.float32)[None], header, self.header)
        image.nifti_header.set_data_dtype(np.float32)
        with writing_beside(path) as partial:
            image.to_filename(partial)
        return [path]

    def draw(self, values: Floats, threshold: float, title: str) -> Any:
        """The cortical surfaces, where their meshes are known."""
        parts, shown = [], []
        for structure, mesh in self.meshes.items():
            here = self._of(structure)
            used = np.zeros(self.axis.nvertices[structure], bool)
            used[self.axis.vertex[here]] = True
            parts.append(SurfacePart(_SIDES[structure], used, mesh))
            order = np.argsort(self.axis.vertex[here])
            shown.append(np.asarray(values, float)[here][order])
        if not parts:
            raise InputError(
                "The file has no cortical surface to draw; leave out ", Setting("plot"), "."
            )
        return SurfaceGeometry(tuple(parts)).draw(np.concatenate(shown), threshold, title)

    def _of(self, structure: str) -> NDArray[np.bool_]:
        return np.asarray((self.axis.name == structure) & (self.axis.vertex >= 0))


def read_grayordinates(paths: Sequence[Path], mesh: Sequence[Path] = ()) -> FeatureMatrix:
    """Vertices and voxels of dense scalars as features; parameters as for surfaces."""
    rows: list[NDArray[np.float32]] = []
    axis = scalars = header = None
    with progress_bar("Reading images") as tell:
        for place, path in enumerate(paths):
            tell(place, len(paths))
            image = load(path)
            with reading(path, "CIFTI"):
                models = image.header.get_axis(1)
                values = np.asarray(image.dataobj, np.float32)
            if not hasattr(models, "volume_mask"):
                raise InputError(f"{path} holds no dense scalars; give a .dscalar.nii file.")
            if axis is None:
                axis, scalars, header = models, image.header.get_axis(0), image.nifti_header
            elif models != axis:
                raise InputError(
                    f"{path} and {paths[0]} have different brain models; bring all samples to one "
                    "set of grayordinates first."
                )
            if len(values) > 1 and len(paths) > 1:
                raise InputError(
                    f"{path} holds {len(values)} maps; give it alone, or files of one sample each."
                )
            rows.append(values)
    assert axis is not None
    structures = [name for name in _SIDES if name in axis.nvertices]
    sizes = [int(axis.nvertices[name]) for name in structures]
    meshes = meshes_of(mesh, [_SIDES[name] for name in structures], sizes)
    geometry = GrayordinateGeometry(axis, header, dict(zip(structures, meshes, strict=True)))
    X = np.vstack(rows)
    names, numbered = subjects_of(paths), False
    if len(paths) == 1:
        names = [str(name) for name in getattr(scalars, "name", [])]
        numbered = len(set(names)) < len(X)
        names = [f"map {i}" for i in range(len(X))] if numbered else names
    return FeatureMatrix.of_image(X, geometry, names, "grayordinate", numbered=numbered)
