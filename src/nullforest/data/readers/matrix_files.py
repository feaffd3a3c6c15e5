"""Files that hold a matrix with its samples and features beside it: which reader reads which."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from nullforest._util.errors import InputError
from nullforest._util.files import as_path
from nullforest.data.readers.feature_matrix import FeatureMatrix
from nullforest.data.readers.formats import kind_of, single
from nullforest.data.readers.roles import OF_GENES, OF_IMAGES, MatrixOptions

#: Endings of tables of the names of an atlas.
_TABLES = (".csv", ".tsv", ".txt")
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
    if kind in ("plink", "vcf"):
        from nullforest.data.readers.omics.genotypes import read_plink, read_vcf

        return read_plink(path) if kind == "plink" else read_vcf(path)
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
    from nullforest.data.readers.images.surfaces import read_overlays

    return read_overlays(paths, mask, mesh)


def atlas_files(atlas: Sequence[Path]) -> tuple[list[Path], Path | None]:
    """The images of an atlas, and the table of the names of its regions."""
    tables = [path for path in atlas if path.suffix.lower() in _TABLES]
    if len(tables) > 1:
        raise InputError(f"{tables[0]} and {tables[1]} both name regions; give one table.")
    return [path for path in atlas if path not in tables], tables[0] if tables else None
