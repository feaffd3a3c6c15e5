"""Are false positives held on real forests, grown on data without any signal?"""

import numpy as np
import pytest

import nullforest as nf
from nullforest.nulls import bagged

#: What is promised of the bagged null, realised rate ÷ level asked for.
PROMISED = {0.05: (0.85, 1.2), 0.01: (0.7, 1.4), 0.001: (0.4, 2.0)}


@pytest.mark.parametrize(
    ("trees", "settings"),
    [(300, {}), (3000, {}), (1000, {"samples": 1.0, "replace": True}), (1000, {"draw": "tree"})],
    ids=["few trees", "many trees", "bootstrap", "one pool per tree"],
)
def test_bagged_null_holds_its_level_whatever_the_number_of_trees(trees, settings):
    ratios = {alpha: [] for alpha in PROMISED}
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((100, 2000)), rng.permutation(np.arange(100) % 2)
        tally = nf.grow(X, y, trees=trees, candidates=100, seed=seed, **settings).tally
        null = bagged.from_tally(tally)
        p = null.sf(tally.counts) + rng.random(2000) * null.pmf(tally.counts)
        for alpha, values in ratios.items():
            values.append((p < alpha).mean() / alpha)
    for alpha, (low, high) in PROMISED.items():
        # Features of one data set share its label, so data sets are the sample; but with so few
        # features beyond a small level the noise is never below that of their number.
        few = 1 / np.sqrt(alpha * 2000 * len(ratios[alpha]))
        error = max(np.std(ratios[alpha], ddof=1) / np.sqrt(len(ratios[alpha])), few)
        assert low - 3 * error < np.mean(ratios[alpha]) < high + 3 * error
