"""Tables with shadows: copies of all columns, the rows of each copy permuted as a whole.

A shadow has the values, the ties and the correlations of its feature and of the others in the same
copy, and no relation to the target; with blocks, none beyond that of the blocks. It competes for
nodes like a feature. Copies are made by index: the table keeps their ranks, not their values.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nullforest import _native
from nullforest._util.checks import n_threads
from nullforest._util.errors import InputError
from nullforest.data.category_order import CategoryOrder
from nullforest.data.dense import Floats, system_memory
from nullforest.data.rank_table import RankTable
from nullforest.data.targets import Target

Rows = NDArray[np.uint32]


def permuted_rows(
    n_samples: int, copies: int, seed: int, blocks: NDArray[np.int64] | None = None
) -> Rows:
    """Permutations of the rows, (copies, S): row i of copy j is row [j, i] of the table.

    With blocks, rows change places within their block only.
    """
    each = np.zeros(n_samples, np.int64) if blocks is None else blocks
    members = [np.flatnonzero(each == name) for name in np.unique(each)]
    rows = np.empty((copies, n_samples), np.uint32)
    for copy in range(copies):
        for number, own in enumerate(members):
            key = _native.tree_key(seed, 2**63 + copy * len(members) + number)  # no tree has it
            rows[copy, own] = own[_native.shuffle(len(own), key, len(own))]
    return rows


class ShadowedTable(RankTable):
    """A rank table followed by copies of its columns with permuted rows.

    Parameters
    ----------
    plain : RankTable
        The features; column f of copy j is column (j + 1) F + f of the table.
    rows : (k, S) uint32
        The rows of each copy; see :func:`permuted_rows`.
    n_jobs : int
        Threads.
    order : CategoryOrder, optional
        Orders the categories of the table, and those of each copy anew.
    """

    def __init__(
        self, plain: RankTable, rows: Rows, n_jobs: int = -1, order: CategoryOrder | None = None
    ) -> None:
        self.plain, self.rows, self.order = plain, rows, order
        self.feature_names, self.folder = plain.feature_names, None
        self.values, self._arrays = plain.values, None
        if order is None:
            self.native = plain.native.shadowed(rows, n_threads(n_jobs))
        else:
            self.native = _native.RankTable(self._columns(order), n_threads(n_jobs), 0, plain.bins)

    def _columns(self, order: CategoryOrder) -> Floats:
        """The columns and all copies; the order of a category differs from copy to copy."""
        X = self.plain.matrix
        S, F = X.shape
        needed = X.itemsize * S * F * (len(self.rows) + 1.0)
        if needed > system_memory() / 2:
            raise InputError(
                f"The table with its shadows would take {needed / 2**30:.3g} GiB; encode the "
                "categories as numbers, or give fewer shadows."
            )
        columns = np.empty((S, F * (len(self.rows) + 1)), X.dtype, order="F")
        columns[:, :F] = order.ordered(X)
        for copy, rows in enumerate(self.rows, start=1):
            columns[:, copy * F : (copy + 1) * F] = order.ordered(X[rows])
        return columns

    def __reduce__(self) -> Any:
        """What is sent to another process: the columns and the permutations."""
        return ShadowedTable, (self.plain, self.rows, -1, self.order)

    def without_values(self) -> RankTable:
        """The same table without the values of X."""
        light = self.plain.without_values()
        if light is self.plain or self.order is not None:  # categories are ordered by their values
            return self
        if self._light is None:
            self._light = ShadowedTable(light, self.rows)
        return self._light

    @property
    def shadow_strata(self) -> NDArray[np.int64]:
        """Strata of the features; ordered by the target, a category has one of its own.

        It is selected more often than numbers of as many levels.
        """
        strata, categories = self.plain.strata.features, self.plain.categories
        if categories is None:
            return strata
        return np.unique(2 * strata + categories, return_inverse=True)[1].astype(np.int64)

    @property
    def copies(self) -> int:
        """Number of copies."""
        return len(self.rows)


def shadowed(
    table: RankTable, copies: int, seed: int, target: Target, n_jobs: int = -1
) -> ShadowedTable:
    """The table with its shadows; categories are ordered by the target, anew in each copy."""
    order = None
    if table.categories is not None:
        order = CategoryOrder.by_target(table.categories, target)
    return ShadowedTable(
        table, permuted_rows(table.shape[0], copies, seed, target.blocks), n_jobs, order
    )
