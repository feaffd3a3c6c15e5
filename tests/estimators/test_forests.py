"""The forest estimators: scikit-learn's checks, and the engine beneath."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.metrics import accuracy_score, balanced_accuracy_score, r2_score
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import nullforest as nf
import sklearn_checks

REDRAWN = "a forest draws other samples when rows are removed or repeated; so does scikit-learn's"
WEIGHT_EQUIVALENCE = {
    "check_sample_weight_equivalence_on_dense_data": REDRAWN,
    "check_sample_weight_equivalence_on_sparse_data": REDRAWN,
}
CLASS_WEIGHT = {
    "check_class_weight_classifiers": (
        "leaves of fully grown trees are pure whatever the weights; the check counts on larger ones"
    )
}
#: Without any draw a weight is exactly a repetition, and with large leaves class weights show: so
#: every check passes for one of the instances.
CHECKED = sklearn_checks.parametrize(
    (nf.ForestClassifier(10), WEIGHT_EQUIVALENCE | CLASS_WEIGHT),
    (nf.ForestClassifier(5, bootstrap=False, max_features=None), CLASS_WEIGHT),
    (nf.ForestClassifier(20, min_samples_leaf=10), WEIGHT_EQUIVALENCE),
    (nf.ForestRegressor(10), WEIGHT_EQUIVALENCE),
    (nf.ForestRegressor(5, bootstrap=False), {}),
)


@CHECKED
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def test_scikit_learns_check_of_array_namespaces():
    sklearn_checks.check_array_api(
        "nf.ForestClassifier(5, random_state=0)",
        "nf.ForestRegressor(5, random_state=0)",
        "nf.ForestSelector(trees=30, null='paper', error='fpr', alpha=0.9)",
    )


X, y = make_classification(90, 12, n_informative=4, n_classes=3, random_state=0)
_, target = make_regression(90, 12, n_informative=4, noise=5.0, random_state=1)


def test_the_classifier_is_the_forest_that_grow_grows():
    labels = np.array(["mild", "none", "severe"])[y]
    mine = nf.ForestClassifier(
        30,
        max_features=3,
        max_samples=0.7,
        min_samples_leaf=2,
        class_weight={"none": 2.0},
        criterion="entropy",
        oob_score=True,
        random_state=5,
    ).fit(X, labels)
    forest = nf.grow(
        X,
        labels,
        trees=30,
        candidates=3,
        samples=0.7,
        replace=True,
        min_leaf=2,
        class_weight={"none": 2.0},
        criterion="entropy",
        max_depth=None,
        probes=0,
        seed=5,
    )
    assert mine.tally_ == forest.tally
    assert mine.classes_.tolist() == ["mild", "none", "severe"]
    np.testing.assert_array_equal(mine.predict_proba(X), forest.predict_proba(X))
    np.testing.assert_array_equal(
        np.exp(mine.predict_log_proba(X)).round(12), mine.predict_proba(X).round(12)
    )
    np.testing.assert_array_equal(mine.predict(X), forest.predict(X))
    np.testing.assert_array_equal(mine.apply(X), forest.apply(X))
    np.testing.assert_array_equal(mine.feature_importances_, forest.gini_importance)
    np.testing.assert_array_equal(mine.oob_decision_function_, forest.oob_prediction)
    assert mine.oob_score_ == pytest.approx(forest.oob_score, rel=1e-12)  # one division apart
    assert mine.score(X, labels) == accuracy_score(labels, mine.predict(X))


@pytest.mark.parametrize("outputs", [1, 2])
def test_the_regressor_is_the_forest_that_grow_grows(outputs):
    numbers = target if outputs == 1 else np.column_stack([target, X[:, 0]])
    mine = nf.ForestRegressor(
        30, max_features=0.5, bootstrap=False, max_samples=0.5, oob_score=True, random_state=2
    ).fit(X, numbers)
    forest = nf.grow(
        X, numbers, trees=30, candidates=6, samples=0.5, max_depth=None, probes=0, seed=2
    )
    assert mine.tally_ == forest.tally
    np.testing.assert_array_equal(mine.predict(X), forest.predict(X))
    np.testing.assert_array_equal(mine.oob_prediction_, forest.oob_prediction)
    assert mine.predict(X).shape == numbers.shape
    assert mine.oob_score_ == pytest.approx(forest.oob_score, rel=1e-12)  # order of the sums
    assert mine.score(X, numbers) == r2_score(numbers, mine.predict(X))


@pytest.mark.parametrize(
    ("max_features", "candidates"),
    [("sqrt", 3), ("log2", 3), (0.5, 6), (0.01, 1), (1.0, 12), (1, 1), (12, 12), (None, 12)],
)
def test_max_features_mean_what_they_mean_in_scikit_learn(max_features, candidates):
    from sklearn.ensemble import RandomForestClassifier

    theirs = RandomForestClassifier(1, max_features=max_features).fit(X, y)
    assert theirs.estimators_[0].max_features_ == candidates
    mine = nf.ForestClassifier(2, max_features=max_features).fit(X, y)
    assert mine.tally_.candidates == candidates


def test_draws_and_pools_reach_the_engine():
    one_set = nf.ForestClassifier(5, draw="tree", max_features=4).fit(X, y).tally_
    assert one_set.draw == "tree"
    assert one_set.pool_per_tree.tolist() == [4] * 5
    both = nf.ForestClassifier(5, max_features=2, pool=0.5).fit(X, y).tally_
    assert both.draw == "both"
    assert both.pool_per_tree.tolist() == [6] * 5


def test_shares_of_samples_are_rounded_up():
    mine = nf.ForestClassifier(5, min_samples_leaf=0.051, bootstrap=False).fit(X, y)  # 4.59 of 90
    for tree in mine.forest_.trees:
        assert tree.n_samples[tree.feature < 0].min() >= 5
    split = nf.ForestClassifier(5, min_samples_split=0.5, bootstrap=False).fit(X, y)
    for tree in split.forest_.trees:
        assert tree.n_samples[tree.feature >= 0].min() >= 45


def test_seeds():
    def counts(random_state):
        return nf.ForestClassifier(10, random_state=random_state).fit(X, y).tally_.counts.tolist()

    assert counts(3) == counts(3) == counts(np.int64(3))
    assert counts(np.random.RandomState(1)) == counts(np.random.RandomState(1))
    generator = np.random.RandomState(1)
    assert counts(generator) != counts(generator)
    assert counts(None) != counts(None)  # 12 counts of some hundred nodes: equal with chance < 1e-9


def test_a_tally_can_be_taken_from_estimators_and_pipelines():
    frame = pd.DataFrame(X, columns=[f"gene {i}" for i in range(12)])
    forest = nf.ForestClassifier(20, random_state=0)
    with pytest.raises(nf.InputError, match="not fitted"):
        nf.tally(forest)
    assert nf.tally(forest.fit(frame, y)).names.tolist() == frame.columns.tolist()
    pipe = make_pipeline(StandardScaler(), clone(forest)).fit(frame, y)
    assert nf.tally(pipe).names.tolist() == frame.columns.tolist()
    plain = nf.tally(clone(forest).fit(X, y), feature_names=frame.columns)
    assert plain.names.tolist() == frame.columns.tolist()


def test_copies_predict_the_same():
    forest = nf.ForestClassifier(30, random_state=0, oob_score=lambda a, b: 0.25).fit(X, y)
    assert forest.oob_score_ == 0.25
    forest.set_params(oob_score=balanced_accuracy_score).fit(X, y)
    copy = pickle.loads(pickle.dumps(forest))
    np.testing.assert_array_equal(copy.predict_proba(X), forest.predict_proba(X))
    assert copy.tally_ == forest.tally_


def test_sparse_and_missing_data():
    gaps = np.where(X > 1.0, np.nan, X)
    assert nf.ForestClassifier(10, random_state=0).fit(gaps, y).score(gaps, y) > 0.9
    zeros = np.where(np.abs(X) < 0.5, 0.0, X)
    dense = nf.ForestRegressor(10, random_state=0).fit(zeros, target)
    for kind in (scipy.sparse.csr_matrix, scipy.sparse.csc_array):
        sparse = nf.ForestRegressor(10, random_state=0).fit(kind(zeros), target)
        assert sparse.tally_ == dense.tally_
        np.testing.assert_array_equal(sparse.predict(kind(zeros)), dense.predict(zeros))


def test_it_beats_guessing_in_cross_validation():
    # 30 of 90 samples tested per fold; a guess is right 1/3 of the time, standard error
    # sqrt(1/3 · 2/3 / 90) = .05 over all folds
    assert cross_val_score(nf.ForestClassifier(50, random_state=0), X, y).mean() > 1 / 3 + 4 * 0.05


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_features": 13}, "max_features = 13"),
        ({"max_features": 0.0}, "max_features = 0.0"),
        ({"max_features": "all"}, "max_features = 'all'"),
        ({"pool": 1, "max_features": 2}, "pool = 1"),
        ({"criterion": "squared_error"}, "criterion = 'squared_error'"),
        ({"min_samples_leaf": 1.5}, "min_samples_leaf = 1.5"),
        ({"min_samples_leaf": 0}, "min_leaf = 0"),
        ({"n_estimators": 0}, "trees = 0"),
        ({"max_samples": 2.0}, "samples = 2.0"),
        ({"max_depth": 0}, "max_depth = 0"),
        ({"class_weight": "balanced_subsample"}, "class_weight = 'balanced_subsample'"),
        ({"bootstrap": False, "oob_score": True}, "oob_score needs"),
        ({"random_state": -1}, "seed = -1"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(nf.InputError, match=message):
        nf.ForestClassifier(**({"n_estimators": 2} | settings)).fit(X, y)


def test_samples_that_every_tree_saw_are_named():
    with pytest.warns(UserWarning, match="seen by every tree"):
        forest = nf.ForestRegressor(1, oob_score=True, random_state=0).fit(X, target)
    assert np.isnan(forest.oob_prediction_).sum() == np.sum(forest.forest_.sums["oob_trees"] == 0)
