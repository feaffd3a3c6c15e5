"""How was the embedded leukaemia data set made? This script turns an export of it into the file.

Source: the data package ALL of Bioconductor (version 1.40.0, in Debian as r-bioc-all 1.40.0-1),
Artistic License 2.0. The export is an NPZ archive that holds what R says of it:

    library(ALL); data(ALL)
    X        t(exprs(ALL))           128 x 12 625, RMA expression values, as float32
    feature  featureNames(ALL)       probe names of the chip HG-U95Av2
    sex      pData(ALL)$sex          "F", "M" or "nan" (3 patients)
    Y_linked_nonPAR, xist            masks of the probes whose gene, by the chip's annotation, lies
                                     on Y outside the pseudo-autosomal regions, or is XIST

Run it from the root of the repository:

    python tools/make_leukemia.py EXPORT.npz src/nullforest/datasets/data/leukemia_sex.npz
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

LARGEST = 6_000_000  # bytes; the data set travels with every copy of the package


def packed(
    data: NDArray[np.float32],
    names: NDArray[np.str_],
    sex: NDArray[np.str_],
    known: NDArray[np.bool_],
) -> dict[str, NDArray[np.generic]]:
    """Arrange the data for a small file; `unpacked` of the package is the way back."""
    plain = np.ascontiguousarray(data.T, "<f4")
    planes = plain.reshape(-1, 1).view(np.uint8).T
    return {"planes": planes.copy(), "names": names, "sex": sex, "known": known}


def main() -> None:
    """Read the export, check it, and write the embedded file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("export", type=Path, help="NPZ archive exported from the R package ALL")
    parser.add_argument("out", type=Path, help="where the embedded file goes")
    arguments = parser.parse_args()
    with np.load(arguments.export, allow_pickle=False) as export:
        data = export["X"].astype(np.float32)
        names = export["feature"].astype(str)
        sex = np.char.replace(export["sex"].astype(str), "nan", "")
        known = export["Y_linked_nonPAR"] | export["xist"]
    if data.shape != (128, 12_625) or known.sum() != 16 or not np.isfinite(data).all():
        raise SystemExit("This export is not the ALL data: 128 x 12 625 values, 16 known probes.")
    np.savez_compressed(arguments.out, **packed(data, names, sex, known))
    size = arguments.out.stat().st_size
    if size > LARGEST:
        arguments.out.unlink()
        raise SystemExit(f"The file would have {size} bytes, more than {LARGEST}.")
    print(f"{arguments.out}: {data.shape[0]} x {data.shape[1]}, {size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
