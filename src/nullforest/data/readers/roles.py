"""How files are read: what the columns of a table are, and what only images and genes have.

The fields are arguments of :func:`nullforest.read_table`; their help is that of the command line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from nullforest._util.errors import InputError
from nullforest._util.words import Setting


@dataclass(frozen=True)
class SurvivalColumns:
    """Names of the columns of a survival target, in the place of the name of one target.

    Examples
    --------
    >>> str(SurvivalColumns(event="died", time="days"))
    'days (event: died)'
    """

    event: str
    time: str

    def __str__(self) -> str:
        return f"{self.time} (event: {self.event})"


TargetName = str | SurvivalColumns


def columns_of(target: TargetName) -> tuple[str, ...]:
    """The columns that hold a target."""
    return (target,) if isinstance(target, str) else (target.event, target.time)


@dataclass(frozen=True)
class Roles:
    """What the columns of a table are, beside the target and the features."""

    ids: Annotated[
        str | None,
        "Column that names the samples.",
    ] = None
    drop: Annotated[
        tuple[str, ...],
        "Column to leave out; may be given again.",
    ] = ()
    task: Annotated[
        Literal["auto", "classification", "regression"],
        "What the target is; told from its values.",
    ] = "auto"
    blocks: Annotated[
        str | None,
        "Column of blocks (site, batch, family): features are tested for association with the "
        "target within blocks.",
    ] = None
    adjust: Annotated[
        tuple[str, ...],
        "Covariate (age): features are tested for association with the target given it; repeat "
        "for several.",
    ] = ()
    transpose: Annotated[
        bool,
        "Rows are features and columns are samples, as in tables of genes × samples; the target "
        "is a row.",
    ] = False
    decimal: Annotated[
        Literal[".", ","] | None,
        "Decimal mark of the numbers; told from the table.",
    ] = None


@dataclass(frozen=True)
class MatrixOptions:
    """How a matrix is read; each option belongs to some formats, and is refused by the others.

    Attributes
    ----------
    sample_table : Path or None
        Table with the target of each sample.
    matched_only : bool
        Leave out samples that the data or the table alone has.
    obs_filter : str or None
        Condition on the columns of the samples.
    layer : str or None
        Layer of an AnnData, instead of `X`.
    mask : Path or None
        Image of the voxels to use.
    mesh : sequence of Path
        Surfaces that the vertices belong to, the left hemisphere first.
    atlas : sequence of Path
        Labels of regions; for surfaces one file per hemisphere. A table (.csv, .tsv) among them
        holds the names of the regions.
    names : str or None
        Column of an AnnData's genes that is shown beside their names.
    """

    sample_table: Annotated[
        Path | None,
        "Table with the target of each sample, matched by name: participants.tsv, phenotypes. "
        "--ids names its column of samples.",
    ] = None
    matched_only: Annotated[
        bool,
        "Leave out samples without a row there, and the reverse.",
    ] = False
    obs_filter: Annotated[
        str | None,
        "Samples to use: a condition on their columns, such as \"tissue == 'skin'\".",
    ] = None
    layer: Annotated[
        str | None,
        "Layer of an .h5ad file, or raw, instead of X.",
    ] = None
    mask: Annotated[
        Path | None,
        "Image of the voxels to use (NIfTI).",
    ] = None
    mesh: Annotated[
        Sequence[Path],
        "Surface of the vertices (GIFTI or FreeSurfer); left, then right.",
    ] = ()
    atlas: Annotated[
        Sequence[Path],
        "Labels of regions: NIfTI, .annot, .label.gii or .dlabel.nii (left, right), and a table "
        "(.csv, .tsv) with the columns index and name.",
    ] = ()
    names: str | None = None

    def refuse(self, names: Sequence[str], kind: str) -> None:
        """Refuse options that files of another kind take."""
        for name in names:
            if getattr(self, name):
                words = f" does not apply to {kind}; leave it out."
                raise InputError(Setting(name), words, setting=name)


#: Options that belong to images, and to matrices of genes.
OF_IMAGES, OF_GENES = ("mask", "mesh", "atlas"), ("layer", "names")
