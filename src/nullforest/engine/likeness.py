"""How much are the features alike? Probes are independent of all columns; real features are not."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nullforest.engine.ranking import RankTable
from nullforest.engine.targets import Target

Floats = NDArray[np.float64]

#: Columns that are compared with each other: their 45 000 pairs know the mean to 1e-4.
MOST_COLUMNS = 300


def likeness(table: RankTable, target: Target) -> float:
    """Mean squared rank correlation of pairs of features, beyond chance and given y.

    Zero for independent features, one for columns that are all the same. What y explains is taken
    out first, so that relevant features do not count as alike. The columns stand evenly apart in
    the table, so that nothing is random.

    Examples
    --------
    >>> from nullforest.engine.targets import Target
    >>> rng = np.random.default_rng(0)
    >>> y = Target("variance", rng.normal(size=(60, 1)))
    >>> shared, own = rng.normal(size=(60, 1)), rng.normal(size=(60, 400))
    >>> round(likeness(RankTable(own), y), 2), bool(likeness(RankTable(own + shared), y) > 0.1)
    (0.0, True)
    """
    n_samples, n_features = table.shape
    columns = np.unique(np.linspace(0, n_features - 1, MOST_COLUMNS).astype(np.int64))
    explained = _explained(target, n_samples)
    free = n_samples - explained.shape[1]
    if free < 2:
        return 0.0
    ranks = np.stack([_mid_ranks(*table.native.column(int(column))[:2]) for column in columns], 1)
    ranks -= explained @ (explained.T @ ranks)
    length = np.sqrt((ranks**2).sum(0))
    varied = length > 1e-9 * n_samples**1.5  # neither constant nor a function of y
    ranks = ranks[:, varied] / length[varied]
    n = ranks.shape[1]
    if n < 2:
        return 0.0
    squares = ((ranks.T @ ranks) ** 2).sum() - n
    # Rounded, since the order in which sums are taken differs from machine to machine.
    return round(float(max(squares / (n * (n - 1)) - 1 / free, 0.0)), 6)


def _mid_ranks(order: NDArray[np.uint32], differs: NDArray[np.uint8]) -> Floats:
    """Ranks of the samples, equal values sharing the middle one."""
    group = np.cumsum(np.append(0, differs[:-1]), dtype=np.int64)
    middle = np.bincount(group, np.arange(len(order))) / np.bincount(group)
    ranks = np.empty(len(order))
    ranks[order] = middle[group]
    return ranks


def _explained(target: Target, n_samples: int) -> Floats:
    """Orthonormal columns that span a constant and y."""
    if target.criterion == "neighbourhood":  # y is a matrix of distances
        known = np.ones((n_samples, 1))
    elif target.n_classes:
        known = np.eye(target.n_classes)[np.asarray(target.values)]
    else:
        known = np.column_stack([np.ones(n_samples), target.values])
    basis, sizes, _ = np.linalg.svd(known, full_matrices=False)
    return np.asarray(basis[:, sizes > 1e-9 * sizes.max()])
