"""The selector: scikit-learn's checks, pipelines, searches, frames and forests."""

from __future__ import annotations

import copy

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
import sklearn
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import nullforest as nf
import sklearn_checks

REDRAWN = dict.fromkeys(
    (
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    ),
    "a forest draws other samples when rows are removed or repeated; so does scikit-learn's",
)
CHECKED = sklearn_checks.parametrize(
    (nf.ForestSelector(trees=30, **sklearn_checks.LENIENT), REDRAWN),
    (
        nf.ForestSelector(RandomForestClassifier(10, random_state=0), **sklearn_checks.LENIENT),
        REDRAWN,
    ),
    (nf.ForestSelector(nf.ForestRegressor(10, random_state=0), **sklearn_checks.LENIENT), REDRAWN),
)


@CHECKED
def test_scikit_learns_checks(estimator, check):
    check(estimator)


N_FEATURES = 40
NAMES = [f"gene {i}" for i in range(N_FEATURES)]
#: Three features carry the label, far apart; the rest are noise.
RELEVANT = [0, 1, 2]


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, N_FEATURES)), np.arange(80) % 2
    X[:, RELEVANT] += 2.5 * y[:, None]
    return X, y


def selector(**settings):
    return nf.ForestSelector(**({"trees": 300, "candidates": 8, "error": "fwer"} | settings))


def test_it_keeps_what_carries_the_label(data):
    X, y = data
    fitted = selector().fit(X, y)
    assert fitted.get_support(indices=True).tolist() == RELEVANT
    np.testing.assert_array_equal(fitted.transform(X), X[:, RELEVANT])
    assert fitted.selection_.support.tolist() == fitted.get_support().tolist()
    grown = nf.grow(X, y, trees=300, candidates=8, keep_trees=False)
    assert fitted.tally_.counts.tolist() == grown.tally.counts.tolist()
    back = fitted.inverse_transform(fitted.transform(X))
    assert back.shape == X.shape
    assert not back[:, 3:].any()


def test_labels_may_be_text_and_numbers_are_a_regression(data):
    X, y = data
    assert selector().fit(X, np.where(y, "ill", "well")).get_support()[RELEVANT].all()
    numbers = X[:, 5] * 10 + np.random.default_rng(1).normal(size=80)
    assert 5 in selector().fit(X, numbers).get_support(indices=True)
    whole = np.round(numbers / 10).astype(int)
    assert selector(criterion="variance").fit(X, whole).estimator_.classes is None


@pytest.mark.parametrize("frame_of", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames_keep_their_names(data, frame_of):
    X, y = data
    frame = frame_of(dict(zip(NAMES, X.T, strict=True)))
    fitted = selector().fit(frame, y)
    assert fitted.feature_names_in_.tolist() == NAMES
    assert fitted.get_feature_names_out().tolist() == NAMES[:3]
    assert sorted(fitted.selection_.selected) == NAMES[:3]
    assert fitted.tally_.names.tolist() == NAMES
    assert fitted.tally_.counts.tolist() == selector().fit(X, y).tally_.counts.tolist()


@pytest.mark.parametrize(
    ("kind", "frame_type"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)]
)
def test_output_can_be_a_frame(data, kind, frame_type):
    X, y = data
    frame = pd.DataFrame(X, columns=NAMES)
    out = selector().set_output(transform=kind).fit(frame, y).transform(frame)
    assert isinstance(out, frame_type)
    assert list(out.columns) == NAMES[:3]
    np.testing.assert_array_equal(out.to_numpy(), X[:, RELEVANT])


def test_a_pipeline_and_a_search_over_alpha(data):
    X, y = data
    frame = pd.DataFrame(X, columns=NAMES)
    pipe = Pipeline(
        [("scale", StandardScaler()), ("select", selector()), ("model", LogisticRegression())]
    )
    search = GridSearchCV(pipe, {"select__alpha": [0.001, 0.05]}, cv=2).fit(frame, y)
    best = search.best_estimator_
    assert best[:-1].get_feature_names_out().tolist() == NAMES[:3]
    assert best.named_steps["model"].n_features_in_ == 3
    # classes 2.5 sd apart in three features: 1 - Φ(2.5 √3 / 2) < 2 % errors at best, so 90 % at
    # least leaves five standard errors, √(.02 · .98 / 80) = .016
    assert search.best_score_ > 0.9
    assert len(search.cv_results_["params"]) == 2


