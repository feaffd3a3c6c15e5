"""The model and the observed rates at N = 0: a small version of the paper's first figure."""

import numpy as np
import pytest
from scipy.special import ndtr

from reproduction.computing import compute
from reproduction.low_dimensional import EXPERIMENT


@pytest.fixture(scope="module")
def tables():
    """Both strategies, T = 20, F_n = 3, forty data sets."""
    chosen = [
        cell
        for cell in EXPERIMENT.cells("full")
        if (cell.parameters["trees"], cell.parameters["candidates"]) == (20, 3)
    ]
    results = [(cell, [compute(cell, 1, run) for run in range(40)]) for cell in chosen]
    return EXPERIMENT.table(results)


@pytest.mark.parametrize("strategy", ["I", "II"])
@pytest.mark.parametrize(("n_samples", "ratio"), [(200, 1.2), (2000, 1.02)])
def test_mean_observed_curve_follows_the_model(tables, strategy, n_samples, ratio):
    part = tables[(tables["strategy"] == strategy) & (tables["null"] == "paper")]
    part = part[part["n_samples"] == n_samples]
    assert len(part) > 20
    compared = part[part["model"].between(1e-3, 1 - 1e-3)]
    gap = (compared["observed"] - compared["model"]).abs()
    # The largest of many correlated normal deviations: Bonferroni over at most 100 thresholds at
    # 1e-3 in all is 4.4 standard errors. The model leaves out that trees share one sample, which
    # spreads the counts of these settings by a variance ratio r ≤ 1.2 where two trees share half
    # of their samples, and a tenth of that excess where they share a twentieth; between two
    # distributions of one mean whose standard deviations differ by a factor √r the tails differ by
    # at most max |Φ(z) - Φ(z/√r)| = 0.0220 at r = 1.2.
    z = np.linspace(0, 5, 1001)
    slack = np.max(np.abs(ndtr(z) - ndtr(z / np.sqrt(ratio))))
    assert (gap <= 4.4 * compared["gap_se"] + slack).all()


def test_counts_add_up_so_that_the_curves_have_the_same_mean(tables):
    # Σ_κ P(n > κ) is the mean count: nodes over features, in data and model.
    for _, part in tables[tables["null"] == "paper"].groupby(["strategy", "n_samples"]):
        expected = part["nodes_per_tree"].iloc[0] * 20 / 20
        assert part["observed"].sum() == pytest.approx(expected, rel=1e-6)
        # The tail below 1e-4 and beyond the largest count is cut off.
        assert part["model"].sum() == pytest.approx(expected, abs=0.01)
