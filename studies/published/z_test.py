"""The z-test of Breiman and Cutler, whose level does not hold.

Tree t's out-of-bag error grows by d_t when feature f is shuffled. If the trees were independent,

z_f = mean(d) / (sd(d) / √T),   p_f = 1 - Φ(z_f).

Guarantee: none. The trees share one sample, so the d_t are independent only *given* these data: the
test is of whether the importance in this sample would differ from zero with infinitely many trees,
and z grows like √T for every feature whose importance is not exactly zero, null features included.
Strobl and Zeileis (2008) report that its power grows with the number of trees, which the user
chooses, and falls with the number of samples; see docs/baselines.md. Cost: one forest.
"""

from __future__ import annotations

from time import monotonic
from typing import Any

import numpy as np
from scipy import special

from nullforest._util.errors import InputError
from nullforest.evaluation.baselines import BaselineResult
from nullforest.evaluation.baselines.importances import MeasuredForests
from nullforest.evaluation.relabelling import dataset_of
from nullforest.run.permutation import permuted_errors
from nullforest.selection.error_rates import ErrorRate

WARNING = (
    "Strobl and Zeileis (2008) report that the power of Breiman and Cutler's test grows with the "
    "number of trees and falls with the number of samples; its z-scores grow with the root of the "
    "number of trees for null features too, so it is here for comparison only."
)


def z_test(
    X: Any,
    y: Any,
    *,
    alpha: float = 0.05,
    error: ErrorRate = "fpr",
    seed: int = 0,
    n_jobs: int = -1,
    **settings: Any,
) -> BaselineResult:
    """Select features by the z-score of their permutation importance.

    Parameters
    ----------
    X, y, error, seed, n_jobs, **settings
        As in :func:`nullforest.baselines.label_permutation`.
    alpha : float
        Nominal level of the error rate; it is *not* held, see the text of the module.

    Returns
    -------
    BaselineResult
        Its `values` are the z-scores.

    References
    ----------
    L. Breiman, A. Cutler, Random Forests, manual (2008). C. Strobl, A. Zeileis, Danger: high
    power! Exploring the statistical properties of a test for random forest variable importance,
    COMPSTAT (2008).

    Examples
    --------
    >>> import numpy as np
    >>> from studies.published.z_test import z_test
    >>> X = np.random.default_rng(0).normal(size=(60, 40))
    >>> s = z_test(X, X[:, 5] > 0, trees=200, error="fwer")
    >>> bool(s.support[5]), int(s.values.argmax())
    (True, 5)
    """
    start = monotonic()
    data = dataset_of(X, y, settings, n_jobs=n_jobs)
    measured = MeasuredForests(data, "permutation", seed=seed, n_jobs=n_jobs, **settings)
    forest = measured.grown(seed)
    if forest.n_trees < 2:
        raise InputError("One tree has no standard error; grow at least two trees.")
    mean, deviation = permuted_errors(forest, data.table, n_jobs=n_jobs)
    # A feature that no tree uses, or that changes nothing anywhere, has no evidence: z = 0.
    z = mean * np.sqrt(forest.n_trees) / np.where(deviation > 0, deviation, np.inf)
    return BaselineResult.of(
        special.ndtr(-z),
        alpha=alpha,
        error=error,
        test="Breiman and Cutler's z-test",
        statistic="z-score of the permutation importance",
        values=z,
        expected=np.zeros(len(z)),
        tally=forest.tally,
        forests=1,
        seconds=monotonic() - start,
        notes=(WARNING,),
    )
