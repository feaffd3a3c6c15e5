"""A forest is the same however it is grown: threads, halves, storage and interruption."""

from __future__ import annotations

import numpy as np
import pytest

import nullforest as nf
from nullforest.data.rank_table import RankTable


@pytest.fixture
def data():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(80, 60)).astype(np.float32)
    return X, X[:, 3] + 0.5 * rng.normal(size=80) > 0


def assert_same(a, b):
    assert a.tally == b.tally
    for name, array in a.trees.arrays.items():
        np.testing.assert_array_equal(array, b.trees.arrays[name])
    np.testing.assert_array_equal(a.oob_prediction, b.oob_prediction)
    np.testing.assert_array_equal(a.gini_importance, b.gini_importance)


@pytest.mark.parametrize(
    "settings",
    [{}, {"replace": True}, {"draw": "tree"}, {"pool": 30, "candidates": 5}],
    ids=["node", "bootstrap", "tree", "both"],
)
def test_threads_change_nothing(data, settings):
    one = nf.grow(*data, trees=40, n_jobs=1, **settings)
    assert_same(one, nf.grow(*data, trees=40, n_jobs=2, **settings))
    assert_same(one, nf.grow(*data, trees=40, n_jobs=7, **settings))


def test_two_halves_add_to_the_whole(data):
    whole = nf.grow(*data, trees=40)
    first, second = nf.grow(*data, trees=15), nf.grow(*data, trees=25, first_tree=15)
    assert first.tally + second.tally == whole.tally


def test_going_on_equals_one_longer_run(data):
    whole = nf.grow(*data, trees=40, replace=True, min_leaf=2)
    start = nf.grow(*data, trees=15, replace=True, min_leaf=2)
    assert_same(nf.grow(*data, more=start, trees=25), whole)


def test_storage_of_x_changes_nothing(data, tmp_path):
    X, y = data
    path = tmp_path / "x.dat"
    mapped = np.memmap(path, dtype=X.dtype, mode="w+", shape=X.shape)
    mapped[:] = X
    wide = np.zeros((80, 120), X.dtype)
    wide[:, ::2] = X
    expected = nf.grow(X, y, trees=20)
    for other in (np.asfortranarray(X), mapped, wide[:, ::2], RankTable(X)):
        assert_same(expected, nf.grow(other, y, trees=20))
    assert nf.grow(X.astype(float), y, trees=20).tally == expected.tally


def test_a_budget_returns_the_first_trees(data):
    forest = nf.grow(*data, trees=2_000_000, max_seconds=0.05)
    assert forest.stopped_early
    assert "max_seconds" in forest.note
    assert forest.tally == nf.grow(*data, trees=forest.n_trees).tally


def test_many_outcomes_equal_one_at_a_time(data):
    X, y = data
    outcomes = [y, ~y, np.roll(y, 3)]
    for outcome, forest in zip(outcomes, nf.grow_many(X, outcomes, trees=10), strict=True):
        assert forest.tally == nf.grow(X, outcome, trees=10).tally


def test_progress_reaches_the_end(data):
    seen = []
    nf.grow(*data, trees=30, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (30, 30)


def test_an_error_in_progress_stops_the_growth(data):
    def fail(done, total):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        nf.grow(*data, trees=10**7, progress=fail)


def test_predictions_follow_the_trees(data):
    X, y = data
    forest = nf.grow(X, y, trees=15)
    leaves = forest.apply(X)
    mean = np.mean([t.value[leaves[:, i]] for i, t in enumerate(forest.trees)], axis=0)
    np.testing.assert_allclose(forest.predict_proba(X), mean, rtol=1e-12)
    np.testing.assert_array_equal(forest.predict(X), forest.classes[mean.argmax(axis=1)])


def test_names_are_kept():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 3)), columns=["a", "b", "c"])
    assert nf.grow(frame, frame["b"] > 0, trees=5).tally.names.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": np.zeros(80)}, "same value in every sample"),
        ({"y": np.zeros(79)}, "79 values for 80"),
        ({"y": np.r_[np.nan, np.arange(79.0)]}, "no value in 1 of 80"),
        ({"candidates": 61}, "candidates = 61"),
        ({"samples": 1.5}, "samples = 1.5"),
        ({"draw": "leaf"}, "draw = 'leaf'"),
        ({"criterion": "gain"}, "criterion = 'gain'"),
        ({"X": np.full((80, 2), np.inf)}, "infinite"),
        ({"X": np.array([["a", "b"]] * 80)}, "not numbers"),
        ({"X": np.zeros(80)}, "1 axes"),
        ({"n_jobs": 0}, "n_jobs = 0"),
    ],
)
def test_bad_input_is_named(data, change, message):
    arguments = {"X": data[0], "y": data[1], "trees": 2} | change
    with pytest.raises(nf.InputError, match=message):
        nf.grow(**arguments)
