"""How did the answer come about as trees were added? A forest watched while it grows.

The forest is grown block by block, which changes nothing in it, and judged after each block: so
one sees, at no extra growing, whether its predictions and its selection have settled.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import InputError
from nullforest.engine import Forest, RankTable, grow
from nullforest.engine.resuming import Run
from nullforest.engine.settings import default_trees
from nullforest.nulls import Kind
from nullforest.selection.error_rates import ErrorRate, decide
from nullforest.selection.selection import Selection, select

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Steps per doubling of the forest, and doublings that are watched: 16 looks at the forest.
STEPS_PER_DOUBLING, DOUBLINGS = 3, 5
#: Features that are followed through all looks; more lines than this cannot be told apart.
MOST_FOLLOWED = 50
#: Standard errors by which predictions must beat guessing: 2 is the usual one-sided 2.5 %.
CLEARLY = 2.0


@dataclass(frozen=True, eq=False)
class Trajectory:
    """What was seen of a forest each time it was looked at, the whole forest last.

    Attributes
    ----------
    trees : (B,) int
        Number of trees at each look.
    selected : tuple of (n,) int
        Columns selected at each look, at the error rate of the selection.
    thresholds : (B,) int
        Count to exceed at each look.
    expected : (B,) float
        Expected count of a null feature at each look.
    followed : (M,) int
        Columns whose course is kept: the most significant ones at the end.
    counts, adjusted : (B, M) int, float
        Their counts, and the p-values that were compared with alpha.
    oob_errors : (B,) float
        Out-of-bag error: share of wrong classes, or 1 − R²; NaN where there is none.
    guessing_error : float
        The same error of always guessing the commonest class, or the mean.
    better_than_guessing : bool or None
        Whether the squared error of the out-of-bag predictions is below that of guessing the
        class shares (or the mean) by more than two standard errors; None where there is none.
    """

    trees: Ints
    selected: tuple[Ints, ...]
    thresholds: Ints
    expected: Floats
    followed: Ints
    counts: Ints
    adjusted: Floats
    oob_errors: Floats
    guessing_error: float
    better_than_guessing: bool | None

    @property
    def n_selected(self) -> Ints:
        """Number of features selected at each look."""
        return np.array([len(columns) for columns in self.selected], np.int64)

    @property
    def agreement(self) -> Floats:
        """Overlap of each look's selection with the last one: common ÷ all (1 if both empty)."""
        last = self.selected[-1]
        common = [len(np.intersect1d(columns, last)) for columns in self.selected]
        either = [len(np.union1d(columns, last)) for columns in self.selected]
        return np.array([c / e if e else 1.0 for c, e in zip(common, either, strict=True)])


def looks_at(trees: int) -> list[int]:
    """Numbers of trees at which a forest is looked at: evenly on a log scale, the last is `trees`.

    Examples
    --------
    >>> looks_at(1000)[:4], looks_at(1000)[-4:], looks_at(3)
    ([31, 39, 50, 62], [500, 630, 794, 1000], [1, 2, 3])
    """
    steps = np.arange(-STEPS_PER_DOUBLING * DOUBLINGS, 1) / STEPS_PER_DOUBLING
    return sorted({max(1, round(float(share))) for share in trees * 2.0**steps})


def watch(
    X: Any,
    y: Any,
    alpha: float = 0.05,
    error: ErrorRate = "fpr",
    null: Kind = "auto",
    *,
    trees: int | None = None,
    progress: Callable[[int, int], object] | None = None,
    n_jobs: int = -1,
    feature_names: Any = None,
    run: Run | None = None,
    **settings: Any,
) -> Selection:
    """Grow a forest and select its features, keeping what was seen on the way.

    The selection is the one that :func:`nullforest.grow` and :func:`nullforest.select` give;
    its `trajectory` lets the report and the plots show how it settled.

    Parameters
    ----------
    X, y
        The data; see :func:`nullforest.grow`.
    alpha, error, null
        How to decide; see :func:`nullforest.select`.
    trees : int, optional
        Number of trees.
    progress : callable, optional
        Called with (trees done, trees in all).
    n_jobs : int
        Threads; -1 for all cores.
    feature_names : iterable of str, optional
        Names, where X has none.
    run : Run, optional
        Folder in which the forest is kept while it grows, and gone on from; it knows the data
        and the settings, so that `settings` are not looked at.
    **settings
        All other settings of :func:`nullforest.grow`.

    Returns
    -------
    Selection
        With its `trajectory`.

    Examples
    --------
    >>> import numpy as np, nullforest as nf
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(100, 200)), np.arange(100) % 2
    >>> X[:, :3] += 2 * y[:, None]
    >>> selection = nf.watch(X, y, error="fwer", trees=200)
    >>> selection.trajectory.trees[-3:].tolist(), selection.trajectory.n_selected[-3:].tolist()
    ([126, 159, 200], [3, 3, 3])
    """
    start = time.perf_counter()
    table = (
        X if isinstance(X, RankTable) else RankTable(X, n_jobs=n_jobs, feature_names=feature_names)
    )
    ends = looks_at(default_trees(table.shape[1]) if trees is None else _whole(trees))
    settings |= {"n_jobs": n_jobs, "keep_trees": settings.get("keep_trees", False)}
    forest: Forest | None = None
    looks: list[_Look] = []
    for done, end in zip([0, *ends], ends, strict=False):
        tell = None if progress is None else _shifted(progress, done, ends[-1])
        if run is None:
            forest = grow(table, y, trees=end - done, more=forest, progress=tell, **settings)
        else:
            tell = None if progress is None else _shifted(progress, 0, ends[-1])
            forest = run.grown(end, more=forest, look=True, n_jobs=n_jobs, progress=tell)
        if end < ends[-1]:
            look = _look(forest, alpha, error, null)
            looks += [] if look is None else [look]
    assert forest is not None
    selection = select(forest.tally, alpha, error, null)
    looks.append(_seen(forest, selection))
    return replace(
        selection,
        trajectory=_trajectory(looks, forest, selection),
        seconds=time.perf_counter() - start,
    )


