"""Files that hold a matrix with its samples and features beside it: which reader reads which."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nullforest._util.errors import InputError
from nullforest._util.files import as_path
from nullforest.data.readers.feature_matrix import FeatureMatrix
from nullforest.data.readers.images.subjects import FREESURFER


@dataclass(frozen=True)
class MatrixOptions:
    """How a matrix is read; each option belongs to some formats, and is refused by the others.

    Attributes
    ----------
    layer : str or None
        Layer of an AnnData, instead of `X`.
    names : str or None
        Column of an AnnData's genes that is shown beside their names.
    obs_filter : str or None
        Condition on the columns of the samples.
    mask : Path or None
        Image of the voxels to use.
    mesh : sequence of Path
        Surfaces that the vertices belong to, the left hemisphere first.
    atlas : sequence of Path
        Labels of regions; for surfaces one file per hemisphere.
    atlas_labels : Path or None
        Table of the names of the regions.
    sample_table : Path or None
        Table with the target of each sample.
    matched_only : bool
        Leave out samples that the data or the table alone has.
    """

    layer: str | None = None
    names: str | None = None
    obs_filter: str | None = None
    mask: Path | None = None
    mesh: Sequence[Path] = ()
    atlas: Sequence[Path] = ()
    atlas_labels: Path | None = None
    sample_table: Path | None = None
    matched_only: bool = False

    def refuse(self, names: Sequence[str], kind: str) -> None:
        """Refuse options that files of another kind take."""
        for name in names:
            if getattr(self, name):
                option = name.replace("_", "-")
                raise InputError(f"--{option} does not apply to {kind}; leave it out.")


#: Options that belong to images, and to matrices of genes.
_IMAGES = ("mask", "mesh", "atlas", "atlas_labels")
_GENES = ("layer", "names")
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
        options.refuse(_IMAGES, _WORDS[kind])
        from nullforest.data.readers.omics.annotated import read_h5ad

        return read_h5ad(single(paths), layer=options.layer, names=options.names)
    options.refuse(_GENES, _WORDS[kind])
    if kind in ("10x", "mtx", "plink", "vcf"):
        options.refuse(_IMAGES, _WORDS[kind])
        return _read_omics(single(paths), kind)
    others = [path for path in paths if kind_of([path]) != kind]
    if others:
        raise InputError(f"{others[0]} is not of the kind of {paths[0]}; give files of one kind.")
    matrix = _read_images(paths, kind, options)
    if not options.atlas:
        options.refuse(("atlas_labels",), "images without --atlas")
        return matrix
    assert matrix.geometry is not None
    names = None if options.atlas_labels is None else as_path(options.atlas_labels)
    regions = matrix.geometry.regions([as_path(path) for path in options.atlas], names)
    return matrix.annotated("region", regions)


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
