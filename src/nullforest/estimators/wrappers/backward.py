"""Backward elimination: forests on the selected features alone, until all are selected.

A forest is grown on all features and those that the selector does not select are dropped; a new
forest tests the rest, and so on until none is dropped.

**What is guaranteed.** Features are only ever dropped, so the result is a subset of the first
forest's selection, and whatever limits the *number* of false ones there holds for it too: the
probability of any false feature (error="fwer") is at most alpha, and the expected number of false
features (error="fpr") at most alpha times the number of features. The p-values of the first
forest support that claim, once.

**What is not.** The later forests see the samples on which these features were selected, so their
p-values are too small for null features; they are used to drop features and support no claim. A
false discovery *rate* (error="fdr") is not inherited: dropping true features raises the share of
false ones. Out-of-bag errors of the later forests are too small for the same reason; compare them
with each other, and test on other samples.

**Why permuted columns.** The null models are estimated from many null features. Among selected
features there are none left, so each later forest also gets columns of the data whose rows are
permuted, nine for each feature and 200 at least; they are null by construction and are never
returned.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import pandas as pd

from nullforest.estimators.wrappers.out_of_bag import OutOfBag, of_columns, of_selector
from nullforest.estimators.wrappers.wrapper import SelectorWrapper, SeriesOfFits
from nullforest.nulls.distribution import Ints

#: Permuted columns for each feature: null features are then nine tenths, as the models assume.
_PER_FEATURE = 9
#: Fewest permuted columns: the expected count is then known to a few per cent.
_FEWEST = 200


@dataclass(eq=False, repr=False)
class BackwardElimination(SelectorWrapper):
    """Drop the features that are not selected, grow again on the rest, until none is dropped.

    The text of :mod:`nullforest.estimators.wrappers.backward` states what is guaranteed.

    Parameters
    ----------
    max_steps : int, optional
        Most forests to grow; no limit where not given (every step drops a feature, so it ends).
    selector, min_features, random_state, resume, progress
        As in :class:`StabilitySelection`; the first forest is that of the selector alone with this
        seed.

    Attributes
    ----------
    support_ : (F,) bool
        The features that are left.
    selection_ : Selection
        Selection of the first forest; its p-values support the error rate.
    trail_ : DataFrame
        One row per forest: step, n_features (tested), n_kept, oob_error (share of wrong labels or
        mean squared error), oob_loss (Brier score or the same) of a forest on these features.
    table_ : DataFrame
        All features: count and p_value of the first forest, step at which the feature was dropped
        (-1 for those that stay), selected.
    n_steps_ : int
        Number of forests.

    Examples
    --------
    >>> import nullforest as nf
    >>> X, y, relevant = nf.simulate.independent(100, 300, n_relevant=5, relevance=0.7)
    >>> backward = nf.wrappers.BackwardElimination(nf.ForestSelector(trees=300)).fit(X, y)
    >>> bool((backward.support_ <= backward.selection_.support).all())
    True
    >>> backward.trail_.columns.tolist()
    ['step', 'n_features', 'n_kept', 'oob_error', 'oob_loss']
    """

    selector: Any = None
    _: KW_ONLY
    max_steps: int | None = None

    def _run(self, run: SeriesOfFits) -> None:
        table = run.columns()
        first, fitted = run.select(table, run.y, 0)
        features = np.flatnonzero(first.support)
        oob = of_selector(fitted, table, run.y, run.seed(0), needed=len(features) > 0)
        trail = [_row(0, run.n_features, features, oob)]
        dropped = np.where(first.support, -1, 0)
        while 0 < len(features) < trail[-1]["n_features"] and len(trail) != self.max_steps:
            step = len(trail)
            run.report(step, step + 1)  # one more at least
            result = run.step(step, _step, features)
            remaining = np.asarray(result["features"], np.int64)
            dropped[np.setdiff1d(features, remaining)] = step
            trail.append(result["row"])
            features = remaining
        self.trail_ = pd.DataFrame(trail)
        self.n_steps_ = len(trail)
        self._keep(first, dropped < 0, dropped=dropped)


def _step(run: SeriesOfFits, step: int, features: Ints) -> dict[str, Any]:
    """One more forest on the features that are left, beside permuted columns."""
    selection, _ = run.select(_with_permuted(run, step, features), run.y, step)
    remaining = features[selection.support[: len(features)]]
    oob = of_columns(run.columns(features), run.y, run.seed(step))
    return {"features": remaining.tolist(), "row": _row(step, len(features), remaining, oob)}


def _with_permuted(run: SeriesOfFits, step: int, features: Ints) -> Any:
    """Columns of the features, followed by columns of the data whose rows are permuted."""
    rng = np.random.default_rng([run.first_seed, step])
    number = max(_FEWEST, _PER_FEATURE * len(features))
    # Those that were dropped first; all of them again, and the features, where they do not do.
    pool = np.setdiff1d(np.arange(run.n_features), features)
    pool = pool if len(pool) >= number else np.arange(run.n_features)
    nulls = rng.choice(pool, number, replace=len(pool) < number)
    dense, permuted = (
        part.toarray() if hasattr(part, "toarray") else part
        for part in (run.X[:, features], run.X[:, nulls])
    )
    X = np.hstack([dense, rng.permuted(permuted, axis=0)])
    if run.names is None:
        return X
    names = [*run.names[features].tolist(), *(f"permuted {i}" for i in range(number))]
    return pd.DataFrame(X, columns=names)


def _row(step: int, n_features: int, remaining: Ints, oob: OutOfBag) -> dict[str, Any]:
    return {
        "step": step,
        "n_features": n_features,
        "n_kept": len(remaining),
        "oob_error": oob.error,
        "oob_loss": oob.loss,
    }
