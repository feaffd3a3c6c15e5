"""Effect sizes of all features, from the data: columns are read in blocks and ranked once.

A feature is compared with the target over the samples in which it has a value. For class c against
the others, with rank sum R, n samples of c and m others, AUC = (R − n(n + 1)/2) / nm, the
statistic of Mann and Whitney; the standardised difference is that of the means over the pooled
standard deviation (Cohen's d). Numbers take Spearman's rank correlation, survival times the
correlation of the ranks with the log-rank scores: its sign is that of the hazard.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nullforest._util.checks import n_threads
from nullforest._util.errors import InputError
from nullforest._util.progress import Report
from nullforest.data.column_blocks import column_blocks, columns_of
from nullforest.data.effects import Effects
from nullforest.data.matrices import Source
from nullforest.data.rank_table import RankTable
from nullforest.data.ranks import Floats, midranks
from nullforest.data.targets import Target, as_target

#: Values that a thread compares at a time: a few copies of 2 MB stay in a processor's cache.
IN_CACHE = 250_000
#: A pooled variance below this share of the whole is rounding: the classes are constant.
ROUNDING = 1e-12


def effect_sizes(
    X: Any, y: Any, criterion: str = "auto", progress: Report | None = None
) -> Effects | None:
    """Direction and size of each feature's association with the target.

    Parameters
    ----------
    X : array-like, DataFrame, sparse matrix, RankTable or matrix on disk, (S, F)
        The data; missing values are left out feature by feature.
    y : array-like, (S,), or Target
        Classes, numbers or survival times; None, for a forest without supervision, has no effects.
    criterion : str
        As in :func:`nullforest.grow`: "gini" and "entropy" take y as classes, "variance" as
        numbers; "auto" tells them apart.
    progress : callable, optional
        Called with (features done, features in all).

    Returns
    -------
    Effects or None
        None where features are not compared with one target: several outputs, or distances; or
        where X is a table that did not keep its values.
    """
    if y is None or (isinstance(X, RankTable) and X.values is None):
        return None
    source, categories = columns_of(X)
    target = y if isinstance(y, Target) else as_target(y, source.shape[0], criterion=criterion)
    if len(target.values) != source.shape[0]:
        raise InputError(
            f"X has {source.shape[0]} samples and y {len(target.values)}; give the same samples."
        )
    if target.classes is not None:
        return _class_effects(source, target.values, target.classes, categories, progress)
    if target.survival is not None:
        scores = target.values[:, 0]
        (r,) = _over_columns(source, lambda block: (rank_correlation(block, scores),), progress)
        hazard = np.select([r > 0, r < 0], ["higher", "lower"], "")
        return Effects("survival", _without(categories, {"hazard": hazard, "correlation": r}))
    if target.criterion != "variance" or target.values.shape[1] != 1:
        return None
    numbers = target.values[:, 0]
    found = _over_columns(source, lambda block: (spearman(block, numbers),), progress)
    return Effects("numbers", _without(categories, {"correlation": found[0]}))


def _without(
    categories: NDArray[np.bool_] | None, columns: dict[str, NDArray[Any]]
) -> dict[str, NDArray[Any]]:
    """Effects without those of categories, whose codes have no order."""
    if categories is not None:
        for name, values in columns.items():
            columns[name] = np.where(categories, "" if values.dtype.kind == "U" else np.nan, values)
    return columns


def spearman(columns: NDArray[Any], numbers: Floats) -> Floats:
    """Spearman's correlation of each row with numbers, over the samples in which it is known."""
    missing = np.isnan(columns).any(axis=1)
    ranked = midranks(numbers[None])[0]
    r = rank_correlation(columns, ranked[0])
    if missing.any():  # the numbers are ranked anew among the samples that are left
        some = columns[missing]
        own = midranks(np.where(np.isnan(some), np.nan, numbers))[0]
        r[missing] = rank_correlation(some, own)
    return r


