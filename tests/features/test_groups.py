"""Groups: how they are given and tested, and their features."""

import numpy as np
import pandas as pd
import pytest

import nullforest as nf
from nullforest.features.groups import as_groups, shared_association
from nullforest.features.spatial import edge_graph, groups_from_coordinates, groups_from_mesh


@pytest.fixture(scope="module")
def study():
    X, y, relevant = nf.simulate.independent(100, 300, n_relevant=8, relevance=0.6, seed=1)
    return X, y, relevant, nf.grow(X, y, trees=400, keep_trees=False).tally


def test_first_the_group_then_the_features_within(study):
    X, _, relevant, tally = study
    labels = np.array([f"region {i // 25:02d}" for i in range(300)])
    found = nf.select_groups(tally, labels, 0.05, "fwer", X=X)
    assert found.names[found.support].tolist() == ["region 11"]
    assert found.counts.sum() == tally.n_nodes
    assert found.within_alpha == pytest.approx(0.05 / 12)
    inside = found.features
    assert set(inside["group"]) == {"region 11"}
    chosen = inside["column"][inside["selected"].astype(bool)]
    assert len(chosen) >= 5
    assert relevant[chosen].all()
    assert np.array_equal(np.flatnonzero(found.feature_support), np.sort(chosen))
    assert "1 of 12 groups" in repr(found)


def test_groups_may_be_said_in_many_ways(study):
    tally = study[3]
    names = tally.names
    labels = np.array(["a"] * 100 + ["b"] * 150 + [""] * 50)
    by_label = as_groups(labels, tally)
    by_list = as_groups({"a": range(100), "b": [names[i] for i in range(100, 250)]}, tally)
    by_column = as_groups({names[i]: labels[i] for i in range(250)}, tally)
    series = as_groups(pd.Series(labels).replace("", None), tally)
    for other in (by_list, by_column, series):
        assert other[0].tolist() == by_label[0].tolist() == ["a", "b"]
        assert all(np.array_equal(a, b) for a, b in zip(other[1], by_label[1], strict=True))


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        (["a"] * 7, "one label for each"),
        (["a"] * 300, "left outside"),
        ({"a": ["no such gene"]}, "does not have"),
        ({"a": [300]}, "go from 0 to 299"),
        ({}, "no group"),
        ([None] * 300, "no group"),
    ],
)
def test_groups_that_cannot_be_are_refused(study, groups, words):
    with pytest.raises(nf.InputError, match=words):
        nf.select_groups(study[3], groups)


def test_shared_association_is_the_sum_of_squared_rank_correlations():
    rng = np.random.default_rng(0)
    common = rng.normal(size=(200, 1))
    X = np.hstack([common + 0.5 * rng.normal(size=(200, 6)), rng.normal(size=(200, 300))])
    groups = [np.arange(6), np.arange(6, 306)]
    r = pd.DataFrame(X[:, :6]).corr("spearman").to_numpy()
    got = shared_association(X, groups)
    expected = 1 / 199
    assert got[0] == pytest.approx(6 + (np.square(r).sum() - 6 - 30 * expected) / (1 - expected))
    # Independent features share nothing: 300² r² have a standard error of 300 · √2 · expected.
    assert abs(got[1] - 300) < 4 * 300 * np.sqrt(2) * expected


def test_selector_over_groups_joins_scikit_learn(study):
    X, y, _, _ = study
    blocks = nf.wrappers.GroupSelector(
        np.arange(300) // 25, nf.ForestSelector(trees=400), error="fwer"
    )
    assert blocks.fit(X, y).get_support(indices=True).tolist() == list(range(275, 300))
    inner = blocks.set_params(keep="features").fit(X, y).support_
    assert 0 < inner.sum() < 25
    with pytest.raises(nf.InputError, match="keep"):
        blocks.set_params(keep="none").fit(X, y)


def test_groups_on_a_mesh_are_connected_and_of_similar_size():
    side = 20
    at = np.stack(np.meshgrid(np.arange(side), np.arange(side), [0]), -1).reshape(-1, 3)
    corner = (np.arange(side - 1)[:, None] * side + np.arange(side - 1)).ravel()
    faces = np.vstack(
        [
            np.stack([corner, corner + 1, corner + side], 1),
            np.stack([corner + 1, corner + side, corner + side + 1], 1),
        ]
    )
    label = groups_from_mesh(at, faces, 10)
    sizes = np.bincount(label)
    assert len(sizes) == 10
    assert sizes.min() > 5
    graph = edge_graph(at, faces)
    from scipy.sparse.csgraph import connected_components

    for number in range(10):
        inside = np.flatnonzero(label == number)
        assert connected_components(graph[inside][:, inside])[0] == 1
    boxes = groups_from_coordinates(at, [5, 10, 1])
    assert np.unique(boxes, return_counts=True)[1].tolist() == [50] * 8
    with pytest.raises(nf.InputError, match="positive"):
        groups_from_coordinates(at, 0)
