"""Geodesic distances along the edges of a triangle mesh, and what follows from them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from nullforest._util.errors import InputError

Floats = NDArray[np.float64]
#: Full width at half maximum of a Gaussian, in standard deviations.
FWHM = 2.0 * np.sqrt(2.0 * np.log(2.0))
#: Rows of distances held at once; 512 × 10 242 doubles are 40 MB.
_BLOCK = 512


def edge_graph(coordinates: ArrayLike, faces: ArrayLike) -> csr_array:
    """Lengths of the edges of a triangle mesh, as a symmetric sparse matrix.

    Examples
    --------
    >>> graph = edge_graph([[0, 0, 0], [3, 0, 0], [0, 4, 0]], [[0, 1, 2]])
    >>> graph.toarray()
    array([[0., 3., 4.],
           [3., 0., 5.],
           [4., 5., 0.]])
    """
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


def grow_region(graph: csr_array, seed_vertex: int, size: int) -> NDArray[np.bool_]:
    """The `size` vertices nearest to a seed vertex along the surface; they are connected.

    A vertex on a shortest path is nearer than the path's end, so all of the path lies in the
    region with it.

    Examples
    --------
    >>> graph = edge_graph([[0, 0, 0], [3, 0, 0], [0, 4, 0]], [[0, 1, 2]])
    >>> grow_region(graph, seed_vertex=0, size=2).tolist()
    [True, True, False]
    """
    n = graph.shape[0]
    if not 0 <= seed_vertex < n:
        raise InputError(f"seed_vertex = {seed_vertex} is not one of the {n} vertices.")
    if not 0 <= size <= n:
        raise InputError(f"A region of {size} vertices does not fit on {n} vertices.")
    distance = distance_to(graph, seed_vertex)
    order = np.argsort(distance, kind="stable")[:size]
    if size and not np.isfinite(distance[order[-1]]):
        reached = int(np.isfinite(distance).sum())
        raise InputError(
            f"Only {reached} vertices can be reached from vertex {seed_vertex}, fewer than the "
            f"{size} of the region; choose another seed vertex or a smaller region."
        )
    region = np.zeros(n, bool)
    region[order] = True
    return region


def smoothing_kernel(graph: csr_array, fwhm: float) -> csr_array:
    """Gaussian weights of geodesic distance; independent unit noise stays of unit variance.

    Row v holds exp(-d²/2s²), s = fwhm/2.355, for the vertices within 3s of v, scaled to a sum
    of squares of one.

    Examples
    --------
    >>> graph = edge_graph([[0, 0, 0], [3, 0, 0], [0, 4, 0]], [[0, 1, 2]])
    >>> kernel = smoothing_kernel(graph, fwhm=5.0)
    >>> (kernel.multiply(kernel)).sum(axis=1).round(12).tolist()
    [1.0, 1.0, 1.0]
    """
    n, sigma = graph.shape[0], fwhm / FWHM
    rows, columns, weights = [], [], []
    for start in range(0, n, _BLOCK):
        block = np.arange(start, min(start + _BLOCK, n))
        distance = dijkstra(graph, indices=block, limit=3.0 * sigma)
        row, column = np.nonzero(np.isfinite(distance))
        rows.append(block[row])
        columns.append(column)
        weights.append(np.exp(-0.5 * (distance[row, column] / sigma) ** 2))
    kernel = csr_array(
        (np.concatenate(weights), (np.concatenate(rows), np.concatenate(columns))), shape=(n, n)
    )
    norm = np.sqrt(kernel.multiply(kernel).sum(axis=1))
    return csr_array(kernel.multiply((1.0 / norm)[:, None]))
