"""The number of probes: their share of the evaluations of a forest is limited."""

import pytest

from nullforest.forest.null_column_budget import default_number, evaluation_rates, trees_evaluated
from nullforest.forest.settings import default_candidates


@pytest.mark.parametrize("n_features", [10, 25, 60, 150, 300, 499])
@pytest.mark.parametrize(("n_strata", "share"), [(1, 1), (3, 4)])
def test_probes_of_few_features_cost_at_most_a_stated_share(n_features, n_strata, share):
    candidates = default_candidates(n_features)
    number = default_number(200, n_features, candidates, n_strata)
    # Of each node, the share at which a probe is evaluated (rounded up by 2⁻¹⁶ at most).
    rate = trees_evaluated(1, evaluation_rates(n_features, n_features, candidates))
    assert number == 100 or number * rate <= share * candidates + number * 2**-16
    assert number >= 100


@pytest.mark.parametrize("n_samples", [4_000, 20_000, 10**7])
@pytest.mark.parametrize("n_strata", [1, 3])
def test_enough_probes_remain_however_many_samples_there_are(n_samples, n_strata):
    assert default_number(n_samples, 1_000, 32, n_strata) == 500
    assert default_number(n_samples, 100, 10, n_strata) >= 100
