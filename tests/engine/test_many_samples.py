"""Large nodes: every kernel against the generic one, bit for bit, where sums are wide."""

from __future__ import annotations

import numpy as np
import pytest

import nullforest as nf
from nullforest.engine import RankTable, _native

S = 9_000


def target(rng, kind):
    if kind == "two classes":
        return rng.integers(0, 2, S)
    if kind == "heavy tails":
        return rng.standard_cauchy(S)
    return (rng.random(S) < 0.002) + 1e-9 * rng.normal(size=S)  # a few far from all others


@pytest.mark.parametrize("isa", ["portable", "avx2", "avx512", "neon"])
@pytest.mark.parametrize("kind", ["two classes", "heavy tails", "few far away"])
def test_every_kernel_grows_the_same_trees(isa, kind, monkeypatch):
    monkeypatch.setenv("NULLFOREST_ISA", isa)
    if _native.isa() != isa:
        pytest.skip(f"this build or processor has no {isa}")
    rng = np.random.default_rng(1)
    X = rng.normal(size=(S, 6)).astype(np.float32)
    X[:, 2] = np.round(X[:, 2], 1)
    table, y = RankTable(X), target(rng, kind)
    settings = {"trees": 1, "samples": 1.0, "candidates": 3, "max_depth": 7, "probes": 0}
    fast = nf.grow(table, y, **settings)
    monkeypatch.setenv("NULLFOREST_ISA", "generic")
    generic = nf.grow(table, y, **settings)
    for name, array in generic.trees.arrays.items():
        assert np.array_equal(array, fast.trees.arrays[name]), name
