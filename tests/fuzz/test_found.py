"""What hostile calls have found, one line each: all are refused in a sentence."""

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

import nullforest as nf
from fuzz.library import small_forest
from fuzz.outcomes import check_sentence
from nullforest.datasets.simulate.surfaces import read_mesh
from nullforest.io import read_table
from nullforest.tallies.probe_tally import ProbeTally

X = np.random.default_rng(0).normal(size=(30, 6))
y = X[:, 1] > 0
TALLY = nf.grow(X, y, trees=5, probes=20, candidates=2).tally


def counted(**given):
    return nf.Tally.from_counts([4, 1], **({"nodes_per_tree": [5], "n_samples": 9} | given))


def probes(**changed):
    return replace(TALLY, probes=replace(TALLY.probes, **changed))


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
    changed = ProbeTally.__new__(ProbeTally)
    with pytest.raises(nf.InputError, match="0 or more"):
        changed.__setstate__(vars(TALLY.probes) | {"wins": -1 - TALLY.probes.wins})


def test_diagnostics_that_are_not_numbers_are_null_in_json(tmp_path):
    selection = nf.select(small_forest(8))
    assert np.isnan(selection.null.describe()["dispersion"])
    selection.to_json(tmp_path / "selection.json")
    assert (
        json.loads((tmp_path / "selection.json").read_text())["diagnostics"]["dispersion"] is None
    )
