"""Is our forest the same kind of forest as scikit-learn's? Sizes, counts and out-of-bag error.

Both draw the same number of samples with replacement and the same number of candidates, so every
statistic of a tree has the same distribution. Trees are independent given the data, so the
difference of two means over T trees has variance (v1 + v2) / T with v the variance over trees;
five standard deviations leave a chance of 6e-7 of a false alarm per comparison.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2, ttest_ind
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

import nullforest as nf

TREES, CANDIDATES = 400, 6


def draw(kind):
    rng = np.random.default_rng(11)
    X = rng.normal(size=(120, 30)).astype(np.float32)
    signal = X[:, 0] + X[:, 1] + rng.normal(size=120)
    if kind == "numbers":
        return X, signal
    return X, np.digitize(signal, [0.0] if kind == "two" else [-1.0, 1.0])


def theirs(kind, X, y):
    model = RandomForestRegressor if kind == "numbers" else RandomForestClassifier
    forest = model(TREES, max_features=CANDIDATES, random_state=0).fit(X, y)
    trees = [t.tree_ for t in forest.estimators_]
    return np.array([np.bincount(t.feature[t.feature >= 0], minlength=30) for t in trees])


def ours(kind, X, y):
    forest = nf.grow(X, y, trees=TREES, candidates=CANDIDATES, samples=1.0, replace=True, seed=3)
    return np.array([np.bincount(t.feature[t.feature >= 0], minlength=30) for t in forest.trees])


@pytest.mark.parametrize("kind", ["two", "three", "numbers"])
def test_trees_and_counts_are_distributed_alike(kind):
    X, y = draw(kind)
    wins, their_wins = ours(kind, X, y), theirs(kind, X, y)

    sizes, their_sizes = wins.sum(axis=1), their_wins.sum(axis=1)
    spread = np.sqrt((sizes.var() + their_sizes.var()) / TREES)
    assert abs(sizes.mean() - their_sizes.mean()) < 5 * spread

    # sum over features of (difference of means)^2 / its variance: nearly chi-squared with 30
    # degrees of freedom; features of one tree are weakly and negatively dependent
    variance = (wins.var(axis=0) + their_wins.var(axis=0)) / TREES
    distance = ((wins.mean(axis=0) - their_wins.mean(axis=0)) ** 2 / variance).sum()
    assert distance < chi2.ppf(1 - 1e-6, 30)


@pytest.mark.parametrize("kind", ["two", "three", "numbers"])
def test_out_of_bag_scores_agree(kind):
    # 8 forests a side, independent given the data: a two-sample t test at 1e-6
    X, y = draw(kind)
    mine, other = [], []
    model = RandomForestRegressor if kind == "numbers" else RandomForestClassifier
    for seed in range(8):
        settings = {"trees": 50, "candidates": CANDIDATES, "samples": 1.0, "replace": True}
        mine.append(nf.grow(X, y, seed=seed, **settings).oob_score)
        forest = model(50, max_features=CANDIDATES, oob_score=True, random_state=seed)
        other.append(forest.fit(X, y).oob_score_)
    assert ttest_ind(mine, other).pvalue > 1e-6
