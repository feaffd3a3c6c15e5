"""Error rates: equal to their textbook procedures, monotone in alpha."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from naive import null_counts as naive
from nullforest import InputError
from nullforest.selection.error_rates import ERROR_RATES, decide

pvalues = st.lists(st.floats(1e-12, 1.0), min_size=1, max_size=40)


@given(pvalues, st.floats(0.001, 0.5))
def test_fdr_is_the_step_up_procedure(p, alpha):
    # On a step p · m/k and α · k/m may round to either side: two operations each, 2⁻⁵³ apiece.
    steps = np.outer(p, len(p) / np.arange(1, len(p) + 1))
    assume(not np.isclose(steps, alpha, rtol=4 * 2**-53, atol=0).any())
    assert decide(p, alpha, "fdr").support.tolist() == naive.benjamini_hochberg(p, alpha)


@given(pvalues)
def test_adjusted_values_equal_those_of_statsmodels(p):
    for error, method in [("fdr", "fdr_bh"), ("fdr_by", "fdr_by"), ("fwer", "holm")]:
        expected = multipletests(p, method=method)[1]
        np.testing.assert_allclose(decide(p, 0.05, error).adjusted, expected, rtol=1e-12)


@given(pvalues, st.floats(0.001, 0.4), st.floats(1.0, 2.0))
def test_a_smaller_alpha_never_selects_more(p, alpha, factor):
    for error in ERROR_RATES:
        few, many = decide(p, alpha, error).support, decide(p, alpha * factor, error).support
        assert np.all(many | ~few)


def test_false_positive_rate_uses_the_pvalues_themselves():
    decision = decide([0.05, 0.051], 0.05, "fpr")
    assert decision.support.tolist() == [True, False]


def test_unknown_rates_and_levels_are_refused():
    with pytest.raises(InputError, match="fdr_by"):
        decide([0.1], 0.05, "bonferroni")
    with pytest.raises(InputError, match="alpha = 5"):
        decide([0.1], 5)
