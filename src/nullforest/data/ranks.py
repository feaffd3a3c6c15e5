"""Ranks of the samples in each feature, and the correlations of such ranks.

Rows are features. Equal values share their mean rank (mid-ranks), and the product of two rows of
:func:`standardised_ranks` is Spearman's correlation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from nullforest.data.rank_table import RankTable
    from nullforest.data.targets import Target

Floats = NDArray[np.float64]

#: Columns whose pairs are correlated for their mean: those of 300 estimate it to 1e-4.
FEWEST_COLUMNS, MOST_COLUMNS = 20, 300
#: Values (samples × columns) above which fewer columns are used: half a megabyte.
MOST_VALUES = 120_000
#: Values that are ranked at a time, for which a few arrays of doubles are needed.
_AT_ONCE = 8_192
#: Rows and columns of the parts that are multiplied.
_ROWS, _COLUMNS = 256, 30


def midranks(columns: NDArray[Any]) -> tuple[Floats, NDArray[np.bool_]]:
    """Ranks within each row, ties at their mean rank, 0 where missing; and which are present.

    Examples
    --------
    >>> midranks(np.array([[3.0, 1.0, np.nan, 3.0]]))[0].tolist()
    [[2.5, 1.0, 0.0, 2.5]]
    """
    order = np.argsort(columns, axis=1)  # missing values last
    ordered = np.take_along_axis(columns, order, axis=1)
    differs = np.ones(columns.shape, bool)
    differs[:, :-1] = ordered[:, 1:] != ordered[:, :-1]
    ranks = ranks_of_order(order, differs)
    present = ~np.isnan(columns)
    ranks[~present] = 0.0
    return ranks, present


def ranks_of_order(order: NDArray[Any], differs: NDArray[Any]) -> Floats:
    """Ranks from 1 on of samples that are sorted already, ties at their mean rank.

    Parameters
    ----------
    order : (k, S) int
        The samples of each row, by increasing value.
    differs : (k, S) bool or uint8
        Whether the value at this place differs from the next one.
    """
    k, S = order.shape
    last_of_tie = differs.astype(bool)
    last_of_tie[:, -1] = True
    ends = np.flatnonzero(last_of_tie)
    lengths = np.diff(ends, prepend=-1)
    ranks = np.empty((k, S))
    tied = np.repeat(ends % S + 1 - (lengths - 1) / 2, lengths).reshape(k, S)
    np.put_along_axis(ranks, order, tied, axis=1)
    return ranks


def standardised_ranks(columns: NDArray[Any]) -> Floats:
    """Ranks within each row, centred and of length one; 0 where missing or constant.

    The product of two rows is Spearman's correlation, missing values at the mean rank.
    """
    ranks, present = midranks(columns)
    mean = (present.sum(axis=1, keepdims=True) + 1) / 2
    ranks = np.where(present, ranks - mean, 0.0)
    length = np.sqrt(np.square(ranks).sum(axis=1, keepdims=True))
    return ranks / np.where(length > 1e-9, length, np.inf)


def mean_r2(table: RankTable, target: Target) -> float:
    """Mean squared rank correlation between features, conditional on the target.

    Its expectation for independent features is subtracted: zero for these, one for identical
    columns. The ranks are residuals after regression on the target, so that relevant features do
    not count as correlated. The columns are evenly spaced in the table; nothing is random.

    Examples
    --------
    >>> from nullforest.data.rank_table import RankTable
    >>> from nullforest.data.targets import Target
    >>> rng = np.random.default_rng(0)
    >>> y = Target("variance", rng.normal(size=(60, 1)))
    >>> common, X = rng.normal(size=(60, 1)), rng.normal(size=(60, 400))
    >>> round(mean_r2(RankTable(X), y), 2), bool(mean_r2(RankTable(X + common), y) > 0.1)
    (0.0, True)
    """
    n_samples, n_features = table.shape
    number = int(np.clip(MOST_VALUES // n_samples, FEWEST_COLUMNS, MOST_COLUMNS))
    columns = np.unique(np.linspace(0, n_features - 1, number).astype(np.int64))
    explained = _explained(target, n_samples)
    freedom = n_samples - explained.shape[1]
    if freedom < 2:
        return 0.0
    ranks = np.empty((n_samples, len(columns)), np.float32)  # seven digits are enough
    at_once = max(1, _AT_ONCE // n_samples)
    for begin in range(0, len(columns), at_once):
        block = [table.native.column(int(c))[:2] for c in columns[begin : begin + at_once]]
        order, differs = map(np.array, zip(*block, strict=True))
        ranks[:, begin : begin + at_once] = ranks_of_order(order, differs).T - 1
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


def _products(columns: NDArray[np.float32]) -> NDArray[np.float32]:
    """Inner products of all pairs of columns.

    In parts of at most 262 144 multiplications, which OpenBLAS leaves to one thread. After a larger
    product its threads wait for another, on the processors that are to grow the trees.
    """
    n_rows, n_columns = columns.shape
    padding = [(0, -n_rows % _ROWS), (0, -n_columns % _COLUMNS)]
    parts = np.pad(columns, padding).reshape(-1, _ROWS, (n_columns - 1) // _COLUMNS + 1, _COLUMNS)
    left, right = parts.transpose(0, 2, 3, 1), parts.transpose(0, 2, 1, 3)
    return np.asarray(np.matmul(left[:, :, None], right[:, None]).sum(0), np.float32)


def _explained(target: Target, n_samples: int) -> NDArray[np.float32]:
    """Orthonormal columns that span a constant and y."""
    if target.criterion == "neighbourhood":  # the target is a matrix of distances
        spanning = np.ones((n_samples, 1))
    elif target.n_classes:
        spanning = np.eye(target.n_classes)[np.asarray(target.values)]
        sizes = spanning.sum(0)
        return np.asarray(spanning[:, sizes > 0] / np.sqrt(sizes[sizes > 0]), np.float32)
    else:
        spanning = np.column_stack([np.ones(n_samples), target.values])
    basis, sizes, _ = np.linalg.svd(spanning, full_matrices=False)
    return basis[:, sizes > 1e-9 * sizes.max()].astype(np.float32)
