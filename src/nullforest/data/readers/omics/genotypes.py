"""Genotypes: PLINK files, read by blocks of variants, and VCF or BCF files, in memory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nullforest._util.column_store import ColumnStore
from nullforest._util.errors import InputError, optional
from nullforest._util.files import reading
from nullforest._util.progress import progress_bar
from nullforest.data.readers.feature_matrix import FeatureMatrix

if TYPE_CHECKING:
    import pandas as pd

#: Phenotypes of cases and controls in a .fam file; everything else there is missing.
_AFFECTION = {"1": "control", "2": "case"}
_MISSING = ("-9", "0", "", "NA", "nan", "NaN")
#: How a missing genotype of a VCF is kept; a byte holds each.
_NO_GENOTYPE = -1


def read_plink(path: Path) -> FeatureMatrix:
    """Genotypes as numbers of the first allele (0, 1, 2; NaN for missing), left on disk.

    The samples have the columns fid, sex and phenotype, the variants chromosome, position and
    alleles.
    """
    package = optional("bed_reader", "omics", "Reading PLINK files")
    for ending in (".bed", ".bim", ".fam"):
        if not path.with_suffix(ending).exists():
            raise InputError(
                f"There is no file {path.with_suffix(ending)}; a PLINK set needs .bed, .bim and "
                ".fam files of one name."
            )
    with reading(path, "PLINK genotypes"):
        bed = package.open_bed(path.with_suffix(".bed"))
        shape, samples = (int(bed.iid_count), int(bed.sid_count)), _samples(bed)
        names, variants = _variants(bed)
        _check_size(path.with_suffix(".bed"), shape)

    def fetch(columns: NDArray[np.int64]) -> NDArray[Any]:
        with reading(path, "PLINK genotypes"):
            values: NDArray[Any] = bed.read((slice(None), columns), dtype="float32")
            return values

    return FeatureMatrix(
        X=ColumnStore(shape, fetch, itemsize=4),
        feature_names=names,
        samples=samples,
        annotations=variants,
        unit="variant",
    )


def unique_variants(names: NDArray[Any], variants: pd.DataFrame) -> NDArray[np.str_]:
    """Names of variants; those without one, or with that of another, are named by their place.

    Examples
    --------
    >>> import pandas as pd
    >>> places = {"chromosome": ["1", "1", "2"], "position": [5, 9, 9]}
    >>> variants = pd.DataFrame({**places, "alleles": ["A/G", "C/T", "A/T"]})
    >>> unique_variants(np.array(["rs1", ".", "."]), variants).tolist()
    ['rs1', '1:9:C/T', '2:9:A/T']
    """
    texts = np.asarray(names, str)
    unique, place, number = np.unique(texts, return_inverse=True, return_counts=True)
    unnamed = (number[place] > 1) | np.isin(unique, [".", "", "0"])[place]
    if not unnamed.any():
        return texts
    places = variants[["chromosome", "position", "alleles"]][unnamed].itertuples(index=False)
    result = texts.astype(object)
    result[unnamed] = [":".join(map(str, place)) for place in places]
    result = result.astype(str)
    if len(np.unique(result)) < len(result):
        raise InputError(
            "Variants have equal names, positions and alleles; remove those that occur twice."
        )
    return np.asarray(result, str)


def _check_size(path: Path, shape: tuple[int, int]) -> None:
    """Refuse a truncated file before it is read, which may be much later."""
    expected = 3 + (shape[0] + 3) // 4 * shape[1]
    if (size := path.stat().st_size) != expected:
        raise InputError(
            f"{path} has {size} bytes and should have {expected} for {shape[0]} samples and "
            f"{shape[1]} variants; it is truncated, or belongs to another .bim or .fam file."
        )


def _samples(bed: Any) -> pd.DataFrame:
    import pandas as pd

    iid, fid = np.asarray(bed.iid, str), np.asarray(bed.fid, str)
    names = iid
    if len(np.unique(iid)) < len(iid):
        names = np.array([f"{f}_{i}" for f, i in zip(fid, iid, strict=True)], str)
    sex = pd.Series(np.asarray(bed.sex)).map({1: "male", 2: "female"})
    phenotype = pd.Series(np.asarray(bed.pheno, str))
    missing = phenotype.isin(_MISSING)
    if set(phenotype[~missing]) <= set(_AFFECTION):
        phenotype = phenotype.map(_AFFECTION)
    else:
        phenotype = pd.to_numeric(phenotype.mask(phenotype.isin(_MISSING[:1] + _MISSING[2:])))
    columns = {"fid": fid, "sex": sex.to_numpy(), "phenotype": phenotype.to_numpy()}
    return pd.DataFrame(columns, index=pd.Index(names))


def _variants(bed: Any) -> tuple[NDArray[np.str_], pd.DataFrame]:
    import pandas as pd

    alleles = [
        f"{a}/{b}" for a, b in zip(np.asarray(bed.allele_1), np.asarray(bed.allele_2), strict=True)
    ]
    variants = pd.DataFrame(
        {
            "chromosome": np.asarray(bed.chromosome, str),
            "position": np.asarray(bed.bp_position, np.int64),
            "alleles": alleles,
        }
    )
    return unique_variants(np.asarray(bed.sid), variants), variants


def read_vcf(path: Path) -> FeatureMatrix:
    """Numbers of alternate alleles (NaN for missing), a byte each in memory.

    A variant of several alternate alleles is one feature: the number of alleles that are not the
    reference.
    """
    import pandas as pd

    cyvcf2 = optional("cyvcf2", "omics", "Reading VCF")
    if not path.exists():
        raise InputError(f"There is no file {path}; check the path.")
    counts: list[NDArray[np.int8]] = []
    variants: list[tuple[str, int, str, str]] = []
    with reading(path, "VCF"), progress_bar("Reading variants") as tell:
        file = cyvcf2.VCF(str(path))
        names = list(file.samples)
        if not names:
            raise InputError(f"{path} holds no genotypes of samples; give a VCF with genotypes.")
        for number, variant in enumerate(file):
            if number % 1000 == 0:
                tell(number, number + 1000)
            if variant.genotype is None:
                raise InputError(
                    f"{path} has no genotype (GT) at {variant.CHROM}:{variant.POS}; leave out "
                    "variants without one."
                )
            counts.append(_alternates(np.asarray(variant.genotype.array())[:, :-1]))
            alleles = "/".join([variant.REF, *(variant.ALT or ())])
            variants.append((variant.CHROM, int(variant.POS), alleles, variant.ID or "."))
        file.close()
    if not counts:
        raise InputError(f"{path} holds no variants; it may be truncated.")
    genotypes = np.stack(counts, axis=1)
    frame = pd.DataFrame(variants, columns=["chromosome", "position", "alleles", "id"])
    ids = frame.pop("id").to_numpy()

    def fetch(columns: NDArray[np.int64]) -> NDArray[np.float32]:
        values = genotypes[:, columns].astype(np.float32)
        values[values == _NO_GENOTYPE] = np.nan
        return values

    return FeatureMatrix(
        X=ColumnStore(genotypes.shape, fetch, itemsize=4),
        feature_names=unique_variants(ids, frame),
        samples=pd.DataFrame(index=pd.Index(names)),
        annotations=frame,
        unit="variant",
    )


def _alternates(alleles: NDArray[np.int64]) -> NDArray[np.int8]:
    """Alleles other than the reference of each sample; a haploid one has a single allele."""
    number: NDArray[np.int8] = (alleles > 0).sum(axis=1).astype(np.int8)
    number[(alleles == -1).any(axis=1)] = _NO_GENOTYPE  # -2 pads a haploid genotype
    return number
