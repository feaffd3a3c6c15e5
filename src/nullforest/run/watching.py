"""The trajectory of a selection: features selected again and again while the forest grows.

The forest is grown in steps, which does not change it, and its features are tested after each step.
The trajectory shows whether predictions and selection have settled.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from nullforest._util.errors import InputError
from nullforest._util.progress import Report, part_of
from nullforest.data.effect_sizes import effect_sizes
from nullforest.data.rank_table import RankTable
from nullforest.forest.forest import Forest
from nullforest.forest.settings import ForestSettings, check_no_limit, time_limit
from nullforest.nulls import Kind
from nullforest.run.growing import grow, grow_settling
from nullforest.run.resuming import ForestCheckpoint
from nullforest.run.settling import Settling
from nullforest.selection.error_rates import ErrorRate, decide
from nullforest.selection.selection import Selection, select
from nullforest.selection.trajectory import Trajectory

#: Points of the trajectory per doubling of the forest, and doublings: 16 points.
STEPS_PER_DOUBLING, DOUBLINGS = 3, 5
#: Points before the first test of a forest that grows until its selection has settled: a factor of
#: √2 apart, from a sixteenth of its trees on.
POINTS_BEFORE = 8
#: Features that are followed over all points; more lines than this are illegible in a plot.
MOST_FOLLOWED = 50
#: Standard errors by which predictions must be better than guessing: a one-sided level of 2.5 %.
CLEARLY = 2.0


def trajectory_points(trees: int) -> list[int]:
    """Numbers of trees at which features are selected: even on a log scale, the last is `trees`.

    Examples
    --------
    >>> trajectory_points(1000)[:4], trajectory_points(1000)[-4:], trajectory_points(3)
    ([31, 39, 50, 62], [500, 630, 794, 1000], [1, 2, 3])
    """
    steps = np.arange(-STEPS_PER_DOUBLING * DOUBLINGS, 1) / STEPS_PER_DOUBLING
    return sorted({max(1, round(float(share))) for share in trees * 2.0**steps})


def watch(
    X: Any,
    y: Any,
    alpha: float = 0.05,
    error: ErrorRate = "fdr",
    null: Kind = "auto",
    *,
    trees: int | Literal["auto"] = "auto",
    max_trees: int | None = None,
    progress: Report | None = None,
    n_jobs: int = -1,
    feature_names: Any = None,
    checkpoint: ForestCheckpoint | None = None,
    **settings: Any,
) -> Selection:
    """Grow a forest and select its features, with the trajectory over the number of trees.

    The selection is the one that :func:`nullforest.grow` and :func:`nullforest.select` give. The
    report and the plots show its `trajectory`.

    Parameters
    ----------
    X, y, trees, max_trees, progress, n_jobs, feature_names, **settings
        See :func:`nullforest.grow`.
    alpha, error, null
        Error rate and null model; see :func:`nullforest.select`.
    checkpoint : ForestCheckpoint, optional
        The forest that is kept in a folder while it grows, and resumed from there. It holds the
        data and the settings, so that `settings` are ignored.

    Returns
    -------
    Selection
        With its `trajectory`, and the `effects` of all features.

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
    table = RankTable.of(X, n_jobs, feature_names)
    settings |= {"n_jobs": n_jobs, "keep_trees": settings.get("keep_trees", False)}
    number = ForestSettings(trees=trees).trees
    if number == "auto":
        rule = Settling(alpha, error, null, max_trees)
        if checkpoint is None:
            states = grow_settling(
                table, y, rule, progress=progress, before=POINTS_BEFORE, **settings
            )
        else:
            states = checkpoint.settling(
                rule, before=POINTS_BEFORE, n_jobs=n_jobs, progress=progress
            )
    else:
        check_no_limit(max_trees)
        states = _states(table, y, number, (alpha, error, null), progress, checkpoint, settings)
    points = []
    for forest, selection in states:
        adjusted = decide(selection.pvalues, selection.alpha, selection.error).adjusted
        points.append(
            (
                forest.n_trees,
                np.flatnonzero(selection.support),
                selection.threshold,
                selection.null.mean,
                forest.tally.counts,
                adjusted.astype(np.float32),  # for a plot; 16 points of 10⁶ features must fit
                _oob_error(forest),
            )
        )
    ends, selected, thresholds, expected, counts, adjusted_pvalues, oob_errors = zip(
        *points, strict=True
    )
    order = np.lexsort((np.arange(len(selection.counts)), -selection.counts, selection.pvalues))
    followed = order[: max(selection.n_selected, 10)][:MOST_FOLLOWED]
    guessing, better = _beside_guessing(forest)
    trajectory = Trajectory(
        trees=np.array(ends),
        selected=selected,
        thresholds=np.array(thresholds, float),
        expected=np.array(expected),
        followed=followed,
        counts=np.stack([each[followed] for each in counts]),
        adjusted=np.stack([each[followed].astype(float) for each in adjusted_pvalues]),
        oob_errors=np.array(oob_errors),
        guessing_error=guessing,
        better_than_guessing=better,
    )
    effects = effect_sizes(table, forest.target)
    seconds = time.perf_counter() - start
    return replace(selection, trajectory=trajectory, effects=effects, seconds=seconds)


