"""Bad data and settings give one sentence that names the problem."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import nullforest as nf

S, F = 30, 6
X = np.random.default_rng(0).normal(size=(S, F))
y = np.arange(S) % 2
NUMBERS = np.arange(S) * 1.5
DISTANCE = np.abs(NUMBERS[:, None] - NUMBERS[None])


def with_value(array, value, at=(3,)):
    array = np.array(array, float)
    array[at] = value
    return array


BAD = {
    # X
    "no samples": ({"X": X[:0], "y": y[:0]}, "0 samples"),
    "one sample": ({"X": X[:1], "y": y[:1]}, "1 samples"),
    "no features": ({"X": X[:, :0]}, "0 features"),
    "one axis": ({"X": X[:, 0]}, "1 axes"),
    "three axes": ({"X": X[None]}, "3 axes"),
    "ragged rows": ({"X": [[1.0, 2.0], [3.0]] * 15}, "different lengths"),
    "infinite": ({"X": with_value(X, np.inf, (2, 4))}, "Feature x4 holds an infinite value"),
    "minus infinite": ({"X": with_value(X, -np.inf, (2, 0))}, "Feature x0 holds an infinite"),
    "infinite in a frame": (
        {"X": pd.DataFrame(with_value(X, np.inf, (2, 4)), columns=list("abcdef"))},
        "Feature e holds an infinite value",
    ),
    "text": ({"X": np.array([["a", "b"]] * S)}, "not numbers"),
    "ragged frame": ({"X": [pd.Series([1.0, 2.0]), pd.Series([1.0])] * 15}, "different lengths"),
    "complex": ({"X": X + 1j}, "not numbers"),
    "sparse complex": ({"X": scipy.sparse.csc_matrix(X + 1j)}, "complex"),
    "names": ({"feature_names": ["a", "b"]}, "2 feature names for 6 features"),
    "equal names": ({"feature_names": list("abcdea")}, "Two features have the name 'a'"),
    # y
    "y too short": ({"y": y[:-1]}, "29 values for 30 samples"),
    "y too long": ({"y": np.r_[y, 1]}, "31 values for 30 samples"),
    "y of three axes": ({"y": np.zeros((S, 2, 2))}, "not 3"),
    "NaN in y": ({"y": with_value(NUMBERS, np.nan)}, "y has no value in 1 of 30 samples"),
    "NaN in class y": ({"y": with_value(y, np.nan)}, "y has no value in 1 of 30 samples"),
    "None in y": ({"y": [None, *["a", "b"] * 14, "a"]}, "y has no value in 1 of 30 samples"),
    "NA in y": (
        {"y": pd.array([pd.NA] + [True, False] * 14 + [True])},
        "y has no value in 1 of 30 samples",
    ),
    "NaT in y": (
        {"y": pd.to_datetime(["NaT"] + ["2020"] * 29).to_numpy()},
        "y has no value in 1 of",
    ),
    "inf in y": ({"y": with_value(NUMBERS, np.inf)}, "y has an infinite value in 1 of 30 samples"),
    "inf in class y": (
        {"y": np.where(y, np.inf, 0.0)},
        "y has an infinite value in 15 of 30 samples",
    ),
    "huge y": ({"y": NUMBERS * 1e60}, "y holds values beyond 1e.50; scale it"),
    "masked y": ({"y": np.ma.masked_equal(NUMBERS, 3.0)}, "y has masked values"),
    "complex y": ({"y": NUMBERS + 1j}, "y holds complex numbers"),
    "complex class y": ({"y": y + 0j, "criterion": "gini"}, "y holds complex numbers"),
    "tiny y": ({"y": NUMBERS * 1e-60, "criterion": "variance"}, "less than 1e-50; scale them"),
    "one class": ({"y": ["a"] * S}, r"same value in every sample \(a\)"),
    "constant y": ({"y": np.full(S, 1.5)}, r"same value in every sample \(1.5\)"),
    "text as numbers": ({"y": ["a", "b"] * 15, "criterion": "variance"}, "y holds text"),
    "several columns of classes": (
        {"y": np.column_stack([y, y]), "criterion": "gini"},
        "several columns",
    ),
    "ragged y": ({"y": [[1], [1, 2]] * 15}, "several values in a sample"),
    "lists in y": (
        {"y": np.array([[1], [1, 2]] * 15, dtype=object)},
        "several values in a sample",
    ),
    "dictionaries in y": ({"y": [{"a": 1}] * S}, "several values in a sample"),
    "mixed labels": ({"y": np.array([1, "a"] * 15, dtype=object)}, "mixes types"),
    # distances
    "not square": ({"y": DISTANCE[:, :4], "criterion": "neighbourhood"}, r"shape \(30, 4\)"),
    "negative distance": ({"y": -DISTANCE, "criterion": "neighbourhood"}, "not negative"),
    "NaN distance": ({"y": DISTANCE * np.nan, "criterion": "neighbourhood"}, "finite"),
    "lopsided": ({"y": np.triu(DISTANCE), "criterion": "neighbourhood"}, "not symmetric"),
    "far from itself": ({"y": DISTANCE + 1, "criterion": "neighbourhood"}, "itself must be 0"),
    "no distance": ({"y": DISTANCE * 0, "criterion": "neighbourhood"}, "All distances are 0"),
    "complex distance": ({"y": DISTANCE + 0j, "criterion": "neighbourhood"}, "matrix of distances"),
    "huge distance": ({"y": DISTANCE * 1e150, "criterion": "neighbourhood"}, "scale them"),
    "text distance": ({"y": ["a"] * S, "criterion": "neighbourhood"}, "matrix of distances"),
    "distance with Gini": ({"distance": lambda y: DISTANCE, "criterion": "gini"}, "Distances need"),
    "distances of missing": ({"X": with_value(X, np.nan, (1, 1)), "y": None}, "missing values"),
    "class weight of distances": (
        {"y": DISTANCE, "criterion": "neighbourhood", "class_weight": "balanced"},
        "class_weight needs classes",
    ),
    # weights
    "negative weight": ({"sample_weight": with_value(np.ones(S), -1)}, "not negative"),
    "NaN weight": ({"sample_weight": with_value(np.ones(S), np.nan)}, "finite"),
    "all weights zero": ({"sample_weight": np.zeros(S)}, "not all zero"),
    "too few weights": ({"sample_weight": np.ones(4)}, r"shape \(4,\)"),
    "huge weights": ({"sample_weight": np.arange(S) * 1e154}, "scale it"),
    "tiny weights": ({"sample_weight": np.arange(S) * 1e-154}, "scale it"),
    "masked weights": ({"sample_weight": np.ma.masked_equal(NUMBERS, 3.0)}, "weight has masked"),
    "complex weights": ({"sample_weight": NUMBERS + 1j}, "must hold numbers"),
    "text weights": ({"sample_weight": ["a"] * S}, "must hold numbers"),
    "unknown class": ({"class_weight": {7: 1.0}}, "class_weight names 7"),
    "unknown class weight": ({"class_weight": "fair"}, "'fair'"),
    "list of class weights": ({"class_weight": [1, 2]}, "class_weight = "),
    "negative class weight": ({"class_weight": {0: -1.0}}, "class_weight = -1.0"),
    "huge class weight": ({"class_weight": {0: 1e154}}, "class_weight = 1e\\+154"),
    "text class weight": ({"class_weight": {0: "a"}}, "class_weight = 'a'"),
    "no class weighs": ({"class_weight": {0: 0.0, 1: 0.0}}, "not all zero"),
    "class weight of numbers": ({"y": NUMBERS, "class_weight": "balanced"}, "y holds numbers"),
    # settings
    "too many candidates": ({"candidates": 7}, "candidates = 7 must lie between 1 and the 6"),
    "no candidates": ({"candidates": 0}, "candidates = 0"),
    "half a candidate": ({"candidates": 2.5}, "candidates = 2.5"),
    "pool too large": ({"pool": 7}, "pool = 7"),
    "pool below candidates": ({"pool": 2, "candidates": 3}, "pool = 2"),
    "pool of a tree": ({"draw": "tree", "candidates": 2, "pool": 4}, "omit pool"),
    "unknown draw": ({"draw": "leaf"}, "draw = 'leaf'"),
    "unknown criterion": ({"criterion": "gain"}, "criterion = 'gain'"),
    "share above one": ({"samples": 1.5}, "samples = 1.5"),
    "share of zero": ({"samples": 0.0}, "samples = 0.0"),
    "too many samples": ({"samples": 31}, "samples = 31 must lie between 1 and 30"),
    "negative samples": ({"samples": -3}, "samples = -3"),
    "text samples": ({"samples": "half"}, "samples = 'half'"),
    "NaN samples": ({"samples": np.nan}, "samples = nan"),
    "no trees": ({"trees": 0}, "trees = 0"),
    "text trees": ({"trees": "many"}, "trees = 'many'"),
    "negative first tree": ({"first_tree": -1}, "first_tree"),
    "empty leaf": ({"min_leaf": 0}, "min_leaf = 0"),
    "split of one": ({"min_split": 1}, "min_split = 1"),
    "no depth": ({"max_depth": 0}, "max_depth = 0"),
    "negative gain": ({"min_gain": -0.1}, "min_gain = -0.1"),
    "negative seed": ({"seed": -1}, "seed = -1"),
    "huge seed": ({"seed": 2**64}, "seed = "),
    "text seed": ({"seed": "seven"}, "seed = 'seven'"),
    "no job": ({"n_jobs": 0}, "n_jobs = 0"),
    "text job": ({"n_jobs": "2"}, "n_jobs = '2'"),
    "half a job": ({"n_jobs": 1.5}, "n_jobs = 1.5"),
    "negative probes": ({"probes": -1}, "probes = -1"),
    "no forest to extend": ({"more": 5}, "more = 5 must be a forest"),
    "text gain": ({"min_gain": "a"}, "min_gain = 'a'"),
    "NaN gain": ({"min_gain": np.nan}, "min_gain = nan"),
    "text replace": ({"replace": "no"}, "replace = 'no'"),
    "negative time": ({"max_seconds": -1}, "max_seconds = -1"),
    "NaN time": ({"max_seconds": np.nan}, "max_seconds = nan"),
    "text time": ({"max_seconds": "1"}, "max_seconds = '1'"),
    # the kernel keeps sizes in 32 bits
    **{
        f"{name} = {size}": ({name: size}, f"{name} = {size} must lie between")
        for name in (
            "trees",
            "candidates",
            "pool",
            "samples",
            "min_leaf",
            "min_split",
            "max_depth",
            "first_tree",
            "probes",
        )
        for size in (2**32, 2**32 + 1, 2**64)
    },
}


@pytest.mark.parametrize("name", BAD)
def test_grow_names_the_problem(name):
    change, message = BAD[name]
    with pytest.raises(nf.InputError, match=message) as error:
        nf.grow(**({"X": X, "y": y, "trees": 2} | change))
    # one sentence (or two clauses), not a traceback or a page
    text = str(error.value)
    assert "\n" not in text
    assert len(text) < 300
    assert re.match(r"[\w'-].*\.$", text)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda forest: forest.predict(X[:, :3]), "X has 3 features; the forest was grown on 6"),
        (lambda forest: forest.predict(X[0]), "1 axes"),
        (lambda forest: nf.grow(X, NUMBERS, trees=2).predict_proba(X), "predicts numbers"),
        (lambda forest: nf.grow(X, y, trees=2, keep_trees=False).predict(X), "not kept"),
        (lambda forest: nf.grow(X, y, trees=2, samples=1.0).oob_prediction, "out-of-bag"),
        (lambda forest: nf.grow(X, y, trees=2, oob=False).oob_score, "out-of-bag"),
        (lambda forest: nf.grow(X, None, trees=2).predict(X), "predicts no value"),
        (lambda forest: nf.grow(X[:, :5], y, trees=2, more=forest), "different"),
        (lambda forest: nf.grow(X, 1 - y, trees=2, more=forest), "different y"),
        (lambda forest: nf.grow_many(X, [y, y], trees=2, seeds=[1]), "1 seeds for 2 targets"),
    ],
)
def test_forests_name_what_they_cannot_do(call, message):
    forest = nf.grow(X, y, trees=2)
    with pytest.raises(nf.InputError, match=message):
        call(forest)
