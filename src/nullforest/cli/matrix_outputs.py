"""Results in the formats of the data: annotated genes, maps, clusters, pictures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from nullforest._util.errors import InputError
from nullforest._util.files import writing, writing_beside
from nullforest.cli.outputs import Outputs, Writers
from nullforest.data.readers.matrix_files import MatrixOptions, kind_of, read_matrix

if TYPE_CHECKING:
    import pandas as pd

    from nullforest.data.readers import Table
    from nullforest.features.groups import GroupSelection
    from nullforest.selection.selection import Selection


#: Kinds of data that are written as .h5ad.
_OF_CELLS = ("h5ad", "10x", "mtx")


def check_outputs(outputs: Outputs, data: list[Path], table: Table) -> None:
    """Refuse, before the forest is grown, files that these data do not give."""
    if outputs.h5ad is not None and kind_of(data) not in _OF_CELLS:
        raise InputError(
            "--h5ad writes the data again, which are neither an .h5ad file nor a 10x matrix; leave "
            "it out."
        )
    for name in ("maps", "clusters"):  # names of options and attributes alike
        if getattr(outputs, name) is not None and table.geometry is None:
            raise InputError(f"--{name} is for images, and {data[0]} is none; leave it out.")
    if outputs.clusters is not None and table.geometry is not None:
        table.geometry.neighbours()  # says where a mesh is missing


def groups_of(
    given: str | None, table: Table, outputs: Outputs
) -> tuple[Table, dict[str, list[int]] | None]:
    """The groups that --groups names, and the table with notes on them."""
    if given is None:
        if outputs.group_table is not None:
            raise InputError("--group-table needs groups; give --groups FILE.gmt, or atlas.")
        return table, None
    from nullforest.data.readers.omics.gene_sets import members_of, read_gmt, region_groups

    known = table.annotations
    if given == "atlas":
        if known is None or "region" not in known:
            raise InputError("--groups atlas needs the atlas of images; give --atlas FILE.")
        return table, region_groups(known["region"])
    if not Path(given).exists():
        raise InputError(f"There is no file {given}; give gene sets (GMT), or atlas.")
    symbols = None if known is None or "name" not in known else known["name"].tolist()
    sets = read_gmt(given)
    members, notes = members_of(sets, table.feature_names.tolist(), symbols, f"The sets of {given}")
    return replace(table, notes=(*table.notes, *notes)), members


def tested_groups(
    members: dict[str, list[int]] | None, table: Table, selection: Selection
) -> GroupSelection | None:
    """The groups at the error rate of the selection; correlations within them are computed."""
    if members is None:
        return None
    from nullforest.features.groups import select_groups

    chosen = selection.alpha, selection.error, selection.null
    return select_groups(selection.tally, members, *chosen, X=table.X)


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


def matrix_outputs(
    data: Path,
    table: Table,
    selection: Selection,
    groups: GroupSelection | None = None,
    layer: str | None = None,
) -> Writers:
    """Writers of the files that carry the results back, by their option."""
    from nullforest.features.clusters import find_clusters
    from nullforest.features.genes import write_h5ad, write_new_h5ad

    def clusters(path: Path) -> None:
        found = find_clusters(selection, table.geometry)
        with writing(path) as file:
            found.to_csv(file, index=False)

    def maps(path: Path) -> None:
        from nullforest.report.maps import write_maps

        write_maps(selection, table.geometry, path)

    def group_table(path: Path) -> None:
        assert groups is not None
        with writing(path) as file:
            groups.table.to_csv(file, index=False)

    def h5ad(path: Path) -> None:
        kind = kind_of([data])
        if kind == "h5ad" or kind is None:
            write_h5ad(data, path, selection, layer=layer)
        else:  # read again: the table has only cells and genes that were used
            write_new_h5ad(read_matrix([data], kind, MatrixOptions()), table, path, selection)

    return {
        "group-table": group_table,
        "h5ad": h5ad,
        "maps": maps,
        "clusters": clusters,
        "plot": lambda path: _draw(path, table, selection),
    }


def _draw(path: Path, table: Table, selection: Selection) -> None:
    if table.geometry is not None:
        from nullforest.report.maps import brain_figure

        figure = brain_figure(selection, table.geometry)
    else:
        known = table.annotations
        placed = known is not None and "chromosome" in known
        figure = selection.plot("manhattan" if placed else "counts").figure_
    with writing_beside(path) as partial:
        figure.savefig(partial, dpi=150)
