"""Trees as docs/randomness.md defines them, node for node, by a naive twin.

Trees, thresholds and splits of the samples are compared exactly. Values that are sums of doubles
(predictions, importances) are compared to 1e-12, some ten thousand times the rounding error of
sums of fewer than a hundred terms.
"""

from __future__ import annotations

import platform
import re
from pathlib import Path

import numpy as np
import pytest

import nullforest as nf
from naive import trees as naive
from naive.splits import Outcome
from nullforest import _native
from nullforest.tallies.tally import COUPLING_EDGES

EXACT = 1e-12

KINDS = ["continuous", "tied", "few-level", "duplicated", "missing", "constant"]
OUTCOMES = ["binary", "classes", "entropy", "numbers", "several", "distances"]
CRITERION = {
    "binary": "gini",
    "classes": "gini",
    "entropy": "entropy",
    "numbers": "variance",
    "several": "variance",
    "distances": "neighbourhood",
}
WEIGHTS = ["none", "samples", "classes", "both", "zeros"]
#: The kernels of the engine, by the variable that chooses one; what the processor or the build
#: lacks falls back to a portable one.
ARM = platform.machine() in ("aarch64", "arm64")
KERNELS = ["generic", "portable", *(["neon"] if ARM else ["avx2", "avx512"])]
#: One below, at and above every size at which tables are stored, or members sorted, differently.
SIZES = [63, 65, 128, 255, 257, 400, 512, 513, 700, 1024, 1025, 1100]


