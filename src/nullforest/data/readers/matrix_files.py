"""Files that hold a matrix with its samples and features beside it: which reader reads which."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nullforest._util.errors import InputError
from nullforest._util.files import as_path
from nullforest.data.readers.feature_matrix import FeatureMatrix
from nullforest.data.readers.images.subjects import FREESURFER
from nullforest.data.readers.options import OF_GENES, OF_IMAGES, MatrixOptions, atlas_files

#: Kinds of files by the ends of their names; the first that fits.
_ENDINGS = {
    ".h5ad": "h5ad",
    ".h5": "10x",
    ".mtx": "mtx",
    ".mtx.gz": "mtx",
    ".bed": "plink",
    ".bim": "plink",
    ".fam": "plink",
    ".vcf": "vcf",
    ".vcf.gz": "vcf",
    ".vcf.bgz": "vcf",
    ".bcf": "vcf",
    ".dscalar.nii": "cifti",
    ".dtseries.nii": "cifti",
    ".nii": "nifti",
    ".nii.gz": "nifti",
    ".gii": "surface",
    ".gii.gz": "surface",
    ".mgh": "mgh",
    ".mgz": "mgh",
}
_WORDS = {
    "h5ad": "an .h5ad file",
    "10x": "a 10x matrix",
    "mtx": "a 10x matrix",
    "plink": "PLINK genotypes",
    "vcf": "a VCF file",
    "cifti": "a CIFTI file",
    "nifti": "a NIfTI image",
    "surface": "a surface",
    "mgh": "an MGH file",
}


def found_files(given: Any) -> list[Path]:
    """The files named by a path, a pattern such as "sub-*.nii.gz", or a list of either."""
    several = given if isinstance(given, list | tuple) else [given]
    files: list[Path] = []
    for path in map(as_path, several):
        if any(sign in str(path) for sign in "*?[") and not path.exists():
            found = sorted(Path(path.anchor).glob(str(path.relative_to(path.anchor))))
            if not found:
                raise InputError(f"No file matches {path}; check the pattern.")
            files += found
        else:
            files.append(path)
    if not files:
        raise InputError("There is no file; give at least one.")
    return files


def single(paths: Sequence[Path]) -> Path:
    """The only file; several are refused."""
    if len(paths) > 1:
        raise InputError(
            f"{len(paths)} files were given ({paths[0]}, {paths[1]}, …), which only images can be "
            "read from; give one."
        )
    return paths[0]


def kind_of(paths: Sequence[Path]) -> str | None:
    """Kind of the files, by the name of the first; None for tables.

    Examples
    --------
    >>> kind_of([Path("sub-01.nii.gz")]), kind_of([Path("lh.thickness")]), kind_of([Path("a.csv")])
    ('nifti', 'surface', None)
    """
    name = paths[0].name.lower()
    known = (kind for ending, kind in _ENDINGS.items() if name.endswith(ending))
    kind = next(known, "surface" if FREESURFER.match(name) else None)
    # A folder of Cell Ranger; os.path answers where a name is too long for a file, too.
    matrices = (paths[0] / f"matrix.mtx{end}" for end in ("", ".gz"))
    if kind is None and any(os.path.exists(path) for path in matrices):  # noqa: PTH110
        return "mtx"
    return kind


def read_matrix(paths: Sequence[Path], kind: str, options: MatrixOptions) -> FeatureMatrix:
    """The matrix of files of one kind."""
    if kind == "h5ad":
        options.refuse(OF_IMAGES, _WORDS[kind])
        from nullforest.data.readers.omics.annotated import read_h5ad

        return read_h5ad(single(paths), layer=options.layer, names=options.names)
    options.refuse(OF_GENES, _WORDS[kind])
    if kind in ("10x", "mtx", "plink", "vcf"):
        options.refuse(OF_IMAGES, _WORDS[kind])
        return _read_omics(single(paths), kind)
    others = [path for path in paths if kind_of([path]) != kind]
    if others:
        raise InputError(f"{others[0]} is not of the kind of {paths[0]}; give files of one kind.")
    matrix = _read_images(paths, kind, options)
    if not options.atlas:
        return matrix
    assert matrix.geometry is not None
    images, names = atlas_files([as_path(path) for path in options.atlas])
    return matrix.annotated("region", matrix.geometry.regions(images, names))


def _read_omics(path: Path, kind: str) -> FeatureMatrix:
    if kind == "plink":
        from nullforest.data.readers.omics.plink import read_plink

        return read_plink(path)
    if kind == "vcf":
        from nullforest.data.readers.omics.vcf import read_vcf

        return read_vcf(path)
    from nullforest.data.readers.omics.cell_ranger import read_10x_h5, read_10x_mtx

    return read_10x_h5(path) if kind == "10x" else read_10x_mtx(path)


def _read_images(paths: Sequence[Path], kind: str, options: MatrixOptions) -> FeatureMatrix:
    mask = None if options.mask is None else as_path(options.mask)
    mesh = [as_path(path) for path in options.mesh]
    if kind == "cifti":
        options.refuse(("mask",), _WORDS[kind])
        from nullforest.data.readers.images.grayordinates import read_grayordinates

        return read_grayordinates(paths, mesh)
    from nullforest.data.readers.images.volumes import load, read_volumes

    if kind == "nifti" or (kind == "mgh" and min(load(paths[0]).shape[:3]) > 1):
        options.refuse(("mesh",), "volumes")
        return read_volumes(paths, mask)
    from nullforest.data.readers.images.overlays import read_overlays

    return read_overlays(paths, mask, mesh)
