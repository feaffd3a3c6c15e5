"""Sentences about a selection: result, expected errors, and why nothing was selected."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nullforest._util.words import PERMUTATION_TEST, Sentence, Setting, printable
from nullforest.data.effects import decimals
from nullforest.nulls.constants import BULK_FEATURES
from nullforest.nulls.distribution import Null
from nullforest.selection.error_rates import ERROR_RATES, critical_level
from nullforest.tallies.tally import Tally

if TYPE_CHECKING:
    from nullforest.selection.selection import Selection

#: A null mean that exceeds the mean of all counts by this factor is a contradiction: in null data
#: of 10 to 3 000 independent features it was at most 1.13 times that mean.
_CONTRADICTION = 1.2
#: Factors of more trees that an explanation tries.
_MORE_TREES = (1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32)


def headline(selection: Selection) -> str:
    """Number of selected features, error rate, threshold and expected count."""
    return (
        f"{selection.n_selected} of {selection.tally.n_features} features selected at a "
        f"{ERROR_RATES[selection.error]} of {selection.alpha:g}: count above "
        f"{own_thresholds(selection)}, {own_expected_counts(selection)} expected under the null"
    )


def own_thresholds(selection: Selection) -> str:
    """The count to exceed: one for all features, or the range of those of strata or features."""
    return by_stratum(selection.thresholds, each_has_its_own(selection.null))


def own_expected_counts(selection: Selection) -> str:
    """The count expected under the null, or the range of those of strata or features."""
    return by_stratum(
        selection.null.expected_counts()[selection.tally.varying], each_has_its_own(selection.null)
    )


def each_has_its_own(null: Null) -> str:
    """What has a null distribution of its own: the features, or their strata."""
    return "feature" if null.kind == "shadows" else "stratum"


def null_mean_notes(tally: Tally, null: Null) -> tuple[str, ...]:
    """Notes about a null mean that rests on too few null features.

    Examples
    --------
    >>> import nullforest as nf
    >>> t = nf.Tally.from_counts([12, 9, 2, 2, 3], nodes_per_tree=[4] * 7, n_samples=20)
    >>> null_mean_notes(t, nf.null(t, "paper"))
    ()
    """
    F, mean = tally.n_varying, float(tally.counts.sum() / tally.n_varying)
    if null.kind == "shadows":  # the shadows are null, whatever the features are
        return ()
    remedy = (
        " Use shadows, as ",
        Setting("trees", "auto"),
        " does with few features (",
        Setting("shadows"),
        "), or a permutation test (",
        PERMUTATION_TEST,
        ").",
    )
    if null.mean > _CONTRADICTION * mean:
        note = (
            f"The null mean cannot be estimated: it comes out as {null.mean:.4g}, above the mean "
            f"count of all {F} features, {mean:.4g}. Too few of them are null features, and the "
            "p-values are too large."
        )
        return (Sentence(note, *remedy),)
    if null.kind == "probes" and F < BULK_FEATURES:
        note = (
            f"The null mean is estimated from only {F} features; p-values are approximate, and the "
            "power is low where many of them are relevant."
        )
        return (Sentence(note, *remedy),)
    return ()


def expected_errors(selection: Selection) -> str:
    """The number of false positives that the error rate allows; empty if nothing was selected.

    Examples
    --------
    >>> import nullforest as nf
    >>> t = nf.Tally.from_counts([12, 9, 2, 2, 3], nodes_per_tree=[4] * 7, n_samples=20)
    >>> expected_errors(nf.select(t, null="paper"))
    'At most 0.05 false positives are expected among the selected feature.'
    >>> expected_errors(nf.select(t, error="fpr", null="paper"))
    'At most 0.195 false positives are expected among the selected feature.'
    """
    n = selection.n_selected
    if not n:
        return ""
    among = "the selected feature" if n == 1 else f"the {n} selected features"
    number = f"{selection.expected_false_discoveries:.3g} false positives are expected"
    if selection.error == "fwer":
        return (
            f"The probability of any false positive among {among} is at most "
            f"{selection.alpha:g}; at most {number}."
        )
    if selection.expected_false_discoveries >= n:
        return f"At most {number}, no fewer than are selected ({n}): all of them may be false."
    return f"At most {number} among {among}."


def expected_false_discoveries(selection: Selection) -> float:
    """Bound of the expected number of null features among the selected ones.

    For false discovery rates alpha times the number of selected features; for other error rates
    the number of features that would exceed their thresholds, were all of them null.
    """
    if selection.error in ("fdr", "fdr_by"):
        return selection.alpha * selection.n_selected
    return float(selection.expected_false_positives)


def expected_agreement(selection: Selection) -> str:
    """How far another seed is expected to select the same; empty where that is not known.

    Examples
    --------
    >>> import nullforest as nf
    >>> X, y, relevant = nf.simulate.independent(100, 300, n_relevant=5, relevance=0.7)
    >>> expected_agreement(nf.select(nf.grow(X, y, trees=2000)))
    'The selection of another seed is expected to have a Jaccard index of 1.00 with this one.'
    """
    found = selection.agreement
    if found is None:
        return ""
    if found.n_selected == 0 and found.expected == 1:
        return "Another seed is expected to select nothing either."
    return (
        "The selection of another seed is expected to have a Jaccard index of "
        f"{found.expected:.2f} with this one."
    )


def explanation(selection: Selection) -> str:
    """Why nothing was selected, and what would change that; empty if something was."""
    if selection.n_selected:
        return ""
    best = int(np.argmin(selection.pvalues))
    p, count = selection.pvalues[best], int(selection.counts[best])
    name = printable(selection.tally.names[best])
    words = (
        f"Nothing was selected. The most significant feature, {name}, was selected {count} times "
        f"(p = {p:.2g}); a count above {selection.thresholds[best]} was needed."
    )
    level = critical_level(selection.alpha, selection.error, selection.tally.n_features)
    for factor in _MORE_TREES:
        longer = selection.null.scaled(factor)
        if longer is None:
            return words
        if count and longer.pvalues(np.round(factor * selection.counts))[best] <= level:
            trees = round(factor * selection.tally.n_trees)
            return f"{words} At the same selection rate, {trees} trees would be enough."
    return f"{words} More trees alone are not likely to change this."


def printed(row: Mapping[Any, Any], effects: Iterable[str] = ()) -> list[str]:
    """Feature, count, expected count, p, q and effects of a row of the table, as people read them.

    Examples
    --------
    >>> row = {"feature": "x0", "count": 12, "expected_count": 2.0, "p_value": 1e-4, "q_value": 0.2}
    >>> printed(row | {"higher_in": "ill", "auc": 0.951}, ["higher_in", "auc"])
    ['x0', '12', '2', '0.0001', '0.2', 'ill', '0.95']
    """
    digits = {"expected_count": 3, "p_value": 2, "q_value": 2}
    numbers = [f"{row[name]:.{number}g}" for name, number in digits.items()]
    beside = row.get("name") or row.get("region")  # a symbol, or the region of an atlas
    label = f"{row['feature']} ({beside})" if beside else row["feature"]
    cells = (row[name] for name in effects)
    numbers += [cell if isinstance(cell, str) else decimals(cell) for cell in cells]
    return [label, str(row["count"]), *numbers]


def by_stratum(values: NDArray[Any], each: str = "stratum") -> str:
    """A number that all features share, or the smallest and the largest one of the strata.

    Examples
    --------
    >>> by_stratum(np.array([7, 7])), by_stratum(np.array([3.14159, 8.0]))
    ('7', '3.14 to 8 by stratum')
    """
    low, high = (
        str(value) if isinstance(value, np.integer) else f"{value:.3g}"
        for value in (values.min(), values.max())
    )
    return low if low == high else f"{low} to {high} by {each}"
