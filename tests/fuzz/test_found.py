"""What hostile calls have found, one line each: all are refused in a sentence."""

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

import nullforest as nf
from fuzz.library import small_forest
from fuzz.outcomes import check_sentence
from nullforest.data.readers.tables import read_table
from nullforest.datasets.simulate.cortical_surface import read_mesh
from nullforest.tallies.null_columns import NullColumns

X = np.random.default_rng(0).normal(size=(30, 6))
y = X[:, 1] > 0
TALLY = nf.grow(X, y, trees=5, probes=20, candidates=2).tally


def counted(**given):
    return nf.Tally.from_counts([4, 1], **({"nodes_per_tree": [5], "n_samples": 9} | given))


def probes(**changed):
    return replace(TALLY, null_columns=replace(TALLY.probes, **changed))


CALLS = {
    "alpha is text": lambda _: nf.select(TALLY, "a"),
    "alpha is a list": lambda _: nf.select(TALLY, [0.05]),
    "error is unhashable": lambda _: nf.select(TALLY, error={}),
    "null is an array": lambda _: nf.select(TALLY, null=np.array([1, 2])),
    "candidates are bytes": lambda _: counted(candidates=b"x"),
    "infinitely many samples": lambda _: counted(n_samples=np.inf),
    "names are a number": lambda _: counted(feature_names=5),
    "names of a matrix are a number": lambda _: nf.grow(X, y, trees=2, feature_names=5),
    "counts have two axes": lambda _: replace(TALLY, counts=TALLY.counts[:, None]),
    "counts overflow": lambda _: replace(TALLY, counts=np.full(6, 2**62)),
    "names have two axes": lambda _: replace(TALLY, feature_names=np.full((6, 1), "a")),
    "strata have two axes": lambda _: probes(feature_strata=TALLY.probes.feature_strata[:, None]),
    "an unknown stratum": lambda _: probes(strata=TALLY.probes.strata + 9),
    "trees have two axes": lambda _: probes(trees=TALLY.probes.trees[:, None]),
    "negative wins": lambda _: probes(wins=TALLY.probes.wins - 99),
    "wins beyond all nodes": lambda _: probes(wins=TALLY.probes.wins + 2**40),
    "couplings overflow": lambda _: probes(couplings=np.full_like(TALLY.probes.couplings, 2**62)),
    "no mean squared correlation": lambda _: probes(mean_r2=np.nan),
    "distance is no function": lambda _: nf.grow(X, y, trees=2, distance=-1.0),
    "progress is no function": lambda _: nf.grow(X, y, trees=2, progress=[1]),
    "weights beyond doubles": lambda _: nf.grow(X, y, trees=2, sample_weight=10**400),
    "class weights are an array": lambda _: nf.grow(X, y, trees=2, class_weight=np.array([1, 2])),
    "progress of many is no function": lambda _: nf.grow_many(X, [y], trees=2, progress=True),
    "progress of steps is no function": lambda folder: nf.resume(X, y, folder, progress=True),
    "progress of watching is no function": lambda _: nf.watch(X, y, trees=2, progress=True),
    "prefit is an array": lambda _: nf.ForestSelector(prefit=np.array([1, 2])).fit(X, y),
    "patience is an object": lambda _: nf.wrappers.ForwardSelection(patience=object()).fit(X, y),
    "keep is text": lambda _: nf.wrappers.StabilitySelection(keep="groups").fit(X, y),
    "keep is an array": lambda _: nf.wrappers.GroupSelector(keep=np.array([1, 2])).fit(X, y),
    "stop is an array": lambda _: nf.wrappers.KnockOut(stop=np.array([1, 2])).fit(X, y),
    "standard errors are text": lambda _: nf.wrappers.KnockOut(standard_errors="a").fit(X, y),
    "a tally of no table": lambda _: nf.tally(_forest(), X=np.nan),
    "a tally of text": lambda _: nf.tally(_forest(), X=X.astype(str).astype(object) + "a"),
    "a tally of a dictionary of samples": lambda _: nf.tally(_forest(), n_samples={}),
    "a path that is a number": lambda _: nf.Tally.load(0.5),
    "a path with a null character": lambda folder: TALLY.save(folder / "a\0b"),
    "a folder that is a list": lambda _: nf.resume(X, y, [1], trees=2),
    "a folder with a null character": lambda folder: nf.RankTable(X, folder=folder / "a\0b"),
    "a table that is an array": lambda _: nf.RankTable.open(np.array([1, 2])),
    "a folder as Parquet": lambda folder: nf.ParquetColumns(folder),
    "a long name as Parquet": lambda folder: nf.ParquetColumns(folder / ("a" * 300)),
    "a matrix without columns": lambda folder: _array(folder, np.empty((3, 0))),
    "a mesh of no known kind": lambda folder: _mesh(folder),
    "a cell of 5 000 characters": lambda folder: _text(folder, "t,a\n1,2\n0," + "x" * 5000),
}