def test_a_column_transformer_hands_over_part_of_the_columns(data):
    X, y = data
    frame = pd.DataFrame(X, columns=NAMES)
    parts = ColumnTransformer(
        [("genes", selector(), NAMES[1:]), ("kept", "passthrough", NAMES[:1])]
    ).fit(frame, y)
    alone = selector().fit(frame[NAMES[1:]], y).get_feature_names_out()
    assert {"gene 1", "gene 2"} <= set(alone)
    assert parts.get_feature_names_out().tolist() == [
        *(f"genes__{name}" for name in alone),
        "kept__gene 0",
    ]


@pytest.mark.parametrize("kind", [scipy.sparse.csr_matrix, scipy.sparse.csc_array])
def test_sparse_data_give_the_same_selection(data, kind):
    X, y = data
    X = np.where(np.abs(X) < 0.4, 0.0, X)
    keep = {"min_features": 1}  # so that there is something to transform
    dense, sparse = selector(**keep).fit(X, y), selector(**keep).fit(kind(X), y)
    assert sparse.tally_ == dense.tally_
    out = sparse.transform(kind(X))
    assert scipy.sparse.issparse(out)
    np.testing.assert_array_equal(out.toarray(), dense.transform(X))


def test_sparse_data_too_large_for_the_disk_are_refused():
    huge = scipy.sparse.csr_matrix((60_000, 20_000_000))
    with pytest.raises(nf.InputError, match=r"would take about [\d.e+]+ GiB"):
        nf.grow(huge, np.arange(60_000) % 2, trees=1)


@pytest.mark.parametrize(
    "forest",
    [
        RandomForestClassifier(200, max_features=8),
        RandomForestRegressor(100, max_features=8),
        ExtraTreesRegressor(100, max_features=8),
        BaggingClassifier(DecisionTreeClassifier(max_features=4), 100, max_features=20),
        nf.ForestClassifier(200, max_features=8),
        nf.ForestRegressor(200, max_features=8),
    ],
    ids=lambda forest: type(forest).__name__,
)
def test_any_forest_can_be_tested_and_is_not_altered(data, forest):
    X, y = data
    frame = pd.DataFrame(X, columns=NAMES)
    forest.set_params(random_state=0)
    before = copy.deepcopy(forest)
    fitted = nf.ForestSelector(forest, error="fwer", null="paper").fit(frame, y)
    assert vars(forest).keys() == vars(before).keys()  # nothing fitted into it
    assert repr(forest) == repr(before)
    assert fitted.estimator is forest
    assert fitted.estimator_ is not forest
    assert set(RELEVANT) <= set(fitted.get_support(indices=True).tolist())
    assert fitted.selection_.tally.names.tolist() == NAMES
    # the same forest, already fitted and only read
    prefit = copy.deepcopy(forest).fit(frame, y)
    read = nf.ForestSelector(prefit, error="fwer", null="paper", prefit=True).fit(frame, y)
    assert read.estimator_ is prefit
    assert read.tally_ == fitted.tally_
    assert read.get_support().tolist() == fitted.get_support().tolist()


def test_missing_values_are_welcome_where_the_forest_takes_them(data):
    X, y = data
    gaps = X.copy()
    gaps[np.random.default_rng(1).random(gaps.shape) < 0.1] = np.nan
    fitted = selector().fit(gaps, y)
    kept = fitted.get_support(indices=True)
    assert set(RELEVANT) <= set(kept.tolist())
    np.testing.assert_array_equal(fitted.transform(gaps), gaps[:, kept])


@pytest.mark.parametrize("missing", [None, pd.NA, pd.NaT, np.nan])
def test_missing_objects_are_missing_values(data, missing):
    X, y = data
    gaps = X.copy()
    gaps[3, :5] = np.nan
    objects = np.where(np.isnan(gaps), missing, gaps.astype(object))
    frame = pd.DataFrame(gaps, columns=NAMES).astype(dict.fromkeys(NAMES[:5], object))
    frame.iloc[3, :5] = missing
    whole = nf.grow(gaps, y, trees=20, candidates=8).tally
    forest = RandomForestClassifier(20, random_state=0)
    theirs = nf.tally(clone(forest).fit(gaps, y))
    for table in (objects, frame):
        grown = nf.grow(table, y, trees=20, candidates=8).tally
        assert grown.counts.tolist() == whole.counts.tolist()
        fitted = selector(trees=20, min_features=5).fit(table, y)
        assert fitted.tally_.counts.tolist() == whole.counts.tolist()
        assert fitted.transform(table).shape == (80, 5)
        read = nf.ForestSelector(forest, null="paper").fit(table, y)
        assert read.tally_.counts.tolist() == theirs.counts.tolist()
        classes = nf.ForestClassifier(5, random_state=0).fit(table, y)
        of_numbers = nf.ForestClassifier(5, random_state=0).fit(gaps, y)
        assert classes.predict(table).tolist() == of_numbers.predict(gaps).tolist()