def _states(
    table: RankTable,
    y: Any,
    trees: int,
    how: tuple[float, ErrorRate, Kind],
    progress: Report | None,
    checkpoint: ForestCheckpoint | None,
    settings: dict[str, Any],
) -> Iterator[tuple[Forest, Selection]]:
    """A forest of a given number of trees and its selection, at each point of the trajectory."""
    forest: Forest | None = None
    ends = trajectory_points(trees)
    limit = time_limit(settings.pop("max_seconds", None))
    deadline = math.inf if limit is None else time.monotonic() + limit
    for done, end in zip([0, *ends], ends, strict=False):
        if checkpoint is None:
            tell = part_of(progress, done, trees)
            left = max(deadline - time.monotonic(), 1e-3)  # no time at all would grow no tree
            how_long = settings | {"progress": tell, "max_seconds": left}
            forest = grow(table, y, trees=end - done, more=forest, **how_long)
        else:
            tell = part_of(progress, 0, trees)
            n_jobs = settings["n_jobs"]
            forest = checkpoint.grown(end, more=forest, keep=True, n_jobs=n_jobs, progress=tell)
        selection = select(forest.tally, *how)
        if forest.stopped_early:
            note = f"Stopped by max_seconds after {forest.n_trees} of {trees} trees."
            yield forest, replace(selection, notes=(*selection.notes, note))
            return
        yield forest, selection


def _oob_error(forest: Forest) -> float:
    try:
        return 1.0 - forest.oob_score
    except InputError:  # every tree drew every sample, or the target is a matrix of distances
        return float("nan")


def _beside_guessing(forest: Forest) -> tuple[float, bool | None]:
    """Error of guessing, and whether the out-of-bag predictions are clearly better.

    Both are measured by squared error over the same samples (the Brier score for classes), which
    no prediction that is independent of the target can lower on average.
    """
    try:
        prediction = forest.oob_prediction
    except InputError:
        return float("nan"), None
    prediction = prediction.reshape(len(prediction), -1)
    seen = ~np.isnan(prediction[:, 0])
    if seen.sum() < 2:
        return float("nan"), None
    values, guessing = forest.target.values[seen], 1.0
    if forest.classes is not None:
        truth = np.eye(len(forest.classes))[values]
        guessing -= float(truth.mean(axis=0).max())
    else:
        guessing = 1.0 if forest.target.survival is None else 0.5  # the concordance of any order
        truth = values.reshape(len(values), -1).astype(float)
        scale = np.where((deviation := truth.std(axis=0)) > 0, deviation, 1.0)
        truth, prediction = truth / scale, prediction / scale
    gain = ((truth - truth.mean(axis=0)) ** 2 - (truth - prediction[seen]) ** 2).sum(axis=1)
    noise = float(gain.std(ddof=1)) / np.sqrt(len(gain))
    return guessing, bool(gain.mean() > CLEARLY * noise)
