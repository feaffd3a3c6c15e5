"""Connected clusters of selected voxels or vertices."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from nullforest._util.errors import InputError
from nullforest.data.readers.images.geometry import Geometry
from nullforest.selection.selection import Selection


def find_clusters(selection: Selection, geometry: Geometry | None) -> pd.DataFrame:
    """Find the connected clusters of selected voxels (sharing a face) or vertices (an edge).

    Parameters
    ----------
    selection : Selection
        Of the features of a :class:`~nullforest.data.readers.Table`, with its `columns` and
        `annotations`.
    geometry : Geometry
        That of the table.

    Returns
    -------
    DataFrame
        One row per cluster, the largest first: cluster, size, peak (the feature of the smallest
        p-value; of several, that of the largest count), its p_value and q_value; x, y and z of
        the peak, where coordinates are known; with an atlas, region of the peak, and regions: those
        that the cluster extends over, with their share.

    Examples
    --------
    A cube of 8 voxels, brighter in the patients, in images of 60 people:

    >>> import nibabel, numpy as np, nullforest as nf, pandas as pd, pathlib, tempfile
    >>> ill, folder = np.arange(60) % 2, pathlib.Path(tempfile.mkdtemp())
    >>> images = np.random.default_rng(0).normal(size=(8, 9, 10, 60))
    >>> images[3:5, 4:6, 5:7] += 2 * ill
    >>> image = nibabel.Nifti1Image(images, np.diag([3, 3, 3, 1]))
    >>> nibabel.save(image, folder / "all.nii.gz")
    >>> people = pd.DataFrame({"ill": ill, "age": 50}).to_csv(folder / "people.csv", index=False)
    >>> table = nf.read_table(folder / "all.nii.gz", "ill", sample_table=folder / "people.csv")
    >>> selection = nf.select_table(table, trees=1000)
    >>> nf.find_clusters(selection, table.geometry)[["cluster", "size", "peak"]]
       cluster  size         peak
    0        1     8  voxel 3 5 5
    """
    numbers = cluster_numbers(selection, geometry)
    table = selection.table
    table["cluster"] = numbers[table.index]
    found = []
    beside = [name for name in ("x", "y", "z", "region") if name in table.columns]
    for number, members in table[table["cluster"] > 0].groupby("cluster", sort=True):
        peak = members.iloc[0]  # the table is sorted by p-value, then by count
        row = {"cluster": number, "size": len(members), "peak": peak["feature"]}
        row |= {name: peak[name] for name in ("p_value", "q_value", *beside)}
        if "region" in table.columns:
            row["regions"] = _shares(members["region"].tolist())
        found.append(row)
    columns = ["cluster", "size", "peak", "p_value", "q_value", *beside]
    columns += ["regions"] if "region" in beside else []
    return pd.DataFrame(found, columns=columns)


def cluster_numbers(selection: Selection, geometry: Geometry | None) -> NDArray[np.int64]:
    """Cluster of each feature, from 1 for the largest on; 0 for those that are not selected."""
    if geometry is None:
        raise InputError("The data are no images, so there are no clusters; leave out --clusters.")
    numbers = np.zeros(len(selection.support), np.int64)
    if not selection.support.any() or selection.columns is None:
        return numbers
    places = selection.columns[selection.support]
    graph = geometry.neighbours()[places][:, places]
    label = connected_components(graph, directed=False)[1]
    sizes = np.bincount(label)
    # The largest first; of equal ones that with the smallest p-value.
    smallest = np.full(len(sizes), np.inf)
    np.minimum.at(smallest, label, selection.pvalues[selection.support])
    rank = np.empty(len(sizes), np.int64)
    rank[np.lexsort((np.arange(len(sizes)), smallest, -sizes))] = np.arange(1, len(sizes) + 1)
    numbers[selection.support] = rank[label]
    return numbers


def _shares(regions: list[str]) -> str:
    """Regions with the share of the cluster in each, the largest first.

    Examples
    --------
    >>> _shares(["Insula", "Insula", "", "Putamen"])
    'Insula 50%, none 25%, Putamen 25%'
    """
    counted = Counter(region or "none" for region in regions)
    ordered = sorted(counted.items(), key=lambda item: (-item[1], item[0].lower()))
    return ", ".join(f"{name} {number / len(regions):.0%}" for name, number in ordered)
