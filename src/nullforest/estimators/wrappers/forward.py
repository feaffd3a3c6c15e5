"""Forward selection: few features that predict, by p-value and out-of-bag error.

One forest on all features gives the p-values. The features that it selects are tried in the order
of their p-values: each joins if the out-of-bag loss of a forest on those that have joined falls by
more than the standard error of that fall, sample by sample. It starts from guessing (the class
shares, or the mean).

**What is guaranteed.** Only features that the first forest selected can join, so the result is a
subset of its selection: the probability of any false feature (error="fwer") is at most alpha, and
the expected number of false features (error="fpr") at most alpha times the number of features.
Each p-value is used once, for that; the order of trial and the out-of-bag errors support no claim.

**What is not.** A false discovery rate (error="fdr") is not inherited by a part of the selection.
A feature that does not join need not be null: its information may be in the others already. The
out-of-bag errors on the trail are those of features that were selected on the same samples, and so
too small; test on other samples.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from nullforest._util.errors import InputError
from nullforest.estimators.wrappers.out_of_bag import NONE, OutOfBag, gain, of_columns, of_guessing
from nullforest.estimators.wrappers.wrapper import SelectorWrapper, SeriesOfFits
from nullforest.nulls.distribution import Ints

#: Columns of the trail.
_TRAIL = ["feature", "p_value", "gain", "gain_se", "joined", "oob_error", "oob_loss"]


@dataclass(eq=False, repr=False)
class ForwardSelection(SelectorWrapper):
    """Add features by p-value while the out-of-bag error improves.

    The text of :mod:`nullforest.estimators.wrappers.forward` states what is guaranteed.

    Parameters
    ----------
    standard_errors : float, default 1
        The loss must fall by more than this many of its standard errors.
    patience : int, default 1
        Features in a row that may fail to improve the loss before it ends. With more than one, a
        correlated twin of a feature that has joined does not end the search.
    max_features : int, optional
        Most features to select.
    selector, min_features, random_state, resume, progress
        As in :class:`StabilitySelection`; the first forest is that of the selector alone with this
        seed.

    Attributes
    ----------
    support_ : (F,) bool
        The features that joined.
    selection_ : Selection
        Selection of the first forest; its p-values support the error rate.
    trail_ : DataFrame
        One row per feature tried: feature, p_value, gain (fall of the loss) and its standard error
        gain_se, joined, and oob_error and oob_loss with the feature; the first row is guessing.
    table_ : DataFrame
        All features: count and p_value of the first forest, order (1 for the first that joined,
        0 for those that did not), selected.

    Examples
    --------
    >>> import nullforest as nf
    >>> X, y, relevant = nf.simulate.independent(100, 300, n_relevant=5, relevance=0.7)
    >>> forward = nf.wrappers.ForwardSelection(nf.ForestSelector(trees=300)).fit(X, y)
    >>> bool(forward.support_[relevant].any()), int(forward.support_[~relevant].sum())
    (True, 0)
    """

    selector: Any = None
    _: KW_ONLY
    standard_errors: float = 1.0
    patience: int = 1
    max_features: int | None = None

    _counted: ClassVar[str] = "Trying features"

    def _run(self, run: SeriesOfFits) -> None:
        first, _ = run.select(run.columns(), run.y, 0)
        order = np.lexsort((np.arange(run.n_features), -first.counts, first.pvalues))
        queue = order[first.support[order]].tolist()
        best = of_guessing(run.y)
        trail = [("", np.nan, 0.0, 0.0, True, best.error, best.loss)]
        joined: list[int] = []
        failures = 0
        for step, feature in enumerate(queue, start=1):
            if failures >= self.patience or len(joined) >= (self.max_features or len(queue)):
                break
            run.report(step, len(queue))
            result = run.step(step, _step, np.array([*joined, feature], np.int64))
            oob = OutOfBag(np.asarray(result["losses"], float), result["error"])
            fall, error = gain(best, oob)
            joins = fall > self.standard_errors * error
            name, p = str(first.tally.names[feature]), float(first.pvalues[feature])
            trail.append((name, p, fall, error, joins, oob.error, oob.loss))
            if joins:
                joined.append(feature)
                best, failures = oob, 0
            else:
                failures += 1
        place = np.zeros(run.n_features, np.int64)
        place[joined] = np.arange(1, len(joined) + 1)
        self.trail_ = pd.DataFrame(trail, columns=_TRAIL)
        self._keep(first, place > 0, order=place)


def _step(run: SeriesOfFits, step: int, columns: Ints) -> dict[str, Any]:
    """Out-of-bag losses of a forest on the features that have joined and one more."""
    oob = of_columns(run.columns(columns), run.y, run.seed(step))
    if oob is NONE:
        raise InputError("Forward selection needs classes or numbers to predict.")
    return {"losses": oob.losses.tolist(), "error": oob.error}
