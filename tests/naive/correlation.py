"""Mean squared correlation between features, pair by pair."""

import numpy as np
from scipy.stats import rankdata


def mean_r2(X, known):
    """Mean squared rank correlation of the residuals after regression on the columns `known`."""
    known = np.column_stack(known)
    left = []
    for column in X.T:
        ranks = rankdata(np.where(np.isnan(column), np.inf, column))
        ranks = ranks - known @ np.linalg.lstsq(known, ranks, rcond=None)[0]
        if np.sqrt(ranks @ ranks) > 1e-6:
            left.append(ranks)
    squares = [(a @ b) ** 2 / (a @ a) / (b @ b) for i, a in enumerate(left) for b in left[:i]]
    free = len(X) - np.linalg.matrix_rank(known)
    return max(sum(squares) / len(squares) - 1 / free, 0.0)
