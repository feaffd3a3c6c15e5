"""Null distributions of groups against exact convolution, and by calibration."""

import numpy as np
import pytest
from scipy import stats

import nullforest as nf
from naive.sums import power_of_pmf, upper_tail
from nullforest.nulls.binomial_mixture import BinomialMixture
from nullforest.nulls.group_sums import SumNull, group_null, unit_sizes

PMF = BinomialMixture([12, 30], [0.1, 0.2], [0.7, 0.3]).pmf(np.arange(31))
PMF = PMF / PMF.sum()
VARIANCE = PMF @ np.arange(31) ** 2 - (PMF @ np.arange(31)) ** 2


@pytest.mark.parametrize("number", [1, 2, 7])
def test_sum_equals_exact_convolution_into_the_far_tail(number):
    null = SumNull([(PMF, 0.0, number)], np.inf, "bagged")
    exact = power_of_pmf(PMF, number)
    k = np.arange(len(exact))
    # Each value comes from a window in which it is at least 5e-5 of the largest one.
    np.testing.assert_allclose(null.pmf(k), [float(p) for p in exact], rtol=1e-11)
    for at in (0, 3 * number, 10 * number, 20 * number, 29 * number):
        assert float(null.sf(at)) == pytest.approx(upper_tail(exact, at), rel=1e-11)
    assert upper_tail(exact, 29 * number) < (1e-15 if number > 1 else 1e-9)
    assert null.mean == pytest.approx(number * float(PMF @ np.arange(31)))


def test_given_the_total_the_weights_are_those_of_the_rest():
    """For 3 of 60 features the exact conditional distribution is at hand."""
    null = SumNull([(PMF, 0.0, 3)], 57 * VARIANCE, "bagged")
    rest = PMF
    for _ in range(56):
        rest = np.convolve(rest, PMF)
    total = round(60 * float(PMF @ np.arange(31)))
    group = np.convolve(np.convolve(PMF, PMF), PMF)
    exact = np.array([group[k] * rest[total - k] for k in range(len(group))])
    exact /= exact.sum()
    tail = np.cumsum(exact[::-1])[::-1]
    # The rest is normal but for its skewness, about 1/√57: an eighth, at levels in use.
    for k in np.flatnonzero((tail > 1e-4) & (tail < 0.9)):
        assert float(null.sf(k - 1)) == pytest.approx(tail[k], rel=1 / 8)
    assert null.variance < SumNull([(PMF, 0.0, 3)], np.inf, "bagged").variance


@pytest.mark.parametrize(("size", "ratio"), [(1, 1.0), (10, 1.0), (10, 3.7), (7, 7.0), (50, 80.0)])
def test_units_have_the_size_and_the_shared_association_of_the_group(size, ratio):
    units = unit_sizes(size, ratio)
    assert sum(n * a for n, a in units) == pytest.approx(size)
    assert sum(n * a**2 for n, a in units) == pytest.approx(min(size * ratio, size**2))


@pytest.fixture(scope="module")
def null_forests():
    forests = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((80, 600)), rng.permutation(np.arange(80) % 2)
        forests.append((X, nf.grow(X, y, trees=600, seed=seed, keep_trees=False, oob=False).tally))
    return forests


@pytest.mark.parametrize("kind", ["probes", "bagged"])
def test_groups_of_unequal_size_have_uniform_p_values_on_null_data(null_forests, kind):
    """KS distance within √(log(2/δ)/2n), δ = 0.001 (Dvoretzky, Kiefer and Wolfowitz)."""
    sizes = np.tile([1, 2, 5, 10, 20, 62], 6)
    p = []
    for number, (_, tally) in enumerate(null_forests):
        rng = np.random.default_rng([number, 9])
        single = nf.null(tally, kind)
        for features in np.split(rng.permutation(600), np.cumsum(sizes)[:-1]):
            null, count = group_null(single, features), tally.counts[features].sum()
            p.append(float(null.sf(count)) + rng.random() * float(null.pmf(count)))
    assert stats.kstest(p, "uniform").statistic < np.sqrt(np.log(2 / 0.001) / (2 * len(p)))


def test_the_papers_null_takes_the_share_of_the_group(null_forests):
    tally = null_forests[0][1]
    null = group_null(nf.null(tally, "paper"), range(50))
    reference = stats.binom(tally.n_nodes, 50 / 600)
    k = np.array([null.threshold(0.05), null.threshold(1e-6)])
    assert np.allclose(null.sf(k), reference.sf(k), rtol=1e-9)


def test_members_that_share_their_association_vary_more(null_forests):
    single = nf.null(null_forests[0][1], "bagged")
    free, shared = group_null(single, range(20)), group_null(single, range(20), shared=400.0)
    assert shared.mean == pytest.approx(free.mean, rel=0.02)
    assert shared.variance > 2 * free.variance
    with pytest.raises(nf.InputError, match="left outside"):
        group_null(single, range(600))
