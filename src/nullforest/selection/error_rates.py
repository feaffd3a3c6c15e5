"""Which counts are too large for chance? p-values, an error rate to hold, and who passes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from nullforest._util.errors import InputError
from nullforest.nulls.distribution import Floats, Null, check_alpha

ErrorRate = Literal["fpr", "fdr", "fdr_by", "fwer"]
#: Error rates and what each one promises, in the words that tables and reports use.
ERROR_RATES: dict[ErrorRate, str] = {
    "fpr": "false positive rate",
    "fdr": "false discovery rate (Benjamini-Hochberg)",
    "fdr_by": "false discovery rate under any dependence (Benjamini-Yekutieli)",
    "fwer": "family-wise error rate (Holm)",
}


@dataclass(frozen=True)
class Decision:
    """Which features pass an error rate, and by what.

    Attributes
    ----------
    support : (F,) bool
        Whether each feature is selected.
    pvalues : (F,) float
        Probability of such a count or a larger one under the null.
    qvalues : (F,) float
        Smallest false discovery rate at which the feature would be selected.
    adjusted : (F,) float
        What was compared with alpha: the p-value itself, or adjusted for multiplicity.
    alpha : float
    error : str
        The rate that is held, a key of `ERROR_RATES`.
    """

    support: NDArray[np.bool_]
    pvalues: Floats
    qvalues: Floats
    adjusted: Floats
    alpha: float
    error: ErrorRate


def decide(pvalues: ArrayLike, alpha: float = 0.05, error: ErrorRate = "fpr") -> Decision:
    """Select the features whose p-values pass an error rate.

    A smaller alpha never selects more: each feature has one adjusted p-value, and is selected
    when that is at most alpha.

    Parameters
    ----------
    pvalues : array-like of float, (F,)
    alpha : float
        The rate to hold.
    error : {"fpr", "fdr", "fdr_by", "fwer"}
        What `alpha` limits: the share of null features that are selected ("fpr"), the expected
        share of null features among the selected ones ("fdr", and "fdr_by" under any
        dependence between them), or the probability to select any null feature ("fwer").

    Examples
    --------
    >>> from nullforest.selection.error_rates import decide
    >>> decide([0.001, 0.02, 0.04, 0.9], alpha=0.05, error="fdr").support
    array([ True,  True, False, False])
    """
    check_alpha(alpha)
    p = np.asarray(pvalues, float)
    if error == "fpr":
        adjusted = p
    elif error == "fdr":
        adjusted = stats.false_discovery_control(p, method="bh")
    elif error == "fdr_by":
        adjusted = stats.false_discovery_control(p, method="by")
    elif error == "fwer":
        adjusted = holm(p)
    else:
        raise InputError(
            f"There is no error rate {error!r}; choose one of {', '.join(ERROR_RATES)}."
        )
    q = adjusted if error in ("fdr", "fdr_by") else stats.false_discovery_control(p, method="bh")
    return Decision(
        support=adjusted <= alpha,
        pvalues=p,
        qvalues=np.asarray(q),
        adjusted=np.asarray(adjusted),
        alpha=alpha,
        error=error,
    )


def holm(pvalues: Floats) -> Floats:
    """p-values adjusted by Holm's step-down procedure.

    Examples
    --------
    >>> from nullforest.selection.error_rates import holm
    >>> holm(np.array([0.04, 0.01, 0.03]))
    array([0.06, 0.03, 0.06])
    """
    order = np.argsort(pvalues)
    steps = pvalues[order] * np.arange(len(pvalues), 0, -1)
    adjusted = np.empty_like(steps)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


def threshold_of(decision: Decision, counts: NDArray[np.int64], null: Null) -> int:
    """The count that a feature has to exceed to be selected.

    For a false positive rate it is the paper's threshold. The other rates depend on all
    features; where they select nothing, it is what a single feature would have had to exceed.
    """
    if decision.error != "fpr" and decision.support.any():
        return int(counts[decision.support].min()) - 1
    return lone_threshold(null, decision.alpha, decision.error, len(counts))


def lone_threshold(null: Null, alpha: float, error: ErrorRate, n_features: int) -> int:
    """The count that one feature has to exceed if no other one passes."""
    penalty = 1.0 if error == "fpr" else float(n_features)
    if error == "fdr_by":
        penalty *= float(np.sum(1.0 / np.arange(1, n_features + 1)))
    return null.threshold(alpha / penalty)
