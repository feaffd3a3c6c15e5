"""Gene expression of leukaemia patients with their sex as the label.

The values are kept as four byte planes, features first: bytes of equal significance lie together,
which makes the compressed file an eighth smaller than the plain floats.
"""

from __future__ import annotations

import gzip
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sklearn.utils import Bunch

DESCRIPTION = """\
Acute lymphoblastic leukaemia: gene expression, with the patients' sex as the label
===================================================================================

128 patients with newly diagnosed acute lymphoblastic leukaemia, 12 625 probes of the Affymetrix
chip HG-U95Av2, RMA expression values (log2 scale). The sex is known for 125 patients: 42 F, 83 M.

With sex as the label the relevant features are known in advance: 15 probes of genes on the Y
chromosome outside its pseudo-autosomal regions, and the one probe of XIST, the gene that silences
the second X chromosome. A gene that is hardly expressed in these cells cannot be found by anyone,
so finding all 16 is not to be expected; and a few genes on X that escape the silencing may be
truly related too.

Source: S. Chiaretti, X. Li, R. Gentleman, A. Vitale, M. Vignetti, F. Mandelli, J. Ritz and
R. Foa, "Gene expression profile of adult T-cell acute lymphocytic leukemia identifies distinct
subsets of patients with different response to therapy and survival", Blood 103 (2004), 2771-2778.
Data package ALL of Bioconductor by Xiaochun Li, version 1.40.0, Artistic License 2.0; the full
text is in nullforest/datasets/data/LICENSE-leukemia.txt.

Gene symbols of 11 739 probes: table hgu95Asym of the Bioconductor package annotate by R. Gentleman,
version 1.76.0, Artistic License 2.0, with symbols as they were at its time (DBY is now DDX3Y, SMCY
now KDM5D); that of XIST, which it lacks, was added.
"""


def load_leukemia_sex(*, unknown: bool = False, as_frame: bool = False) -> Bunch:
    """Load the leukaemia expression data with the patients' sex as the label.

    Parameters
    ----------
    unknown : bool
        Keep the 3 patients of unknown sex too; their target is the empty string.
    as_frame : bool
        Also give `frame`, a pandas DataFrame of all features and a last column `sex`.

    Returns
    -------
    sklearn.utils.Bunch
        `data` (125 × 12 625 float32, column by column in memory), `target` ("F" or "M"),
        `feature_names`, `gene_symbols` (empty text where not known), `known` (mask of the 16 probes
        that are known to be relevant), `DESCR`, and `frame` (None without `as_frame`).

    Examples
    --------
    >>> from nullforest.datasets import load_leukemia_sex
    >>> leukemia = load_leukemia_sex()
    >>> leukemia.data.shape, int(leukemia.known.sum())
    ((125, 12625), 16)
    """
    from sklearn.utils import Bunch

    source = resources.files("nullforest.datasets") / "data" / "leukemia_sex.npz"
    with source.open("rb") as file, np.load(file, allow_pickle=False) as archive:
        data, names, sex, known = unpacked(archive)
    if not unknown:
        data, sex = np.asfortranarray(data[sex != ""]), sex[sex != ""]
    frame = None
    if as_frame:
        import pandas as pd

        frame = pd.DataFrame(data, columns=names)
        frame.insert(frame.shape[1], "sex", sex)
    return Bunch(
        data=data,
        target=sex,
        feature_names=names,
        gene_symbols=_symbols(),
        known=known,
        frame=frame,
        DESCR=DESCRIPTION,
    )


def _symbols() -> NDArray[np.str_]:
    """Symbol of each probe's gene, one per line of the file."""
    source = resources.files("nullforest.datasets") / "data" / "leukemia_symbols.txt.gz"
    return np.array(gzip.decompress(source.read_bytes()).decode("ascii").split("\n"), str)


def unpacked(
    archive: Any,
) -> tuple[NDArray[np.float32], NDArray[np.str_], NDArray[np.str_], NDArray[np.bool_]]:
    """Data, feature names, sex and known features from what `tools/make_leukemia.py` arranged."""
    names, sex, known = archive["names"], archive["sex"], archive["known"]
    plain = np.ascontiguousarray(archive["planes"].T).view("<f4")
    data = plain.reshape(len(names), len(sex)).T.astype(np.float32, copy=False)
    return data, names, sex, known
