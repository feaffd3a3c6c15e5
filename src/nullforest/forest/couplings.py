"""Bins of the coupling of a node to the whole sample, in which forests count their nodes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: Bins of the coupling r of a node to the whole sample: narrow where most nodes lie, on a log
#: scale, since the null distribution changes with log r. The last edge lies above 1 so that r = 1,
#: the root of a tree grown on all samples, falls inside.
COUPLING_EDGES: NDArray[np.float64] = np.concatenate(
    [[0.0], np.geomspace(0.003, 0.98, 17), [1.0001]]
)
N_COUPLING_BINS = len(COUPLING_EDGES) - 1
