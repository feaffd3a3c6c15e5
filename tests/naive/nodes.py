"""The best split of one node: every split of every feature, by the definition."""

from __future__ import annotations

import math

import numpy as np


def impurity(criterion, y, w):
    """Gini, entropy in bits, sum of variances, or mean pairwise distance (y: rows of distances)."""
    total = sum(w)
    if criterion in ("gini", "entropy"):
        shares = [sum(wi for yi, wi in zip(y, w, strict=True) if yi == c) / total for c in set(y)]
        if criterion == "gini":
            return 1.0 - sum(s * s for s in shares)
        return -sum(s * math.log2(s) for s in shares if s > 0)
    if criterion == "variance":
        y = np.asarray(y, float).reshape(len(w), -1)
        mean = sum(wi * yi for yi, wi in zip(y, w, strict=True)) / total
        return float(
            sum(wi * ((yi - mean) ** 2).sum() for yi, wi in zip(y, w, strict=True)) / total
        )
    raise ValueError(criterion)


def pairwise(distance, members, w):
    """Mean distance over all pairs of the members, themselves included."""
    total = sum(w[i] for i in members)
    double = sum(w[i] * w[j] * distance[i][j] for i in members for j in members)
    return double / total**2


def decrease(criterion, y, w, members, left):
    """Impurity of the members less that of the two sides, each by its share of the weight."""
    right = [i for i in members if i not in left]

    def side(part):
        weight = sum(w[i] for i in part)
        if criterion == "neighbourhood":
            return weight * pairwise(y, part, w)
        return weight * impurity(criterion, [y[i] for i in part], [w[i] for i in part])

    return (side(members) - side(sorted(left)) - side(right)) / sum(w[i] for i in members)


def splits(column, members):
    """Every way in which one feature can divide the members: sets of those on the left."""
    known = [i for i in members if not math.isnan(column[i])]
    missing = {i for i in members if math.isnan(column[i])}
    values = sorted({column[i] for i in known})
    for value in values:
        below = {i for i in known if column[i] <= value}
        if len(below) < len(known):
            yield below
            if missing:
                yield below | missing
        elif missing and below:
            yield below


def best_decrease(criterion, X, y, w, min_leaf=1):
    """Largest decrease over all features and splits; None where no split is allowed."""
    members = [i for i in range(len(X)) if w[i] > 0]
    found = [
        decrease(criterion, y, w, members, left)
        for f in range(X.shape[1])
        for left in splits(X[:, f], members)
        if min_leaf <= len(left) <= len(members) - min_leaf
    ]
    return max(found) if found else None
