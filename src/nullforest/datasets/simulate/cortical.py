r"""Maps of cortical thickness with a region of atrophy: the paper's "Data Generation Model".

From maps X̃ (subjects × vertices here) come the mean μ and the singular value decomposition of
X̃ - μ = V Σ Uᵀ. A synthetic map is x = U Σ v + μ, v ~ N(0, I/S), which has the mean and the
covariance C of the maps. Class y = 1 has a thinner cortex in a connected region r:

    x = U Σ v + μ - y · r · 2ρ √diag(C) / √(1-ρ²),

so that each vertex of the region has the correlation -ρ with the label.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from nullforest._util.errors import InputError, optional
from nullforest.datasets.simulate.cortical_surface import Maps, read_maps, read_mesh
from nullforest.datasets.simulate.independent import balanced_labels, float_type, mean_shift
from nullforest.features.spatial import distance_to, edge_graph

Floats = NDArray[np.float64]
#: Full width at half maximum of a Gaussian, in standard deviations.
FWHM = 2.0 * np.sqrt(2.0 * np.log(2.0))
#: Full width at half maximum to which the paper's maps were smoothed, in millimetres.
SMOOTHNESS = 5.0
#: People in the paper's collection of maps: the rank of the covariance.
N_SUBJECTS = 315
#: Standard deviation of thickness between people, in millimetres: the usual size at one vertex.
#: It sets the scale of the maps alone, since forests see ranks.
DEVIATION = 0.4
#: Rows of distances held at once; 512 × 10 242 doubles are 40 MB.
_BLOCK = 512


@dataclass(frozen=True, eq=False)
class CorticalModel:
    """Mean and covariance of maps on a surface, to draw new ones from.

    Make one with :meth:`fit`.

    Attributes
    ----------
    mean : (V,) float
        Mean map μ.
    modes : (R, V) float
        Σ Uᵀ / √S: a map is a standard normal row of length R times this, plus the mean.
    graph : (V, V) sparse
        Edge lengths of the mesh.

    Examples
    --------
    >>> import numpy as np, nullforest as nf
    >>> square = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], [[0, 1, 2], [1, 3, 2]]
    >>> maps = np.random.default_rng(0).normal(2.5, 0.3, size=(30, 4))
    >>> model = nf.simulate.CorticalModel.fit(maps, square)
    >>> model.n_vertices, model.graph.nnz  # four corners, five edges in both directions
    (4, 10)
    """

    mean: Floats
    modes: Floats
    graph: csr_array

    @classmethod
    def fit(cls, source: Any = None, mesh: Any = None) -> CorticalModel:
        """Estimate mean and covariance of maps.

        Parameters
        ----------
        source : array-like, path or list of paths, optional
            Subjects × vertices (NPZ, GIFTI, MGH, CIFTI; see `read_maps` in `surfaces.py`). Where
            not given: smooth fields around the mean thickness of fsaverage5, which needs the
            extra "neuro".
        mesh : path or pair (coordinates, faces), optional
            The surface; fsaverage5, left hemisphere, where not given.
        """
        maps = Maps(smooth_maps()) if source is None else read_maps(source)
        graph = fsaverage5_graph() if mesh is None else edge_graph(*read_mesh(mesh))
        if maps.vertices is not None:
            _check_vertices(maps.vertices, graph.shape[0])
            graph = csr_array(graph[maps.vertices][:, maps.vertices])
        n_subjects, n_vertices = maps.values.shape
        if graph.shape[0] != n_vertices:
            raise InputError(
                f"The maps have {n_vertices} vertices, the mesh {graph.shape[0]}; give the mesh "
                "they belong to, or name the vertices they hold."
            )
        mean = maps.values.mean(axis=0)
        centred = maps.values - mean
        # Of X = V Σ Uᵀ only Σ Uᵀ = VᵀX is needed, and V are the eigenvectors of X Xᵀ: far
        # smaller than X where there are many more vertices than subjects.
        squares, V = np.linalg.eigh(centred @ centred.T)
        kept = squares > squares[-1] * 1e-12  # the rest is rounding: the mean took one dimension
        return cls(mean, V[:, kept].T @ centred / np.sqrt(n_subjects), graph)

    @property
    def n_vertices(self) -> int:
        """Vertices V of the maps: the features."""
        return len(self.mean)

    @property
    def deviation(self) -> Floats:
        """Standard deviation of every vertex, √diag(C)."""
        return np.asarray(np.linalg.norm(self.modes, axis=0), float)

    def region(self, share: float, seed_vertex: int) -> NDArray[np.bool_]:
        """The share of all vertices that lies nearest to a seed vertex along the surface.

        It is connected: a vertex on a shortest path is nearer than the path's end.
        """
        if not 0.0 <= share <= 1.0:
            raise InputError(f"A region's share of the vertices must lie in 0…1, not {share}.")
        if not 0 <= seed_vertex < self.n_vertices:
            raise InputError(
                f"seed_vertex = {seed_vertex} is not one of the {self.n_vertices} vertices."
            )
        size = 0 if share == 0 else max(1, round(share * self.n_vertices))
        distance = distance_to(self.graph, seed_vertex)
        reached = int(np.isfinite(distance).sum())
        if size > reached:
            raise InputError(
                f"Only {reached} vertices can be reached from vertex {seed_vertex}, fewer than the "
                f"{size} of the region; choose another seed vertex or a smaller region."
            )
        region = np.zeros(self.n_vertices, bool)
        region[np.argsort(distance, kind="stable")[:size]] = True
        return region

    def distance(self, region: NDArray[np.bool_]) -> Floats:
        """Geodesic distance of every vertex to a region; infinite where there is none."""
        return distance_to(self.graph, np.flatnonzero(region))

    def draw(
        self,
        n_samples: int,
        region: NDArray[np.bool_],
        relevance: float = 0.5,
        seed: int = 0,
        *,
        dtype: DTypeLike = np.float64,
    ) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Draw maps and labels; the cortex of class 1 is thinner in the region."""
        kind = float_type(dtype)
        rng = np.random.default_rng(seed)
        y = balanced_labels(n_samples, rng)
        X = rng.standard_normal((n_samples, len(self.modes)), dtype=kind) @ self.modes.astype(kind)
        X += self.mean.astype(kind)
        atrophy = mean_shift(relevance) * self.deviation[region]
        X[:, region] -= (y[:, None] * atrophy).astype(kind)
        return X, y


