"""Features in space: groups of neighbours, clusters of selected ones, distances on a mesh.

Images have more places than can be tested one by one; groups of neighbouring places bring the
number of tests down (the paper's Discussion). Distances are geodesic, along the edges of a
triangle mesh.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, dijkstra

from nullforest._util.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from nullforest.data.readers.images.geometry import Geometry
    from nullforest.selection.selection import Selection

Floats = NDArray[np.float64]


def groups_from_coordinates(coordinates: ArrayLike, width: ArrayLike) -> NDArray[np.str_]:
    """A label for each place: the box of a grid in which it lies.

    Parameters
    ----------
    coordinates : (F, d) array-like
        Place of each feature, such as voxel indices or millimetres.
    width : float or (d,) array-like
        Width of a box, in the units of the coordinates.

    Returns
    -------
    (F,) array of str
        Labels such as "0,2,1".

    Examples
    --------
    >>> groups_from_coordinates([[0, 0], [1, 0], [2, 0], [2, 5]], width=2).tolist()
    ['0,0', '0,0', '1,0', '1,2']
    """
    points = np.asarray(coordinates, float)
    if points.ndim != 2 or not np.isfinite(points).all():
        raise InputError("coordinates must be a table with one row of finite numbers per feature.")
    widths = np.broadcast_to(np.asarray(width, float), (points.shape[1],))
    if not np.all(widths > 0):
        raise InputError("width must be positive.")
    boxes = np.floor((points - points.min(axis=0)) / widths + 1e-9).astype(int)  # 0.6/0.2 is 3
    return np.array([",".join(map(str, box)) for box in boxes.tolist()], str)


def groups_from_mesh(
    coordinates: ArrayLike, faces: ArrayLike, n_groups: int, start: int = 0
) -> NDArray[np.int64]:
    """A parcel for each vertex: the nearest of seeds that lie far from each other on the surface.

    Each next seed is the vertex farthest from all seeds so far, along the edges of the mesh, so
    that parcels are connected and of similar extent.

    Parameters
    ----------
    coordinates : (F, 3) array-like
        Place of each vertex.
    faces : (n, 3) array-like of int
        Triangles.
    n_groups : int
        Number of parcels.
    start : int
        Vertex that is the first seed.

    Examples
    --------
    A strip of four triangles falls into its two ends.

    >>> strip = [[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0], [2, 0, 0], [2, 1, 0]]
    >>> groups_from_mesh(strip, [[0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 5]], n_groups=2).tolist()
    [0, 0, 0, 1, 1, 1]
    """
    graph = edge_graph(coordinates, faces)
    F = graph.shape[0]
    if not 1 <= n_groups <= F or not 0 <= start < F:
        raise InputError(f"{n_groups} parcels from vertex {start} do not fit on {F} vertices.")
    label = np.zeros(F, np.int64)
    distance = distance_to(graph, start)
    for number in range(1, n_groups):
        seed = int(np.argmax(distance))  # an unreached piece of the mesh is the farthest of all
        # A vertex farther from the new seed than the seed is from the old ones cannot change.
        from_seed = dijkstra(graph, indices=[seed], limit=float(distance[seed]))[0]
        nearer = from_seed < distance
        label[nearer], distance[nearer] = number, from_seed[nearer]
    return label


def find_clusters(selection: Selection, geometry: Geometry | None) -> pd.DataFrame:
    """Find the connected clusters of selected voxels (sharing a face) or vertices (an edge).

    Parameters
    ----------
    selection : Selection
        Of the features of a :class:`~nullforest.Dataset`, with its `columns` and `annotations`.
    geometry : Geometry
        That of the data set.

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
    import pandas as pd

    numbers = cluster_numbers(selection, geometry)
    table = selection.table
    table["cluster"] = numbers[table.index]
    rows = []
    beside = [name for name in ("x", "y", "z", "region") if name in table.columns]
    for number, members in table[table["cluster"] > 0].groupby("cluster", sort=True):
        peak = members.iloc[0]  # the table is sorted by p-value, then by count
        row = {"cluster": number, "size": len(members), "peak": peak["feature"]}
        row |= {name: peak[name] for name in ("p_value", "q_value", *beside)}
        if "region" in table.columns:
            row["regions"] = _shares(members["region"].tolist())
        rows.append(row)
    columns = ["cluster", "size", "peak", "p_value", "q_value", *beside]
    columns += ["regions"] if "region" in beside else []
    return pd.DataFrame(rows, columns=columns)


def cluster_numbers(selection: Selection, geometry: Geometry | None) -> NDArray[np.int64]:
    """Cluster of each feature, from 1 for the largest on; 0 for those that are not selected."""
    if geometry is None:
        raise InputError(
            "The data are no images, so that there are no clusters; give the geometry of images."
        )
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
    """Regions with the share of the cluster in each, the largest first."""
    counted = Counter(region or "none" for region in regions)
    ordered = sorted(counted.items(), key=lambda item: (-item[1], item[0].lower()))
    return ", ".join(f"{name} {number / len(regions):.0%}" for name, number in ordered)


def edge_graph(coordinates: ArrayLike, faces: ArrayLike) -> csr_array:
    """Lengths of the edges of a triangle mesh, as a symmetric sparse matrix."""
    points = np.asarray(coordinates, float)
    triangles = np.asarray(faces, np.int64)
    if points.ndim != 2 or triangles.ndim != 2 or triangles.shape[1] != 3:
        raise InputError("A mesh is a table of coordinates and a table of triangles (n × 3).")
    if triangles.size and (triangles.min() < 0 or triangles.max() >= len(points)):
        raise InputError(
            f"A triangle names vertex {triangles.max()}, but the mesh has {len(points)} vertices."
        )
    pairs = np.vstack([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    pairs = np.unique(np.sort(pairs, axis=1), axis=0)
    a, b = pairs.T.astype(np.int32)  # shortest paths take 64 bits from SciPy 1.13 on only
    length = np.linalg.norm(points[a] - points[b], axis=1)
    n = len(points)
    return csr_array((np.tile(length, 2), (np.r_[a, b], np.r_[b, a])), shape=(n, n))


def distance_to(graph: csr_array, vertices: ArrayLike) -> Floats:
    """Geodesic distance of every vertex to the nearest of some vertices.

    Examples
    --------
    >>> graph = edge_graph([[0, 0, 0], [3, 0, 0], [0, 4, 0]], [[0, 1, 2]])
    >>> distance_to(graph, [1]).tolist()
    [3.0, 0.0, 5.0]
    """
    places = np.atleast_1d(np.asarray(vertices, np.int64))
    if len(places) == 0:
        return np.full(graph.shape[0], np.inf)
    return np.asarray(dijkstra(graph, indices=places, min_only=True), float)
