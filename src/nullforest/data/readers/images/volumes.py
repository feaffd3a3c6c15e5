"""Volumes: NIfTI and MGH images of voxels, one per sample or stacked in four dimensions."""

from __future__ import annotations

import gzip
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import InputError, optional
from nullforest._util.files import reading, writing_beside
from nullforest._util.progress import progress_bar
from nullforest._util.words import Setting
from nullforest.data.readers.feature_matrix import FeatureMatrix
from nullforest.data.readers.images.geometry import (
    Floats,
    Ints,
    named_regions,
    nibabel,
    region_names,
    touching,
    touching_voxels,
)
from nullforest.data.readers.images.subjects import subjects_of

if TYPE_CHECKING:
    import pandas as pd
    from scipy.sparse import csr_array

#: Millimetres by which affines of one grid may differ: headers round them.
_SAME_AFFINE = 1e-3


@dataclass(frozen=True, eq=False)
class VolumeGeometry:
    """Voxels of a mask on a grid.

    Attributes
    ----------
    mask : (I, J, K) bool
        Voxels that are features, in the order of their indices, the last one fastest.
    affine : (4, 4) float
        From voxel indices to millimetres.
    header : nibabel header
        Of the first image; maps keep its units and orientation codes.
    """

    mask: NDArray[np.bool_]
    affine: Floats
    header: Any

    @property
    def ijk(self) -> Ints:
        """Voxel indices of each feature."""
        return np.argwhere(self.mask)

    @property
    def names(self) -> NDArray[np.str_]:
        """Voxels by their indices."""
        return np.array([f"voxel {i} {j} {k}" for i, j, k in self.ijk.tolist()], str)

    def coordinates(self) -> pd.DataFrame:
        """Millimetres of each voxel's middle."""
        import pandas as pd

        return pd.DataFrame(_moved(self.affine, self.ijk).round(3), columns=["x", "y", "z"])

    def neighbours(self) -> csr_array:
        """Voxels that share a face."""
        ijk = self.ijk
        return touching(*touching_voxels(ijk), len(ijk))

    def regions(self, atlas: Sequence[Path], names: Path | None) -> NDArray[np.str_]:
        """Region of each voxel's middle, on whatever grid the atlas is."""
        if len(atlas) != 1:
            raise InputError(f"{len(atlas)} atlases were given for one volume; give one.")
        path = atlas[0]
        image = load(path)
        if len(image.shape) != 3:
            raise InputError(f"The atlas {path} has {len(image.shape)} axes; give labels in 3-D.")
        with reading(path, "an image"):
            labels = np.rint(np.asarray(image.dataobj, float)).astype(np.int64)
        place = np.rint(_moved(np.linalg.inv(image.affine), _moved(self.affine, self.ijk)))
        place = place.astype(np.int64)
        inside = ((place >= 0) & (place < labels.shape)).all(axis=1)
        label = np.zeros(len(place), np.int64)
        label[inside] = labels[tuple(place[inside].T)]
        return named_regions(label, None if names is None else region_names(names), str(path))

    def image(self, values: NDArray[Any], outside: float = 0.0) -> Any:
        """A NIfTI image of one value per voxel, and one outside the mask."""
        values = np.asarray(values)
        kind = np.uint8 if values.dtype == bool else np.float32
        volume = np.full(self.mask.shape, outside, kind)
        volume[self.mask] = values
        made = nibabel().Nifti1Image(volume, self.affine, self.header)
        made.set_data_dtype(kind)
        made.header["cal_min"] = made.header["cal_max"] = 0
        made.header["scl_slope"], made.header["scl_inter"] = 1, 0
        return made

    def save(
        self, folder: Path, name: str, values: NDArray[Any], outside: float = 0.0
    ) -> list[Path]:
        """Write name.nii.gz."""
        path = folder / f"{name}.nii.gz"
        with writing_beside(path) as partial:
            self.image(values, outside).to_filename(partial)
        return [path]

    def draw(self, values: Floats, threshold: float, title: str) -> Any:
        """A glass brain: projections along the three axes."""
        plotting = optional("nilearn.plotting", "neuro", "Drawing a glass brain")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of nilearn, on empty maps and colour bars
            shown = plotting.plot_glass_brain(
                self.image(np.asarray(values, float)),
                threshold=threshold,
                display_mode="lyrz",
                colorbar=True,
                cmap="inferno",
                title=title,
            )
        return shown.frame_axes.figure


