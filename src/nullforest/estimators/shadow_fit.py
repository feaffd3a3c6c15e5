"""A forest of another library, fitted to a table with shadows, so that it can be tested."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from nullforest._util.errors import InputError
from nullforest.data.rank_table import RankTable
from nullforest.data.shadowed_table import LEAST_COPIES, default_copies, permuted_rows
from nullforest.tallies.null_columns import NullColumns
from nullforest.tallies.readers import tally as take_tally
from nullforest.tallies.tally import Tally


def copies_for(X: Any, n_jobs: int = -1) -> tuple[int, RankTable]:
    """Number of copies, and the rank table of X."""
    table = RankTable(X, n_jobs=n_jobs)
    return default_copies(table, blocks=False) or LEAST_COPIES, table


def shadow_tally_of(
    estimator: Any, X: Any, y: Any, copies: int, table: RankTable, **fit_params: Any
) -> Tally:
    """The tally of a clone of a forest, fitted to X beside permuted copies of it.

    Parameters
    ----------
    estimator : scikit-learn forest
        Its parameters are used as they are; shares of the features are those of all columns.
    X, y, **fit_params
        The data, numbers only.
    copies : int
        Shadows of each feature.
    table : RankTable
        Of X.
    """
    S, F = X.shape
    rows = permuted_rows(S, copies, seed=0)
    if sparse.issparse(X):
        matrix: Any = X
        matrix = matrix.tocsr()
        columns: Any = sparse.hstack([matrix, *(matrix[row] for row in rows)], format="csr")
    else:
        columns = np.concatenate([X, *(np.asarray(X)[row] for row in rows)], axis=1)
    tally = take_tally(clone(estimator).fit(columns, y, **fit_params), n_samples=X.shape[0])
    if tally.column_orders:
        raise InputError(
            f"A {type(estimator).__name__} splits the lowest column when gains tie; features would "
            "be favoured over their shadows. Use ForestSelector() without a forest."
        )
    counts = tally.counts.reshape(copies + 1, F)
    bins = 1 if tally.couplings is None else tally.couplings.shape[1]
    couplings = np.zeros((copies + 1, F, bins), np.int64)
    if tally.couplings is not None:
        couplings += tally.couplings.reshape(copies + 1, F, bins)
    return replace(
        tally,
        counts=counts[0],
        couplings=None if tally.couplings is None else couplings[0],
        null_columns=NullColumns.of_shadows(counts, couplings, table.strata.features, rows),
        levels=None,
        feature_names=None,
        notes=(),  # of null models that shadows replace
    )
