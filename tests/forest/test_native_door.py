"""Arrays and numbers that the kernel refuses: nothing of a wrong shape, type or range enters."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import nullforest as nf
from nullforest import _native

S, F, EDGES = 30, 6, [0.0, 0.5, 1.0]
rng = np.random.default_rng(0)
X = rng.normal(size=(S, F))
X[:, 1] = np.round(X[:, 1])
CLASSES = (np.arange(S) % 2).astype(np.int64)
NUMBERS = rng.normal(size=(S, 1))
DISTANCES = np.abs(NUMBERS - NUMBERS.T)
TABLE = _native.RankTable(X, 1)

SETTINGS = {
    "trees": 3,
    "candidates": 3,
    "pool": F,
    "samples": 15,
    "replace": False,
    "min_leaf": 1,
    "min_split": 2,
    "max_depth": 2**32 - 1,
    "min_gain": 0.0,
    "seed": 1,
    "first_tree": 0,
    "keep_trees": True,
    "oob": True,
    "listed": False,
}


def grow(
    table=TABLE,
    criterion="gini",
    y=CLASSES,
    n_classes=2,
    weight=None,
    probes=None,
    edges=EDGES,
    max_seconds=0.0,
    earlier=None,
    **settings,
):
    return _native.grow(
        table,
        criterion,
        y,
        n_classes,
        weight,
        SETTINGS | settings,
        probes,
        edges,
        2,
        max_seconds,
        earlier or {},
        None,
    )


FOREST = grow()


def changed(array, at, value):
    array = np.array(array)
    array[at] = value
    return array


BAD_GROWTH = {
    "leaf of 2^32": {"min_leaf": 2**32},
    "leaf of 2^32 + 1": {"min_leaf": 2**32 + 1},
    "leaf of 2^64": {"min_leaf": 2**64},
    "empty leaf": {"min_leaf": 0},
    "negative leaf": {"min_leaf": -1},
    "leaf as text": {"min_leaf": "1"},
    "depth of 2^32 + 1": {"max_depth": 2**32 + 1},
    "no trees": {"trees": 0},
    "2^32 trees": {"trees": 2**32},
    "first tree 2^32": {"first_tree": 2**32},
    "no candidates": {"candidates": 0},
    "candidates beyond the pool": {"candidates": 4, "pool": 3},
    "pool beyond the features": {"pool": F + 1},
    "no samples": {"samples": 0},
    "more draws than samples": {"samples": S + 1},
    "more draws than sums can hold": {"samples": 2**22 + 1, "replace": True},
    "seed of 2^64": {"seed": 2**64},
    "gain that is no number": {"min_gain": np.nan},
    "time that is no number": {"max_seconds": np.nan},
    "replace as text": {"replace": "no"},
    "unknown criterion": {"criterion": "gain"},
    "few labels": {"y": CLASSES[:-1]},
    "label beyond the classes": {"y": changed(CLASSES, 3, 2)},
    "negative label": {"y": changed(CLASSES, 3, -1)},
    "labels of another type": {"y": CLASSES.astype(np.int32)},
    "labels with gaps": {"y": np.repeat(CLASSES, 2)[::2]},
    "more classes than samples": {"n_classes": 2**31},
    "numbers of one axis": {"criterion": "variance", "y": NUMBERS[:, 0]},
    "numbers without columns": {"criterion": "variance", "y": NUMBERS[:, :0]},
    "infinite number": {"criterion": "variance", "y": changed(NUMBERS, 3, np.inf)},
    "few distances": {"criterion": "neighbourhood", "y": DISTANCES[:, :-1].copy()},
    "negative distance": {"criterion": "neighbourhood", "y": -DISTANCES},
    "few weights": {"weight": np.ones(S - 1)},
    "negative weight": {"weight": changed(np.ones(S), 3, -1.0)},
    "weight that is no number": {"weight": changed(np.ones(S), 3, np.nan)},
    "no weight at all": {"weight": np.zeros(S)},
    "no bins": {"edges": [0.0]},
    "more bins than fit a byte": {"edges": np.linspace(0, 1, 258).tolist()},
    "bins that descend": {"edges": [1.0, 0.0]},
    "importance of one feature": {"earlier": {"importance": np.zeros(1)}},
    "importance of another type": {"earlier": {"importance": np.zeros(F, np.float32)}},
    "importance with gaps": {"earlier": {"importance": np.zeros(2 * F)[::2]}},
    "importance that is no number": {"earlier": {"importance": np.full(F, np.nan)}},
    "importance that is no array": {"earlier": {"importance": "none"}},
    "out-of-bag sums of one class": {
        "earlier": {"oob_sum": np.zeros((S, 1)), "oob_trees": np.zeros(S, np.int64)}
    },
    "out-of-bag sums that are no numbers": {
        "earlier": {"oob_sum": np.full((S, 2), np.nan), "oob_trees": np.zeros(S, np.int64)}
    },
    "few out-of-bag trees": {
        "earlier": {"oob_sum": np.zeros((S, 2)), "oob_trees": np.zeros(3, np.int64)}
    },
    "negative out-of-bag trees": {
        "earlier": {"oob_sum": np.zeros((S, 2)), "oob_trees": np.full(S, -1)}
    },
}


@pytest.mark.parametrize("name", BAD_GROWTH)
def test_growth_refuses(name):
    with pytest.raises(nf.InputError, match=r"^[\w'-].*\.$"):
        grow(**BAD_GROWTH[name])


def test_sums_that_fit_are_added_to():
    earlier = {name: FOREST[name] for name in ("importance", "oob_sum", "oob_trees")}
    longer = grow(first_tree=3, earlier=earlier)
    whole = grow(trees=6)
    for name in earlier:
        np.testing.assert_array_equal(longer[name], whole[name])


def test_tiny_distances_are_scaled_to_whole_numbers():
    tiny = grow(criterion="neighbourhood", y=DISTANCES * 1e-310, n_classes=0)
    plain = grow(criterion="neighbourhood", y=DISTANCES, n_classes=0)
    assert tiny["nodes_per_tree"].sum() > 0.8 * plain["nodes_per_tree"].sum()


TREES = FOREST["trees"]
BAD_TREES = {
    "feature beyond those of X": {"feature": changed(TREES["feature"], 0, F)},
    "child before its parent": {"left": changed(TREES["left"], 0, 0)},
    "negative child": {"right": changed(TREES["right"], 0, -1)},
    "child beyond the tree": {"right": changed(TREES["right"], 0, 10**6)},
    "offsets that descend": {"offsets": changed(TREES["offsets"], 1, 10**6)},
    "offsets that begin late": {"offsets": changed(TREES["offsets"], 0, 1)},
    "negative end": {"offsets": changed(TREES["offsets"], -1, -5)},
    "one offset": {"offsets": TREES["offsets"][:1]},
    "no offsets": {"offsets": TREES["offsets"][:0]},
    "end beyond the nodes": {"offsets": changed(TREES["offsets"], -1, len(TREES["left"]) + 1)},
    "few thresholds": {"threshold": TREES["threshold"][:-1]},
    "few flags": {"missing_left": TREES["missing_left"][:1]},
    "few values": {"value": TREES["value"][:-1]},
    "values of one axis": {"value": TREES["value"].ravel()},
    "value that is no number": {"value": changed(TREES["value"], 2, np.nan)},
    "features of another type": {"feature": TREES["feature"].astype(np.int64)},
    "thresholds with gaps": {"threshold": np.repeat(TREES["threshold"], 2)[::2]},
}


@pytest.mark.parametrize("name", BAD_TREES)
@pytest.mark.parametrize("use", ["predict", "apply", "permuted_errors"])
def test_damaged_trees_are_refused(name, use):
    more = (CLASSES, True, SETTINGS) if use == "permuted_errors" else ()
    with pytest.raises(nf.InputError):
        getattr(_native, use)(TREES | BAD_TREES[name], X, S, *more, 1)


SPARSE = sp.csc_array(np.where(X > 0, X, 0.0))
PARTS = (SPARSE.data, SPARSE.indices.astype(np.int32), SPARSE.indptr.astype(np.int64))
BAD_VALUES = {
    "one axis": X[:, 0],
    "whole numbers": X.astype(np.int64),
    "too few features": X[:, :2],
    "sparse, few samples": (PARTS[0], PARTS[1][:-1], PARTS[2]),
    "sparse, sample beyond the last": (PARTS[0], changed(PARTS[1], 2, S), PARTS[2]),
    "sparse, negative sample": (PARTS[0], changed(PARTS[1], 0, -1), PARTS[2]),
    "sparse, samples that descend": (PARTS[0], PARTS[1][::-1].copy(), PARTS[2]),
    "sparse, starts that descend": (PARTS[0], PARTS[1], PARTS[2][::-1].copy()),
    "sparse, start beyond the values": (PARTS[0], PARTS[1], changed(PARTS[2], -1, 10**6)),
    "sparse, no starts": (PARTS[0], PARTS[1], PARTS[2][:0]),
    "sparse, whole numbers": (PARTS[0].astype(np.int64), *PARTS[1:]),
}


@pytest.mark.parametrize("name", BAD_VALUES)
def test_damaged_values_are_refused(name):
    with pytest.raises(nf.InputError):
        _native.predict(TREES, BAD_VALUES[name], S, 1)


def test_sparse_values_predict_as_dense_ones():
    expected = _native.predict(TREES, SPARSE.toarray(), S, 1)
    np.testing.assert_array_equal(_native.predict(TREES, PARTS, S, 1), expected)


@pytest.mark.parametrize("change", [{"samples": S + 1}, {"samples": 0}, {"first_tree": 2**32}])
def test_permuted_errors_refuse_other_settings(change):
    with pytest.raises(nf.InputError):
        _native.permuted_errors(TREES, X, S, CLASSES, True, SETTINGS | change, 1)


@pytest.mark.parametrize("y", [CLASSES[:-1], CLASSES.astype(float)])
def test_permuted_errors_refuse_another_target(y):
    with pytest.raises(nf.InputError):
        _native.permuted_errors(TREES, X, S, y, True, SETTINGS, 1)


def test_thresholds_need_the_values_of_x():
    table = _native.RankTable(None, S, *TABLE.arrays(), TABLE.fingerprint, 0, 0)
    with pytest.raises(nf.InputError, match="out-of-bag"):
        grow(table=table)
    assert grow(table=table, keep_trees=False, oob=False)["counts"].sum() > 0


# ---- Probes


def probes(table=TABLE, **change):
    given = {
        "feature_strata": np.array([0, 1, 0, 0, 0, 0]),
        "n_probes": [4, 3],
        "copies": [False, True],
        "seed": 1,
        "in_tree": 2**16,
        "at_node": 2**16,
        "sides": [3, 2],
        "rankings": np.array([0, 3, 5, 8, 0, 1, 3], np.uint32),
        "weights": np.ones(7),
    } | change
    return _native.Probes(table, *given.values())


def test_probes_that_fit_are_made():
    assert len(probes().ids) == 7
    assert grow(probes=probes())["probe_wins"].sum() > 0


BAD_PROBES = {
    "few strata of features": {"feature_strata": np.zeros(3, np.int64)},
    "stratum beyond the last": {"feature_strata": np.array([0, 2, 0, 0, 0, 0])},
    "negative stratum": {"feature_strata": np.array([0, -1, 0, 0, 0, 0])},
    "few numbers": {"n_probes": [7]},
    "few copies": {"copies": [False]},
    "few sides": {"sides": [3]},
    "few rankings": {"rankings": np.zeros(6, np.uint32)},
    "few weights": {"weights": np.ones(6)},
    "ranking beyond the square": {"rankings": np.array([0, 3, 5, 9, 0, 1, 3], np.uint32)},
    "side of 2^16": {"sides": [2**16, 2]},
    "rate above one": {"in_tree": 2**16 + 1},
    "weight of zero": {"weights": changed(np.ones(7), 2, 0.0)},
    "weight that is no number": {"weights": changed(np.ones(7), 2, np.nan)},
    "infinite weight": {"weights": changed(np.ones(7), 2, np.inf)},
    "weight that is never drawn": {"weights": changed(np.ones(7), 2, 1e-12)},
    "copies of no feature": {"feature_strata": np.zeros(F, np.int64)},
    "missing values of no feature": {"sides": [0, 2]},
}


@pytest.mark.parametrize("name", BAD_PROBES)
def test_probes_refuse(name):
    with pytest.raises(nf.InputError):
        probes(**BAD_PROBES[name])


def test_probes_of_another_table_are_refused():
    other = _native.RankTable(np.repeat(X, 2, axis=0), 1)
    with pytest.raises(nf.InputError, match="another number of samples"):
        grow(probes=probes(other))


@pytest.mark.parametrize(
    "change",
    [
        {"stratum": 2},
        {"side": 2**16},
        {"criterion": "neighbourhood", "y": DISTANCES},
        {"y": CLASSES[:-1]},
        {"feature_strata": np.zeros(F, np.int64), "stratum": 1},
    ],
)
def test_association_refuses(change):
    given = {
        "feature_strata": np.array([0, 1, 0, 0, 0, 0]),
        "copies": [False, True],
        "criterion": "gini",
        "y": CLASSES,
        "n_classes": 2,
        "weight": None,
        "seed": 1,
        "stratum": 0,
        "side": 4,
        "least": 1,
    }
    assert _native.association_of_rankings(TABLE, **given).shape == (16,)
    with pytest.raises(nf.InputError):
        _native.association_of_rankings(TABLE, **(given | change))


def test_columns_and_permutations_end():
    for held in (TABLE, probes()):
        with pytest.raises(IndexError):
            held.column(10)
    with pytest.raises(nf.InputError, match="permutation"):
        _native.shuffle(10, 1, 11)
