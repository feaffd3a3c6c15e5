"""All kernels grow the same trees: each against the generic one, bit for bit."""

from __future__ import annotations

import platform
import re
from pathlib import Path

import numpy as np
import pytest

import nullforest as nf
from nullforest import _native
from nullforest.data.rank_table import RankTable

ARM = platform.machine() in ("aarch64", "arm64")
ISAS = ["portable", "neon"] if ARM else ["portable", "avx2", "avx512"]


def outcome(rng, kind, S):
    if kind == "numbers":
        return rng.normal(size=S) ** 3
    if kind == "rounded numbers":
        return np.round(rng.normal(size=S), 1)
    # up to seven classes: the screen of a kernel takes five
    return np.r_[np.arange(2), rng.integers(0, 2 if kind == "two" else rng.integers(3, 8), S - 2)]


def data(rng, S, F):
    X = rng.normal(size=(S, F))
    X[:, ::3] = np.round(X[:, ::3] * rng.choice([0.6, 3.0, 30.0]))  # ties, few levels
    if rng.random() < 0.3:
        some = rng.random(F) < rng.choice([0.2, 1.0])
        X[(rng.random((S, F)) < 0.05) & some] = np.nan
    X[:, 1] = 0.0
    return X.astype(np.float32)


def draw_settings(rng, F):
    settings = {
        "candidates": int(rng.integers(1, F + 1)),
        "min_leaf": int(rng.choice([1, 1, 1, 2, 5])),
        "samples": float(rng.choice([0.3, 0.5, 0.9, 1.0])),
        "replace": bool(rng.random() < 0.4),
        "seed": int(rng.integers(2**60)),
    }
    if rng.random() < 0.3:
        settings["pool"] = int(rng.integers(settings["candidates"], F + 1))
    return settings


def cases(kind, sizes, n):
    rng = np.random.default_rng([len(kind), len(sizes), n])
    for case in range(n):
        S, F = int(rng.choice(sizes)), int(rng.choice([5, 40, 300]))
        criterion = "entropy" if kind in ("two", "several") and case % 3 == 0 else "auto"
        X, y = data(rng, S, F), outcome(rng, kind, S)
        table = RankTable(X)
        yield table, y, draw_settings(rng, table.native.n_varying) | {"criterion": criterion}


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("kind", ["two", "several", "numbers", "rounded numbers"])
@pytest.mark.parametrize(
    "sizes",
    [[5, 30, 64, 65], [130, 256, 257, 511, 512], [513, 700, 1023, 1024], [1025, 1500, 2300]],
)
def test_every_kernel_grows_the_same_trees(isa, kind, sizes, monkeypatch):
    monkeypatch.setenv("NULLFOREST_ISA", isa)
    if _native.isa() != isa:
        pytest.skip(f"this build or processor has no {isa}")
    for table, y, settings in cases(kind, sizes, 8):
        settings["trees"] = 6 if table.shape[0] < 500 else 2
        monkeypatch.setenv("NULLFOREST_ISA", isa)
        fast = nf.grow(table, y, **settings, probes=0)
        monkeypatch.setenv("NULLFOREST_ISA", "generic")
        generic = nf.grow(table, y, **settings, probes=0)
        assert fast.tally == generic.tally
        for name, array in fast.trees.arrays.items():
            np.testing.assert_array_equal(array, generic.trees.arrays[name], err_msg=name)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("kind", ["two", "several", "rounded numbers"])
@pytest.mark.parametrize("sizes", [[5, 64, 65, 300], [513, 1024], [1500, 2300]])
def test_weighted_samples(isa, kind, sizes, monkeypatch):
    monkeypatch.setenv("NULLFOREST_ISA", isa)
    if _native.isa() != isa:
        pytest.skip(f"this build or processor has no {isa}")
    rng = np.random.default_rng([len(kind), len(sizes)])
    for table, y, settings in cases(kind, sizes, 8):
        S = table.shape[0]
        weight = rng.choice([0.0, 1.0, 1.0, 3.0, rng.random()], S) + rng.random(S) * rng.integers(2)
        settings |= {"trees": 2, "sample_weight": weight, "probes": 12}
        monkeypatch.setenv("NULLFOREST_ISA", isa)
        fast = nf.grow(table, y, **settings)
        monkeypatch.setenv("NULLFOREST_ISA", "generic")
        generic = nf.grow(table, y, **settings)
        assert fast.tally == generic.tally
        for name, array in fast.trees.arrays.items():
            np.testing.assert_array_equal(array, generic.trees.arrays[name], err_msg=name)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("kind", ["two", "several", "numbers"])
