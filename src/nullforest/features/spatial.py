"""Groups of features that are neighbours in space, from coordinates or from a mesh.

Images have more places than can be tested one by one; groups of neighbouring places bring the
number of tests down (the paper's Discussion).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import dijkstra

from nullforest._util.errors import InputError
from nullforest.features.mesh import distance_to, edge_graph


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
        own = dijkstra(graph, indices=[seed], limit=float(distance[seed]))[0]
        nearer = own < distance
        label[nearer], distance[nearer] = number, own[nearer]
    return label
