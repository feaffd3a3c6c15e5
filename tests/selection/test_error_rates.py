"""Error rates: equal to their textbook procedures, monotone in alpha."""

from inspect import signature
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

import nullforest as nf
from naive import null_counts as naive
from nullforest import InputError
from nullforest.selection.error_rates import ERROR_RATES, adjust, critical_level, decide

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


@given(pvalues, st.integers(0, 30))
def test_further_tests_count_as_p_values_of_one(p, more):
    for error in ERROR_RATES:
        alone = adjust(np.array(p), error, len(p) + more)
        padded = adjust(np.array(p + [1.0] * more), error)[: len(p)]
        np.testing.assert_allclose(alone, padded, rtol=1e-15)


@given(pvalues, st.floats(0.001, 0.5))
def test_features_up_to_the_critical_level_are_selected(p, alpha):
    for error in ERROR_RATES:
        support = decide(p, alpha, error).support
        level = critical_level(alpha, error, len(p), int(support.sum()))
        assume(not np.isclose(p, level, rtol=8 * 2**-53, atol=0).any())  # rounding of the products
        assert support.tolist() == [value <= level for value in p]


def test_fdr_is_the_default_everywhere():
    for function in (nf.select, nf.watch, nf.compare, nf.plan, nf.select_groups,
                     nf.find_interactions, nf.ForestSelector, decide):  # fmt: skip
        defaults = signature(function).parameters
        assert defaults["error"].default == "fdr", function
        assert defaults["alpha"].default == 0.05, function


def test_there_is_one_implementation_of_each_procedure():
    source = "".join(path.read_text("utf-8") for path in Path(nf.__file__).parent.rglob("*.py"))
    assert "false_discovery_control" not in source
    assert source.count("maximum.accumulate") == 1  # Holm