def read_volumes(paths: Sequence[Path], mask: Path | None = None) -> FeatureMatrix:
    """The voxels of images as features.

    Parameters
    ----------
    paths : sequence of Path
        Images of one sample each, or a single one in four dimensions.
    mask : Path, optional
        Image of the voxels to use, those that are not 0. Without it: voxels that are not 0 in all
        images.
    """
    images = [load(path) for path in paths]
    first = images[0]
    stacked = len(first.shape) == 4 and first.shape[3] > 1
    if stacked and len(paths) > 1:
        raise InputError(
            f"{paths[0]} is a stack of {first.shape[3]} images; give it alone, or images of one "
            "sample each."
        )
    for path, image in zip(paths, images, strict=True):
        _check_grid(path, image, paths[0], first)
    used = _mask(mask, paths[0], first) if mask is not None else _nonzero(paths, images)
    if not used.any():
        raise InputError("The mask leaves no voxel; give another ", Setting("mask"), ".")
    n = first.shape[3] if stacked else len(paths)
    X = np.empty((n, int(used.sum())), np.float32)
    with progress_bar("Reading images") as tell:
        for row, volume in enumerate(_volumes(paths, images)):
            tell(row, n)
            X[row] = volume[used]
    geometry = VolumeGeometry(used, np.asarray(first.affine, float), _nifti_header(first))
    names = [f"volume {i}" for i in range(n)] if stacked else subjects_of(paths)
    return FeatureMatrix.of_image(X, geometry, names, "voxel", numbered=stacked)


def load(path: Path) -> Any:
    """An image whose header could be read."""
    with reading(path, "an image"):
        if path.suffix.lower() in (".mgh", ".mgz"):
            # From memory: nibabel would leave the file open until the image is collected.
            raw = path.read_bytes()
            raw = gzip.decompress(raw) if path.suffix.lower() == ".mgz" else raw
            return nibabel().MGHImage.from_bytes(raw)
        return nibabel().load(path)


def _volumes(paths: Sequence[Path], images: Sequence[Any]) -> Iterator[NDArray[np.float32]]:
    """The images one after the other; a stack is read whole, since it may be compressed."""
    for path, image in zip(paths, images, strict=True):
        with reading(path, "an image"):
            data = np.asarray(image.dataobj, np.float32)
        yield from np.moveaxis(data, 3, 0) if data.ndim == 4 else [data]


def _check_grid(path: Path, image: Any, first_path: Path, first: Any) -> None:
    shape = image.shape
    if len(shape) not in (3, 4):
        raise InputError(f"{path} has {len(shape)} axes; give images of 3 or 4.")
    if shape != first.shape:
        raise InputError(
            f"{path} has the shape {_by(shape)} and {first_path} {_by(first.shape)}; bring all "
            "images to one grid first."
        )
    if not np.allclose(image.affine, first.affine, atol=_SAME_AFFINE):
        raise InputError(
            f"{path} and {first_path} have different affines; bring all images to one grid first."
        )


def _mask(path: Path, first_path: Path, first: Any) -> NDArray[np.bool_]:
    image = load(path)
    shape, wanted = tuple(image.shape), tuple(first.shape[:3])
    if shape[:3] != wanted or (len(shape) > 3 and shape[3] > 1):
        raise InputError(
            f"The mask {path} has the shape {_by(shape)} and {first_path} {_by(first.shape)}; give "
            "a mask on the grid of the images."
        )
    if not np.allclose(image.affine, first.affine, atol=_SAME_AFFINE):
        raise InputError(
            f"The mask {path} has another affine than {first_path}; give a mask on the grid of the "
            "images."
        )
    with reading(path, "an image"):
        values = np.asarray(image.dataobj, float).reshape(wanted)
    return np.asarray((values != 0) & np.isfinite(values))


def _nonzero(paths: Sequence[Path], images: Sequence[Any]) -> NDArray[np.bool_]:
    used = np.zeros(images[0].shape[:3], bool)
    with progress_bar("Finding voxels") as tell:
        for row, volume in enumerate(_volumes(paths, images)):
            tell(row, max(len(paths), row + 1))
            used |= (volume != 0) & np.isfinite(volume)
    return used


def _nifti_header(image: Any) -> Any:
    """The header as NIfTI, from whatever kind the image is."""
    if isinstance(image.header, nibabel().Nifti1Header):
        return image.header.copy()
    header = nibabel().Nifti1Header()
    header.set_xyzt_units("mm")
    return header


def _moved(affine: Floats, points: NDArray[Any]) -> Floats:
    return np.asarray(points @ affine[:3, :3].T + affine[:3, 3], float)


def _by(shape: Sequence[int]) -> str:
    return " × ".join(map(str, shape))
