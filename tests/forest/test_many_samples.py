"""Large nodes: every kernel against the generic one, bit for bit, where sums are wide."""

from __future__ import annotations

import numpy as np
import pytest

import nullforest as nf
from nullforest import _native
from nullforest.data.rank_table import RankTable


def target(rng, kind, n):
    if kind.endswith(" classes"):
        return rng.integers(0, {"two": 2, "three": 3}[kind.split()[0]], n)
    if kind == "numbers":
        return rng.normal(size=n)
    if kind == "heavy tails":
        return rng.standard_cauchy(n)
    return (rng.random(n) < 0.002) + 1e-9 * rng.normal(size=n)  # a few far from all others


@pytest.fixture(params=["portable", "avx2", "avx512", "neon"])
def kernel(request, monkeypatch):
    monkeypatch.setenv("NULLFOREST_ISA", request.param)
    if _native.isa() != request.param:
        pytest.skip(f"this build or processor has no {request.param}")
    return request.param


def assert_grown_as_by_the_generic_search(table, y, depth, monkeypatch):
    settings = {"trees": 1, "samples": 1.0, "candidates": 3, "max_depth": depth, "probes": 0}
    fast = nf.grow(table, y, **settings)
    monkeypatch.setenv("NULLFOREST_ISA", "generic")
    generic = nf.grow(table, y, **settings)
    for name, array in generic.trees.arrays.items():
        assert np.array_equal(array, fast.trees.arrays[name]), name


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize("kind", ["two classes", "heavy tails", "few far away"])
def test_every_kernel_grows_the_same_trees(kind, monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(9_000, 6)).astype(np.float32)
    X[:, 2] = np.round(X[:, 2], 1)
    y = target(rng, kind, len(X))
    assert_grown_as_by_the_generic_search(RankTable(X), y, 7, monkeypatch)


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize("kind", ["two classes", "three classes", "numbers"])
def test_ranks_and_counts_of_more_than_16_bits(kind, monkeypatch):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(70_000, 3)).astype(np.float32)
    X[:, 1] = np.round(X[:, 1], 2)
    y = target(rng, kind, len(X))
    assert_grown_as_by_the_generic_search(RankTable(X, bins=None), y, 4, monkeypatch)
