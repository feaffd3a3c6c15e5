"""Forests of other Python libraries: counts, pools and candidates, couplings, refusals."""

import json

import imblearn.ensemble
import lightgbm
import numpy as np
import pandas as pd
import pytest
import quantile_forest
import sksurv.ensemble
import sksurv.linear_model
import treelite
import xgboost
from scipy import stats
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sksurv.util import Surv

import nullforest as nf
from naive import foreign_forests as naive
from naive.null_counts import sklearn_counts
from nullforest.tallies.favoured_columns import column_trend
from nullforest.tallies.tally import COUPLING_EDGES

S, F = 150, 24
X, y = make_classification(S, F, n_informative=4, weights=[0.7], random_state=0)
rng = np.random.default_rng(1)
numbers = X[:, 0] + rng.normal(size=S)
times = Surv.from_arrays(rng.random(S) < 0.7, rng.exponential(np.exp(-X[:, 1])))
LGBM = {"subsample": 0.6, "subsample_freq": 1, "min_child_samples": 3, "verbose": -1, "n_jobs": 1}


def lgbm(**more):
    return lightgbm.LGBMClassifier(boosting_type="rf", **{"n_estimators": 30} | LGBM | more)


def xgbrf(kind="XGBRFClassifier", **more):
    usual = {"n_estimators": 30, "n_jobs": 1, "colsample_bynode": 0.3}
    return getattr(xgboost, kind)(**usual | more)


@pytest.mark.parametrize(
    ("forest", "target", "candidates"),
    [
        (quantile_forest.RandomForestQuantileRegressor(20, max_features=7), numbers, 7),
        (quantile_forest.ExtraTreesQuantileRegressor(20, max_features=5), numbers, 5),
        (sksurv.ensemble.RandomSurvivalForest(20), times, 4),
        (sksurv.ensemble.RandomSurvivalForest(20, low_memory=True, max_samples=0.5), times, 4),
        (sksurv.ensemble.ExtraSurvivalTrees(20, max_features=3), times, 3),
        (imblearn.ensemble.BalancedRandomForestClassifier(20), y, 4),
        (imblearn.ensemble.BalancedRandomForestClassifier(20, bootstrap=True), y, 4),
    ],
    ids=lambda value: str(value)[:60],
)
def test_trees_of_scikit_learn_are_counted_as_a_walk_counts_them(forest, target, candidates):
    forest.set_params(random_state=0).fit(X, target)
    before = [tree.tree_.__getstate__()["nodes"].tobytes() for tree in forest.estimators_]
    tally = nf.tally(forest)
    assert before == [tree.tree_.__getstate__()["nodes"].tobytes() for tree in forest.estimators_]
    counts, nodes = sklearn_counts(forest.estimators_, [list(range(F))] * 20, F)
    assert tally.counts.tolist() == counts
    assert tally.nodes_per_tree.tolist() == nodes
    assert (tally.candidates, tally.n_samples, tally.draw) == (candidates, S, "node")
    random = "Extra" in type(forest).__name__
    assert nf.null(tally).kind == ("paper" if random else "bagged")
    if not random:
        assert tally.couplings.sum(axis=1).tolist() == counts


@pytest.mark.parametrize(
    ("more", "pool", "candidates"),
    [
        ({}, 24, 24),
        ({"feature_fraction_bynode": 0.4}, 24, 10),
        ({"feature_fraction": 0.4}, 10, 10),
        ({"feature_fraction": 0.5, "feature_fraction_bynode": 0.3}, 12, 4),
        ({"feature_fraction": 0.01}, 1, 1),
    ],
)
def test_lightgbm_is_counted_as_its_dump_counts(more, pool, candidates):
    model = lgbm(**more).fit(X, y)
    before = model.booster_.model_to_string()
    tally = nf.tally(model, n_samples=S)
    assert model.booster_.model_to_string() == before
    counts, nodes = naive.lightgbm_counts(model.booster_, F)
    assert tally.counts.tolist() == counts
    assert tally.nodes_per_tree.tolist() == nodes
    assert set(tally.pool_per_tree) == {pool}
    assert tally.candidates == candidates
    assert tally.draw == {True: "node", False: "tree" if pool == candidates else "both"}[pool == F]
    used = [set(_features(tree["tree_structure"])) for tree in _dump(model)]
    assert max(map(len, used)) <= pool
    if pool < 5:  # so few that some tree uses all of its pool
        assert max(map(len, used)) == pool


def _dump(model):
    return model.booster_.dump_model()["tree_info"]


def _features(node):
    if "split_feature" not in node:
        return []
    children = _features(node["left_child"]) + _features(node["right_child"])
    return [node["split_feature"], *children]


