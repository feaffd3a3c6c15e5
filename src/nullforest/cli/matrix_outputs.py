"""Results in the formats of the data: an .h5ad file with its genes annotated."""

from __future__ import annotations

from pathlib import Path

from nullforest.cli.outputs import Writers
from nullforest.io import Table
from nullforest.selection.selection import Selection


def matrix_outputs(data: list[Path], table: Table, selection: Selection) -> Writers:
    """Writers of the files that carry the results back, by their option."""

    def h5ad(path: Path) -> None:
        from nullforest.features.genes import write_h5ad

        write_h5ad(data[0], path, selection)

    return {"h5ad": h5ad}
