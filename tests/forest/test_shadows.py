"""Shadows: copies of all columns with permuted rows, as a plain forest would see them."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

import nullforest as nf
from nullforest._util.errors import InputError
from nullforest.data.shadowed_table import ShadowedTable, permuted_rows, shadowed
from nullforest.data.targets import as_target
from nullforest.forest.null_column_budget import FEW_FEATURES, default_copies

#: Samples below and above the sizes at which ranks are stored in another way.
SIZES = (60, 300, 700)


def table_of(S, seed=0):
    """Columns without ties, with ties, with missing values, and a constant one."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(S, 6))
    X[:, 1] = X[:, 1] > 0
    X[:, 2] = rng.poisson(2, S)
    X[rng.random(S) < 0.2, 3] = np.nan
    X[:, 4] = 7.0
    return X, X[:, 0] + rng.normal(size=S) > 0


@pytest.mark.parametrize("S", SIZES)
@pytest.mark.parametrize("numbers", [False, True])
def test_a_forest_with_shadows_is_that_of_a_table_with_permuted_copies(S, numbers):
    X, y = table_of(S)
    y = y + X[:, 5] if numbers else y
    rows = permuted_rows(S, 5, seed=3)
    copies = np.column_stack([X, *(X[row] for row in rows)])
    forest = nf.grow(X, y, trees=60, shadows=5, probe_seed=3, max_depth=None)
    plain = nf.grow(copies, y, trees=60, probes=0, max_depth=None)
    tally = forest.tally
    both = np.concatenate([tally.counts, tally.shadows.wins.ravel()])
    np.testing.assert_array_equal(both, plain.tally.counts)
    np.testing.assert_array_equal(
        tally.shadows.couplings, plain.tally.couplings.reshape(6, 6, -1)[1:].sum(0)
    )
    np.testing.assert_array_equal(forest.oob_prediction, plain.oob_prediction)
    assert tally.n_columns == 30  # the constant column and its shadows never compete
    assert tally.shadows.wins.shape == (5, 6)


def test_rows_stay_within_their_blocks():
    blocks = np.repeat([0, 1, 2], [3, 10, 17])
    rows = permuted_rows(30, 40, seed=1, blocks=blocks)
    for row in rows:
        np.testing.assert_array_equal(blocks[row], blocks)
        np.testing.assert_array_equal(np.sort(row), np.arange(30))
    assert len({row.tobytes() for row in rows}) == 40
    # Every row of a block comes to every place of it: 40 times 17 places leave none out by chance
    # with probability 1 - 17² (16/17)^40, about .74 for one pair; over all copies most are seen.
    seen = {(i, int(row[i])) for row in rows for i in range(13, 30)}
    assert len(seen) > 0.8 * 17 * 17


def test_tallies_with_shadows_add_save_and_halve(tmp_path):
    X, y = table_of(100)
    settings = {"shadows": 4, "keep_trees": False}
    whole = nf.grow(X, y, trees=50, **settings).tally
    parts = [nf.grow(X, y, trees=25, first_tree=first, **settings).tally for first in (0, 25)]
    assert parts[0] + parts[1] == whole
    grown = nf.grow(X, y, trees=25, more=nf.grow(X, y, trees=25, **settings), keep_trees=False)
    assert grown.tally == whole
    whole.save(tmp_path / "a.tally")
    assert nf.Tally.load(tmp_path / "a.tally") == whole
    assert pickle.loads(pickle.dumps(whole)) == whole
    first, second = whole.halves()
    np.testing.assert_array_equal(first.shadows.wins + second.shadows.wins, whole.shadows.wins)
    other = nf.grow(X, y, trees=25, seed=1, probe_seed=1, **settings).tally
    with pytest.raises(InputError, match="different shadows"):
        whole + other
    with pytest.raises(InputError, match="numbers of shadows"):
        whole + nf.grow(X, y, trees=25, seed=1, probes=0).tally
    with pytest.raises(InputError, match="counts add to"):
        replace(whole, null_columns=replace(whole.shadows, wins=whole.shadows.wins + 1))


def test_a_resumed_forest_has_the_same_shadows(tmp_path):
    X, y, _ = nf.simulate.independent(80, 30, n_relevant=4, relevance=0.6)
    whole = nf.grow(X, y)
    assert whole.tally.shadows is not None
    assert nf.resume(X, y, tmp_path / "a", max_trees=200).tally.shadows is not None
    assert nf.resume(X, y, tmp_path / "a").tally == whole.tally
    assert nf.watch(X, y).tally == whole.tally
    assert nf.grow(X, y, backend="joblib").tally == whole.tally


def test_a_table_travels_as_columns_and_permutations():
    X, y = table_of(80)
    plain, target = nf.RankTable(X), as_target(y, 80)
    table = shadowed(plain, 3, 0, target)
    again = pickle.loads(pickle.dumps(table))
    assert isinstance(again, ShadowedTable)
    assert again.native.fingerprint == table.native.fingerprint
    assert table.without_values().values is None
    four = shadowed(plain, 4, 0, target)
    np.testing.assert_array_equal(four.rows[:3], table.rows)


def test_shadows_are_for_few_features_and_for_blocks():
    rng = np.random.default_rng(0)
    few, many = (nf.RankTable(rng.normal(size=(40, F))) for F in (FEW_FEATURES - 1, FEW_FEATURES))
    assert default_copies(few, blocks=False) > 0
    assert default_copies(many, blocks=False) == 0
    assert default_copies(many, blocks=True) > 0
    y = np.arange(40) % 2
    assert nf.grow(few, y, max_trees=50).tally.shadows is not None
    assert nf.grow(many, y, max_trees=50).tally.probes is not None
    for plain in (
        {"trees": 20},
        {"max_trees": 50, "keep_trees": True},
        {"max_trees": 50, "pool": 50},
    ):
        assert nf.grow(few, y, **plain).tally.shadows is None


def test_what_cannot_be_done_is_said():
    X, y = table_of(60)
    for wrong, message in [
        ({"shadows": 3, "keep_trees": True}, "cannot predict new samples"),
        ({"shadows": 3, "probes": 100}, "probes or shadows"),
        ({"blocks": y, "shadows": 0}, "blocks need shadows"),
        ({"blocks": np.arange(60)}, "block of its own"),
        ({"blocks": y[:5]}, "one block each"),
        ({"blocks": [None, *"a" * 59]}, "missing values"),
        ({"shadows": -1}, "between 0"),
    ]:
        with pytest.raises(InputError, match=message):
            nf.grow(X, y, trees=5, **wrong)
    tally = nf.grow(X, y, trees=20, shadows=3).tally
    for kind in ("paper", "bagged"):
        with pytest.raises(InputError, match="compete with their shadows"):
            nf.null(tally, kind)
    with pytest.raises(InputError, match="holds no shadows"):
        nf.null(nf.grow(X, y, trees=20).tally, "shadows")