@pytest.mark.parametrize(
    ("more", "pool", "candidates"),
    [
        ({"colsample_bynode": 1}, 24, 24),
        ({"colsample_bynode": 0.4}, 24, 9),
        ({"colsample_bytree": 0.4, "colsample_bynode": 1}, 9, 9),
        ({"colsample_bylevel": 0.5, "colsample_bynode": 1}, 24, 12),
        ({"colsample_bytree": 0.5, "colsample_bylevel": 0.5, "colsample_bynode": 0.5}, 12, 3),
    ],
)
def test_xgboost_is_counted_as_its_dump_counts(more, pool, candidates):
    model = xgbrf(**more).fit(pd.DataFrame(X, columns=[f"gene {i}" for i in range(F)]), y)
    before = bytes(model.get_booster().save_raw("json"))
    tally = nf.tally(model, n_samples=S)
    assert bytes(model.get_booster().save_raw("json")) == before
    names = [f"gene {i}" for i in range(F)]
    counts, nodes = naive.xgboost_counts(model.get_booster(), names)
    assert tally.counts.tolist() == counts
    assert tally.nodes_per_tree.tolist() == nodes
    assert tally.names.tolist() == names
    assert set(tally.pool_per_tree) == {pool}
    assert tally.candidates == candidates
    assert any("colsample_bylevel" in note for note in tally.notes) == ("colsample_bylevel" in more)


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_a_perfect_feature_splits_roots_as_often_as_it_is_a_candidate(library):
    # A node compares c of F features, so that of the roots of n trees Bin(n, c/F) hold the perfect
    # one; four standard deviations are exceeded once in 16 000 tests. LightGBM draws some columns
    # more often than others, so the feature takes every place once: the mean over places is c/F.
    draws = np.random.default_rng(2)
    n, c, found = 50, 6, 0
    for place in range(F):
        perfect = draws.normal(size=(S, F))
        perfect[:, place] = y
        more = {"n_estimators": n, "random_state": place}
        if library == "lightgbm":
            model = lgbm(feature_fraction_bynode=c / F, num_leaves=2, **more)
        else:
            model = xgbrf(colsample_bynode=c / F, max_depth=1, **more)
        tally = nf.tally(model.fit(perfect, y), n_samples=S)
        assert tally.candidates == c
        found += tally.counts[place]
    assert abs(found - n * c) < 4 * stats.binom.std(n * F, c / F)


def test_counts_that_fall_with_the_column_number_are_noted():
    draws = np.random.default_rng(3)
    null = draws.normal(size=(60, 150))
    label = np.arange(60) % 2
    model = lgbm(n_estimators=150, feature_fraction_bynode=0.2).fit(null, label)
    tally = nf.tally(model, n_samples=60)
    rho, p = column_trend(tally)
    assert rho < -0.2
    assert p < 1e-3
    assert "fall with the column number" in " ".join(nf.select(tally).notes)
    parts = []
    for seed in range(20):
        order = draws.permutation(150)
        model = lgbm(n_estimators=8, random_state=seed, feature_fraction_bynode=0.2)
        model.fit(null[:, order], label)
        parts.append(nf.tally(model, n_samples=60, columns=order))
    mixed = sum(parts[1:], parts[0])
    assert mixed.column_orders == 20
    assert column_trend(mixed)[1] > 1e-3
    assert not [note for note in nf.select(mixed).notes if "column" in note]
    assert "only 1 order of the columns" in " ".join(nf.select(parts[0]).notes)


def test_the_trend_test_holds_its_level_and_ignores_relevant_features_in_front():
    draws = np.random.default_rng(4)
    small = 0
    for _ in range(400):
        counts = draws.poisson(9, 120)
        counts[:10] += 60
        tally = nf.Tally.from_counts(counts, nodes_per_tree=[counts.sum()], n_samples=50)
        small += column_trend(tally)[1] < 0.05
    assert abs(small - 20) < 4 * stats.binom.std(400, 0.05)