def draw_columns(rng, kind, S, F):
    X = rng.normal(size=(S, F))
    if kind == "tied":
        X = np.round(X * rng.choice([0.7, 1.5, 4.0], size=F))
        X[rng.random((S, F)) < 0.2] *= -0.0  # both zeros are one value
    if kind == "few-level":
        X = rng.integers(0, 3, size=(S, F)).astype(float)
    if kind == "duplicated":
        X = X[:, rng.integers(0, max(1, F // 2), F)] * rng.choice([1.0, -1.0, 1e-3], F)
    if kind == "missing":
        X[rng.random((S, F)) < rng.choice([0.05, 0.3])] = np.nan
        X[:, 0] = np.round(X[:, 0])
        X[:, -1] = np.nan
    if kind == "constant":
        X[:, rng.random(F) < 0.6] = 3.0
    if n_varying(X) == 0:
        X[:, 0] = np.arange(S)
    return X.astype(rng.choice(["float32", "float64"]))


def n_varying(X):
    return sum(naive.varies(column) for column in X.astype(float).T.tolist())


def draw_outcome(rng, outcome, S):
    """Y as `grow` takes it and as the twin does."""
    if outcome in ("binary", "classes", "entropy"):
        Q = {"binary": 2, "classes": 3, "entropy": int(rng.choice([2, 4]))}[outcome]
        y = rng.integers(0, Q, S)
        y[:2] = [0, 1]
        return y, y.tolist()
    if outcome == "numbers":
        y = rng.normal(size=S) if rng.random() < 0.5 else rng.integers(0, 4, S) + 0.5
        y[:2] = [0.25, 7.5]
        return y, y[:, None].tolist()
    if outcome == "several":
        y = rng.normal(size=(S, 3)) * [1.0, 10.0, 0.1]
        return y, y.tolist()
    points = rng.normal(size=(S, 2)) if rng.random() < 0.5 else rng.integers(0, 3, (S, 2))
    points[:2] = [[0, 0], [1, 2]]
    distance = np.abs(points[:, None] - points[None]).sum(axis=2).astype(float)
    return distance, distance.tolist()


def draw_weights(rng, kind, outcome, y):
    """Arguments for `grow`, and the product that they stand for."""
    S = len(y)
    if kind == "classes" and CRITERION[outcome] not in ("gini", "entropy"):
        kind = "samples"
    arguments, weight = {}, np.ones(S)
    if kind in ("samples", "both"):
        arguments["sample_weight"] = weight = rng.random(S) + 0.1
    if kind == "zeros":
        arguments["sample_weight"] = weight = rng.random(S) * (rng.random(S) < 0.5)
        weight[0] = 1.0
    if kind in ("classes", "both") and CRITERION[outcome] in ("gini", "entropy"):
        if rng.random() < 0.5:
            arguments["class_weight"] = {0: 2.5, 1: 0.3}
            weight = np.array([2.5, 0.3, 1.0, 1.0])[y] * weight
        else:
            arguments["class_weight"] = "balanced"
            Q, size = len(set(y.tolist())), np.array([np.sum(y == label) for label in y])
            weight = S / (Q * size) * weight
    plain = bool(np.all(weight == weight[0]))
    return arguments, None if plain else weight.tolist()


def draw_settings(rng, X):
    """Arguments for `grow`, and what they mean to the twin."""
    arguments, meaning = {}, {}
    S, V = len(X), n_varying(X)
    candidates = int(rng.integers(1, V + 1))
    pool = V
    draw = rng.choice(["node", "tree", "both"])
    arguments["candidates"] = candidates
    if draw == "tree":
        arguments["draw"] = "tree"
        pool = candidates
    if draw == "both":
        arguments["pool"] = pool = int(rng.integers(candidates, V + 1))
    meaning["candidates"], meaning["pool"] = candidates, pool
    arguments["replace"] = meaning["replace"] = bool(rng.random() < 0.4)
    if rng.random() < 0.3:
        arguments["samples"] = meaning["n_drawn"] = int(rng.integers(1, S + 1))
    else:
        arguments["samples"] = ratio = float(rng.choice([0.3, 0.5, 0.632, 1.0]))
        meaning["n_drawn"] = max(1, round(ratio * S))
    for name, values in {
        "min_leaf": [1, 1, 2, 3],
        "min_split": [2, 2, 5, 8],
        "max_depth": [None, None, 1, 3],
        "min_gain": [0.0, 0.0, 0.01, 0.1],
    }.items():
        value = values[rng.integers(4)]
        arguments[name] = value
        if value is not None:
            meaning[name] = value
    arguments["seed"] = meaning["seed"] = int(rng.integers(2**63)) * 2 + 1
    return arguments, meaning


def twin_forest(X, y, criterion, weight, first, trees, meaning):
    columns = X.astype(float).T.tolist()
    outcome = Outcome(criterion, y, meaning["n_drawn"])
    grown = [
        naive.grow_tree(columns, outcome, weight, tree=first + t, **meaning) for t in range(trees)
    ]
    return grown, columns


def assert_same_tree(tree, nodes):
    assert tree.feature.tolist() == [node.feature for node in nodes]
    assert tree.left.tolist() == [node.left for node in nodes]
    assert tree.right.tolist() == [node.right for node in nodes]
    assert tree.threshold.tolist() == [node.threshold for node in nodes]
    assert tree.n_samples.tolist() == [len(node.members) for node in nodes]
    inner = tree.feature >= 0
    assert tree.missing_left[inner].tolist() == [n.missing_left for n in nodes if n.feature >= 0]
    np.testing.assert_allclose(
        tree.impurity, [node.impurity for node in nodes], rtol=EXACT, atol=EXACT
    )
    if nodes[0].value:
        np.testing.assert_allclose(
            tree.value, [node.value for node in nodes], rtol=EXACT, atol=EXACT
        )


def assert_same_forest(forest, twin, columns):
    F = len(columns)
    for tree, (nodes, _) in zip(forest.trees, twin, strict=True):
        assert_same_tree(tree, nodes)
        # Every member ends in the leaf that holds it: the split of the samples is the same.
        for number, node in enumerate(nodes):
            if node.feature < 0 and len(nodes) > 1:
                for s in node.members:
                    assert naive.leaf_of(nodes, [column[s] for column in columns]) == number
    leaves = [
        [naive.leaf_of(nodes, [column[s] for column in columns]) for nodes, _ in twin]
        for s in range(len(columns[0]))
    ]
    X = np.array(columns).T
    assert forest.apply(X).tolist() == leaves
    splits = [node.feature for nodes, _ in twin for node in nodes if node.feature >= 0]
    assert forest.tally.counts.tolist() == np.bincount(splits, minlength=F).tolist()
    histogram = naive.coupling_histogram(twin, F, COUPLING_EDGES.tolist())
    assert forest.tally.couplings.tolist() == histogram
    np.testing.assert_allclose(
        forest.gini_importance, naive.gini_importance(twin, F), rtol=EXACT, atol=EXACT
    )
    if "oob_sum" in forest.sums:
        expected = naive.oob_predictions(twin, columns)
        found = forest.oob_prediction.reshape(len(expected), -1)
        for mine, theirs in zip(found, expected, strict=True):
            if theirs is None:
                assert np.isnan(mine).all()
            else:
                np.testing.assert_allclose(mine, theirs, rtol=EXACT, atol=EXACT)


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("kind", KINDS)
def test_trees_equal_the_twins(outcome, kind, monkeypatch):
    rng = np.random.default_rng([OUTCOMES.index(outcome), KINDS.index(kind)])
    for case in range(20):
        S = int(rng.integers(4, 18 if outcome == "distances" else 36))
        F = int(rng.integers(1, 9))
        X = draw_columns(rng, kind, S, F)
        y, plain_y = draw_outcome(rng, outcome, S)
        weights, weight = draw_weights(rng, WEIGHTS[case % len(WEIGHTS)], outcome, y)
        arguments, meaning = draw_settings(rng, X)
        first = int(rng.choice([0, 0, 7]))
        twin, columns = twin_forest(X, plain_y, CRITERION[outcome], weight, first, 3, meaning)
        for kernel in KERNELS:
            monkeypatch.setenv("NULLFOREST_ISA", kernel)
            forest = nf.grow(
                X,
                y,
                criterion=CRITERION[outcome],
                trees=3,
                first_tree=first,
                probes=0,
                **arguments,
                **weights,
            )
            assert_same_forest(forest, twin, columns)


@pytest.mark.parametrize("outcome", ["binary", "classes", "entropy", "numbers"])
@pytest.mark.parametrize("replace", [False, True], ids=["subsample", "bootstrap"])
def test_trees_equal_the_twins_at_every_table_size(outcome, replace, monkeypatch):
    rng = np.random.default_rng([len(outcome), replace])
    for S in SIZES:
        # few distinct values keep the twin quick on large tables: it scores each from scratch
        X = np.column_stack([2 * rng.normal(size=(S, 4)), rng.integers(0, 2, (S, 2))])
        X[:, 0 if S < 200 else slice(None)] = np.round(X[:, 0 if S < 200 else slice(None)])
        if S % 2:
            X[rng.random(S) < 0.1, 1] = np.nan
        y, plain_y = draw_outcome(rng, outcome, S)
        settings = {"candidates": 4, "replace": replace, "min_leaf": 2, "seed": S}
        meaning = settings | {"pool": 6, "n_drawn": round(0.6 * S)}
        twin, columns = twin_forest(X, plain_y, CRITERION[outcome], None, 0, 1, meaning)
        for kernel in KERNELS:
            monkeypatch.setenv("NULLFOREST_ISA", kernel)
            forest = nf.grow(
                X,
                y,
                criterion=CRITERION[outcome],
                trees=1,
                samples=0.6,
                max_depth=None,
                probes=0,
                **settings,
            )
            assert_same_forest(forest, twin, columns)


@pytest.mark.parametrize(("S", "F"), [(300, 6), (40, 300), (530, 8), (600, 700)])
def test_large_tables_use_the_large_shuffle(S, F):
    # samples or features above 256: their shuffle is a Feistel network
    rng = np.random.default_rng(S)
    X = np.round(rng.normal(size=(S, F)), 1)
    y = (X[:, 0] + rng.normal(size=S) > 0).astype(int)
    meaning = {"candidates": 3, "pool": F // 2, "n_drawn": 30, "seed": 5}
    forest = nf.grow(
        X, y, trees=2, probes=0, candidates=3, pool=F // 2, samples=30, max_depth=None, seed=5
    )
    twin, columns = twin_forest(X, y.tolist(), "gini", None, 0, 2, meaning)
    assert_same_forest(forest, twin, columns)


def test_a_tree_without_weight_is_one_leaf():
    X = np.arange(12.0)[:, None]
    y = np.arange(12) % 2
    weight = np.zeros(12)
    weight[:2] = [1.0, 3.0]
    # two samples of a tree are drawn: most trees draw none that weighs anything
    forest = nf.grow(
        X, y, trees=40, samples=2, sample_weight=weight, probes=0, max_depth=None, seed=1
    )
    meaning = {"candidates": 1, "pool": 1, "n_drawn": 2, "seed": 1}
    twin, columns = twin_forest(X, y.tolist(), "gini", weight.tolist(), 0, 40, meaning)
    weightless = [t for t, (nodes, oob) in enumerate(twin) if not oob]
    assert len(weightless) > 10
    for t in weightless:
        assert len(forest.trees[t]) == 1
        assert forest.trees[t].value.tolist() == [[0.25, 0.75]]
    assert_same_forest(forest, twin, columns)


@pytest.mark.parametrize("m", [1, 2, 3, 17, 255, 256, 257, 300, 1000, 65_537, 10**6, 2**31 - 1])
def test_shuffles_equal_the_twins(m):
    for key in (0, 1, 2**64 - 1, 0x0123456789ABCDEF):
        count = min(m, 200)
        assert list(_native.shuffle(m, key, count)) == naive.shuffle(m, key, count)


@pytest.mark.parametrize("m", [2, 100, 256, 257, 1000, 5003])
def test_shuffles_are_permutations(m):
    for key in (3, 2**63):
        assert sorted(naive.shuffle(m, key, m)) == list(range(m))
        assert sorted(_native.shuffle(m, key, m)) == list(range(m))


def test_the_page_gives_true_examples():
    page = (Path(__file__).parents[2] / "docs" / "randomness.md").read_text()
    key = naive.tree_key(0, 0)
    assert _native.tree_key(0, 0) == key
    assert f"`{key:#018x}`" in page
    assert f"`{naive.step(key, 0):#018x}`" in page
    examples = re.findall(r"Shuffle\((\d+), 1\) (?:is|begins) ([\d, ]+\d)", page)
    assert len(examples) == 2
    for m, values in examples:
        drawn = [int(v) for v in values.split(",")]
        assert naive.shuffle(int(m), 1, len(drawn)) == drawn
