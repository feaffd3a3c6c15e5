"""Arrays of rank tables that the kernel refuses, and verifies."""

from __future__ import annotations

import numpy as np
import pytest

import nullforest as nf
from nullforest import _native

X = np.random.default_rng(0).normal(size=(30, 6))


def changed(array, at, value):
    array = np.array(array)
    array[at] = value
    return array


def ranked(n_samples, missing=False):
    data = np.random.default_rng(1).normal(size=(n_samples, 5))
    data[:, 2] = np.round(data[:, 2])
    if missing:
        data[: n_samples // 7, 3] = np.nan
    return _native.RankTable(data, 1)


def attached(table, *, n_samples=None, values=None, resident=0, fingerprint=None, **parts):
    """The table made again from its arrays, some of them changed."""
    names = ("block", "differs", "n_known", "flags")
    arrays = dict(zip(names, table.arrays(), strict=True)) | parts
    return _native.RankTable(
        values,
        table.n_samples if n_samples is None else n_samples,
        *(arrays[name] for name in names),
        table.fingerprint if fingerprint is None else fingerprint,
        resident,
        0,
    )


def broken(table, part):
    """Every kind of damage to the arrays of a table, by name."""
    names = ("block", "differs", "n_known", "flags")
    block, differs, known, flags = (np.array(a) for a in table.arrays())
    n = table.n_samples
    ranks = block.view(np.uint8 if n <= 1024 else np.uint16)
    beyond = changed(block, slice(len(block) // 6), 255)  # most of the first of five columns
    damage = {
        "short block": {"block": block[:-1]},
        "long block": {"block": np.append(block, np.uint8(0))},
        "short ties": {"differs": differs[:-1]},
        "short known": {"n_known": known[:-1]},
        "short flags": {"flags": flags[:-1]},
        "no columns": dict(
            zip(names, (block[:64], differs[:0], known[:0], flags[:0]), strict=True)
        ),
        "more known than samples": {"n_known": changed(known, 1, n + 1)},
        "missing without a flag": {"n_known": changed(known, 1, n - 1)},
        "unknown flag": {"flags": changed(flags, 1, 8)},
        "flag without missing": {"flags": changed(flags, 1, flags[1] | 2)},
    }
    contents = {
        "rank beyond the samples": {"block": beyond},
        "rank twice": {"block": changed(ranks, 3, ranks[4]).view(np.uint8)},
        "two ranks exchanged": {"block": changed(ranks, [3, 4], ranks[[4, 3]]).view(np.uint8)},
        "tie where there is none": {
            "differs": changed(differs, 0, differs[0] ^ differs.dtype.type(2))
        },
        "flag of ties": {"flags": changed(flags, 0, flags[0] ^ 1)},
        "another fingerprint": {"fingerprint": table.fingerprint ^ 1},
    }
    return damage if part == "shape" else contents


SHAPES = list(broken(ranked(100), "shape"))
CONTENTS = list(broken(ranked(100), "contents"))


@pytest.mark.parametrize("n_samples", [100, 300, 700, 1100])
@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("resident", [0, 2**40])
def test_arrays_of_another_shape_are_refused(n_samples, name, resident):
    table = ranked(n_samples)
    with pytest.raises(nf.InputError):
        attached(table, resident=resident, **broken(table, "shape")[name])


@pytest.mark.parametrize("n_samples", [100, 300, 700, 1100])
@pytest.mark.parametrize("name", CONTENTS)
def test_damaged_columns_are_refused(n_samples, name):
    table = ranked(n_samples)
    with pytest.raises(nf.InputError):
        attached(table, **broken(table, "contents")[name])
    mapped = attached(table, resident=2**40, **broken(table, "contents")[name])
    with pytest.raises(nf.InputError):
        mapped.verify()


@pytest.mark.parametrize("n_samples", [100, 300, 700, 1100])
@pytest.mark.parametrize("missing", [False, True])
def test_whole_tables_are_taken(n_samples, missing):
    table = ranked(n_samples, missing)
    again = attached(table, resident=2**40)
    again.verify()
    for mine, theirs in zip(again.arrays(), attached(table).arrays(), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_missing_values_agree_with_the_ties():
    table = ranked(100, missing=True)
    known = np.array(table.arrays()[2])
    with pytest.raises(nf.InputError, match="column 3"):
        attached(table, n_known=changed(known, 3, known[3] - 1))


def test_values_belong_to_their_table():
    for values in (X[:, :3], X[:4, :5], np.zeros(5)):
        with pytest.raises(nf.InputError):
            attached(ranked(30), values=values)


@pytest.mark.parametrize("n_samples", [0, 1, 2**22 + 1, 2**40])
def test_tables_of_impossible_sizes_are_refused(n_samples):
    with pytest.raises(nf.InputError):
        attached(ranked(100), n_samples=n_samples)


@pytest.mark.parametrize(
    "values", [X[:1], X[:, :0], X.astype(np.float16), (X[0], X[1], X[2]), None]
)
def test_only_matrices_are_ranked(values):
    with pytest.raises((nf.InputError, TypeError)):
        _native.RankTable(values, 1)


@pytest.mark.parametrize("name", ["block", "differs", "n_known", "flags"])
def test_arrays_of_another_type_are_refused(name):
    table = ranked(100)
    arrays = dict(zip(("block", "differs", "n_known", "flags"), table.arrays(), strict=True))
    with pytest.raises(TypeError):
        attached(table, **{name: np.array(arrays[name]).astype(np.int16)})
