"""A scikit-learn selector of groups of features.

The counts of one forest are summed over groups and tested. See :mod:`nullforest.features.groups`
for what is guaranteed over groups and within them.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

import numpy as np

from nullforest._util.errors import check_known
from nullforest.estimators.wrappers.wrapper import SelectorWrapper, SeriesOfFits
from nullforest.features.groups import select_groups
from nullforest.selection.error_rates import ErrorRate


@dataclass(eq=False, repr=False)
class GroupSelector(SelectorWrapper):
    """Select the features of groups that a forest uses more often than expected under the null.

    Parameters
    ----------
    groups : (F,) array-like of labels, or dict
        A label for each feature, the features of each group, or the group of each feature name;
        see :func:`nullforest.select_groups`.
    selector : selector or function, optional
        Gives the Selection whose counts are summed; a :class:`~nullforest.ForestSelector` where
        not given. Its alpha and error are those of single features and have no effect here.
    alpha : float, default 0.05
        The error rate to hold over groups.
    error : {"fdr", "fpr", "fdr_by", "fwer"}, default "fdr"
        Which error rate.
    keep : {"groups", "features"}, default "groups"
        Keep all features of the selected groups, or those that pass within them.
    correlated : bool, default True
        Take the correlations within each group into account.
    random_state : int, RandomState or None, default 0
        Seed of the forest.
    min_features, resume, progress
        As for the other wrappers; one forest is not interrupted.

    Attributes
    ----------
    support_ : (F,) bool
        The features that are kept.
    groups_ : GroupSelection
        Selected groups, with their p-values, and selected features within them.
    selection_ : Selection
        Selection of single features.

    Examples
    --------
    >>> import numpy as np, nullforest as nf
    >>> X, y, relevant = nf.simulate.independent(100, 300, n_relevant=6, relevance=0.6, seed=1)
    >>> blocks = nf.wrappers.GroupSelector(np.arange(300) // 20, error="fwer").fit(X, y)
    >>> blocks.transform(X).shape
    (100, 20)
    """

    groups: Any = None
    selector: Any = None
    _: KW_ONLY
    alpha: float = 0.05
    error: ErrorRate = "fdr"
    keep: Literal["groups", "features"] = "groups"
    correlated: bool = True

    def _run(self, run: SeriesOfFits) -> None:
        check_known("keep", self.keep, ("groups", "features"))
        first, _ = run.select(run.columns(), run.y, 0)
        # Where no groups are given every feature is one of its own.
        groups = np.arange(run.n_features) if self.groups is None else self.groups
        X = run.X if self.correlated else None
        self.groups_ = select_groups(first.tally, groups, self.alpha, self.error, first.null, X=X)
        support = self.groups_.feature_support
        if self.keep == "groups":
            for place in np.flatnonzero(self.groups_.support):
                support[self.groups_.members[place]] = True
        self._keep(first, support)