def _forest():
    return RandomForestClassifier(2, random_state=0).fit(X, y)


def _array(folder, values):
    np.save(folder / "X.npy", values)
    return read_table(folder / "X.npy", "0")


def _text(folder, text):
    (folder / "X.csv").write_text(text)
    return read_table(folder / "X.csv", "t")


def _mesh(folder):
    (folder / "mesh").write_text("not a mesh")
    return read_mesh(folder / "mesh")


@pytest.mark.parametrize("call", CALLS)
def test_it_is_refused_in_a_sentence(call, tmp_path):
    with pytest.raises(nf.InputError) as refusal:
        CALLS[call](tmp_path)
    check_sentence(str(refusal.value))


def test_a_circle_of_links_is_refused_by_the_system(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "a")
    with pytest.raises(OSError, match="Too many levels"):
        TALLY.save(tmp_path / "a")


def test_a_pickled_tally_is_checked():
    changed = NullColumns.__new__(NullColumns)
    with pytest.raises(nf.InputError, match="0 or more"):
        changed.__setstate__(vars(TALLY.probes) | {"wins": -1 - TALLY.probes.wins})


@pytest.mark.parametrize("name", ["left", "right", "feature", "offsets"])
def test_a_pickled_forest_is_checked_before_it_predicts(name):
    forest = pickle.loads(pickle.dumps(nf.grow(X, y, trees=5, probes=0)))
    # One flipped bit of the first root, or of the last offset, led outside of the arrays.
    forest.trees.arrays[name][-1 if name == "offsets" else 0] ^= 1 << 25
    found = pickle.loads(pickle.dumps(forest))
    for use in (found.predict, found.apply):
        with pytest.raises(nf.InputError):
            use(X)


def test_alpha_may_be_a_number_of_numpy(tmp_path):
    selection = nf.select(TALLY, np.float32(0.5))
    selection.to_json(tmp_path / "selection.json")
    assert json.loads((tmp_path / "selection.json").read_text())["alpha"] == 0.5


@pytest.mark.parametrize(
    "counts", [[5 * 10**9], [2**60, 3, 0], [10**4] * 200_000, [10**9 - 2, 1, 1]], ids=len
)
def test_forests_of_any_size_have_halves(counts):
    nodes = np.full(5, sum(counts) // 5)
    nodes[0] += sum(counts) % 5
    whole = nf.Tally.from_counts(counts, nodes_per_tree=nodes, n_samples=9)
    first, second = whole.halves()
    assert (first.counts >= 0).all()
    assert (second.counts >= 0).all()
    assert first.counts.sum() == first.n_nodes
    assert (first.counts + second.counts).tolist() == counts
    error = abs(first.counts - 0.6 * whole.counts) / np.sqrt(0.24 * whole.counts + 1)
    assert error.max() < 6  # standard deviations: 200 000 normal ones have a maximum near 4.6


def test_diagnostics_that_are_not_numbers_are_null_in_json(tmp_path):
    selection = nf.select(small_forest(8))
    assert np.isnan(selection.null.describe()["dispersion"])
    selection.to_json(tmp_path / "selection.json")
    assert (
        json.loads((tmp_path / "selection.json").read_text())["diagnostics"]["dispersion"] is None
    )
