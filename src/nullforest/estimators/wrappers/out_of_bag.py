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

from nullforest.forest.settings import paper_settings
from nullforest.run.forest import Forest
from nullforest.run.growing import grow

Floats = NDArray[np.float64]
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
        """Mean loss."""
        seen = ~np.isnan(self.losses)
        return float(self.losses[seen].mean()) if seen.any() else float("nan")


def gain(before: OutOfBag, after: OutOfBag) -> tuple[float, float]:
    """By how much the mean loss falls, and the standard error of that, sample by sample.

    Examples
    --------
    >>> gain(OutOfBag(np.array([0.5, 0.5]), 0.5), OutOfBag(np.array([0.1, 0.3]), 0.0))
    (0.3, 0.1)
    """
    saved = before.losses - after.losses
    saved = saved[~np.isnan(saved)]
    if len(saved) < 2:
        return float("nan"), float("nan")
    return round(float(saved.mean()), 12), round(float(saved.std(ddof=1) / np.sqrt(len(saved))), 12)


def of_forest(forest: Forest) -> OutOfBag | None:
    """Out-of-bag losses of a forest grown here; None where it has none."""
    if "oob_sum" not in forest.sums or forest.target.criterion == "neighbourhood":
        return None
    said, truth = forest.oob_prediction, forest.target.values
    said = said.reshape(len(said), -1)
    seen = ~np.isnan(said[:, 0])
    if not seen.any():
        return None
    if forest.classes is not None:
        losses = _brier(said, truth)
        error = float(np.mean(said[seen].argmax(axis=1) != truth[seen]))
    else:
        losses = ((said - truth.reshape(said.shape)) ** 2).sum(axis=1)
        error = float(losses[seen].mean())
    return OutOfBag(losses, error)


def of_columns(X: Any, y: Any, seed: int, n_jobs: int = -1) -> OutOfBag | None:
    """Out-of-bag losses of a forest of 500 trees grown on these columns."""
    # Pure leaves predict 0 or 1, which hides the effect of a single weak feature; larger leaves
    # give shares (5 samples, as in regression forests, where there are 100 samples and more).
    settings = paper_settings(X.shape[1]) | {"trees": PREDICTING_TREES}
    forest = grow(
        X,
        y,
        min_leaf=min(5, max(1, len(y) // 20)),
        probes=0,
        keep_trees=False,
        seed=seed,
        n_jobs=n_jobs,
        **settings,
    )
    return of_forest(forest)


def of_selector(fitted: Any, X: Any, y: Any, seed: int, *, needed: bool) -> OutOfBag | None:
    """Out-of-bag losses of a fitted selector's own forest, or, if needed, of one grown for that."""
    forest = getattr(fitted, "estimator_", None)
    known = of_forest(forest) if isinstance(forest, Forest) else None
    return of_columns(X, y, seed) if known is None and needed else known


def of_guessing(y: Any) -> OutOfBag:
    """Losses of the class shares, or the mean, of all the other samples.

    Examples
    --------
    >>> of_guessing(np.array(["a", "a", "b", "b"])).losses.round(3).tolist()
    [0.444, 0.444, 0.444, 0.444]
    """
    from nullforest.data.targets import as_target

    y = np.asarray(y)
    target = as_target(y, len(y))
    values = target.values
    if target.classes is not None:
        own = np.eye(len(target.classes))[values]
        shares = (own.sum(axis=0) - own) / (len(y) - 1)
        # The others' majority is the other class where classes are equal; one class is meant here.
        return OutOfBag(_brier(shares, values), float(1 - own.mean(axis=0).max()))
    values = values.reshape(len(y), -1)
    others = (values.sum(axis=0) - values) / (len(y) - 1)
    losses = ((values - others) ** 2).sum(axis=1)
    return OutOfBag(losses, float(losses.mean()))


def _brier(shares: Floats, classes: NDArray[np.int64]) -> Floats:
    return np.asarray(((shares - np.eye(shares.shape[1])[classes]) ** 2).sum(axis=1) / 2)
