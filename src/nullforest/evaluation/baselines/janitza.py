"""The test of Janitza et al.: negative importances, mirrored, as the null distribution.

An importance whose distribution is symmetric around zero for null features has a known null: the
importances that are not positive, which relevant features do not have, and their mirror images:

M = {I_f < 0} ∪ {-I_f : I_f < 0} ∪ {I_f = 0},   p_f = #{m ∈ M: m ≥ I_f} / |M|.

Janitza et al. (2018) used a cross-validated permutation importance; ranger, and this module,
the corrected Gini importance of Nembrini et al. (2018), which is symmetric by its construction.

Guarantee: the false positive rate, where the null importances are symmetric and many features
are null. No p-value is finer than one over |M|, so the test needs many features. Cost: one forest,
on twice the features.
"""

from __future__ import annotations

from time import monotonic
from typing import Any, Literal

import numpy as np

from nullforest._util.errors import InputError
from nullforest.evaluation.baselines.importances import MEASURES, MeasuredForests
from nullforest.evaluation.baselines.results import BaselineResult
from nullforest.evaluation.relabelling import dataset_of
from nullforest.nulls.distribution import Floats, check_alpha
from nullforest.selection.error_rates import ErrorRate

TEST = "the mirrored null distribution of Janitza et al."
#: Fewer negative importances make a coarse null distribution (ranger warns at this number too).
FEW = 100


def mirrored_pvalues(importance: Floats, *, plus_one: bool = True) -> Floats:
    """p-values of importances against the mirror image of those that are not positive.

    Parameters
    ----------
    importance : (F,) float
    plus_one : bool
        Count the observation itself, (1 + #) / (1 + |M|), so that no p-value is zero; ranger does
        not.
    """
    below = importance[importance < 0]
    if not len(below):
        raise InputError(
            "No importance is below zero, so the null distribution is not known; use "
            "label_permutation instead."
        )
    null = np.sort(np.concatenate([below, -below, importance[importance == 0]]))
    as_large = len(null) - np.searchsorted(null, importance, "left")
    return np.asarray((plus_one + as_large) / (plus_one + len(null)))


def janitza(
    X: Any,
    y: Any = None,
    *,
    statistic: Literal["corrected_gini", "permutation"] = "corrected_gini",
    alpha: float = 0.05,
    error: ErrorRate = "fpr",
    plus_one: bool = True,
    seed: int = 0,
    n_jobs: int = -1,
    **settings: Any,
) -> BaselineResult:
    """Select features by the mirrored distribution of importances that are not positive.

    Parameters
    ----------
    X, y, alpha, error, seed, n_jobs, **settings
        As in :func:`label_permutation`.
    statistic : {"corrected_gini", "permutation"}
        An importance that is symmetric around zero for a null feature.
    plus_one : bool
        Never give a p-value of zero; False for the rule of ranger.

    Returns
    -------
    BaselineResult

    References
    ----------
    S. Janitza, E. Celik, A.-L. Boulesteix, A computationally fast variable importance test for
    random forests for high-dimensional data, Advances in Data Analysis and Classification 12
    (2018). S. Nembrini, I. König, M. Wright, The revival of the Gini importance?, Bioinformatics
    34 (2018).

    Examples
    --------
    >>> import numpy as np, nullforest as nf
    >>> X = np.random.default_rng(0).normal(size=(60, 400))
    >>> s = nf.baselines.janitza(X, X[:, 5] > 0, trees=500, alpha=0.01)
    >>> bool(s.support[5]), s.n_selected < 20
    (True, True)
    """
    start = monotonic()
    check_alpha(alpha)
    if statistic not in ("corrected_gini", "permutation"):
        raise InputError(
            f"{statistic!r} is not symmetric around zero for null features; use 'corrected_gini' "
            "or 'permutation'."
        )
    data = dataset_of(X, y, settings, n_jobs=n_jobs)
    measured = MeasuredForests(data, statistic, seed=seed, n_jobs=n_jobs, **settings)
    forest = measured.grown(seed)
    values = measured.values(forest)
    below = int(np.sum(values < 0))
    null_size = 2 * below + int(np.sum(values == 0))
    note = (
        f"Only {below} importances are below zero, so no p-value is finer than "
        f"{1 / (plus_one + null_size):.2g} and none is accurate; use label_permutation instead."
    )
    return BaselineResult.of(
        mirrored_pvalues(values, plus_one=plus_one),
        alpha=alpha,
        error=error,
        test=TEST,
        statistic=MEASURES[statistic],
        values=values,
        expected=np.zeros(len(values)),
        tally=measured.tally(forest),
        forests=1,
        seconds=monotonic() - start,
        notes=(note,) if below < FEW else (),
        details={"below_zero": below, "null_size": null_size},
    )
