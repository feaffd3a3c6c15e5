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

from typing import Any

import numpy as np
import pandas as pd

from nullforest.estimators.arguments import keep_arguments
from nullforest.estimators.wrappers.out_of_bag import OutOfBag, of_columns, of_selector
from nullforest.estimators.wrappers.wrapper import Ints, Run, SelectorWrapper

#: Permuted columns for each feature: null features are then nine tenths, as the models assume.
_PER_FEATURE = 9
#: Fewest permuted columns: the expected count is then known to a few per cent.
_FEWEST = 200


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

    def __init__(
        self,
        selector: Any = None,
        *,
        max_steps: int | None = None,
        min_features: int | None = None,
        random_state: Any = 0,
        resume: Any = None,
        progress: bool = True,
    ) -> None:
        keep_arguments(self, locals())

    def _run(self, run: Run) -> None:
        everything = run.columns()
        first = run.select(everything, run.y, 0)
        kept = np.flatnonzero(first.selection.support)
        oob = of_selector(first.selector, everything, run.y, run.seed(0), needed=len(kept) > 0)
        rows = [_row(0, run.n_features, len(kept), oob)]
        dropped = np.full(run.n_features, -1)
        dropped[~first.selection.support] = 0
        dropping = len(kept) < run.n_features
        step = 1
        while dropping and len(kept) and (self.max_steps is None or step < self.max_steps):
            run.report(step, step + 1)  # one more at least
            if step > len(run.checkpoint.steps):
                run.checkpoint.add(_step(run, kept, step))
            done = run.checkpoint.steps[step - 1]
            rows.append({"step": step, "n_features": len(kept), **done["row"]})
            left = np.asarray(done["kept"], np.int64)
            gone = np.setdiff1d(kept, left)
            dropped[gone] = step
            dropping, kept, step = len(gone) > 0, left, step + 1
        support = np.zeros(run.n_features, bool)
        support[kept] = True
        self.trail_ = pd.DataFrame(rows)
        self.n_steps_ = len(rows)
        self._keep(first.selection, support, dropped=dropped)


def _step(run: Run, kept: Ints, step: int) -> dict[str, Any]:
    """One more forest on the features that are left, beside permuted columns."""
    X, names = with_permuted(run, kept, step)
    if names is not None:
        X = pd.DataFrame(X, columns=names)
    selection = run.select(X, run.y, step).selection
    left = kept[selection.support[: len(kept)]]
    oob = of_columns(run.columns(kept), run.y, run.seed(step))
    row = _row(step, len(kept), len(left), oob)
    return {"kept": left.tolist(), "row": {k: row[k] for k in ("n_kept", "oob_error", "oob_loss")}}


def with_permuted(run: Run, kept: Ints, step: int) -> tuple[Any, list[str] | None]:
    """The kept columns, followed by columns of the data whose rows are permuted."""
    rng = np.random.default_rng([run.checkpoint.seed, step])
    number = max(_FEWEST, _PER_FEATURE * len(kept))
    rest = np.setdiff1d(np.arange(run.n_features), kept)
    # Those that were dropped first; all of them again, and the kept ones, where they do not do.
    pool = rest if len(rest) >= number else np.arange(run.n_features)
    taken = rng.choice(pool, number, replace=len(pool) < number)
    dense = [_dense(run.X[:, columns]) for columns in (kept, taken)]
    X = np.hstack([dense[0], rng.permuted(dense[1], axis=0)])
    if run.names is None:
        return X, None
    return X, [*map(str, run.names[kept]), *(f"permuted {i}" for i in range(number))]


def _dense(X: Any) -> Any:
    return X.toarray() if hasattr(X, "toarray") else X


def _row(step: int, n_features: int, n_kept: int, oob: OutOfBag | None) -> dict[str, Any]:
    return {
        "step": step,
        "n_features": n_features,
        "n_kept": n_kept,
        "oob_error": float("nan") if oob is None else oob.error,
        "oob_loss": float("nan") if oob is None else oob.loss,
    }
