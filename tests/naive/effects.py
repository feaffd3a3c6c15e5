"""Effect sizes, feature by feature and pair by pair."""

import numpy as np
from scipy.stats import spearmanr


def auc(high, low):
    """Share of the pairs in which the first value is larger, ties counted half."""
    if not len(high) or not len(low):
        return np.nan
    return float(np.mean([(a > b) + (a == b) / 2 for a in high for b in low]))


def difference(one, other):
    """Difference of the means in pooled standard deviations."""
    n, m = len(one), len(other)
    if not n or not m or n + m < 3:
        return np.nan
    largest = max(np.abs(one).max(), np.abs(other).max()) or 1.0
    one, other = one / largest, other / largest  # squares of 1e200 are no numbers
    pooled = (np.sum((one - one.mean()) ** 2) + np.sum((other - other.mean()) ** 2)) / (n + m - 2)
    whole = np.concatenate([one, other])
    if pooled <= 1e-12 * np.var(whole) or np.all(whole == whole[0]):
        return np.nan
    return float((one.mean() - other.mean()) / np.sqrt(pooled))


def two_classes(column, y):
    """Class with the larger median, standardised difference and AUC of the second class."""
    first, second = np.unique(y)
    known = ~np.isnan(column)
    low, high = column[known & (y == first)], column[known & (y == second)]
    area = auc(high, low)
    side = area - 0.5
    if len(low) and len(high) and np.median(low) != np.median(high):
        side = np.median(high) - np.median(low)
    name = str(second) if side > 0 else str(first) if side < 0 else ""
    return name, difference(high, low), area


def several_classes(column, y):
    """Class whose AUC against the others is farthest from one half, with both sizes."""
    known = ~np.isnan(column)
    found = []
    for name in np.unique(y):
        one, other = column[known & (y == name)], column[known & (y != name)]
        area = auc(one, other)
        away = -1.0 if np.isnan(area) else abs(area - 0.5)
        found.append((away, str(name), difference(one, other), area))
    away, name, size, area = max(found, key=lambda each: round(each[0], 12))  # the first of equals
    return (name if away > 1e-12 else ""), size, area


def correlation(column, y):
    """Spearman's correlation over the samples with a value."""
    known = ~np.isnan(column)
    if known.sum() < 2 or len(set(column[known])) < 2 or len(set(y[known])) < 2:
        return np.nan
    return float(spearmanr(column[known], y[known]).statistic)


def log_rank_scores(event, time):
    """Event minus the cumulative hazard of Nelson and Aalen at the sample's time."""
    scores = []
    for own, at in zip(event, time, strict=True):
        hazard = sum(
            sum(e for e, t in zip(event, time, strict=True) if t == moment)
            / sum(t >= moment for t in time)
            for moment in set(time)
            if moment <= at
        )
        scores.append(own - hazard)
    return np.array(scores)
