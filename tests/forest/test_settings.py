"""One settings object: the same names from the arguments of `grow` to the tally and the kernel."""

from __future__ import annotations

import inspect
import json
import time
from dataclasses import asdict, fields

import joblib
import numpy as np
import pytest

import nullforest as nf
from nullforest._util.checks import n_threads
from nullforest.forest.settings import MOST_SIZE, ForestSettings, TreeSettings

RNG = np.random.default_rng(1)
X = RNG.normal(size=(60, 40))
y = X[:, 3] > 0


def test_grow_takes_every_setting_with_the_same_default():
    parameters = inspect.signature(nf.grow).parameters
    for field in fields(ForestSettings):
        assert parameters[field.name].default == field.default


def test_settings_of_a_forest_grow_the_same_forest():
    forest = nf.grow(X, y, trees=7, draw="tree", samples=0.7, min_leaf=2, probes=50, seed=3)
    assert nf.grow(X, y, trees=7, **asdict(forest.settings)).tally == forest.tally
    assert forest.settings.samples == 42
    assert forest.tally.settings == forest.settings.shape
    assert None not in [v for k, v in asdict(forest.settings).items() if k != "max_depth"]


def test_settings_are_plain_and_survive_json():
    given = ForestSettings(trees=np.int32(5), samples=np.float32(0.5), replace=np.True_)
    assert ForestSettings(**json.loads(json.dumps(asdict(given)))) == given
    resolved = given.resolved((60, 40), "gini")
    assert TreeSettings(**json.loads(json.dumps(asdict(resolved)))) == resolved


@pytest.mark.parametrize("name", ["min_leaf", "min_split", "max_depth"])
def test_the_largest_size_that_fits_is_taken(name):
    assert nf.grow(X, y, trees=2, **{name: MOST_SIZE}).n_trees == 2


@pytest.mark.parametrize("seconds", [1e10, 1e300, np.inf])
def test_a_long_limit_of_time_is_none(seconds):
    # A wait that never sleeps would call `progress` thousands of times in this second.
    calls, start = [], time.perf_counter()
    while time.perf_counter() - start < 0.3:
        forest = nf.grow(
            X, y, trees=500, max_seconds=seconds, progress=lambda *now: calls.append(now)
        )
        assert forest.n_trees == 500
    assert len(calls) < 1000


def test_all_cores_are_those_that_joblib_counts(monkeypatch):
    monkeypatch.setattr(joblib, "cpu_count", lambda: 6)
    assert [n_threads(n) for n in (-1, -2, -100, 3, None)] == [6, 5, 1, 3, 1]


CHANGES = {
    "other y": ({"y": ~y}, "different y"),
    "numbers for classes": ({"y": X[:, 3] * 1.5}, "different y"),
    "other classes": ({"y": np.where(y, "a", "b")}, "different y"),
    "other X": ({"X": X[:, ::-1]}, "different data"),
    "fewer samples": ({"X": X[:50], "y": y[:50]}, "different data"),
    "other names": ({"feature_names": [f"b{i}" for i in range(40)]}, "names its features"),
    "weights": ({"sample_weight": np.arange(60)}, "other weights"),
    "class weights": ({"class_weight": "balanced"}, "other weights"),
    "candidates": ({"candidates": 4}, "grown with candidates = 5, not 4"),
    "draw": ({"draw": "tree"}, "grown with draw = node, not tree"),
    "samples": ({"samples": 0.6}, "grown with samples = 30, not 0.6"),
    "replace": ({"replace": True}, "grown with replace = False"),
    "criterion": ({"criterion": "entropy"}, "grown with criterion = gini"),
    "min_leaf": ({"min_leaf": 2}, "grown with min_leaf = 1"),
    "max_depth": ({"max_depth": 2}, "grown with max_depth = 3"),
    "probes": ({"probes": 10}, "grown with probes = 20"),
    "seed": ({"seed": 8}, "grown with seed = 7"),
}


@pytest.mark.parametrize(("change", "message"), CHANGES.values(), ids=CHANGES)
def test_a_forest_is_extended_with_the_same_data_and_settings_only(change, message):
    names = [f"a{i}" for i in range(40)]
    how = {"candidates": 5, "probes": 20, "seed": 7}
    forest = nf.grow(X, y, trees=4, feature_names=names, **how)

    def never(done, total):
        raise AssertionError("a tree was grown")

    given = {"X": X, "y": y, "feature_names": names} | change
    with pytest.raises(nf.InputError, match=message):
        nf.grow(**given, trees=3, more=forest, progress=never)


def test_an_extended_forest_has_the_settings_of_one_longer_run():
    how = {"candidates": 5, "probes": 20, "seed": 7, "samples": 0.4, "sample_weight": X[:, 0] ** 2}
    whole = nf.grow(X, y, trees=10, **how)
    first = nf.grow(X, y, trees=4, **how)
    for given in ({"sample_weight": X[:, 0] ** 2}, how):
        extended = nf.grow(X, y, trees=6, more=first, **given)
        assert extended.tally == whole.tally
        assert extended.settings == whole.settings
    assert whole.settings == first.settings
