"""How far do the counts stray from the paper's model, and is a tree crowded?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nullforest.tallies.tally import Tally


def paper_dispersion(tally: Tally) -> float:
    """Variance ÷ mean of a null feature's count under the paper's model.

    Each tree adds B_t · Bin(K_t, 1/F_t), B_t ~ Bernoulli(F_t/F), independently.
    """
    nodes = tally.nodes_per_tree.astype(float)
    pool = tally.pool_per_tree.astype(float)
    mean = nodes / tally.n_features
    second = mean * (1 - 1 / pool) + pool / tally.n_features * (nodes / pool) ** 2
    total = mean.sum()
    return float((second - mean**2).sum() / total) if total > 0 else 1.0


def dispersion(tally: Tally, counts: NDArray[np.int64]) -> float:
    """Variance ÷ mean of some features' counts, in units of the paper's model.

    Near 1 where the paper's assumptions hold; it grows with the number of trees, since a null
    feature that is lucky in these samples stays lucky.
    """
    if len(counts) < 2 or counts.mean() == 0:
        return float("nan")
    expected = paper_dispersion(tally)
    observed = float(counts.var(ddof=1) / counts.mean())
    return observed / expected if expected > 0 else float("nan")


def crowding(tally: Tally) -> float:
    """Nodes of a tree ÷ features in its pool, averaged over the trees."""
    return float((tally.nodes_per_tree / tally.pool_per_tree).mean())
