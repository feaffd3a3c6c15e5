"""Surfaces: values at the vertices of meshes, in GIFTI, MGH and FreeSurfer's own files."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import InputError, MissingExtraError, optional
from nullforest._util.files import reading, writing_beside
from nullforest._util.progress import Report, progress_bar, step_of
from nullforest._util.words import Setting
from nullforest.data.readers.feature_matrix import FeatureMatrix
from nullforest.data.readers.images.geometry import (
    Floats,
    Ints,
    named_regions,
    nibabel,
    region_names,
    touching,
)
from nullforest.data.readers.images.subjects import hemisphere_of, subjects_of
from nullforest.data.readers.images.volumes import load

if TYPE_CHECKING:
    import pandas as pd
    from scipy.sparse import csr_array


#: Vertices of a hemisphere of fsaverage5, which comes with nilearn.
_FSAVERAGE5 = 10_242


@dataclass(frozen=True, eq=False)
class SurfaceMesh:
    """Coordinates of the vertices, the triangles between them, and a shape to draw."""

    coordinates: Floats
    faces: Ints
    inflated: Floats | None = None

    def pairs(self, number: Ints) -> tuple[Ints, Ints]:
        """Pairs of features whose vertices a triangle joins, each once.

        `number` is the feature of each vertex, −1 where it is none.
        """
        corners = self.faces
        edges = np.vstack([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]])
        edges = number[np.unique(np.sort(edges, axis=1), axis=0)]
        edges = edges[(edges >= 0).all(axis=1)]
        return edges[:, 0], edges[:, 1]


def load_mesh(path: Path) -> SurfaceMesh:
    """Read a surface: GIFTI (.surf.gii) or FreeSurfer (lh.white, lh.pial, lh.inflated)."""
    with reading(path, "a surface"):
        if path.name.lower().endswith((".gii", ".gii.gz")):
            points, faces = nibabel().load(path).agg_data(("pointset", "triangle"))
            if np.ndim(points) != 2 or np.ndim(faces) != 2:
                raise InputError(f"{path} holds no surface; give a .surf.gii file.")
        else:
            points, faces = nibabel().freesurfer.read_geometry(str(path))
    return SurfaceMesh(np.asarray(points, float), np.asarray(faces, np.int64))


def meshes_of(
    paths: Sequence[Path], hemispheres: Sequence[str], sizes: Sequence[int]
) -> list[SurfaceMesh | None]:
    """A mesh for each hemisphere: the one given, fsaverage5 by its number of vertices, or None."""
    if paths and len(paths) != len(hemispheres):
        sides = " and ".join(side or "one surface" for side in hemispheres)
        raise InputError(
            f"{len(paths)} meshes were given with ",
            Setting("mesh"),
            f" for {sides}; give one for each, in this order.",
            setting="mesh",
        )
    meshes: list[SurfaceMesh | None] = []
    for place, (side, size) in enumerate(zip(hemispheres, sizes, strict=True)):
        if paths:
            mesh = load_mesh(paths[place])
            if len(mesh.coordinates) != size:
                raise InputError(
                    f"{paths[place]} has {len(mesh.coordinates)} vertices and the data {size}; "
                    "give the mesh that they belong to."
                )
            meshes.append(mesh)
        else:
            meshes.append(_fsaverage5(side) if size == _FSAVERAGE5 else None)
    return meshes


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


@dataclass(frozen=True, eq=False)
class SurfacePart:
    """One hemisphere: which of its vertices are features, and its mesh, where it is known."""

    hemisphere: str
    used: NDArray[np.bool_]
    mesh: SurfaceMesh | None

    @property
    def vertices(self) -> Ints:
        """Numbers of the vertices that are features."""
        return np.flatnonzero(self.used)


@dataclass(frozen=True, eq=False)
class SurfaceGeometry:
    """Vertices of one surface or of both hemispheres, one after the other."""

    parts: tuple[SurfacePart, ...]

    @property
    def names(self) -> NDArray[np.str_]:
        """Vertices by their numbers."""
        return np.array(
            [f"{part.hemisphere or 'vertex'} {v}" for part in self.parts for v in part.vertices],
            str,
        )

    def coordinates(self) -> pd.DataFrame | None:
        """Millimetres of each vertex on its mesh."""
        import pandas as pd

        points = [part.mesh.coordinates[part.used] for part in self.parts if part.mesh is not None]
        if len(points) < len(self.parts):
            return None
        return pd.DataFrame(np.vstack(points).round(3), columns=["x", "y", "z"])

    def neighbours(self) -> csr_array:
        """Vertices that an edge of the mesh joins."""
        one, other, before = [], [], 0
        for part in self.parts:
            if part.mesh is None:
                raise InputError(
                    "Clusters on a surface need its mesh; give it with ",
                    Setting("mesh"),
                    " (.surf.gii, lh.pial).",
                )
            number = np.full(len(part.used), -1, np.int64)
            number[part.used] = before + np.arange(part.used.sum())
            a, b = part.mesh.pairs(number)
            one.append(a)
            other.append(b)
            before += int(part.used.sum())
        return touching(np.concatenate(one), np.concatenate(other), before)

    def regions(self, atlas: Sequence[Path], names: Path | None) -> NDArray[np.str_]:
        """Region of each vertex: .annot or .label.gii, a file for each hemisphere."""
        if len(atlas) != len(self.parts):
            raise InputError(
                f"{len(atlas)} atlases were given for {len(self.parts)} surfaces; give ",
                Setting("atlas"),
                " for each, the left one first.",
            )
        texts = None if names is None else region_names(names)
        regions = []
        for path, part in zip(atlas, self.parts, strict=True):
            labels, texts_of_file = _labels(path)
            if len(labels) != len(part.used):
                raise InputError(
                    f"The atlas {path} has {len(labels)} vertices and the data {len(part.used)}; "
                    "give an atlas on the mesh of the data."
                )
            regions.append(named_regions(labels[part.used], texts or texts_of_file, str(path)))
        return np.concatenate(regions)

    def split(self, values: NDArray[Any], outside: float = 0.0) -> list[NDArray[Any]]:
        """The values of each part on all of its vertices; `outside` where they are no features."""
        values = np.asarray(values)
        whole, before = [], 0
        for part in self.parts:
            here = int(part.used.sum())
            full = np.full(len(part.used), outside, values.dtype)
            full[part.used] = values[before : before + here]
            whole.append(full)
            before += here
        return whole

    def save(
        self, folder: Path, name: str, values: NDArray[Any], outside: float = 0.0
    ) -> list[Path]:
        """Write name.func.gii, or name_hemi-L.func.gii and name_hemi-R.func.gii."""
        paths = []
        for part, full in zip(self.parts, self.split(values, outside), strict=True):
            side = f"_hemi-{part.hemisphere[0].upper()}" if part.hemisphere else ""
            paths.append(folder / f"{name}{side}.func.gii")
            with writing_beside(paths[-1]) as partial:
                gifti(full, part.hemisphere, name).to_filename(partial)
        return paths

    def draw(self, values: Floats, threshold: float, title: str) -> Any:
        """Each surface from outside and from the middle, inflated where such a shape is known."""
        if any(part.mesh is None for part in self.parts):
            raise InputError(
                "A figure of a surface needs its mesh; give it with ", Setting("mesh"), "."
            )
        pyplot = optional("matplotlib.pyplot", "neuro", "Drawing a surface")
        whole = self.split(np.asarray(values, float))
        rows = len(self.parts)
        figure, axes = pyplot.subplots(
            rows, 2, figsize=(8, 3.6 * rows), subplot_kw={"projection": "3d"}, squeeze=False
        )
        for row, part, full in zip(axes, self.parts, whole, strict=True):
            _draw_part(row, part, full, threshold, float(np.max(values, initial=threshold)))
        figure.suptitle(title)
        return figure


def _draw_part(axes: Any, part: SurfacePart, values: Floats, threshold: float, top: float) -> None:
    plotting = optional("nilearn.plotting", "neuro", "Drawing a surface")
    mesh = part.mesh
    assert mesh is not None
    points = mesh.coordinates if mesh.inflated is None else mesh.inflated
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of nilearn, on empty maps and layouts
        for ax, view in zip(axes, ("lateral", "medial"), strict=True):
            plotting.plot_surf_stat_map(
                [points, mesh.faces],
                values,
                hemi=part.hemisphere or "left",
                view=view,
                bg_map=background(part.hemisphere, len(part.used)),
                threshold=threshold,
                vmin=0.0,
                vmax=max(top, threshold * 1.01),
                cmap="inferno",
                colorbar=view == "medial",
                engine="matplotlib",
                avg_method="max",  # of the corners, so that single vertices are seen
                axes=ax,
                figure=ax.figure,
                title=f"{part.hemisphere} {view}".strip(),
            )


def gifti(values: NDArray[Any], hemisphere: str, name: str) -> Any:
    """A GIFTI image of one value per vertex."""
    gifti = nibabel("Writing GIFTI").gifti
    kind = "NIFTI_TYPE_UINT8" if values.dtype == bool else "NIFTI_TYPE_FLOAT32"
    array = gifti.GiftiDataArray(
        values.astype(np.uint8 if values.dtype == bool else np.float32),
        intent="NIFTI_INTENT_SHAPE",
        datatype=kind,
        meta=gifti.GiftiMetaData({"Name": name}),
    )
    meta = {"AnatomicalStructurePrimary": f"Cortex{hemisphere.capitalize()}"} if hemisphere else {}
    return gifti.GiftiImage(meta=gifti.GiftiMetaData(meta), darrays=[array])


def read_overlays(
    paths: Sequence[Path], mask: Path | None = None, mesh: Sequence[Path] = ()
) -> FeatureMatrix:
    """The vertices of surfaces as features; files of both hemispheres are put side by side.

    Parameters
    ----------
    paths : sequence of Path
        Files of one sample each, or a single file of several; lh. and rh. (or hemi-L and hemi-R)
        in their names tell hemispheres apart.
    mask : Path, optional
        Overlay of the vertices to use, those that are not 0; of a single surface.
    mesh : sequence of Path
        The surface of each hemisphere, the left one first. fsaverage5 is known by its vertices.
    """
    sides = sorted({hemisphere_of(path) for path in paths})
    if "" in sides and len(sides) > 1:
        raise InputError(
            "Some files name their hemisphere and some do not; begin all names with lh. or rh."
        )
    if mask is not None and len(sides) > 1:
        words = " is for a single surface; leave it out with both hemispheres."
        raise InputError(Setting("mask"), words, setting="mask")
    parts, matrices, names, numbered = [], [], None, False
    with progress_bar("Reading surfaces") as tell:
        for place, side in enumerate(sides):
            of_side = [path for path in paths if hemisphere_of(path) == side]
            matrix, subjects, numbered = _stacked(of_side, step_of(tell, place, len(sides)))
            if names is not None and names != subjects:
                raise InputError(
                    f"The {sides[0]} hemisphere has {len(names)} samples and the {side} one "
                    f"{len(subjects)}, or their names differ; give both files of every sample."
                )
            names = subjects
            used = np.ones(matrix.shape[1], bool) if mask is None else _mask(mask, matrix.shape[1])
            parts.append(SurfacePart(side, used, None))
            matrices.append(matrix[:, used])
    meshes = meshes_of(mesh, sides, [len(part.used) for part in parts])
    geometry = SurfaceGeometry(
        tuple(SurfacePart(p.hemisphere, p.used, m) for p, m in zip(parts, meshes, strict=True))
    )
    X = np.hstack(matrices) if len(matrices) > 1 else matrices[0]
    return FeatureMatrix.of_image(X, geometry, names or [], "vertex", numbered=numbered)


def _stacked(paths: Sequence[Path], tell: Report) -> tuple[NDArray[np.float32], list[str], bool]:
    """Samples × vertices of files of one hemisphere, the names of the samples, and if numbered."""
    rows = []
    for place, path in enumerate(paths):
        tell(place, len(paths))
        rows.append(read_overlay(path))
        if rows[-1].shape[1] != rows[0].shape[1]:
            raise InputError(
                f"{path} has {rows[-1].shape[1]} vertices and {paths[0]} {rows[0].shape[1]}; bring "
                "all samples to one mesh first."
            )
        if len(rows[-1]) > 1 and len(paths) > 1:
            raise InputError(
                f"{path} holds {len(rows[-1])} maps; give it alone, or files of one sample each."
            )
    matrix = np.vstack(rows)
    if len(paths) == 1 and len(matrix) > 1:
        return matrix, [f"map {i}" for i in range(len(matrix))], True
    return matrix, subjects_of(paths), False


def read_overlay(path: Path) -> NDArray[np.float32]:
    """Maps × vertices of one file."""
    name = path.name.lower()
    with reading(path, "an overlay"):
        if name.endswith((".gii", ".gii.gz")):
            arrays = [np.asarray(array.data) for array in nibabel().load(path).darrays]
            if not arrays or any(array.ndim != 1 for array in arrays):
                raise InputError(
                    f"{path} holds a surface, not values at its vertices; give a .func.gii or "
                    ".shape.gii file, and this one as ",
                    Setting("mesh"),
                    ".",
                )
            return np.stack(arrays).astype(np.float32)
        if name.endswith((".mgh", ".mgz")):
            data = np.asarray(load(path).dataobj, np.float32)
            return data.reshape(-1, data.shape[3] if data.ndim == 4 else 1).T
        return np.asarray(nibabel().freesurfer.read_morph_data(str(path)), np.float32)[None]


def _mask(path: Path, vertices: int) -> NDArray[np.bool_]:
    values = read_overlay(path)[0]
    if len(values) != vertices:
        raise InputError(
            f"The mask {path} has {len(values)} vertices and the data {vertices}; give a mask on "
            "the mesh of the data."
        )
    return np.asarray((values != 0) & np.isfinite(values))


def _labels(path: Path) -> tuple[Ints, dict[int, str] | None]:
    """Label of each vertex, and the names that the file has for them."""
    with reading(path, "an atlas"):
        if path.name.endswith(".annot"):
            labels, _, texts = nibabel().freesurfer.read_annot(str(path))
            names = {place + 1: text.decode() for place, text in enumerate(texts)}
            return np.asarray(labels, np.int64) + 1, names  # -1 is no region
        if path.name.lower().endswith((".gii", ".gii.gz")):
            image = nibabel().load(path)
            named = image.labeltable.get_labels_as_dict()
            values = np.asarray(image.darrays[0].data, np.int64)
            return values, {int(key): str(text) for key, text in named.items()} or None
        return np.rint(read_overlay(path)[0]).astype(np.int64), None
