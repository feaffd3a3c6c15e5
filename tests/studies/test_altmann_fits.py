"""Altmann's parametric p-values: distributions fitted as scipy fits them."""

import numpy as np
import pytest

import nullforest as nf
from naive import baselines as naive
from nullforest._util.randomness import LABELS, forest_seed
from nullforest.evaluation.baselines.importances import MeasuredForests
from nullforest.evaluation.relabelling import label_order
from studies.published.altmann_fits import FAMILIES, fitted_label_permutation, fitted_pvalues


def test_fits_equal_those_of_scipy():
    rng = np.random.default_rng(0)
    columns = [
        rng.normal(5, 1, 80),
        rng.lognormal(0, 1.2, 80),
        rng.gamma(1.5, 2.0, 80),
        rng.gamma(40.0, 1.0, 80),
        np.where(rng.random(80) < 0.5, 1.0, 9.0) + 1e-3 * rng.random(80),  # nothing fits two lumps
        np.r_[np.zeros(40), np.abs(rng.normal(size=40))],  # zeros rule out two families
    ]
    permuted = np.array(columns, np.float32).T
    observed = permuted.max(axis=0) * 1.1
    fit = fitted_pvalues(permuted, observed.astype(float))
    for f in range(len(columns)):
        slow = naive.fitted_pvalue(permuted[:, f].astype(float), float(observed[f]))
        if slow is None:
            assert np.isnan(fit.pvalues[f])
            assert fit.family[f] == -1
        else:
            # scipy's gamma fit stops its search at a relative step of about 1e-8.
            assert fit.pvalues[f] == pytest.approx(slow, rel=1e-5)
    assert fit.family[4] == -1
    constant = fitted_pvalues(np.ones((30, 1), np.float32), np.array([2.0]))
    assert np.isnan(constant.pvalues[0])


def test_the_count_is_taken_where_nothing_fits():
    rng = np.random.default_rng(8)
    X, B = rng.normal(size=(40, 12)), 19
    y = (X[:, 0] + 0.7 * rng.normal(size=40) > 0).astype(int)
    how = {"trees": 20, "candidates": 4}
    s = fitted_label_permutation(X, y, statistic="gini", permutations=B, seed=4, **how)
    measured = MeasuredForests(nf.Dataset.of(X, y), "gini", seed=4, n_jobs=1, **how)
    permuted = [
        nf.grow(
            X, y[label_order(40, None, 4, b)], seed=forest_seed(4, LABELS, b), **measured.settings
        ).gini_importance
        for b in range(B)
    ]
    observed = nf.grow(X, y, seed=4, **measured.settings).gini_importance
    plain = naive.permutation_pvalues(observed, permuted)
    fit = fitted_pvalues(np.array(permuted, np.float32), observed)
    np.testing.assert_array_equal(s.pvalues, np.where(fit.family < 0, plain, fit.pvalues))
    assert s.details["families"].keys() == {*FAMILIES, "none"}
    assert sum(s.details["families"].values()) == X.shape[1]
