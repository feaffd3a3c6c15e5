"""The trajectory of a selection: what was selected while the forest grew.

A run that is watched tests the features at increasing numbers of trees, which does not change the
forest. The trajectory shows whether predictions and selection have settled.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nullforest._util.errors import InputError
from nullforest.run.forest import Forest
from nullforest.run.schedule import State
from nullforest.selection.error_rates import decide
from nullforest.selection.trajectory import Trajectory

#: Features that are followed over all points; more lines than this are illegible in a plot.
MOST_FOLLOWED, FEWEST_FOLLOWED = 50, 10
#: Standard errors by which predictions must be better than guessing: a one-sided level of 2.5 %.
CLEARLY = 2.0


class TrajectoryObserver:
    """Notes the selection of a forest at each of its points."""

    def __init__(self) -> None:
        self._points: list[dict[str, Any]] = []

    def see(self, state: State) -> None:
        """Note one point."""
        forest, selection = state.forest, state.selection
        assert selection is not None
        adjusted = decide(
            selection.pvalues,
            selection.alpha,
            selection.error,
            tested=selection.tally.varying,
        ).adjusted
        self._points.append(
            {
                "trees": forest.n_trees,
                "selected": np.flatnonzero(selection.support),
                "threshold": selection.threshold,
                "expected": selection.null.mean,
                "counts": forest.tally.counts,
                # For a plot; 16 points of 10⁶ features must fit.
                "adjusted": adjusted.astype(np.float32),
                "oob_error": _oob_error(forest),
            }
        )

    def trajectory(self, last: State) -> Trajectory:
        """The trajectory, of which `last` is the end."""
        selection, points = last.selection, self._points
        assert selection is not None
        order = np.lexsort((np.arange(len(selection.counts)), -selection.counts, selection.pvalues))
        followed = order[: max(selection.n_selected, FEWEST_FOLLOWED)][:MOST_FOLLOWED]
        guessing, better = _beside_guessing(last.forest)
        return Trajectory(
            trees=np.array([point["trees"] for point in points]),
            selected=tuple(point["selected"] for point in points),
            thresholds=np.array([point["threshold"] for point in points], float),
            expected=np.array([point["expected"] for point in points]),
            followed=followed,
            counts=np.stack([point["counts"][followed] for point in points]),
            adjusted=np.stack([point["adjusted"][followed].astype(float) for point in points]),
            oob_errors=np.array([point["oob_error"] for point in points]),
            guessing_error=guessing,
            better_than_guessing=better,
        )


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
