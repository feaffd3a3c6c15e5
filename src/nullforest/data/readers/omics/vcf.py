"""VCF and BCF genotypes: the number of alternate alleles of every variant."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nullforest._util.column_store import ColumnStore
from nullforest._util.errors import InputError, optional
from nullforest._util.files import reading
from nullforest._util.progress import progress_bar
from nullforest.data.readers.feature_matrix import FeatureMatrix
from nullforest.data.readers.omics.plink import unique_variants

#: How a missing genotype is kept; a byte holds each.
_MISSING = -1


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
    about: list[tuple[str, int, str, str]] = []
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
            about.append((variant.CHROM, int(variant.POS), alleles, variant.ID or "."))
        file.close()
    if not counts:
        raise InputError(f"{path} holds no variants; it may be truncated.")
    genotypes = np.stack(counts, axis=1)
    frame = pd.DataFrame(about, columns=["chromosome", "position", "alleles", "id"])
    ids = frame.pop("id").to_numpy()

    def fetch(columns: NDArray[np.int64]) -> NDArray[np.float32]:
        values = genotypes[:, columns].astype(np.float32)
        values[values == _MISSING] = np.nan
        return values

    return FeatureMatrix(
        X=ColumnStore(genotypes.shape, fetch, itemsize=4),
        feature_names=unique_variants(ids, *(frame[name].to_numpy() for name in frame)),
        samples=pd.DataFrame(index=pd.Index(names)),
        annotations=frame,
        unit="variant",
    )


def _alternates(alleles: NDArray[np.int64]) -> NDArray[np.int8]:
    """Alleles other than the reference of each sample; a haploid one has a single allele.

    Examples
    --------
    >>> import numpy as np
    >>> _alternates(np.array([[0, 1], [2, 1], [-1, -1], [1, -2]])).tolist()
    [1, 2, -1, 1]
    """
    number: NDArray[np.int8] = (alleles > 0).sum(axis=1).astype(np.int8)
    number[(alleles == -1).any(axis=1)] = _MISSING  # -2 pads a haploid genotype
    return number