def test_columns_in_another_order_are_put_back(tmp_path):
    order = rng.permutation(F)
    frame = pd.DataFrame(X, columns=[f"gene_{i}" for i in range(F)])
    shuffled = nf.tally(lgbm().fit(frame.iloc[:, order], y), n_samples=S, columns=order)
    assert shuffled.names.tolist() == frame.columns.tolist()
    plain = nf.tally(lgbm().fit(frame.iloc[:, order], y), n_samples=S)
    assert shuffled.counts[order].tolist() == plain.counts.tolist()
    with pytest.raises(nf.InputError, match="once"):
        nf.tally(lgbm().fit(X, y), n_samples=S, columns=[0] * F)
    shuffled.save(tmp_path / "a.tally")
    assert nf.Tally.load(tmp_path / "a.tally") == shuffled


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_couplings_of_classes_equal_their_definition(library, classes):
    labels = y if classes == 2 else np.digitize(X[:, 0], [-0.5, 0.5])
    # All samples in every tree, so that the samples of a node follow from the data.
    if library == "lightgbm":
        model = lgbm(subsample=1.0, feature_fraction=0.5, subsample_freq=0).fit(X, labels)
    else:
        model = xgbrf(subsample=1).fit(X, labels)
    tally = nf.tally(model)
    assert tally.n_samples == S
    found = []
    for number, root in enumerate(_nodes(model, library)):
        k = number % classes if library == "lightgbm" else number // 30
        one = (labels == (1 if classes == 2 else k)).astype(float)[:, None]
        whole = float(((one - one.mean()) ** 2).sum())
        stack = [(root, np.ones(S, bool))]
        while stack:
            (feature, cut, children), inside = stack.pop()
            weight = inside.astype(float).tolist()
            found.append(naive.coupling(weight, one.tolist(), whole))
            left = (
                X[:, feature] <= cut if library == "lightgbm" else np.float32(X[:, feature]) < cut
            )
            sides = zip(children, (inside & left, inside & ~left), strict=True)
            stack += [(child, side) for child, side in sides if child is not None]
    expected = np.histogram(np.minimum(found, 1), COUPLING_EDGES)[0]
    # Sums are kept in single precision: a node at the edge of a bin may fall into the next one.
    assert np.abs(np.cumsum(tally.couplings.sum(axis=0) - expected)).max() <= 2


def _nodes(model, library):
    """Roots as (feature, cut, children) of plain trees."""

    def from_lightgbm(node):
        if "split_feature" not in node:
            return None
        children = [from_lightgbm(node[f"{side}_child"]) for side in ("left", "right")]
        return node["split_feature"], node["threshold"], children

    def from_xgboost(node):
        if "split" not in node:
            return None
        by_id = {child["nodeid"]: child for child in node["children"]}
        children = [from_xgboost(by_id[node[side]]) for side in ("yes", "no")]
        return int(node["split"][1:]), np.float32(node["split_condition"]), children

    if library == "lightgbm":
        return [from_lightgbm(tree["tree_structure"]) for tree in _dump(model)]
    dump = model.get_booster().get_dump(dump_format="json")
    return [from_xgboost(json.loads(text)) for text in dump]


@pytest.mark.parametrize("settings", [{}, {"sampling_strategy": "auto", "replacement": False}])
def test_couplings_of_balanced_forests_are_near_their_definition(settings):
    forest = imblearn.ensemble.BalancedRandomForestClassifier(60, random_state=0, **settings)
    forest.fit(X, y)
    one_hot = np.eye(2)[y]
    whole = float(((one_hot - one_hot.mean(axis=0)) ** 2).sum())
    found = []
    for tree, sampler in zip(forest.estimators_, forest.samplers_, strict=True):
        weight = np.bincount(sampler.sample_indices_, minlength=S)
        path = tree.decision_path(X.astype(np.float32)).toarray().astype(bool)
        for node in np.flatnonzero(tree.tree_.feature >= 0):
            found.append(naive.coupling((weight * path[:, node]).tolist(), one_hot.tolist(), whole))
    # As for scikit-learn's bootstraps, multiplicities are known on average.
    middle = np.log(np.maximum(COUPLING_EDGES[:-1], 1e-3))
    expected = np.histogram(np.minimum(found, 1), COUPLING_EDGES)[0]
    counted = nf.tally(forest).couplings.sum(axis=0)
    gap = (counted @ middle - expected @ middle) / expected.sum()
    assert abs(gap) < 0.25 * np.log(0.98 / 0.003) / 16


def test_models_in_files_have_the_same_tally(tmp_path):
    model = lgbm(feature_fraction_bynode=0.4).fit(X, y)
    model.booster_.save_model(tmp_path / "forest.txt")
    assert nf.tally(tmp_path / "forest.txt", n_samples=S) == nf.tally(model, n_samples=S)
    model = xgbrf(subsample=1).fit(X, y)
    model.save_model(tmp_path / "forest.json")
    taken = nf.tally(tmp_path / "forest.json", n_samples=S)  # which keeps no settings of the draw
    assert taken.candidates is None
    assert nf.null(taken).kind == "paper"
    assert nf.null(nf.tally(tmp_path / "forest.json", n_samples=S, candidates=7)).kind == "bagged"
    np.testing.assert_array_equal(taken.counts, nf.tally(model).counts)


def test_models_of_an_xgboost_that_starts_elsewhere_are_refused(tmp_path):
    xgbrf().fit(X, y).save_model(tmp_path / "forest.json")
    saved = json.loads((tmp_path / "forest.json").read_text("utf-8"))
    (tmp_path / "old.json").write_text(json.dumps(saved | {"version": [3, 0, 5]}), "utf-8")
    with pytest.raises(nf.InputError, match=r"XGBoost 3\.0\.5.*xgboost>=3\.2"):
        nf.tally(tmp_path / "old.json", n_samples=S)


