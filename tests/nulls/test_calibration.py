"""False positive rates on real forests, grown on data in which no feature is related to the target.

The ratio is Σ false positives ÷ Σ expected false positives over independent data sets, expected at
the level that the discrete counts reach. Its standard error is that of a ratio estimator clustered
by data set, √(n Σ (x − R e)² / (n−1)) / Σ e for x false positives of e expected in n data sets, and
not below the binomial one, 1/√(Σ e).
"""

import numpy as np
import pytest

import nullforest as nf

ALPHAS = (0.05, 0.01, 0.001)
DATA_SETS, FEATURES = 16, 3000
#: Claimed of the bagged null model, which is conservative in its tail (docs/calibration.md).
BAGGED = {0.05: (0.75, 1.2), 0.01: (0.5, 1.4), 0.001: (0.0, 2.0)}
SETTINGS = {
    "few trees": {"trees": 1000},
    "default": {},
    "bootstrap": {"trees": 2000, "samples": 1.0, "replace": True},
    "one pool per tree": {"trees": 2000, "draw": "tree"},
}


@pytest.fixture(scope="module", params=SETTINGS, ids=list(SETTINGS))
def forests(request):
    grown = []
    for seed in range(DATA_SETS):
        rng = np.random.default_rng([seed, 77])
        X = rng.standard_normal((100, FEATURES), dtype=np.float32)
        y = rng.permutation(np.arange(100) % 2)
        how = SETTINGS[request.param] | {"seed": seed, "keep_trees": False, "oob": False}
        grown.append(nf.grow(X, y, **how))
    return grown


def ratio_and_error(selections):
    """False positives ÷ expected ones, and the standard error of that ratio."""
    found = np.array([s.n_selected for s in selections])
    expected = np.array([s.expected_false_positives for s in selections])
    ratio, n = found.sum() / expected.sum(), len(found)
    clustered = np.sqrt(n * ((found - ratio * expected) ** 2).sum() / (n - 1)) / expected.sum()
    return ratio, max(clustered, 1 / np.sqrt(expected.sum()))


def ratios(forests, nulls):
    """Ratio and standard error of each level."""
    for alpha in ALPHAS:
        pairs = zip(forests, nulls, strict=True)
        yield alpha, *ratio_and_error([nf.select(f, alpha, "fpr", null) for f, null in pairs])


def test_the_default_holds_its_level(forests):
    nulls = [nf.select(forest).null for forest in forests]
    assert {null.kind for null in nulls} == {"probes"}
    for _, ratio, error in ratios(forests, nulls):
        assert 4 * error < 1  # so that a rate of zero fails, too
        assert ratio == pytest.approx(1, abs=4 * error)


def test_the_bagged_null_model_stays_within_what_is_claimed(forests):
    nulls = [nf.null(forest.tally, "bagged") for forest in forests]
    for alpha, ratio, error in ratios(forests, nulls):
        low, high = BAGGED[alpha]
        assert low - 3 * error < ratio < high + 3 * error
