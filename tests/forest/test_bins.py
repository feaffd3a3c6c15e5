"""Quantile bins: the forests of binned tables are those of columns binned beforehand."""

from __future__ import annotations

import numpy as np
import pytest

import nullforest as nf
from naive.bins import binned
from nullforest import _native
from nullforest._util.errors import InputError
from nullforest.data.rank_table import RankTable

SHAPES = [(600, 7), (600, 256), (1500, 40), (3000, 256)]
SETTINGS = {
    "plain": {"probes": 0},
    "deep": {"probes": 0, "max_depth": None, "min_leaf": 4, "candidates": 5},
    "one candidate": {"probes": 0, "max_depth": None, "candidates": 1},
    "probes": {"probes": 300},
    "shadows": {"shadows": 2, "keep_trees": False},
    "bootstrap": {"probes": 0, "replace": True},
    "bootstrap and probes": {"probes": 100, "replace": True, "max_depth": 4},
}


def data(S, missing=False):
    rng = np.random.default_rng(S)
    X = rng.normal(size=(S, 12)).astype(np.float32)
    X[:, 3] = rng.integers(0, 5, S)
    X[:, 4] = np.round(X[:, 4], 1)
    if missing:
        X[rng.random(S) < 0.1, 5] = np.nan
    score = X[:, 0] + rng.normal(size=S)
    return X, {
        "two classes": (score > 0).astype(int),
        "three classes": np.digitize(score, [-0.5, 0.5]),
        "entropy": np.digitize(score, [-0.5, 0.5]),
        "numbers": score,
        "two outputs": np.column_stack([score, rng.normal(size=S)]),
    }


def columns_binned(X, bins):
    return np.column_stack([binned(X[:, f], bins) for f in range(X.shape[1])])


@pytest.mark.parametrize("isa", ["generic", "portable", "avx2", "avx512"])
@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize(("S", "bins"), SHAPES)
def test_the_forest_is_that_of_the_binned_columns(S, bins, name, isa, monkeypatch):
    monkeypatch.setenv("NULLFOREST_ISA", isa)
    if _native.isa() != isa:
        pytest.skip(f"this build or processor has no {isa}")
    settings = {"trees": 2, "keep_trees": True, "seed": bins} | SETTINGS[name]
    for missing in (False, True):
        X, targets = data(S, missing)
        table, by_hand = RankTable(X, bins=bins), RankTable(columns_binned(X, bins))
        for kind, y in targets.items():
            settings["criterion"] = "entropy" if kind == "entropy" else "auto"
            fast = nf.grow(table, y, **settings)
            monkeypatch.setenv("NULLFOREST_ISA", "generic")
            naive = nf.grow(by_hand, y, **settings)
            monkeypatch.setenv("NULLFOREST_ISA", isa)
            assert np.array_equal(fast.tally.counts, naive.tally.counts)
            if settings.get("probes", 0):
                assert np.array_equal(fast.tally.probes.wins, naive.tally.probes.wins)
            if not settings["keep_trees"]:
                continue
            for part in ("feature", "left", "right", "n_samples", "value", "missing_left"):
                assert np.array_equal(fast.trees.arrays[part], naive.trees.arrays[part])


def test_thresholds_lie_between_values():
    X, targets = data(1500)
    y = targets["two classes"]
    forest = nf.grow(RankTable(X, bins=16), y, trees=1, samples=1.0, max_depth=None, probes=0)
    tree = forest.trees[0]
    root_left = X[:, tree.feature[0]] <= tree.threshold[0]
    assert root_left.sum() == tree.n_samples[tree.left[0]]
    # the whole tree sends the samples that it was grown on to leaves of the sizes that it recorded
    assert np.mean(forest.predict(X) == y) > 0.9


def test_bins_by_default_from_20_000_samples_on():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 3)).astype(np.float32)
    assert RankTable(X).bins == 256
    assert RankTable(X, bins=None).bins == RankTable(X[:-1]).bins == 0
    distinct = [int(RankTable(X).native.column(f)[1].sum()) + 1 for f in range(3)]
    assert distinct == [256] * 3


def test_a_binned_table_in_a_folder_and_by_blocks(tmp_path):
    from scipy import sparse

    X, targets = data(600)
    y = targets["two classes"]
    plain = RankTable(X, bins=20)
    folder = RankTable(X, bins=20, folder=tmp_path / "table")
    columns = RankTable(sparse.csc_matrix(X), bins=20)
    for other in (folder, RankTable.open(tmp_path / "table"), columns):
        assert other.fingerprint == plain.fingerprint
        assert nf.grow(other, y, trees=3).tally == nf.grow(plain, y, trees=3).tally


@pytest.mark.parametrize("bins", [1, 257, 3.5, "many", True])
def test_bad_bins_are_refused(bins):
    with pytest.raises(InputError, match="bins"):
        RankTable(np.zeros((600, 2)), bins=bins)


def test_bins_need_many_samples():
    with pytest.raises(InputError, match="more than 512 samples"):
        RankTable(np.zeros((512, 2)), bins=4)


@pytest.mark.parametrize("S", [600, 1500])
@pytest.mark.parametrize("target", ["two classes", "numbers"])
@pytest.mark.parametrize("folder", [None, "table"])
def test_thresholds_send_every_sample_where_the_tree_sent_it(S, target, folder, tmp_path):
    X, targets = data(S)
    table = RankTable(X, bins=40, folder=tmp_path / folder if folder else None)
    settings = {"trees": 3, "samples": 1.0, "keep_trees": True, "max_depth": None, "probes": 0}
    forest = nf.grow(table, targets[target], **settings)
    leaves = forest.apply(X)
    for number, tree in enumerate(forest.trees):
        found = np.bincount(leaves[:, number], minlength=len(tree))
        is_leaf = tree.feature < 0
        assert np.array_equal(found[is_leaf], tree.n_samples[is_leaf])
        assert not found[~is_leaf].any()