def cortical(
    n_samples: int,
    region_share: float = 0.01,
    relevance: float = 0.5,
    *,
    source: Any = None,
    mesh: Any = None,
    seed_vertex: int | None = None,
    seed: int = 0,
    dtype: DTypeLike = np.float64,
) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.bool_]]:
    """Draw maps of cortical thickness, thinner in a connected region for one of two classes.

    Parameters
    ----------
    n_samples, seed, dtype
        As in :func:`nullforest.simulate.independent`.
    region_share : float
        Share of the vertices that is related to the label; 0 for none.
    relevance : float
        Strength ρ: each vertex of the region has the correlation -ρ with the label.
    source, mesh
        As in :meth:`CorticalModel.fit`; or a fitted model as the source, which saves the fitting.
    seed_vertex : int, optional
        Middle of the region; drawn by the seed where not given.

    Returns
    -------
    X : (S, V) array
    y : (S,) array of 0 and 1
    relevant : (V,) array of bool
        The region.

    Examples
    --------
    >>> import nullforest as nf
    >>> X, y, relevant = nf.simulate.cortical(20, region_share=0.01, seed=1)
    >>> X.shape, int(relevant.sum())
    ((20, 10242), 102)
    """
    model = source if isinstance(source, CorticalModel) else CorticalModel.fit(source, mesh)
    if seed_vertex is None:
        # A stream of its own: the same seed draws the same maps whatever the region.
        stream = np.random.default_rng([seed, 1])
        seed_vertex = int(stream.integers(model.n_vertices))
    region = model.region(region_share, seed_vertex)
    X, y = model.draw(n_samples, region, relevance, seed, dtype=dtype)
    return X, y, region


def _check_vertices(vertices: NDArray[np.int64], n: int) -> None:
    if vertices.min() < 0 or vertices.max() >= n:
        raise InputError(
            f"The maps name vertex {vertices.max()}, but the mesh has {n} vertices; give the mesh "
            "they belong to."
        )
    if len(np.unique(vertices)) != len(vertices):
        raise InputError("The maps name a vertex twice; every column needs a vertex of its own.")


def smoothing_kernel(graph: csr_array, fwhm: float) -> csr_array:
    """Gaussian weights of geodesic distance; independent unit noise stays of unit variance.

    Row v holds exp(-d²/2s²), s = fwhm/2.355, for the vertices within 3s of v, scaled to a sum
    of squares of one.
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


def _template(name: str) -> Any:
    what = "neuro", "The fsaverage5 surface"
    files = optional("nilearn.datasets", *what).fetch_surf_fsaverage("fsaverage5")
    return optional("nibabel", *what).load(files[name]).agg_data()


@lru_cache(maxsize=1)
def fsaverage5_graph() -> csr_array:
    """Edges of the left hemisphere of fsaverage5 (10 242 vertices), on the white surface."""
    coordinates, faces = _template("white_left")
    return edge_graph(coordinates, faces)


@lru_cache(maxsize=1)
def smooth_maps() -> Floats:
    """Synthetic thickness maps, 315 people × 10 242 vertices; the same on every call.

    The mean thickness of the template's brains comes with the package nilearn; the variation
    between people is replaced by smooth Gaussian fields on the mesh.
    """
    mean = np.asarray(_template("thick_left"), float)
    kernel = smoothing_kernel(fsaverage5_graph(), SMOOTHNESS)
    noise = np.random.default_rng(0).standard_normal((len(mean), N_SUBJECTS))
    return mean + DEVIATION * (kernel @ noise).T
