"""The fsaverage5 surface of nilearn, and synthetic maps of cortical thickness on it.

The mesh and the mean thickness of the template's brains come with the package nilearn; the
variation between people is replaced by smooth Gaussian fields on the mesh.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nullforest._util.errors import optional
from nullforest.features.mesh import edge_graph, smoothing_kernel

Floats = NDArray[np.float64]
#: Full width at half maximum to which the paper's maps were smoothed, in millimetres.
SMOOTHNESS = 5.0
#: People in the paper's collection of maps: the rank of the covariance.
N_SUBJECTS = 315
#: Standard deviation of thickness between people, in millimetres: the usual size at one vertex.
#: It sets the scale of the maps alone, since forests see ranks.
DEVIATION = 0.4


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
    """Synthetic thickness maps, 315 people × 10 242 vertices; the same on every call."""
    mean = np.asarray(_template("thick_left"), float)
    kernel = smoothing_kernel(fsaverage5_graph(), SMOOTHNESS)
    noise = np.random.default_rng(0).standard_normal((len(mean), N_SUBJECTS))
    return mean + DEVIATION * (kernel @ noise).T