def test_weights_reach_the_forest(data):
    X, y = data
    weight = np.linspace(0.5, 2.0, 80)
    weighted = selector().fit(X, y, sample_weight=weight)
    grown = nf.grow(X, y, trees=300, candidates=8, sample_weight=weight)
    assert weighted.tally_.counts.tolist() == grown.tally.counts.tolist()
    assert weighted.tally_.counts.tolist() != selector().fit(X, y).tally_.counts.tolist()


def test_seeds(data):
    def counts(random_state):
        fitted = selector(random_state=random_state, null="paper").fit(*data)
        return fitted.tally_.counts.tolist()

    assert counts(3) == counts(3)
    assert counts(np.random.RandomState(1)) == counts(np.random.RandomState(1))
    assert counts(None) != counts(None)


@pytest.fixture
def noise():
    return np.random.default_rng(3).normal(size=(40, 20)), np.arange(40) % 2


def test_an_empty_selection_names_the_step_and_the_option(noise):
    pipe = make_pipeline(StandardScaler(), selector(alpha=1e-6), LogisticRegression())
    words = "ForestSelector selected none of the 20 features .*min_features=1 to keep"
    with pytest.raises(nf.InputError, match=words):
        pipe.fit(*noise)
    empty = selector(alpha=1e-6, min_features=0).fit(*noise)  # with scikit-learn's warning
    with pytest.warns(UserWarning, match="No features were selected"):
        assert empty.transform(noise[0]).shape == (40, 0)


def test_min_features_keeps_the_most_significant_ones_and_says_so(noise, data):
    fitted = selector(alpha=1e-6, min_features=3).fit(*noise)
    kept = fitted.get_support(indices=True)
    assert set(kept) == set(np.argsort(fitted.selection_.pvalues, kind="stable")[:3])
    assert fitted.selection_.n_selected == 0  # the test itself is not changed
    assert fitted.selection_.notes[-1].startswith("min_features=3 keeps 3 features: 0 selected")
    enough = selector(min_features=2).fit(*data)
    assert enough.get_support().tolist() == enough.selection_.support.tolist()
    assert not any("min_features" in note for note in enough.selection_.notes)
    assert selector(alpha=1e-6, min_features=99).fit(*noise).get_support().all()
    with pytest.raises(nf.InputError, match="min_features = -1 must be a whole number"):
        selector(min_features=-1).fit(*noise)


def test_a_prefit_forest_selects_without_fit(data):
    X, y = data
    forest = RandomForestClassifier(200, max_features=8, random_state=0).fit(X, y)
    prefit = nf.ForestSelector(forest, prefit=True, error="fwer")
    fitted = nf.ForestSelector(forest, prefit=True, error="fwer").fit(X, y)
    assert prefit.get_support().tolist() == fitted.get_support().tolist()
    np.testing.assert_array_equal(prefit.transform(X), fitted.transform(X))
    with pytest.raises(NotFittedError):
        nf.ForestSelector().transform(X)


def test_class_weights_reach_the_forest(data):
    X, y = data
    weights = {0: 1.0, 1: 5.0}
    weighted = selector(class_weight=weights).fit(X, y)
    grown = nf.grow(X, y, trees=300, candidates=8, class_weight=weights)
    assert weighted.tally_.counts.tolist() == grown.tally.counts.tolist()
    with pytest.raises(nf.InputError, match="class_weight is a setting of nullforest's own"):
        nf.ForestSelector(RandomForestClassifier(), class_weight="balanced").fit(X, y)


def test_metadata_is_routed_to_the_forest_that_requests_it(data):
    X, y = data
    weight = np.linspace(0.5, 2.0, 80)
    theirs = RandomForestClassifier(50, random_state=0)
    with sklearn.config_context(enable_metadata_routing=True):
        last = LogisticRegression().set_fit_request(sample_weight=False)
        own = selector(min_features=1).set_fit_request(sample_weight=True)
        routed = make_pipeline(own, last).fit(X, y, sample_weight=weight)[0]
        inner = clone(theirs).set_fit_request(sample_weight=True)
        foreign = nf.ForestSelector(inner, min_features=1).set_fit_request(sample_weight=False)
        passed_on = make_pipeline(foreign, last).fit(X, y, sample_weight=weight)[0]
    assert routed.tally_ == selector().fit(X, y, sample_weight=weight).tally_
    alone = nf.tally(theirs.fit(X, y, sample_weight=weight))
    assert passed_on.tally_.counts.tolist() == alone.counts.tolist()


