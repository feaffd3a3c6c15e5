"""Options of images, matrices of genes and genotypes, which several commands share."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

_matrix = partial(typer.Option, rich_help_panel="Images, genes, genotypes", show_default=False)


@dataclass(frozen=True)
class MatrixReading:
    """How files are read that are no tables."""

    sample_table: Annotated[
        Path | None,
        _matrix(
            help="Table with the target of each sample, matched by name: participants.tsv, "
            "phenotypes. --ids names its column of samples."
        ),
    ] = None
    matched_only: Annotated[
        bool,
        _matrix("--matched-only", help="Leave out samples without a row there, and the reverse."),
    ] = False
    obs_filter: Annotated[
        str | None,
        _matrix(help="Samples to use: a condition on their columns, such as \"tissue == 'skin'\"."),
    ] = None
    layer: Annotated[str | None, _matrix(help="Layer of an .h5ad file, or raw, instead of X.")] = (
        None
    )
    names: Annotated[
        str | None,
        _matrix(help="Column of the genes of an .h5ad file that is shown beside their names."),
    ] = None
    mask: Annotated[Path | None, _matrix(help="Image of the voxels to use (NIfTI).")] = None
    mesh: Annotated[
        list[Path] | None,
        _matrix(help="Surface of the vertices (GIFTI or FreeSurfer); left, then right."),
    ] = None

    atlas: Annotated[
        list[Path] | None,
        _matrix(help="Labels of regions: NIfTI, .annot, .label.gii or .dlabel.nii; left, right."),
    ] = None
    atlas_labels: Annotated[
        Path | None, _matrix(help="Table of the atlas with the columns index and name.")
    ] = None

    def matrix_options(self) -> dict[str, Any]:
        """The options by their names in Python."""
        given = {field.name: getattr(self, field.name) for field in fields(MatrixReading)}
        return given | {"mesh": tuple(self.mesh or ()), "atlas": tuple(self.atlas or ())}

    def matrix_words(self) -> list[str]:
        """The options that were given, as words of a command."""
        words: list[str] = []
        for name, value in self.matrix_options().items():
            option = f"--{name.replace('_', '-')}"
            if value is True:
                words.append(option)
            elif value:
                several = value if isinstance(value, tuple) else (value,)
                words += [word for one in several for word in (option, str(one))]
        return words