@dataclass(frozen=True)
class _Look:
    trees: int
    selected: Ints
    threshold: int
    expected: float
    counts: NDArray[np.int64]
    adjusted: NDArray[np.float32]
    oob_error: float


def _look(forest: Forest, alpha: float, error: ErrorRate, null: Kind) -> _Look | None:
    """One look at a part of the forest; None where it is too small for the null."""
    try:
        return _seen(forest, select(forest.tally, alpha, error, null))
    except Exception:  # whatever it is, a look in passing must not cost the answer at the end
        return None


def _seen(forest: Forest, selection: Selection) -> _Look:
    adjusted = decide(selection.pvalues, selection.alpha, selection.error).adjusted
    return _Look(
        trees=forest.n_trees,
        selected=np.flatnonzero(selection.support),
        threshold=int(selection.threshold),
        expected=selection.null.mean,
        counts=forest.tally.counts,
        adjusted=adjusted.astype(np.float32),  # to be drawn; 16 looks at 10⁶ features must fit
        oob_error=_oob_error(forest),
    )


def _oob_error(forest: Forest) -> float:
    try:
        return 1.0 - forest.oob_score
    except InputError:  # every tree saw every sample, or the outcome is a matrix of distances
        return float("nan")


def _trajectory(looks: list[_Look], forest: Forest, selection: Selection) -> Trajectory:
    order = np.lexsort((np.arange(len(selection.counts)), -selection.counts, selection.pvalues))
    followed = order[: max(selection.n_selected, 10)][:MOST_FOLLOWED]
    guessing, better = _beside_guessing(forest)
    return Trajectory(
        trees=np.array([look.trees for look in looks]),
        selected=tuple(look.selected for look in looks),
        thresholds=np.array([look.threshold for look in looks]),
        expected=np.array([look.expected for look in looks]),
        followed=followed,
        counts=np.stack([look.counts[followed] for look in looks]),
        adjusted=np.stack([look.adjusted[followed].astype(float) for look in looks]),
        oob_errors=np.array([look.oob_error for look in looks]),
        guessing_error=guessing,
        better_than_guessing=better,
    )


def _beside_guessing(forest: Forest) -> tuple[float, bool | None]:
    """The error of guessing, and whether the out-of-bag predictions clearly beat it.

    Both are judged by squared error over the same samples (Brier's score for classes), which no
    prediction that knows nothing of a sample's outcome can lower on average.
    """
    try:
        prediction = forest.oob_prediction
    except InputError:
        return float("nan"), None
    prediction = prediction.reshape(len(prediction), -1)
    seen = ~np.isnan(prediction[:, 0])
    if seen.sum() < 2:
        return float("nan"), None
    values = forest.target.values[seen]
    if forest.classes is not None:
        truth = np.eye(len(forest.classes))[values]
        guessing = 1.0 - float(truth.mean(axis=0).max())
    else:
        truth = values.reshape(len(values), -1).astype(float)
        guessing = 1.0
        spread = truth.std(axis=0)
        truth = truth / np.where(spread > 0, spread, 1.0)
        prediction = prediction / np.where(spread > 0, spread, 1.0)
    gain = ((truth - truth.mean(axis=0)) ** 2 - (truth - prediction[seen]) ** 2).sum(axis=1)
    noise = float(gain.std(ddof=1)) / np.sqrt(len(gain))
    return guessing, bool(gain.mean() > CLEARLY * noise)


def _shifted(
    progress: Callable[[int, int], object], done: int, total: int
) -> Callable[[int, int], object]:
    return lambda now, _: progress(done + now, total)


def _whole(trees: Any) -> int:
    if isinstance(trees, bool) or not hasattr(trees, "__index__") or int(trees) < 1:
        raise InputError(f"trees = {trees!r} must be a whole number of at least 1.")
    return int(trees)
