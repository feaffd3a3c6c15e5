"""The wrappers: scikit-learn's checks, and pipelines."""

from __future__ import annotations

import nullforest as nf
import sklearn_checks

SMALL = nf.ForestSelector(trees=10, **sklearn_checks.LENIENT)
CHECKED = sklearn_checks.parametrize(
    (nf.wrappers.BackwardElimination(SMALL, max_steps=1), {}),
    (nf.wrappers.ForwardSelection(SMALL, standard_errors=-100.0), {}),
    (nf.wrappers.KnockOut(SMALL, max_layers=2), {}),
    (nf.wrappers.StabilitySelection(SMALL, pairs=1, threshold=1.0), {}),
)


@CHECKED
def test_scikit_learns_checks(estimator, check):
    check(estimator)
