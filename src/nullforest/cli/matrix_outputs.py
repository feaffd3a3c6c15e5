"""Results in the formats of the data: annotated genes, maps, clusters, pictures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from nullforest._util.errors import InputError
from nullforest._util.files import writing, writing_beside
from nullforest.cli.outputs import Outputs, Writers

if TYPE_CHECKING:
    import pandas as pd

    from nullforest.io import Table
    from nullforest.selection.selection import Selection


def check_outputs(outputs: Outputs, data: list[Path], table: Table) -> None:
    """Refuse, before the forest is grown, files that these data do not give."""
    if outputs.h5ad is not None and data[0].suffix != ".h5ad":
        raise InputError("--h5ad writes the data again, which are no .h5ad file; leave it out.")
    for name in ("maps", "clusters"):
        if getattr(outputs, name) is not None and table.geometry is None:
            raise InputError(f"--{name} is for images, and {data[0]} is none; leave it out.")
    if outputs.clusters is not None and table.geometry is not None:
        table.geometry.neighbours()  # says where a mesh is missing


def with_clusters(table: Table, selection: Selection) -> tuple[Selection, pd.DataFrame | None]:
    """The selection with the cluster of each voxel or vertex, and the clusters; None without."""
    if table.geometry is None or not selection.n_selected:
        return selection, None
    import pandas as pd

    from nullforest.features.clusters import cluster_numbers, find_clusters

    try:
        numbers = cluster_numbers(selection, table.geometry)
    except InputError:  # a surface without its mesh
        return selection, None
    known = selection.annotations
    known = pd.DataFrame() if known is None else known
    selection = replace(selection, annotations=known.assign(cluster=numbers))
    return selection, find_clusters(selection, table.geometry)


def matrix_outputs(data: Path, table: Table, selection: Selection) -> Writers:
    """Writers of the files that carry the results back, by their option."""
    from nullforest.features.clusters import find_clusters
    from nullforest.features.genes import write_h5ad
    from nullforest.report.maps import write_maps

    def clusters(path: Path) -> None:
        found = find_clusters(selection, table.geometry)
        with writing(path) as file:
            found.to_csv(file, index=False)

    return {
        "h5ad": lambda path: write_h5ad(data, path, selection),
        "maps": lambda path: write_maps(selection, table.geometry, path),
        "clusters": clusters,
        "plot": lambda path: _draw(path, table, selection),
    }


def _draw(path: Path, table: Table, selection: Selection) -> None:
    if table.geometry is not None:
        from nullforest.report.maps import brain_figure

        figure = brain_figure(selection, table.geometry)
    else:
        figure = selection.plot().figure_
    with writing_beside(path) as partial:
        figure.savefig(partial, dpi=150)
