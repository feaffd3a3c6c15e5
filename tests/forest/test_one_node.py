"""The split of one node is as good as the best of all, by brute force over every kernel."""

from __future__ import annotations

import numpy as np
import pytest

import nullforest as nf
from naive.nodes import best_decrease, decrease

CRITERIA = ["gini", "entropy", "variance", "neighbourhood"]


def draw_data(rng, kind, S, F):
    X = rng.normal(size=(S, F))
    if kind == "tied":
        X = np.round(X * rng.choice([0.7, 1.5, 4.0], size=F))
    if kind == "missing":
        X[rng.random((S, F)) < 0.2] = np.nan
        X[:, 0] = np.round(X[:, 0])
    return X.astype(rng.choice(["float32", "float64"]))


def draw_outcome(rng, criterion, S, n_classes):
    if criterion in ("gini", "entropy"):
        y = rng.integers(0, n_classes, S)
        y[:2] = [0, 1]
        return y
    if criterion == "variance":
        return rng.normal(size=(S, 2)) if rng.random() < 0.3 else rng.normal(size=S)
    points = rng.normal(size=(S, 2))
    return np.abs(points[:, None] - points[None]).sum(axis=2)


def stump(X, y, **settings):
    table = nf.RankTable(X)
    everything = {"samples": 1.0, "candidates": table.native.n_varying}
    return nf.grow(table, y, trees=1, max_depth=1, probes=0, **everything, **settings)


def check(X, y, criterion, weight, min_leaf, seed):
    w = np.ones(len(X)) if weight is None else weight
    expected = best_decrease(criterion, X, y, w.tolist(), min_leaf)
    if nf.RankTable(X).native.n_varying == 0:
        assert expected is None
        return
    forest = stump(X, y, criterion=criterion, sample_weight=weight, min_leaf=min_leaf, seed=seed)
    tree = forest.trees[0]
    if expected is None:
        assert len(tree) == 1
        return
    assert len(tree) == 3
    members = [i for i in range(len(X)) if w[i] > 0]
    leaf = forest.apply(X)[:, 0]
    left = {i for i in members if leaf[i] == tree.left[0]}
    assert tree.n_samples.tolist() == [len(members), len(left), len(members) - len(left)]
    # 1e-9: the engine keeps numbers and distances to 40 bits, the oracle sums in doubles
    assert decrease(criterion, y, w, members, left) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("kind", ["continuous", "tied", "missing"])
@pytest.mark.parametrize(
    ("weighted", "isa"), [(True, "generic"), (False, "generic"), (False, "portable"), (False, "")]
)
def test_best_split_of_small_nodes(criterion, kind, weighted, isa, monkeypatch):
    monkeypatch.setenv("NULLFOREST_ISA", isa)  # "": the best that the processor has
    rng = np.random.default_rng([CRITERIA.index(criterion), len(kind), weighted])
    for case in range(40):
        S, F = int(rng.integers(2, 14)), int(rng.integers(1, 5))
        X = draw_data(rng, kind, S, F)
        y = draw_outcome(rng, criterion, S, int(rng.choice([2, 2, 3, 4])))
        weight = (
            np.where(np.arange(S) < 2, 1.0, rng.random(S) * rng.integers(0, 2, S))
            if weighted
            else None
        )
        check(X, y, criterion, weight if weighted else None, int(rng.choice([1, 1, 1, 2, 3])), case)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "variance"])
@pytest.mark.parametrize("S", [63, 130, 300, 700, 1100])
def test_best_split_of_larger_tables(criterion, S):
    rng = np.random.default_rng(S)
    for case, kind in enumerate(["continuous", "tied", "missing"]):
        X = draw_data(rng, kind, S, 2)
        # weights of 0 leave a small node in a large table
        weight = np.zeros(S)
        weight[rng.choice(S, 40, replace=False)] = 1.0
        y = draw_outcome(rng, criterion, S, 2)
        check(X, y, criterion, weight, 1, case)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "variance"])
@pytest.mark.parametrize("S", [600, 1100])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_best_split_of_many_samples_with_few_values(criterion, S, n_classes):
    rng = np.random.default_rng([S, n_classes])
    for case in range(3):
        X = np.round(rng.normal(size=(S, 2)) * [0.8, 2.0])
        if case > 0:
            X[rng.random((S, 2)) < 0.2] = np.nan
        y = draw_outcome(rng, criterion, S, n_classes)
        if case == 2:  # a missing value tells something
            y[np.isnan(X[:, 1])] = y[np.isnan(X[:, 1])][0]
        check(X, y, criterion, None, [1, 1, 90][case], case)


def test_constant_columns_are_no_candidates():
    X = np.zeros((20, 3))
    X[:, 1] = np.arange(20)
    forest = nf.grow(X, np.arange(20) % 2, trees=20, candidates=1, max_depth=1)
    assert forest.tally.counts.tolist() == [0, 20, 0]
