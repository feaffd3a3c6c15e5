"""Out-of-bag losses: how well a forest predicts the samples that a tree did not see.

The loss of a sample is the Brier score ½ Σ_c (share_c − 1[y = c])² for classes and the squared
error for numbers: proper scores, which show small improvements that the share of wrong labels
does not. Two sets of features are compared sample by sample, so that hard samples cancel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nullforest.data.targets import as_target
from nullforest.forest.settings import paper_settings
from nullforest.nulls.distribution import Floats
from nullforest.run.forest import Forest
from nullforest.run.growing import grow

#: Trees of a forest that is grown for its predictions alone: about 250 predict each sample.
PREDICTING_TREES = 500


@dataclass(frozen=True, eq=False)
class OutOfBag:
    """Loss of each sample (NaN where every tree saw it), and the error rate.

    Attributes
    ----------
    losses : (S,) float
        Brier score or squared error of each sample.
    error : float
        Share of wrong labels, or mean squared error.
    """

    losses: Floats
    error: float

    @property
    def loss(self) -> float:
        """Mean loss; NaN where no sample has one."""
        present = self.losses[~np.isnan(self.losses)]
        return float(present.mean()) if len(present) else float("nan")


#: The losses of a forest that has none: all comparisons with them are NaN.
NONE = OutOfBag(np.full(1, np.nan), float("nan"))


def gain(before: OutOfBag, after: OutOfBag) -> tuple[float, float]:
    """By how much the mean loss falls, and the standard error of that, sample by sample."""
    saved = before.losses - after.losses
    saved = saved[~np.isnan(saved)]
    if len(saved) < 2:
        return float("nan"), float("nan")
    return round(float(saved.mean()), 12), round(float(saved.std(ddof=1) / np.sqrt(len(saved))), 12)


def of_forest(forest: Forest) -> OutOfBag:
    """Out-of-bag losses of a nullforest Forest; `NONE` where it has none."""
    if "oob_sum" not in forest.sums or forest.target.criterion == "neighbourhood":
        return NONE
    truth = forest.target.values
    prediction = forest.oob_prediction.reshape(len(truth), -1)
    predicted = ~np.isnan(prediction[:, 0])
    if not predicted.any():
        return NONE
    if forest.classes is None:
        losses = ((prediction - truth.reshape(prediction.shape)) ** 2).sum(axis=1)
        return OutOfBag(losses, float(losses[predicted].mean()))
    wrong_labels = prediction.argmax(axis=1)[predicted] != truth[predicted]
    return OutOfBag(_brier(prediction, truth), float(np.mean(wrong_labels)))


def of_columns(X: Any, y: Any, seed: int) -> OutOfBag:
    """Out-of-bag losses of a forest of 500 trees grown on these columns."""
    # Pure leaves predict 0 or 1, which hides the effect of a single weak feature; larger leaves
    # give shares (5 samples, as in regression forests, where there are 100 samples and more).
    leaf = min(5, max(1, len(y) // 20))
    settings = paper_settings(X.shape[1]) | {"trees": PREDICTING_TREES}
    return of_forest(grow(X, y, min_leaf=leaf, probes=0, keep_trees=False, seed=seed, **settings))


def of_selector(fitted: Any, X: Any, y: Any, seed: int, *, needed: bool) -> OutOfBag:
    """Losses of the forest of a fitted selector, or, if needed, of one grown for that."""
    forest = getattr(fitted, "estimator_", None)
    oob = of_forest(forest) if isinstance(forest, Forest) else NONE
    return of_columns(X, y, seed) if oob is NONE and needed else oob


def of_guessing(y: Any) -> OutOfBag:
    """Losses of the class shares, or the mean, of all the other samples."""
    target = as_target(np.asarray(y), len(y))
    members = target.values.reshape(len(y), -1)
    if target.classes is not None:
        members = np.eye(len(target.classes))[target.values]
    mean_of_others = (members.sum(axis=0) - members) / (len(y) - 1)
    if target.classes is None:
        losses = ((members - mean_of_others) ** 2).sum(axis=1)
        return OutOfBag(losses, float(losses.mean()))
    # The others' majority is the other class where classes are equal; one class is meant here.
    error = float(1 - members.mean(axis=0).max())
    return OutOfBag(_brier(mean_of_others, target.values), error)


def _brier(shares: Floats, classes: NDArray[np.int64]) -> Floats:
    return np.asarray(((shares - np.eye(shares.shape[1])[classes]) ** 2).sum(axis=1) / 2)
