"""Small brains for tests: volumes with a planted peak, an atlas, surfaces and grayordinates."""

from __future__ import annotations

from pathlib import Path

import nibabel as nib
import numpy as np
import pandas as pd

#: 4 mm voxels whose first axis runs from right to left, as in many templates.
AFFINE = np.array([[-4.0, 0, 0, 40], [0, 4, 0, -60], [0, 0, 4, -30], [0, 0, 0, 1]])
SHAPE = (12, 14, 10)
#: Middle of the planted cluster.
PEAK = (4, 7, 5)


def mask() -> np.ndarray:
    """An ellipsoid."""
    i, j, k = np.indices(SHAPE)
    return ((i - 5.5) / 5.5) ** 2 + ((j - 6.5) / 6.5) ** 2 + ((k - 4.5) / 4.5) ** 2 <= 1


def planted() -> np.ndarray:
    """A peak and the six voxels that touch it."""
    region = np.zeros(SHAPE, bool)
    region[PEAK] = True
    for axis in range(3):
        for step in (-1, 1):
            place = list(PEAK)
            place[axis] += step
            region[tuple(place)] = True
    return region


def volumes(folder: Path, n: int = 60, *, stacked: bool = False) -> tuple[list[Path], pd.DataFrame]:
    """Images of n subjects; the planted region is brighter in patients. And their table."""
    rng = np.random.default_rng(7)
    ill = np.arange(n) % 2
    data = rng.normal(10, 1, size=(n, *SHAPE)).astype(np.float32)
    data[:, planted()] += 1.5 * ill[:, None]
    data[:, PEAK[0], PEAK[1], PEAK[2]] += 1.5 * ill
    data *= mask()
    names = [f"sub-{i:02d}" for i in range(n)]
    if stacked:
        paths = [folder / "all.nii.gz"]
        nib.Nifti1Image(np.moveaxis(data, 0, 3), AFFINE).to_filename(paths[0])
    else:
        paths = [folder / f"{name}_T1w.nii.gz" for name in names]
        for path, volume in zip(paths, data, strict=True):
            nib.Nifti1Image(volume, AFFINE).to_filename(path)
    table = pd.DataFrame({"participant_id": names, "diagnosis": np.where(ill, "AD", "control")})
    table.iloc[::-1].to_csv(folder / "participants.tsv", sep="\t", index=False)
    return paths, table


def atlas(folder: Path) -> tuple[Path, Path]:
    """Labels on a finer grid of another orientation, and their names: the peak lies in "Insula"."""
    fine = np.diag([2.0, 2, 2, 1])
    fine[:3, 3] = [-20, -70, -40]
    shape = (40, 50, 40)
    points = np.stack(np.indices(shape), -1) @ fine[:3, :3].T + fine[:3, 3]
    middle = AFFINE[:3, :3] @ PEAK + AFFINE[:3, 3]
    labels = np.ones(shape, np.int16)
    labels[(np.abs(points - middle) < 7).all(axis=-1)] = 35
    image, names = folder / "atlas.nii.gz", folder / "atlas.csv"
    nib.Nifti1Image(labels, fine).to_filename(image)
    names.write_text("index,name\n1,Elsewhere\n35,Insula\n")
    return image, names


def save_mask(folder: Path, shape: tuple[int, ...] | None = None) -> Path:
    """The ellipsoid as an image, or a mask of another shape."""
    path = folder / "mask.nii.gz"
    values = mask().astype(np.uint8) if shape is None else np.ones(shape, np.uint8)
    nib.Nifti1Image(values, AFFINE).to_filename(path)
    return path


def thickness(folder: Path, form: str, n: int = 40) -> tuple[list[Path], np.ndarray]:
    """Maps of fsaverage5's left hemisphere, thinner in a region in patients; files and region.

    `form` is gii, mgh, or freesurfer (lh.thickness in a folder for each subject).
    """
    import nullforest as nf

    X, y, region = nf.simulate.cortical(n, 0.01, relevance=0.8, seed_vertex=4000, dtype=np.float32)
    names = [f"sub-{i:02d}" for i in range(n)]
    paths = []
    for name, row in zip(names, X, strict=True):
        if form == "gii":
            array = nib.gifti.GiftiDataArray(row, intent="NIFTI_INTENT_SHAPE")
            paths.append(folder / f"{name}_hemi-L_thickness.shape.gii")
            nib.gifti.GiftiImage(darrays=[array]).to_filename(paths[-1])
        elif form == "mgh":
            paths.append(folder / f"lh.{name}.thickness.mgh")
            nib.MGHImage(row[:, None, None], np.eye(4)).to_filename(paths[-1])
        else:
            place = folder / name / "surf"
            place.mkdir(parents=True)
            paths.append(place / "lh.thickness")
            nib.freesurfer.write_morph_data(str(paths[-1]), row)
    table = pd.DataFrame({"participant_id": names, "ill": np.where(y, "yes", "no")})
    table.to_csv(folder / "participants.tsv", sep="\t", index=False)
    return paths, region


def grayordinates(folder: Path, n: int = 40) -> tuple[Path, np.ndarray]:
    """Dense scalars on some vertices of both hemispheres and a few voxels; file and region."""
    rng = np.random.default_rng(1)
    cifti2 = nib.cifti2
    left = cifti2.BrainModelAxis.from_surface(np.arange(0, 900), 10_242, "CortexLeft")
    right = cifti2.BrainModelAxis.from_surface(np.arange(100, 700), 10_242, "CortexRight")
    block = np.zeros(SHAPE, bool)
    block[3:6, 3:6, 3:6] = True
    axis = left + right + cifti2.BrainModelAxis.from_mask(block, "ThalamusLeft", AFFINE)
    ill = np.arange(n) % 2
    X = rng.normal(size=(n, len(axis))).astype(np.float32)
    region = np.zeros(len(axis), bool)
    region[[5, 1000, len(axis) - 14]] = True  # a vertex left, one right, the middle of the block
    X[:, region] += 3 * ill[:, None]
    names = [f"sub-{i:02d}" for i in range(n)]
    path = folder / "all.dscalar.nii"
    cifti2.Cifti2Image(X, (cifti2.ScalarAxis(names), axis)).to_filename(path)
    table = pd.DataFrame({"participant_id": names, "ill": np.where(ill, "yes", "no")})
    table.to_csv(folder / "participants.tsv", sep="\t", index=False)
    return path, region
