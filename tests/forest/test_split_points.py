"""Trees grown again have the thresholds of the trees that were kept."""

from __future__ import annotations

import numpy as np
import pytest

import nullforest as nf
from nullforest.data.targets import as_target
from nullforest.run import split_points as module
from nullforest.run.split_points import split_points

FEATURES = np.array([0, 3, 7])


def _data():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(80, 40)), np.arange(80) % 2
    X[:, 0] += y
    X[:, 3] = np.round(X[:, 3] + y)
    return X, y


@pytest.mark.parametrize("settings", [{}, {"draw": "tree"}, {"replace": True, "max_depth": None}])
@pytest.mark.parametrize("numbers", [False, True])
def test_thresholds_are_those_of_the_kept_trees(settings, numbers):
    X, y = _data()
    y = X[:, 0] + 0.1 * y if numbers else y
    forest = nf.grow(X, y, trees=60, seed=5, first_tree=7, keep_trees=True, **settings)
    found = split_points(forest.tally, X, as_target(y, 80), FEATURES)
    assert found.trees == 60
    for feature, thresholds in zip(FEATURES, found.thresholds, strict=True):
        kept = [
            float(t)
            for tree in forest.trees
            for f, t in zip(tree.feature, tree.threshold, strict=True)
            if f == feature
        ]
        assert sorted(thresholds.tolist()) == sorted(kept)
        assert len(kept) == forest.tally.counts[feature]


@pytest.mark.parametrize("blocks", [None, np.repeat(list("abcd"), 20)])
def test_a_forest_with_shadows_is_grown_again_with_them(blocks):
    X, y = _data()
    tally = nf.grow(X, y, trees=100, shadows=5, blocks=blocks, keep_trees=False).tally
    found = split_points(tally, X, as_target(y, 80, blocks=blocks), FEATURES)
    for feature, thresholds in zip(FEATURES, found.thresholds, strict=True):
        assert len(thresholds) == tally.counts[feature]
        assert np.all((thresholds > X[:, feature].min()) & (thresholds < X[:, feature].max()))


def test_other_forests_have_none(monkeypatch):
    X, y = _data()
    target = as_target(y, 80)
    weighted = nf.grow(X, y, trees=30, sample_weight=np.linspace(1, 9, 80)).tally
    assert split_points(weighted, X, target, FEATURES) is None
    two = nf.grow(X, y, trees=30).tally + nf.grow(X, y, trees=30, seed=1).tally
    assert split_points(two, X, target, FEATURES) is None
    counts = nf.Tally.from_counts([3, 1], nodes_per_tree=[4], n_samples=80)
    assert split_points(counts, X, target, FEATURES) is None
    one = nf.grow(X, y, trees=30).tally
    assert split_points(one, X[:, ::-1], target, FEATURES) is None
    monkeypatch.setattr(module, "MOST_NODES", one.n_nodes // 3)
    some = split_points(one, X, target, FEATURES)
    assert some.trees == 9 or some.trees == 10
    assert all(len(t) <= one.counts[f] for t, f in zip(some.thresholds, FEATURES, strict=True))