@pytest.mark.parametrize("S", [30, 1200])
@pytest.mark.parametrize("candidates", [6, 20, 60])
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_probes_of_small_nodes(isa, kind, S, candidates, missing, monkeypatch):
    monkeypatch.setenv("NULLFOREST_ISA", isa)
    if _native.isa() != isa:
        pytest.skip(f"this build or processor has no {isa}")
    rng = np.random.default_rng([len(kind), S, candidates])
    X = (rng.random((S, 90)) < 0.3).astype(np.float32)  # many columns cannot split two samples
    if S > 1024:
        X[:, ::3] = rng.normal(size=(S, 30))  # more than 256 values: a table of ranks
    X[(rng.random(X.shape) < missing) & (rng.random(90) < 0.3)] = np.nan
    table, y = RankTable(X), outcome(rng, kind, S)
    settings = {"trees": 3000 // S, "candidates": candidates, "max_depth": None, "probes": 900}
    fast = nf.grow(table, y, **settings)
    monkeypatch.setenv("NULLFOREST_ISA", "generic")
    assert fast.tally == nf.grow(table, y, **settings).tally


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("levels", [2, 3, 8, 9, 40])
def test_samples_in_the_order_of_their_classes(isa, levels, monkeypatch):
    # As PLINK has them. Equal values keep the order of the samples, so that the labels are sorted
    # within each level, and nearly all positions inside a level look like a good split.
    rng = np.random.default_rng(levels)
    table, y = RankTable(rng.integers(0, levels, (700, 40)).astype(float)), np.arange(700) // 350
    monkeypatch.setenv("NULLFOREST_ISA", isa)
    if _native.isa() != isa:
        pytest.skip(f"this build or processor has no {isa}")
    fast = nf.grow(table, y, trees=20, candidates=8, probes=0)
    monkeypatch.setenv("NULLFOREST_ISA", "generic")
    assert fast.tally == nf.grow(table, y, trees=20, candidates=8, probes=0).tally


def test_an_unknown_instruction_set_is_named(monkeypatch):
    monkeypatch.setenv("NULLFOREST_ISA", "avx-2")
    with pytest.raises(nf.InputError, match=r"'avx-2'.* generic, portable, avx2, avx512 or neon"):
        nf.grow(np.eye(8), np.arange(8) % 2, trees=2)
    monkeypatch.setenv("NULLFOREST_ISA", "")
    assert _native.isa() in ISAS
    monkeypatch.setenv("NULLFOREST_ISA", "avx2" if ARM else "neon")  # of other processors
    assert _native.isa() == "portable"


def test_every_compiled_instruction_is_checked_for():
    root = Path(__file__).parents[2]
    options = (root / "CMakeLists.txt").read_text("utf-8")
    dispatch = root / "src/nullforest/forest/native/kernels/searches.cpp"
    checked = set(re.findall(r'cpu_supports\("(\w+)"\)', dispatch.read_text("utf-8")))
    assert checked == set(re.findall(r"-m(\w+)[;\"]", options))


@pytest.mark.parametrize("isa", ISAS)
def test_equal_splits_that_round_below_a_tie(isa, monkeypatch):
    # The first column has the highest score of all, within a level of all samples but one. The two
    # others hold the same split from either side, whose floats lie just below and above 31/32 of
    # that: the one drawn first wins, whichever way it rounds.
    monkeypatch.setenv("NULLFOREST_ISA", isa)

    def spread(n, ones):  # labels with the ones evenly spaced
        return np.diff(np.floor(np.arange(n + 1) * ones / n + 1e-12).astype(int))

    y = np.concatenate([spread(108, 74), spread(92, 3)])
    order = np.concatenate([spread(69, 57), spread(131, 20)])[::-1]
    x = np.empty(200)
    for label in (0, 1):
        x[y == label] = np.flatnonzero(order == label)
    X = np.column_stack([np.arange(200) == 199, x, -x])
    settings = {"trees": 1, "samples": 1.0, "candidates": 3, "max_depth": 1, "probes": 0}
    forest = nf.grow(X, y, seed=0, **settings)
    assert forest.trees[0].feature[0] == 1


@pytest.mark.parametrize("isa", ["generic", *ISAS])
def test_weights_that_round_to_nothing_leave_no_score(isa, monkeypatch):
    # By the first column the best split has the heavy sample on the right; by the second it comes
    # first, and what is left of the weight is zero in doubles.
    monkeypatch.setenv("NULLFOREST_ISA", isa)
    X = np.array([[3.0, 0.0], [0.0, 2.0], [1.0, 3.0], [2.0, 1.0]])
    weight, y = [1.0, 1e-20, 1e-20, 1e-20], [5.0, 1.0, 2.0, 9.0]
    settings = {"trees": 1, "samples": 1.0, "candidates": 2, "max_depth": 1, "probes": 0}
    forest = nf.grow(X, y, sample_weight=weight, seed=0, **settings)
    assert forest.trees[0].feature[0] == 0