def test_names_and_sizes_come_through_pipelines_and_data():
    frame = pd.DataFrame(X, columns=[f"gene_{i}" for i in range(F)])
    scaled = StandardScaler().set_output(transform="pandas")
    tally = nf.tally(make_pipeline(scaled, lgbm()).fit(frame, y), X=frame)
    assert tally.names.tolist() == frame.columns.tolist()
    assert tally.n_samples == S


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (lightgbm.LGBMClassifier(n_estimators=3, verbose=-1).fit(X, y), "boosted"),
        (lgbm(), "not fitted"),
        (lgbm().fit(X, y), "give n_samples"),
        (lgbm(interaction_constraints=[[0, 1], [2, 3]]).fit(X, y), "unequal chances"),
        (lightgbm.Dataset(X), "no model"),
        (xgboost.XGBClassifier(n_estimators=3).fit(X, y), "boosted"),
        (xgboost.XGBClassifier(n_estimators=3, num_parallel_tree=2).fit(X, y), "boosted"),
        (xgboost.XGBRegressor(booster="gblinear", n_estimators=2).fit(X, y), "gblinear"),
        (xgbrf(), "not fitted"),
        (xgbrf().fit(X, y), "give n_samples"),
        (xgboost.DMatrix(X), "no model"),
        (sksurv.linear_model.CoxPHSurvivalAnalysis(alpha=1).fit(X, times), "RandomSurvivalForest"),
        (sksurv.ensemble.RandomSurvivalForest(), "not fitted"),
        (
            sksurv.ensemble.GradientBoostingSurvivalAnalysis(n_estimators=2).fit(X, times),
            "independently",
        ),
        (imblearn.ensemble.EasyEnsembleClassifier(2).fit(X, y), "BalancedRandomForest"),
        (imblearn.ensemble.BalancedRandomForestClassifier(5), "not fitted"),
        (quantile_forest.RandomForestQuantileRegressor(5), "not fitted"),
        (3, "cannot read a int"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else value[:12],
)
def test_other_models_are_refused_in_a_sentence(model, words):
    with pytest.raises(nf.InputError, match=words):
        nf.tally(model)


def test_treelite_models_have_the_tally_of_their_forest():
    forest = RandomForestClassifier(30, max_features=5, random_state=0).fit(X, y)
    own = nf.tally(forest)
    model = treelite.sklearn.import_model(forest)
    taken = nf.tally(model, n_samples=S, candidates=5)
    np.testing.assert_array_equal(taken.counts, own.counts)
    np.testing.assert_array_equal(taken.nodes_per_tree, own.nodes_per_tree)
    assert nf.null(taken).kind == "bagged"
    # The variance of the whole sample is that of the bags, (S−1)/S of it on average.
    gap = np.cumsum(taken.couplings.sum(axis=0) - own.couplings.sum(axis=0))
    assert np.abs(gap).max() <= 0.03 * own.n_nodes
    assert nf.null(nf.tally(model, n_samples=S)).kind == "paper"  # the candidates are not kept
    numeric = RandomForestRegressor(10, max_features=5, random_state=0).fit(X, numbers)
    taken = nf.tally(treelite.sklearn.import_model(numeric), n_samples=S, candidates=5)
    np.testing.assert_array_equal(taken.counts, nf.tally(numeric).counts)
    boosted = lightgbm.LGBMClassifier(n_estimators=3, verbose=-1).fit(X, y)
    for other, words in [
        (treelite.frontend.from_lightgbm(boosted.booster_), "boosted"),
        (treelite.model_builder.Metadata(1, "kRegressor", False, 1, [1], (1, 1)), "no model"),
    ]:
        with pytest.raises(nf.InputError, match=words):
            nf.tally(other, n_samples=S)


def test_many_tiny_nodes_of_xgboost_are_noted():
    target = np.random.default_rng(5).normal(size=S)
    assert "min_child_weight" in " ".join(
        nf.tally(xgbrf("XGBRFRegressor").fit(X, target), n_samples=S).notes
    )
    model = xgbrf("XGBRFRegressor", min_child_weight=5).fit(X, target)
    assert not nf.tally(model, n_samples=S).notes


def test_the_selector_takes_forests_of_other_libraries():
    draws = np.random.default_rng(6)
    data = draws.normal(size=(S, 120))
    label = data[:, 7] > 0
    for forest in (lgbm(feature_fraction_bynode=0.2), xgbrf()):
        selector = nf.ForestSelector(forest).fit(data, label)
        assert selector.support_[7]
        assert selector.tally_.n_samples == S
    coarse = np.column_stack([data, data[:, :40] > 0])  # columns of different kinds need shadows
    with pytest.raises(nf.InputError, match="favoured over their shadows"):
        nf.ForestSelector(lgbm(n_estimators=200)).fit(coarse, label)
