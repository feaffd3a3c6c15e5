"""Error rates: p-values adjusted for multiplicity, and the features that pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nullforest._util.errors import InputError
from nullforest.nulls.distribution import Floats, check_alpha

ErrorRate = Literal["fdr", "fdr_by", "fpr", "fwer"]
#: Error rates in the words of tables and reports.
ERROR_RATES: dict[ErrorRate, str] = {
    "fdr": "false discovery rate (Benjamini-Hochberg)",
    "fdr_by": "false discovery rate under any dependence (Benjamini-Yekutieli)",
    "fpr": "false positive rate",
    "fwer": "family-wise error rate (Holm)",
}


@dataclass(frozen=True)
class Decision:
    """Features that pass an error rate.

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
    """

    support: NDArray[np.bool_]
    pvalues: Floats
    qvalues: Floats
    adjusted: Floats


def decide(
    pvalues: ArrayLike,
    alpha: float = 0.05,
    error: ErrorRate = "fdr",
    n_tests: int | None = None,
    *,
    tested: NDArray[np.bool_] | None = None,
) -> Decision:
    """Select the features whose p-values pass an error rate.

    A smaller alpha never selects more: each feature has one adjusted p-value, and is selected
    when that is at most alpha.

    Parameters
    ----------
    pvalues : array-like of float, (F,)
    alpha : float
        The level of the error rate.
    error : {"fdr", "fdr_by", "fpr", "fwer"}
        The rate that `alpha` limits: the expected proportion of null features among the selected
        ones ("fdr", and "fdr_by" under any dependence), the proportion of null features that are
        selected ("fpr"), or the probability of selecting any null feature ("fwer").
    n_tests : int, optional
        Number of tests, F or more; those without a p-value here have a p-value of 1.
    tested : (F,) bool, optional
        Features that are tested; all where not given. The others, constant features
        (:attr:`nullforest.Tally.varying`), count for no error rate and are never selected.

    Examples
    --------
    >>> from nullforest.selection.error_rates import decide
    >>> decide([0.001, 0.02, 0.04, 0.9], alpha=0.05).support
    array([ True,  True, False, False])
    """
    check_alpha(alpha)
    p = np.asarray(pvalues, float)
    if tested is not None and not tested.all():
        part = decide(p[tested], alpha, error, n_tests)
        support, (q, adjusted) = np.zeros(len(p), bool), np.ones((2, len(p)))
        support[tested], q[tested], adjusted[tested] = part.support, part.qvalues, part.adjusted
        return Decision(support, p, q, adjusted)
    adjusted = adjust(p, error, n_tests)
    q = adjusted if error in ("fdr", "fdr_by") else adjust(p, "fdr", n_tests)
    return Decision(adjusted <= alpha, p, q, adjusted)


def adjust(pvalues: Floats, error: ErrorRate, n_tests: int | None = None) -> Floats:
    """p-values adjusted for multiplicity by the procedure of an error rate.

    Parameters are those of :func:`decide`. With ranks from 1, in increasing order of p:
    Benjamini-Hochberg takes the running minimum of p · (tests / rank) from the largest p down,
    Benjamini-Yekutieli multiplies it by 1 + 1/2 + … + 1/tests, and Holm takes the running maximum
    of p · (tests − rank + 1).
    """
    if not (isinstance(error, str) and error in ERROR_RATES):
        raise InputError(
            f"There is no error rate {error!r}; choose one of {', '.join(ERROR_RATES)}."
        )
    if error == "fpr":
        return pvalues
    tests = len(pvalues) if n_tests is None else n_tests
    order = np.argsort(pvalues)
    rank = np.arange(1, len(pvalues) + 1)
    adjusted = np.empty_like(pvalues)
    if error == "fwer":
        adjusted[order] = np.maximum.accumulate(pvalues[order] * (tests - rank + 1))
    else:
        steps = pvalues[order] * (tests / rank)
        if error == "fdr_by":
            steps *= harmonic(tests)
        adjusted[order] = np.minimum.accumulate(steps[::-1])[::-1]
    return np.minimum(adjusted, 1.0)


def critical_level(alpha: Any, error: ErrorRate, n_tests: int, n_selected: Any = 1) -> Any:
    """Largest p-value that is selected where `n_selected` features are; of one alpha or of many.

    With one feature (or none) it is the level that a single feature has to reach.
    """
    among = np.maximum(n_selected, 1)
    if error == "fpr":
        return alpha
    if error == "fwer":
        return alpha / (n_tests - among + 1)
    return alpha * among / n_tests / (harmonic(n_tests) if error == "fdr_by" else 1.0)


def harmonic(n: int) -> float:
    """1 + 1/2 + … + 1/n, the penalty of Benjamini and Yekutieli."""
    return float(np.sum(1.0 / np.arange(1, n + 1)))