@pytest.mark.parametrize(("n_normal", "n_binary"), [(20, 5), (100, 100)])
def test_columns_of_different_kinds_in_a_foreign_forest_are_not_called_relevant(n_normal, n_binary):
    # All null: 21 of 25 columns were selected, with p = 1e-179, and 110 of 200.
    rng = np.random.default_rng(0)
    X = np.hstack([rng.normal(size=(300, n_normal)), rng.integers(0, 2, (300, n_binary))])
    y = rng.integers(0, 2, 300)
    forest = RandomForestClassifier(500, random_state=0)
    selection = nf.ForestSelector(forest).fit(X, y).selection_
    assert selection.null.kind == "shadows"
    assert selection.n_selected <= 1
    fitted = clone(forest).fit(X, y)
    with pytest.raises(nf.InputError, match=r"\(effectively [0-9.]+ to 300\).*Use nf.grow"):
        nf.ForestSelector(fitted, prefit=True).fit(X, y)
    tally = nf.tally(forest.fit(X, y))
    with pytest.raises(nf.InputError, match="effectively 2 to "):
        nf.select(tally)
    marked = nf.select(tally, null="bagged")  # chosen by name
    assert "These p-values are not valid." in marked.notes[0]
    assert nf.ForestSelector(random_state=0).fit(X, y).selection_.n_selected <= 1


def test_bad_use_is_named(data):
    X, y = data
    with pytest.raises(nf.InputError, match="prefit=True needs a fitted forest"):
        nf.ForestSelector(prefit=True).fit(X, y)
    with pytest.raises(nf.InputError, match="not fitted"):
        nf.ForestSelector(RandomForestClassifier(), prefit=True).fit(X, y)
    read = RandomForestClassifier(5).fit(X[:, :7], y)
    with pytest.raises(nf.InputError, match="fitted on 7 features"):
        nf.ForestSelector(read, prefit=True, null="paper").fit(X, y)
    with pytest.raises(nf.InputError, match="cannot take the tally"):
        nf.ForestSelector(LogisticRegression()).fit(X, y)
    with pytest.raises(ValueError, match="8 features"):
        make_pipeline(selector()).fit(X, y).transform(X[:, :8])


def test_blocks_are_routed_to_the_forest():
    rng = np.random.default_rng(0)
    X, batch = rng.normal(size=(60, 10)), np.arange(60) % 3
    y = X[:, 2] > 0
    selector = nf.ForestSelector().fit(X, y, blocks=batch)
    assert selector.tally_ == nf.grow(X, y, blocks=batch).tally
    assert selector.selection_.null.kind == "shadows"
    with sklearn.config_context(enable_metadata_routing=True):
        routed = nf.ForestSelector().set_fit_request(blocks=True)
        inside = make_pipeline(routed).fit(X, y, blocks=batch)
    assert inside[0].tally_ == selector.tally_
    with pytest.raises(nf.InputError, match="blocks and adjust need shadows"):
        nf.ForestSelector(RandomForestClassifier()).fit(X, y, blocks=batch)


@pytest.mark.parametrize("forest", [RandomForestClassifier, RandomForestRegressor])
def test_a_forest_on_columns_of_different_kinds_is_tested_beside_shadows(forest):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(150, 8)), rng.integers(0, 2, (150, 3))])
    y = X[:, 1] + 0.3 * rng.normal(size=150)
    y = y > 0 if forest is RandomForestClassifier else y
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(11)])
    selector = nf.ForestSelector(forest(n_estimators=200, random_state=0)).fit(frame, y)
    assert selector.selection_.null.kind == "shadows"
    assert selector.support_[1]
    assert not selector.support_[8:].any()
    assert selector.estimator_.n_features_in_ == 11  # the forest to predict with has no shadows
    assert selector.tally_.names.tolist() == list(frame.columns)
    sparse = nf.ForestSelector(forest(n_estimators=200, random_state=0)).fit(
        scipy.sparse.csr_matrix(X), y
    )
    np.testing.assert_array_equal(sparse.support_, selector.support_)
    fitted = forest(n_estimators=20).fit(X, y)
    with pytest.raises(nf.InputError, match="omit prefit"):
        nf.ForestSelector(fitted, prefit=True, null="shadows").fit(X, y)
