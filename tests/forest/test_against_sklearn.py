"""Forests against those of scikit-learn: means over trees, within the noise of the trees.

Given the data the trees of a forest are independent and identically distributed, here and in
scikit-learn. So a mean over T trees (nodes per tree, splits per feature) has the standard error
s / √T with s the standard deviation between trees, and the difference of two forests has Welch's t
distribution:

    t = (m₁ − m₂) / √(s₁²/T + s₂²/T).

Out-of-bag errors are compared in the same way over R independent forests each. Every comparison
may raise one false alarm in a million (divided by the number of features where each is compared).
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

import nullforest as nf

FALSE_ALARM = 1e-6
TREES = 300
FORESTS = 8
SMALL = 40  # trees of each forest whose out-of-bag error is compared

S, F = 120, 15


def make_data(kind):
    rng = np.random.default_rng(3)
    # steps of 2⁻¹⁰: scikit-learn takes values closer than 1e-7 for equal, we do not
    X = (np.round(rng.normal(size=(S, F)) * 1024) / 1024).astype(np.float32)
    signal = X[:, 0] + 0.7 * X[:, 1] + rng.normal(size=S)
    if kind == "two":
        return X, (signal > 0).astype(int)
    if kind == "three":
        return X, np.digitize(signal, [-0.5, 0.8])
    if kind == "several":
        return X, np.column_stack([signal, X[:, 2] - signal])
    if kind == "snp":
        return rng.integers(0, 3, size=(S, F)).astype(np.float32), (signal > 0).astype(int)
    return X, signal


CASES = {
    "two classes": ("two", {"max_features": 4}),
    "all samples": ("two", {"max_features": 4, "bootstrap": False}),
    "small bootstrap": ("two", {"max_features": 4, "max_samples": 0.4}),
    "three classes": ("three", {"max_features": 4}),
    "entropy": ("three", {"max_features": 4, "criterion": "entropy"}),
    "large leaves": ("two", {"max_features": 4, "min_samples_leaf": 7}),
    "early stop": ("two", {"max_features": 6, "min_samples_split": 20, "max_depth": 4}),
    "little gain": ("two", {"max_features": 4, "min_impurity_decrease": 0.02}),
    "class weights": ("two", {"max_features": 4, "class_weight": {0: 1, 1: 3}, "max_depth": 3}),
    # with all features compared no candidate is redrawn because it is constant in the node
    "few levels": ("snp", {"max_features": None, "min_samples_leaf": 3}),
    "numbers": ("numbers", {"max_features": 5}),
    "several numbers": ("several", {"max_features": 5, "min_samples_leaf": 3}),
}


def models(kind):
    if kind in ("two", "three", "snp"):
        return nf.ForestClassifier, RandomForestClassifier
    return nf.ForestRegressor, RandomForestRegressor


def splits_per_tree(features):
    """(T, F): how often each tree splits by each feature."""
    return np.array([np.bincount(f[f >= 0], minlength=F) for f in features])


def assert_equal_means(ours, theirs):
    """Welch's test, column by column, each at the level of the whole test over the columns."""
    ours, theirs = np.asarray(ours, float), np.asarray(theirs, float)
    difference = ours.mean(axis=0) - theirs.mean(axis=0)
    a, b = ours.var(axis=0, ddof=1) / len(ours), theirs.var(axis=0, ddof=1) / len(theirs)
    freedom = (a + b) ** 2 / (a**2 / (len(ours) - 1) + b**2 / (len(theirs) - 1))
    limit = stats.t.isf(FALSE_ALARM / 2 / np.size(difference), freedom)
    assert np.all(np.abs(difference) <= limit * np.sqrt(a + b)), difference / np.sqrt(a + b)


@pytest.mark.parametrize("case", CASES)
def test_trees_are_of_the_same_size_and_use_the_same_features(case):
    kind, settings = CASES[case]
    X, y = make_data(kind)
    mine, theirs = models(kind)
    ours = mine(TREES, random_state=0, **settings).fit(X, y)
    other = theirs(TREES, random_state=0, **settings).fit(X, y)
    splits = splits_per_tree([tree.feature for tree in ours.forest_.trees])
    other_splits = splits_per_tree([tree.tree_.feature for tree in other.estimators_])
    assert splits.sum(axis=0).tolist() == ours.tally_.counts.tolist()
    assert_equal_means(splits.sum(axis=1), other_splits.sum(axis=1))
    assert_equal_means(splits, other_splits)
    # impurity decrease of each tree, by feature: means of the trees' shares
    shares = [tree.feature_importances_ for tree in other.estimators_]
    spread = np.std(shares, axis=0, ddof=1) * np.sqrt(2 / TREES)  # equal variance in both
    limit = stats.norm.isf(FALSE_ALARM / 2 / F)
    difference = ours.feature_importances_ - other.feature_importances_
    assert np.all(np.abs(difference) <= limit * spread)


@pytest.mark.parametrize("case", ["two classes", "three classes", "numbers", "several numbers"])
def test_out_of_bag_errors_are_equal(case):
    kind, settings = CASES[case]
    X, y = make_data(kind)
    mine, theirs = models(kind)
    assert_equal_means(
        [
            mine(SMALL, oob_score=True, random_state=r, **settings).fit(X, y).oob_score_
            for r in range(FORESTS)
        ],
        [
            theirs(SMALL, oob_score=True, random_state=r, **settings).fit(X, y).oob_score_
            for r in range(FORESTS)
        ],
    )


def test_predictions_of_one_deterministic_tree_are_equal():
    # All samples, all features, and leaves so large that no two features split a node equally: only
    # one tree is possible.
    X, y = make_data("numbers")
    ours = nf.ForestRegressor(1, bootstrap=False, min_samples_leaf=15).fit(X, y)
    theirs = RandomForestRegressor(1, bootstrap=False, min_samples_leaf=15).fit(X, y)
    new = np.random.default_rng(1).normal(size=(200, F)).astype(np.float32)
    # 1e-9: scikit-learn sums y in another order
    np.testing.assert_allclose(ours.predict(new), theirs.predict(new), rtol=1e-9)
    np.testing.assert_allclose(
        ours.feature_importances_, theirs.feature_importances_, rtol=1e-9, atol=1e-12
    )
