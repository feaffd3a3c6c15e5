"""Selection of groups of features, and of features within the selected groups.

A group is an atlas parcel, a gene set, the columns of one category, a bin of neighbouring voxels.
Its count is the sum of its members' counts, and its null distribution that of a sum: a share |g|/F
of the nodes under the paper's model, the sum over |g| features with sample associations of their
own under the other models. Correlated members, such as neighbours, share their sample association;
give the data (`X=`) so that this is taken into account, or the p-values of large correlated groups
are too small.

**First groups, then features.** Of m groups, R are selected at level alpha. Within each of those
the features are tested at level alpha·R/m: the error rate, averaged over the selected groups, is
then held at alpha although both steps see the same counts (Benjamini & Bogomolov 2014, for
groups that are independent of each other).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from nullforest._util.errors import InputError
from nullforest.data.column_blocks import columns_of, some_rows
from nullforest.data.ranks import standardised_ranks
from nullforest.nulls import Kind
from nullforest.nulls import null as make_null
from nullforest.nulls.distribution import Floats, Ints, Null
from nullforest.nulls.group_sums import group_null
from nullforest.selection.error_rates import ERROR_RATES, ErrorRate, decide
from nullforest.tallies.tally import Tally

#: Groups as a label per feature, or as a list of features per group.
GroupsLike = Mapping[Any, Iterable[Any]] | ArrayLike


@dataclass(frozen=True, eq=False, repr=False)
class GroupSelection:
    """Selected groups, their p-values, and their selected features.

    Attributes
    ----------
    names : (m,) str
        Names of the groups.
    members : list of (g,) int
        Features of each group.
    counts, expected : (m,)
        Summed selection counts, and what is expected under the null.
    pvalues, qvalues : (m,) float
        p-value of each group, and the smallest false discovery rate that would select it.
    support : (m,) bool
        Selected groups.
    feature_pvalues : (F,) float
        p-values of the single features.
    alpha, error : float, str
        The error rate and its level.
    null : Null
        Null distribution of single features, from which those of the groups are made.
    tally : Tally
        Selection counts of the forest.
    """

    names: NDArray[np.str_]
    members: list[Ints]
    counts: Ints
    expected: Floats
    pvalues: Floats
    qvalues: Floats
    support: NDArray[np.bool_]
    feature_pvalues: Floats
    alpha: float
    error: ErrorRate
    null: Null
    tally: Tally

    @property
    def n_selected(self) -> int:
        """Number of selected groups."""
        return int(self.support.sum())

    @property
    def table(self) -> pd.DataFrame:
        """All groups, the most significant first.

        Columns: group, size, count, expected_count, p_value, q_value, selected.
        """
        frame = pd.DataFrame(
            {
                "group": self.names,
                "size": [len(features) for features in self.members],
                "count": self.counts,
                "expected_count": self.expected,
                "p_value": self.pvalues,
                "q_value": self.qvalues,
                "selected": self.support,
            }
        )
        return frame.iloc[np.lexsort((np.arange(len(frame)), self.pvalues))]

    @property
    def within_alpha(self) -> float:
        """Level at which features are tested within the selected groups, alpha·R/m."""
        return self.alpha * self.n_selected / len(self.names)

    @property
    def features(self) -> pd.DataFrame:
        """The features of the selected groups, tested within their group at `within_alpha`.

        Columns: group, feature, column (in the data), count, p_value, selected.
        """
        parts = []
        for place in np.flatnonzero(self.support):
            columns = self.members[place]
            columns = columns[np.lexsort((columns, self.feature_pvalues[columns]))]
            p = self.feature_pvalues[columns]
            part = {
                "group": self.names[place],
                "feature": self.tally.names[columns],
                "column": columns,
                "count": self.tally.counts[columns],
                "p_value": p,
                "selected": decide(p, self.within_alpha, self.error).support,
            }
            parts.append(pd.DataFrame(part))
        if not parts:
            names = ["group", "feature", "column", "count", "p_value", "selected"]
            return pd.DataFrame(columns=names)
        return pd.concat(parts, ignore_index=True)

    @property
    def feature_support(self) -> NDArray[np.bool_]:
        """Mask of the features that are selected within selected groups."""
        mask = np.zeros(self.tally.n_features, bool)
        frame = self.features
        mask[frame["column"][frame["selected"].astype(bool)].to_numpy(np.int64)] = True
        return mask

    def __repr__(self) -> str:
        lines = [
            f"<GroupSelection: {self.n_selected} of {len(self.names)} groups selected at a "
            f"{ERROR_RATES[self.error]} of {self.alpha:g}, {int(self.feature_support.sum())} "
            "features within them>"
        ]
        if self.n_selected:
            shown = self.table[self.table["selected"]].head(10)
            lines.append(shown.drop(columns="selected").to_string(index=False))
        return "\n".join(lines)


def select_groups(
    tally: Tally,
    groups: GroupsLike,
    alpha: float = 0.05,
    error: ErrorRate = "fdr",
    null: Kind | Null = "auto",
    *,
    X: Any = None,
) -> GroupSelection:
    """Select the groups of features whose counts exceed what is expected under the null.

    Parameters
    ----------
    tally : Tally
        Selection counts of the forest.
    groups : (F,) array-like of labels, or dict
        A label for each feature (None, NaN or "" for none), or for each group its features, by
        name or number; groups may overlap. A dict whose values are single labels maps feature
        names to groups.
    alpha, error, null
        As in :func:`nullforest.select`: the error rate over groups, the null model of a feature.
    X : (S, F) array, optional
        The data, from which the correlations within each group are computed. Without it the
        members are taken for independent, which makes p-values of correlated groups too small.

    Returns
    -------
    GroupSelection

    Notes
    -----
    The mean count of a null feature is known to a few per cent. A group of hundreds of features
    multiplies that error by its size and its noise only by the square root, so p-values of very
    large groups are approximate where many features are relevant.

    Examples
    --------
    >>> import numpy as np, nullforest as nf
    >>> X, y, relevant = nf.simulate.independent(100, 300, n_relevant=6, relevance=0.6)
    >>> tally = nf.grow(X, y, trees=300).tally
    >>> found = nf.select_groups(tally, np.arange(300) // 20, 0.01, "fwer", X=X)
    >>> found.names[found.support].tolist(), found.counts.sum() == tally.n_nodes
    (['14'], np.True_)
    """
    names, members = as_groups(groups, tally)
    model = null if isinstance(null, Null) else make_null(tally, null)
    shared = None if X is None else shared_association(X, members)
    pvalues, expected = np.empty(len(names)), np.empty(len(names))
    counts = np.array([int(tally.counts[features].sum()) for features in members], np.int64)
    for place, features in enumerate(members):
        summed = group_null(model, features, None if shared is None else float(shared[place]))
        pvalues[place] = float(summed.pvalues(counts[place]))
        expected[place] = summed.mean
    decision = decide(pvalues, alpha, error)
    return GroupSelection(
        names=names,
        members=members,
        counts=counts,
        expected=expected,
        pvalues=pvalues,
        qvalues=decision.qvalues,
        support=decision.support,
        feature_pvalues=model.pvalues(tally.counts),
        alpha=alpha,
        error=error,
        null=model,
        tally=tally,
    )


def as_groups(groups: GroupsLike, tally: Tally) -> tuple[NDArray[np.str_], list[Ints]]:
    """Names of the groups and the numbers of their features, from labels or lists."""
    F = tally.n_features
    if isinstance(groups, Mapping):
        places = {str(name): i for i, name in enumerate(tally.names)}
        labelled = all(isinstance(v, str) or not np.iterable(v) for v in groups.values())
        if groups and labelled:
            labels = np.full(F, None, object)
            for feature, label in groups.items():
                labels[_place(feature, places, F)] = label
            names, members = _from_labels(labels)
        else:
            names = np.array([str(name) for name in groups], str)
            members = [
                np.unique(np.array([_place(feature, places, F) for feature in features], np.int64))
                for features in groups.values()
            ]
    else:
        labels = np.asarray(groups.to_numpy() if hasattr(groups, "to_numpy") else groups)
        if labels.shape != (F,):
            raise InputError(f"groups must hold one label for each of the {F} features.")
        names, members = _from_labels(labels)
    if len(names) == 0:
        raise InputError("There is no group; give a label for each feature, or lists of features.")
    for name, features in zip(names, members, strict=True):
        if not 0 < len(features) < F:
            raise InputError(
                f"Group {name!r} has {len(features)} of the {F} features; a group needs a member, "
                "and some features must be left outside."
            )
    return names, members


def _from_labels(labels: NDArray[Any]) -> tuple[NDArray[np.str_], list[Ints]]:
    column = pd.Series(labels)
    grouped = ~(column.isna() | (column.astype(str) == "")).to_numpy()
    codes, values = pd.factorize(column[grouped], sort=True)
    order = np.argsort(codes, kind="stable")
    features = np.flatnonzero(grouped)[order]
    ends = np.cumsum(np.bincount(codes, minlength=len(values)))[:-1]
    return np.array([str(value) for value in values], str), np.split(features, ends)


def _place(feature: Any, places: Mapping[str, int], F: int) -> int:
    if isinstance(feature, int | np.integer) and not isinstance(feature, bool):
        if 0 <= feature < F:
            return int(feature)
        raise InputError(f"A group names feature {feature}, but they go from 0 to {F - 1}.")
    if str(feature) not in places:
        raise InputError(f"A group names the feature {feature!r}, which the tally does not have.")
    return places[str(feature)]


def shared_association(X: Any, members: list[Ints]) -> Floats:
    """Q = Σ r² over the pairs of each group's members, r their rank correlation.

    The expectation of r² for independent features, 1/(S−1), is subtracted.
    """
    source, _ = columns_of(X)
    result = np.empty(len(members))
    for place, features in enumerate(members):
        ranks = standardised_ranks(some_rows(source, features))
        g, S = ranks.shape
        # ‖RRᵀ‖² = ‖RᵀR‖²: the smaller of the two products
        product = ranks @ ranks.T if g <= S else ranks.T @ ranks
        diagonal = float((np.square(ranks).sum(axis=1) ** 2).sum())  # 1 each, constant columns 0
        pairs = max(float(np.square(product).sum()) - diagonal, 0.0)
        if g > 1 and S > 2:
            expected = 1.0 / (S - 1)
            mean = max(pairs / (g * (g - 1)) - expected, 0.0) / (1.0 - expected)
            pairs = mean * g * (g - 1)
        result[place] = g + pairs
    return result
