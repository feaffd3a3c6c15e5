"""Results in the formats of the data: annotated genes, maps, clusters, groups, pictures."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from nullforest._util.errors import InputError
from nullforest._util.files import writing, writing_beside
from nullforest.cli.outputs import Outputs, Writers
from nullforest.data.dataset import Dataset
from nullforest.data.readers.formats import kind_of
from nullforest.data.readers.roles import MatrixOptions

if TYPE_CHECKING:
    import pandas as pd

    from nullforest.features.groups import GroupSelection
    from nullforest.selection.selection import Selection

#: Kinds of data that are written as .h5ad.
_OF_CELLS = ("h5ad", "10x", "mtx")


class MatrixResults:
    """What a selection of images, genes or genotypes gives beside its table.

    What the data do not give is refused when it is made, before the forest is grown. `groups` is
    a file of gene sets (GMT), or "atlas"; `layer` is that of an .h5ad file.
    """

    def __init__(
        self,
        files: list[Path],
        data: Dataset,
        outputs: Outputs,
        groups: str | None,
        layer: str | None,
    ) -> None:
        if outputs.h5ad is not None and kind_of(files) not in _OF_CELLS:
            raise InputError(
                "--h5ad writes the data again, which are neither an .h5ad file nor a 10x matrix; "
                "leave it out."
            )
        if outputs.maps is not None and data.geometry is None:
            raise InputError(f"--maps is for images, and {files[0]} is none; leave it out.")
        self.file, self.data, self.layer = files[0], data, layer
        self.clusters: pd.DataFrame | None = None
        self.groups: GroupSelection | None = None
        self._members = None if groups is None else self._members_of(groups)

    def _members_of(self, groups: str) -> dict[str, list[int]]:
        """Features of each group that --groups names."""
        from nullforest.data.readers.omics.gene_sets import members_of, read_gmt, region_groups

        annotations = self.data.annotations
        if groups == "atlas":
            if annotations is None or "region" not in annotations:
                raise InputError("--groups atlas needs the atlas of images; give --atlas FILE.")
            return region_groups(annotations["region"])
        if not Path(groups).exists():
            raise InputError(f"There is no file {groups}; give gene sets (GMT), or atlas.")
        symbols = None
        if annotations is not None and "name" in annotations:
            symbols = annotations["name"].tolist()
        names = self.data.names.tolist()
        members, notes = members_of(read_gmt(groups), names, symbols, f"The sets of {groups}")
        self.data = replace(self.data, remarks=(*self.data.remarks, *notes))
        return members

    def of(self, selection: Selection) -> Selection:
        """The selection with the cluster of each voxel or vertex; groups are tested, too."""
        if self._members is not None:
            from nullforest.features.groups import select_groups

            rate = selection.alpha, selection.error, selection.null
            self.groups = select_groups(selection.tally, self._members, *rate, X=self.data.values)
        if self.data.geometry is None or not selection.n_selected:
            return selection
        import pandas as pd

        from nullforest.features.spatial import cluster_numbers, find_clusters

        with suppress(InputError):  # a surface without its mesh
            numbers = cluster_numbers(selection, self.data.geometry)
            annotations = selection.annotations
            annotations = pd.DataFrame() if annotations is None else annotations
            selection = replace(selection, annotations=annotations.assign(cluster=numbers))
            self.clusters = find_clusters(selection, self.data.geometry)
        return selection

    def writers(self, selection: Selection) -> Writers:
        """Writers of the files that carry the results back, by their option."""
        return {
            "group-table": lambda path: _write_csv(self.groups.table, path),  # type: ignore[union-attr]  # written with groups alone
            "h5ad": lambda path: self._write_h5ad(path, selection),
            "maps": lambda path: self._write_maps(path, selection),
            "plot": lambda path: self._draw(path, selection),
        }

    def _write_maps(self, path: Path, selection: Selection) -> None:
        from nullforest.features.spatial import find_clusters
        from nullforest.report.maps import write_maps

        write_maps(selection, self.data.geometry, path)
        with suppress(InputError):  # a surface without its mesh, which has no clusters
            _write_csv(find_clusters(selection, self.data.geometry), path / "clusters.csv")

    def _write_h5ad(self, path: Path, selection: Selection) -> None:
        from nullforest.features.genes import write_h5ad, write_new_h5ad

        kind = kind_of([self.file])
        if kind == "h5ad" or kind is None:
            write_h5ad(self.file, path, selection, layer=self.layer)
        else:  # read again: the data set has only cells that were used
            from nullforest.data.readers.matrix_files import read_matrix

            matrix = read_matrix([self.file], kind, MatrixOptions())
            write_new_h5ad(matrix, self.data, path, selection)

    def _draw(self, path: Path, selection: Selection) -> None:
        if self.data.geometry is not None:
            from nullforest.report.maps import brain_figure

            figure = brain_figure(selection, self.data.geometry)
        else:
            annotations = self.data.annotations
            placed = annotations is not None and "chromosome" in annotations
            figure = selection.plot("manhattan" if placed else "counts").figure_
        with writing_beside(path) as partial:
            figure.savefig(partial, dpi=150)


def _write_csv(frame: pd.DataFrame, path: Path) -> None:
    with writing(path) as file:
        frame.to_csv(file, index=False)