def rank_correlation(columns: NDArray[Any], scores: Floats) -> Floats:
    """Correlation of the ranks in each row with scores, of all rows (S,) or of each (k, S)."""
    ranks, known = midranks(columns)
    n = known.sum(axis=1)
    scores = np.where(known, scores, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ranks -= (ranks.sum(axis=1) / n)[:, None]
        scores -= (scores.sum(axis=1) / n)[:, None]
        ranks[~known] = 0.0
        scores[~known] = 0.0
        lengths = np.square(ranks).sum(axis=1) * np.square(scores).sum(axis=1)
        r = (ranks * scores).sum(axis=1) / np.sqrt(lengths)
    r[~(lengths > 1e-9)] = np.nan  # a constant row or constant scores, but for rounding
    return np.asarray(np.clip(r, -1.0, 1.0))


def _class_effects(
    source: Source,
    codes: NDArray[np.int64],
    classes: NDArray[Any],
    categories: NDArray[np.bool_] | None,
    progress: Report | None,
) -> Effects:
    names = tuple(str(name) for name in classes.tolist())
    several = len(names) > 2
    member = np.eye(len(names))[codes]  # (S, C)

    def compared(block: NDArray[Any]) -> tuple[NDArray[Any], ...]:
        ranks, known = midranks(block)
        n = known @ member
        auc = _aucs(ranks @ member, n)
        difference = _differences(block, known, member, n)
        every = np.arange(len(block))
        if several:
            away = np.where(np.isnan(auc), -1.0, np.abs(auc - 0.5))
            best = away.argmax(axis=1)
            named = np.where(away[every, best] > 0, np.array(names)[best], "")
            return named, difference[every, best], auc[every, best]
        low, high = (_medians(block[:, codes == c]) for c in (0, 1))
        side = np.where(low != high, high - low, auc[:, 1] - 0.5)
        named = np.select([side > 0, side < 0], [names[1], names[0]], "")
        return named, difference[:, 1], auc[:, 1]

    found = _over_columns(source, compared, progress)
    heads = ("stands_out" if several else "higher_in", "difference", "auc")
    columns = _without(categories, dict(zip(heads, found, strict=True)))
    return Effects("several classes" if several else "two classes", columns, names)


def _aucs(rank_sums: Floats, n: Floats) -> Floats:
    """AUC of each class against the others, (k, C)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        auc = (rank_sums - n * (n + 1) / 2) / (n * (n.sum(axis=1, keepdims=True) - n))
    auc[~np.isfinite(auc)] = np.nan
    return np.asarray(auc, float)


def _differences(
    block: NDArray[Any], known: NDArray[np.bool_], member: Floats, n: Floats
) -> Floats:
    """Standardised difference of each class from the others, (k, C)."""
    values = np.where(known, block, 0.0).astype(np.float64)
    largest = np.abs(values).max(axis=1, keepdims=True)
    values /= np.where(largest > 0, largest, 1.0)  # so that squares are in range
    whole = n.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        values -= values.sum(axis=1, keepdims=True) / whole
        values[~known] = 0.0
        sums, squares = values @ member, np.square(values).sum(axis=1, keepdims=True)
        rest = whole - n
        within = squares - sums**2 / n - sums**2 / rest  # the sums of class and rest add to zero
        within[within < ROUNDING * squares] = np.nan
        difference = (sums / n + sums / rest) / np.sqrt(within / (whole - 2))
    difference[~np.isfinite(difference)] = np.nan
    return np.asarray(difference, float)


def _medians(columns: NDArray[Any]) -> Floats:
    """Median of each row over its known values; NaN where there is none."""
    ordered = np.sort(columns, axis=1)  # missing values last
    n = (~np.isnan(columns)).sum(axis=1)
    middle = np.maximum(n - 1, 0) // 2, n // 2
    low, high = (np.take_along_axis(ordered, at[:, None], axis=1)[:, 0] for at in middle)
    return np.asarray(np.where(n > 0, low / 2 + high / 2, np.nan), float)


def _over_columns(
    source: Source,
    compared: Callable[[NDArray[Any]], tuple[NDArray[Any], ...]],
    progress: Report | None = None,
) -> list[NDArray[Any]]:
    """What is computed from each block of features, one row per feature, joined."""
    rows = max(1, IN_CACHE // source.shape[0])
    parts: list[tuple[NDArray[Any], ...]] = []
    with ThreadPoolExecutor(n_threads(-1)) as threads:  # numpy sorts and multiplies without the GIL
        for block in column_blocks(source, progress):
            pieces = [block[begin : begin + rows] for begin in range(0, len(block), rows)]
            parts += threads.map(compared, pieces)
    return [np.concatenate(part) for part in zip(*parts, strict=True)]
