"""Mean squared correlation between features, which probes, being independent, do not share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nullforest.data.rank_table import RankTable
from nullforest.data.targets import Target

Floats = NDArray[np.float32]  # ranks to seven digits are enough

#: Columns whose pairs are correlated: those of 300 estimate the mean to 1e-4.
FEWEST_COLUMNS, MOST_COLUMNS = 20, 300
#: Values (samples × columns) above which fewer columns are used: half a megabyte.
MOST_VALUES = 120_000
#: Rows and columns of the parts that are multiplied.
_ROWS, _COLUMNS = 256, 30


def mean_r2(table: RankTable, target: Target) -> float:
    """Mean squared rank correlation between features, conditional on the target.

    Its expectation for independent features is subtracted: zero for these, one for identical
    columns. The ranks are residuals after regression on the target, so that relevant features do
    not count as correlated. The columns are evenly spaced in the table; nothing is random.

    Examples
    --------
    >>> from nullforest.data.targets import Target
    >>> rng = np.random.default_rng(0)
    >>> y = Target("variance", rng.normal(size=(60, 1)))
    >>> shared, own = rng.normal(size=(60, 1)), rng.normal(size=(60, 400))
    >>> round(mean_r2(RankTable(own), y), 2), bool(mean_r2(RankTable(own + shared), y) > 0.1)
    (0.0, True)
    """
    n_samples, n_features = table.shape
    number = int(np.clip(MOST_VALUES // n_samples, FEWEST_COLUMNS, MOST_COLUMNS))
    columns = np.unique(np.linspace(0, n_features - 1, number).astype(np.int64))
    explained = _explained(target, n_samples)
    freedom = n_samples - explained.shape[1]
    if freedom < 2:
        return 0.0
    ranks = np.empty((n_samples, len(columns)), np.float32)
    for place, column in enumerate(columns):
        order, differs, _ = table.native.column(int(column))
        ranks[:, place] = _mid_ranks(order, differs)
    ranks /= n_samples
    ranks -= np.einsum("se,ef->sf", explained, np.einsum("se,sf->ef", explained, ranks))
    length = np.sqrt(np.einsum("ij,ij->j", ranks, ranks))
    varied = length > 1e-5 * np.sqrt(n_samples)  # neither constant nor a function of y
    if not varied.all():
        ranks, length = ranks[:, varied], length[varied]
    n = len(length)
    if n < 2:
        return 0.0
    ranks /= length
    squares = (_products(ranks) ** 2).sum(dtype=np.float64) - n
    # Rounded, since the order of summation differs between machines.
    return round(float(max(squares / (n * (n - 1)) - 1 / freedom, 0.0)), 4)


def _products(columns: Floats) -> Floats:
    """Inner products of all pairs of columns.

    In parts of at most 262 144 multiplications, which OpenBLAS leaves to one thread. After a larger
    product its threads wait for another, on the processors that are to grow the trees.
    """
    n_rows, n_columns = columns.shape
    padding = [(0, -n_rows % _ROWS), (0, -n_columns % _COLUMNS)]
    parts = np.pad(columns, padding).reshape(-1, _ROWS, (n_columns - 1) // _COLUMNS + 1, _COLUMNS)
    left, right = parts.transpose(0, 2, 3, 1), parts.transpose(0, 2, 1, 3)
    return np.asarray(np.matmul(left[:, :, None], right[:, None]).sum(0), np.float32)


def _mid_ranks(order: NDArray[np.uint32], differs: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Ranks of the samples, equal values at their mean rank; `rankdata` would sort once more."""
    middle: NDArray[Any] = np.arange(len(order))
    if not differs[:-1].all():
        group = np.cumsum(np.append(0, differs[:-1]), dtype=np.int64)
        middle = (np.bincount(group, middle) / np.bincount(group))[group]
    ranks = np.empty(len(order))
    ranks[order] = middle
    return ranks


def _explained(target: Target, n_samples: int) -> Floats:
    """Orthonormal columns that span a constant and y."""
    if target.criterion == "neighbourhood":  # the target is a matrix of distances
        known = np.ones((n_samples, 1))
    elif target.n_classes:
        known = np.eye(target.n_classes)[np.asarray(target.values)]
        sizes = known.sum(0)
        return np.asarray(known[:, sizes > 0] / np.sqrt(sizes[sizes > 0]), np.float32)
    else:
        known = np.column_stack([np.ones(n_samples), target.values])
    basis, sizes, _ = np.linalg.svd(known, full_matrices=False)
    return basis[:, sizes > 1e-9 * sizes.max()].astype(np.float32)
