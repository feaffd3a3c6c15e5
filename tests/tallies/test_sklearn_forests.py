"""Tallies of scikit-learn forests: selection counts, and how strongly the nodes are coupled."""

import copy

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomTreesEmbedding,
)
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import nullforest as nf
from naive import null_counts as naive
from nullforest.tallies.tally import COUPLING_EDGES

X, y = make_classification(120, 12, n_informative=4, random_state=0)
y_many = np.column_stack([y, (X[:, 0] > 0).astype(int)])
_, target = make_regression(120, 12, random_state=1)


@pytest.mark.parametrize(
    ("forest", "labels", "candidates"),
    [
        (RandomForestClassifier(20, max_features="sqrt"), y, 3),
        (RandomForestClassifier(20, max_features=0.5, max_samples=0.3), y, 6),
        (RandomForestClassifier(20, max_features=7, bootstrap=False), y_many, 7),
        (RandomForestClassifier(20, criterion="entropy"), y, 3),
        (RandomForestRegressor(20), target, 12),
        (RandomForestRegressor(20), np.column_stack([target, -target]), 12),
        (RandomForestRegressor(20, criterion="absolute_error"), target, 12),
        (ExtraTreesClassifier(20), y, 3),
        (ExtraTreesRegressor(20, max_features=1), target, 1),
    ],
    ids=str,
)
def test_counts_equal_a_walk_through_every_tree(forest, labels, candidates):
    forest.set_params(random_state=0).fit(X, labels)
    tally = nf.tally(forest)
    counts, nodes = naive.sklearn_counts(forest.estimators_, [list(range(12))] * 20, 12)
    assert tally.counts.tolist() == counts
    assert tally.nodes_per_tree.tolist() == nodes
    assert tally.candidates == candidates
    assert tally.n_samples == 120
    assert tally.draw == "node"
    if isinstance(forest, ExtraTreesClassifier | ExtraTreesRegressor):
        assert tally.splitter == "random"
        assert tally.couplings is None
    else:
        assert tally.couplings.sum(axis=1).tolist() == counts


@pytest.mark.parametrize(
    ("bagging", "labels"),
    [
        (BaggingClassifier(DecisionTreeClassifier(), 30, max_features=5), y),
        (BaggingRegressor(DecisionTreeRegressor(max_features=2), 30, max_features=0.5), target),
    ],
)
def test_bagged_trees_are_strategy_two(bagging, labels):
    bagging.set_params(random_state=0).fit(X, labels)
    tally = nf.tally(bagging)
    columns = [list(subset) for subset in bagging.estimators_features_]
    counts, nodes = naive.sklearn_counts(bagging.estimators_, columns, 12)
    assert tally.counts.tolist() == counts
    assert tally.nodes_per_tree.tolist() == nodes
    assert set(tally.pool_per_tree) == {len(columns[0])}
    assert tally.draw == ("tree" if len(columns[0]) == 5 else "both")


@pytest.mark.parametrize("bootstrap", [False, True])
@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_couplings_equal_their_definition(bootstrap, kind):
    labels = y if kind == "classes" else target
    kinds = {"classes": RandomForestClassifier, "numbers": RandomForestRegressor}
    forest = kinds[kind](40, bootstrap=bootstrap, max_features=3, random_state=0).fit(X, labels)
    one_hot = np.column_stack([labels == c for c in (0, 1)]) if kind == "classes" else labels
    one_hot = np.asarray(one_hot, float).reshape(120, -1)
    whole = ((one_hot - one_hot.mean(axis=0)) ** 2).sum()
    coupling = []
    for tree, rows in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        weight = np.bincount(rows, minlength=120)
        path = tree.decision_path(X.astype(np.float32)).toarray().astype(bool)
        for node in np.flatnonzero(tree.tree_.feature >= 0):
            w = weight * path[:, node]
            squares = ((one_hot - w @ one_hot / w.sum()) ** 2).sum(axis=1)
            coupling.append((w @ squares) ** 2 / (w**2 @ squares * whole))
    expected = np.histogram(np.minimum(coupling, 1), COUPLING_EDGES)[0]
    found = nf.tally(forest).couplings.sum(axis=0)
    if not bootstrap:
        assert found.tolist() == expected.tolist()
    # Multiplicities are known only on average, so a node may fall into a neighbouring bin; over
    # some thousand nodes the mean log coupling is off by a small part of a bin, log(.98/.003)/16.
    middle = np.log(np.maximum(COUPLING_EDGES[:-1], 1e-3))
    gap = (found @ middle - expected @ middle) / expected.sum()
    assert abs(gap) < 0.25 * np.log(0.98 / 0.003) / 16


def test_the_forest_is_not_touched():
    forest = RandomForestClassifier(10, random_state=0).fit(X, y)
    before = copy.deepcopy(forest.__dict__)
    nf.tally(forest)
    assert forest.__dict__.keys() == before.keys()
    assert forest.get_params() == RandomForestClassifier(10, random_state=0).get_params()
    np.testing.assert_array_equal(
        forest.predict_proba(X),
        RandomForestClassifier(10, random_state=0).fit(X, y).predict_proba(X),
    )


def test_names_come_through_frames_pipelines_and_searches():
    frame = pd.DataFrame(X, columns=[f"gene {i}" for i in range(12)])
    pipe = make_pipeline(
        StandardScaler(), SelectKBest(k=6), RandomForestClassifier(10, random_state=0)
    ).fit(frame, y)
    kept = frame.columns[pipe[1].get_support()]
    assert nf.tally(pipe).names.tolist() == kept.tolist()
    search = GridSearchCV(pipe, {"selectkbest__k": [5]}, cv=2).fit(frame, y)
    assert nf.tally(search).n_features == 5
    assert nf.tally(search).names[0].startswith("gene")
    plain = RandomForestClassifier(10).fit(X, y)
    assert nf.tally(plain).names[:2].tolist() == ["x0", "x1"]
    assert nf.tally(plain, feature_names=frame.columns).names[3] == "gene 3"


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (RandomForestClassifier(), "not fitted"),
        (DecisionTreeClassifier().fit(X, y), "single tree"),
        (IsolationForest(n_estimators=5).fit(X), "without a target"),
        (RandomTreesEmbedding(5).fit(X), "without a target"),
        (GradientBoostingClassifier(n_estimators=3).fit(X, y), "independently"),
        (LogisticRegression().fit(X, y), "cannot take the tally"),
        (BaggingClassifier(LogisticRegression(), 3).fit(X, y), "bags LogisticRegression"),
        (
            BaggingClassifier(
                n_estimators=3, max_features=6, bootstrap_features=True, random_state=0
            ).fit(X, y),
            "bootstrap_features=False",
        ),
        ("forest", "no file forest"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else value[:12],
)
def test_models_without_a_null_are_refused_with_the_reason(model, words):
    with pytest.raises(nf.InputError, match=words):
        nf.tally(model)
