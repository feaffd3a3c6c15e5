"""The table of winning probabilities against its definition."""

import numpy as np
import pytest
from scipy import stats

from naive import nulls as naive
from nullforest.nulls.rates import COUPLINGS, TABLE_COUPLINGS, latent_grid, win_table
from nullforest.tallies.tally import COUPLING_EDGES


# P(max|z| > 6.1) is 3e-9 for three contrasts: the table must hold from the bulk to there.
@pytest.mark.parametrize("largest", [0.3, 2.0, 4.0, 6.1])
@pytest.mark.parametrize(("candidates", "contrasts"), [(2, 3), (30, 2), (40, 1), (50_000, 3)])
@pytest.mark.parametrize("coupling", [0.002, 0.1, 0.5, 0.9])
def test_table_holds_the_integral_over_the_score(largest, candidates, contrasts, coupling):
    grid, table = latent_grid(contrasts), win_table(candidates, contrasts)
    node = int(np.argmin(np.abs(grid.largest - largest)))
    row = int(np.argmin(np.abs(TABLE_COUPLINGS - coupling)))
    multiset = len(grid.multisets) // 2
    others = np.repeat(grid.inner[node], grid.multisets[multiset])
    z = np.concatenate([[grid.largest[node]], others])
    expected = candidates * naive.win_probability(z, TABLE_COUPLINGS[row], candidates)
    rounding = candidates * np.finfo(float).eps  # of the probability, times the candidates
    assert table[row, node, multiset] == pytest.approx(expected, rel=1e-4, abs=rounding)


@pytest.mark.parametrize("candidates", [2, 50, 5000])
@pytest.mark.parametrize("contrasts", [1, 2, 3])
def test_exchangeable_features_win_equally_often_on_average(candidates, contrasts):
    means = (win_table(candidates, contrasts) * latent_grid(contrasts).weights).sum((1, 2))
    np.testing.assert_allclose(means, 1, rtol=1e-4)  # 1/c each, whatever the coupling


def test_association_makes_no_difference_without_competition():
    assert np.all(win_table(1, 3) == 1)


@pytest.mark.parametrize("contrasts", [1, 2, 3])
def test_latent_grid_integrates_normal_contrasts(contrasts):
    grid = latent_grid(contrasts)
    assert grid.weights.sum() == pytest.approx(1, abs=1e-12)
    counted = grid.inner[:, None, :] ** np.array([2, 4])[:, None, None, None]
    inner = (counted * grid.multisets).sum(-1)
    powers = inner + grid.largest[:, None] ** np.array([2, 4])[:, None, None]
    moments = (powers * grid.weights).sum((1, 2))
    np.testing.assert_allclose(moments, contrasts * np.array([1, 3]), rtol=1e-6)
    for start in (4.0, 6.0):  # panels begin there, so the tail does not start within one
        tail = grid.weights[grid.largest > start].sum()
        expected = -np.expm1(contrasts * np.log1p(-2 * stats.norm.sf(start)))
        assert tail == pytest.approx(expected, rel=1e-4)


def test_every_bin_has_a_coupling_inside_it():
    assert np.all((COUPLING_EDGES[:-1] <= COUPLINGS) & (COUPLING_EDGES[1:] >= COUPLINGS))
    assert np.all(np.isin(np.round(COUPLINGS, 12), np.round(TABLE_COUPLINGS, 12)))
