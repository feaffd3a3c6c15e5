"""Ranks by counting, and correlations of ranks pair by pair."""

import numpy as np


def mid_ranks(values):
    """Ranks from 1 on, ties at their mean rank, missing values at NaN."""
    return np.array(
        [
            np.nan if np.isnan(a) else (values < a).sum() + ((values == a).sum() + 1) / 2
            for a in values
        ]
    )


def spearman(a, b):
    """Rank correlation with missing values at the mean rank; 0 where one is constant."""
    a, b = (np.nan_to_num(ranks - np.nanmean(ranks)) for ranks in (mid_ranks(a), mid_ranks(b)))
    length = np.sqrt((a @ a) * (b @ b))
    return a @ b / length if length > 1e-9 else 0.0


def mean_r2(X, regressors):
    """Mean squared rank correlation of the residuals after regression on some columns."""
    regressors = np.column_stack(regressors)
    residuals = []
    for column in X.T:
        ranks = mid_ranks(np.where(np.isnan(column), np.inf, column))
        ranks = ranks - regressors @ np.linalg.lstsq(regressors, ranks, rcond=None)[0]
        if np.sqrt(ranks @ ranks) > 1e-6:
            residuals.append(ranks)
    squares = [
        (a @ b) ** 2 / (a @ a) / (b @ b) for i, a in enumerate(residuals) for b in residuals[:i]
    ]
    freedom = len(X) - np.linalg.matrix_rank(regressors)
    return max(sum(squares) / len(squares) - 1 / freedom, 0.0)
