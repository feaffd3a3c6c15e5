"""Calibration by stratum on sparse counts, such as those of single cells with a rare label."""

from __future__ import annotations

import numpy as np
import pytest

import nullforest as nf


def sparse_counts(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """150 cells × 1 500 genes, most of them hardly expressed; one cell in nine has the label."""
    rng = np.random.default_rng(seed)
    expression = np.exp(rng.normal(-4.0, 3.0, 1500))
    cells = rng.poisson(rng.gamma(1.0, size=(150, 1500)) * expression).astype(float)
    return cells, rng.permutation(np.arange(150) % 9 == 0)


@pytest.fixture(scope="module")
def tested() -> np.ndarray:
    """Share of cells that express a gene, and its p-value, over several null tables."""
    found = []
    for seed in range(4):
        X, y = sparse_counts(seed)
        tally = nf.grow(X, y, trees=600, candidates=20, keep_trees=False, oob=False).tally
        expressed = (X > 0).mean(axis=0)
        found.append(np.c_[expressed, nf.null(tally).pvalues(tally.counts)])
    return np.concatenate(found)


@pytest.mark.parametrize(("low", "high"), [(0, 0.03), (0.03, 0.2), (0.2, 1)])
def test_p_values_hold_their_level_in_sparse_strata(tested, low, high):
    # Of the sparsest genes 13 % had p ≤ .01, the smallest 3e-30, with a scale of their own.
    p = tested[(tested[:, 0] > low) & (tested[:, 0] <= high), 1]
    assert len(p) > 500
    for alpha in (0.05, 0.01, 1e-3):
        # Discrete counts reach less than the level. Genes of one table share its trees, which
        # triples the variance of their number at most: four standard errors.
        noise = 4 * np.sqrt(3 * alpha / len(p))
        assert (p <= alpha).mean() <= 1.1 * alpha + noise
    # The smallest of n uniform p-values is below 1e-4 / n in one of ten thousand tests.
    assert p.min() > 1e-4 / len(p)
