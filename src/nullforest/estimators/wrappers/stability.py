r"""Stability selection: features that are selected on most random halves of the samples.

The selector is run on many random halves of the samples, drawn in complementary pairs; a feature is
stable when the share of halves that select it reaches a threshold (Meinshausen & Bühlmann 2010,
Shah & Samworth 2013).

**What is guaranteed.** With `keep=q`, which takes the q features of smallest p-value on every
half, of p in all, the expected number of false features E[V] is bounded, for a threshold π, by
q² / ((2π − 1) p): if null features are exchangeable and the selector is no worse than a random
choice (Meinshausen & Bühlmann, Theorem 1); and without any assumption for features that are
selected on a half-sample with probability q/p at most (Shah & Samworth, Theorem 1).

The p-values only order the features; the bound does not depend on their calibration.

**What is not.** Where the selector itself decides how many features it takes (`keep=None`), q is
replaced by its observed mean, and the bound is an estimate. Where hardly anything is selected, the
error rate that the selector holds on each half says more: a stable feature has passed it on a
majority of halves. Halves are drawn within classes, so that none loses a class; the theorems then
hold given the class sizes.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nullforest._util.checks import whole_number
from nullforest._util.errors import InputError, optional
from nullforest.data.targets import as_target
from nullforest.estimators.wrappers.wrapper import SelectorWrapper, SeriesOfFits
from nullforest.nulls.distribution import Ints
from nullforest.run import backends

#: Features of each half-sample whose order is kept for the path.
_PATH = 200


@dataclass(eq=False, repr=False)
class StabilitySelection(SelectorWrapper):
    """Select the features that are selected on most random halves of the samples.

    The text of :mod:`nullforest.estimators.wrappers.stability` states what is guaranteed.

    Parameters
    ----------
    selector : selector or function, optional
        Gives a Selection; a :class:`~nullforest.ForestSelector` where not given. A function is
        called as `selector(X, y, seed=...)`.
    threshold : float, default 0.75
        Share of the halves that must select a feature, above 0.5.
    max_false : float, optional
        Instead of a threshold: the smallest one that holds the expected number of false features
        at this number.
    keep : int, optional
        Take this many features of smallest p-value on every half; where not given, those that the
        selector selects.
    pairs : int, default 50
        Twice as many halves are drawn; those of a pair have no sample in common.
    min_features : int, optional
        Fewest features to keep. Where fewer are selected, those with the smallest p-values of the
        forest on all samples are kept too, and a note of `selection_` says so. With 0 `transform`
        may return no column; where not given, it raises an error in that case.
    random_state : int, RandomState or None, default 0
        Seed of the halves and the forests.
    resume : path, optional
        Folder in which finished halves are kept, and from which an interrupted run resumes.
    progress : bool, default True
        Show a bar on a terminal when the work lasts.

    Attributes
    ----------
    support_ : (F,) bool
        The stable features.
    probabilities_ : (F,) float
        Share of the halves that selected each feature.
    threshold_ : float
        Share that was needed.
    mean_selected_ : float
        Mean number of features selected on a half, the q of the bound.
    expected_false_ : float
        Bound on the expected number of false features.
    ranked_ : (2 · pairs, K) int
        For each half the features of smallest p-value, in order; see :meth:`path`.
    selection_ : Selection
        Selection of one forest on all samples.
    table_ : DataFrame
        All features: count and p_value of the forest on all samples, probability, selected.

    Examples
    --------
    >>> import nullforest as nf
    >>> X, y, relevant = nf.simulate.independent(100, 300, n_relevant=5, relevance=0.7)
    >>> few = nf.ForestSelector(trees=100)
    >>> stable = nf.wrappers.StabilitySelection(few, keep=10, max_false=1, pairs=5).fit(X, y)
    >>> stable.threshold_, round(stable.expected_false_, 2), int(stable.support_[relevant].sum())
    (0.7, 0.83, 5)
    """

    selector: Any = None
    _: KW_ONLY
    threshold: float = 0.75
    max_false: float | None = None
    keep: int | None = None
    pairs: int = 50

    _counted: ClassVar[str] = "Testing half-samples"

    def _run(self, run: SeriesOfFits) -> None:
        if self.keep is not None:
            whole_number("keep", self.keep, 1, run.n_features)
        if self.max_false is not None and not self.max_false > 0:
            raise InputError(f"max_false = {self.max_false} must be positive.")
        expected_false(self.threshold, 1, run.n_features)  # refuses a bad threshold
        halves, n_finished = 2 * self.pairs, len(run.steps)
        target = as_target(run.y, len(run.y))
        classes = np.zeros(len(run.y), np.int64) if target.classes is None else target.values
        run.report(n_finished, halves)
        backend = backends.find()
        shared = self, run if backend is None else run.for_workers(), classes
        for step in backends.each(
            StabilitySelection._test_half, shared, range(n_finished, halves), backend
        ):
            run.add(step)
            run.report(len(run.steps), halves)
        times = np.zeros(run.n_features, np.int64)
        for step in run.steps:
            times[step["selected"]] += 1
        self.probabilities_ = times / halves
        self.mean_selected_ = float(np.mean([len(step["selected"]) for step in run.steps]))
        self.ranked_ = np.array([step["ranked"] for step in run.steps], np.int64)
        self.threshold_ = self._threshold(run.n_features)
        self.expected_false_ = expected_false(self.threshold_, self.mean_selected_, run.n_features)
        first, _ = run.select(run.columns(), run.y, 0)
        support = times >= round(self.threshold_ * halves, 9)  # 0.7 · 10 is 7, not a bit more
        self._keep(first, support, probability=self.probabilities_)
        self._names = first.tally.names

    def _test_half(self, run: SeriesOfFits, classes: Ints, number: int) -> dict[str, Any]:
        """Features selected on one half, and the order of those with the smallest p-values."""
        rng = np.random.default_rng([run.first_seed, number // 2])
        rows = halves_of(classes, rng)[number % 2]
        selection, _ = run.select(run.columns(rows=rows), run.y[rows], number + 1)
        ties = np.random.default_rng([run.first_seed, number + 1, 1]).random(run.n_features)
        order = np.lexsort((ties, selection.pvalues))  # equal p-values in random order
        chosen = np.flatnonzero(selection.support) if self.keep is None else order[: self.keep]
        return {"selected": np.sort(chosen).tolist(), "ranked": order[:_PATH].tolist()}

    def _threshold(self, n_features: int) -> float:
        if self.max_false is None:
            return float(self.threshold)
        lowest = lowest_threshold(self.max_false, self.mean_selected_, n_features, self.pairs)
        if lowest is None:
            raise InputError(
                f"No threshold bounds the expected number of false features at {self.max_false}: "
                f"{self.mean_selected_:.4g} of {n_features} features are selected on a half. Keep "
                f"at most {int(np.sqrt(self.max_false * n_features))} (keep=...), or allow more."
            )
        return lowest

    def path(self, features: Any = None) -> pd.DataFrame:
        """Selection probability of features when each half keeps its 1, 2, … best.

        Parameters
        ----------
        features : list of int, optional
            Columns of the data; the stable ones and the next ten where not given.

        Returns
        -------
        DataFrame
            Rows: features kept on each half, from 1 to 200. Columns: features, by name.
        """
        if features is None:
            order = np.argsort(-self.probabilities_, kind="stable")
            features = order[: int(self.support_.sum()) + 10]
        features = np.atleast_1d(np.asarray(features, np.int64))
        longest = self.ranked_.shape[1]
        times = [(self.ranked_ == feature).sum(axis=0) for feature in features]
        shares = np.cumsum(np.array(times).reshape(-1, longest), axis=1) / len(self.ranked_)
        index = pd.RangeIndex(1, longest + 1, name="kept")
        return pd.DataFrame(shares.T, index=index, columns=self._names[features])

    def plot_path(self, features: Any = None, ax: Any = None) -> Any:
        """Draw :meth:`path`: stable features in colour, the others in grey.

        Returns the matplotlib axes.
        """
        pyplot = optional("matplotlib.pyplot", "plot", "The path plot")
        path = self.path(features)
        ax = pyplot.subplots()[1] if ax is None else ax
        stable = set(self._names[self.support_])
        for name in path.columns:
            style: dict[str, Any] = {"label": name} if name in stable else {"color": "0.75"}
            ax.plot(path.index, path[name], zorder=2 if name in stable else 1, **style)
        ax.axhline(self.threshold_, color="0.3", linestyle="--", linewidth=1)
        ax.set(
            xscale="log",
            ylim=(0, 1.02),
            xlabel="features kept on each half-sample",
            ylabel="selection probability",
        )
        if 0 < len(stable & set(path.columns)) <= 20:  # more would cover the plot
            ax.legend(fontsize="small", frameon=False)
        return ax


def halves_of(classes: NDArray[np.int64], rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Two halves of the samples without a common one, each with half of every class.

    The samples of odd classes that are left over go to the halves in turn; of an odd number of
    samples in all, one is in neither half.
    """
    order = rng.permutation(len(classes))
    order = order[np.argsort(classes[order], kind="stable")]
    order = order[: len(order) // 2 * 2]
    return np.sort(order[0::2]), np.sort(order[1::2])


def expected_false(threshold: float, q: float, n_features: int) -> float:
    """Bound on the expected number of false stable features, q² / ((2π − 1) p).

    Parameters
    ----------
    threshold : float
        Share of half-samples π that must select a feature, above ½.
    q : float
        Mean number of features selected on a half-sample.
    n_features : int
        Number of features p.
    """
    if not 0.5 < threshold <= 1.0:
        raise InputError(
            f"threshold = {threshold} must lie above 0.5 and up to 1; there is no bound below."
        )
    return q / n_features * q / (2 * threshold - 1)


def lowest_threshold(max_false: float, q: float, n_features: int, pairs: int) -> float | None:
    """Smallest share of the half-samples that holds the expected number of false features."""
    for number in range(pairs + 1, 2 * pairs + 1):
        threshold = number / (2 * pairs)
        if expected_false(threshold, q, n_features) <= max_false * (1 + 1e-12):  # rounding
            return threshold
    return None
