"""A forest is the same when X or its table lies on disk, and only what is needed is read."""

from __future__ import annotations

import json
import pickle
import resource
import signal
import subprocess
import sys
import tracemalloc
from pathlib import Path

import anndata
import h5py
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import zarr

import nullforest as nf
from nullforest.data import rank_table as ranking
from nullforest.data import table_files


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    """Few columns at a time, and nothing so small that it is simply read."""
    monkeypatch.setattr(ranking, "BLOCK", 4 * 60 * 50)
    monkeypatch.setattr(ranking, "SMALL", 0)


@pytest.fixture(params=[60, 600], ids=["orders", "ranks"])
def data(request):
    """Continuous columns, ties and missing values, below and above 512 samples."""
    S = request.param
    rng = np.random.default_rng(S)
    X = rng.normal(size=(S, 130)).astype(np.float32)
    X[:, 40:80] = rng.poisson(0.4, size=(S, 40))
    X[rng.random((S, 130)) < 0.02] = np.nan
    return X, np.nan_to_num(X[:, 3]) + np.nan_to_num(X[:, 50]) > 0.4


def in_memory_map(X, folder):
    X.tofile(folder / "X.bin")
    return np.memmap(folder / "X.bin", X.dtype, "r", shape=X.shape)


def in_zarr(X, folder):
    path, chunks = str(folder / "X.zarr"), (len(X) // 2, 7)
    if hasattr(zarr, "create_array"):
        zarr.create_array(store=path, data=X, chunks=chunks)
    else:  # zarr 2
        zarr.array(X, store=path, chunks=chunks)
    return zarr.open_array(path, mode="r")


def in_hdf5(X, folder):
    with h5py.File(folder / "X.h5", "w") as file:
        file.create_dataset("X", data=X, chunks=(20, 16))
    return h5py.File(folder / "X.h5")["X"]


def in_anndata(X, folder, convert=lambda X: X):
    names = pd.DataFrame(index=[f"gene {i}" for i in range(X.shape[1])])
    rows = pd.DataFrame(index=[str(i) for i in range(len(X))])
    anndata.AnnData(convert(X), obs=rows, var=names).write_h5ad(folder / "X.h5ad")
    return anndata.read_h5ad(folder / "X.h5ad", backed="r")


def in_parquet(X, folder):
    frame = pd.DataFrame(X, columns=[f"gene {i}" for i in range(X.shape[1])])
    frame.assign(target=1).to_parquet(folder / "X.parquet")
    return nf.ParquetColumns(folder / "X.parquet", drop=["target"])


KINDS = {
    "memory map": in_memory_map,
    "zarr": in_zarr,
    "hdf5": in_hdf5,
    "anndata": in_anndata,
    "anndata, sparse columns": lambda X, f: in_anndata(X, f, scipy.sparse.csc_matrix),
    "anndata, sparse rows": lambda X, f: in_anndata(X, f, scipy.sparse.csr_matrix),
    "parquet": in_parquet,
    "sparse columns": lambda X, f: scipy.sparse.csc_array(X),
    "sparse rows": lambda X, f: scipy.sparse.csr_matrix(X),
    "array": lambda X, f: X,
}


def assert_same(a, b):
    assert a.tally.fingerprint == b.tally.fingerprint
    np.testing.assert_array_equal(a.tally.counts, b.tally.counts)
    np.testing.assert_array_equal(a.tally.couplings, b.tally.couplings)
    np.testing.assert_array_equal(a.tally.probes.wins, b.tally.probes.wins)
    for name in a.sums:
        np.testing.assert_array_equal(a.sums[name], b.sums[name])
    for name, values in a.trees.arrays.items():
        np.testing.assert_array_equal(values, b.trees.arrays[name])


@pytest.mark.parametrize("where", ["folder", "wherever"])
@pytest.mark.parametrize("kind", KINDS)
def test_wherever_x_lies_the_forest_is_the_same(data, kind, where, tmp_path):
    X, y = data
    stored = KINDS[kind](X, tmp_path)
    expected = nf.grow(X, y, trees=12, probes=300)
    table = nf.RankTable(stored, folder=tmp_path / "ranks" if where == "folder" else None)
    forest = nf.grow(table, y, trees=12, probes=300)
    assert_same(forest, expected)
    np.testing.assert_array_equal(forest.predict(stored), expected.predict(X))
    np.testing.assert_array_equal(forest.predict(table), expected.predict(X))
    if "anndata" in kind or kind == "parquet":
        assert forest.tally.names[5] == "gene 5"
    if where == "wherever":
        assert_same(nf.grow(stored, y, trees=12, probes=300), expected)


def test_a_table_is_opened_again_and_travels_by_its_folder(data, tmp_path):
    X, y = data
    nf.RankTable(X, folder=tmp_path / "ranks", feature_names=[f"g{i}" for i in range(130)])
    table = nf.RankTable.open(tmp_path / "ranks")
    expected = nf.grow(X, y, trees=12, probes=300)
    assert_same(nf.grow(table, y, trees=12, probes=300), expected)
    assert table.feature_names[3] == "g3"
    travelling = pickle.dumps(table)
    assert len(travelling) < 500  # the folder's name, not what is in it
    assert_same(nf.grow(pickle.loads(travelling), y, trees=12, probes=300), expected)


@pytest.mark.parametrize("where", ["memory", "temporary", "folder"])
@pytest.mark.parametrize("kind", ["array", "sparse columns"])
def test_a_table_travels_with_and_without_values(data, kind, where, tmp_path, monkeypatch):
    X, y = data
    if where == "temporary":  # as if the table were larger than half of the memory
        monkeypatch.setattr(ranking, "_too_large", lambda *_: True)
    folder = tmp_path / "ranks" if where == "folder" else None
    table = nf.RankTable(KINDS[kind](X, tmp_path), folder=folder)
    assert (table.folder is None) == (where == "memory")
    expected = nf.grow(X, y, trees=12, probes=300)
    assert_same(nf.grow(pickle.loads(pickle.dumps(table)), y, trees=12, probes=300), expected)
    light = pickle.loads(pickle.dumps(table.without_values()))
    alone = {"trees": 12, "probes": 300, "keep_trees": False, "oob": False}
    assert nf.grow(light, y, **alone).tally == nf.grow(X, y, **alone).tally
    if where != "folder" or kind != "array":  # there the values lie in the folder too
        with pytest.raises(nf.InputError, match="values of X were not kept"):
            nf.grow(light, y, trees=2)


#: Forbids the pages of the table that hold no column of the first tree's pool, then grows it: a
#: read anywhere else would end the process by a signal.
FORBIDDING = """
import ctypes, json, mmap, sys
import numpy as np, nullforest as nf
from nullforest import _native
folder, F, candidates, forbid_all = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
table = nf.RankTable.open(folder)
block = table._arrays.parts["block"]
S = table.shape[0]
stride = (len(block) - 64) // F
key = _native.tree_key(5, 0)
step = lambda key, i: mix((key + 0x9E3779B97F4A7C15 * (i + 1)) % 2**64)
def mix(x):
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    x = (x ^ x >> 27) * 0x94D049BB133111EB % 2**64
    return x ^ x >> 31
pool = _native.shuffle(F, step(key, 1), candidates)
needed = set()
for feature in [] if forbid_all == "all" else pool:
    first, last = feature * stride, (feature + 1) * stride + 64
    needed |= set(range(first // mmap.PAGESIZE, last // mmap.PAGESIZE + 1))
start = block.ctypes.data
assert start % mmap.PAGESIZE == 0
pages = -(-len(block) // mmap.PAGESIZE)
libc = ctypes.CDLL(None, use_errno=True)
for page in range(pages):
    if page not in needed:
        address = ctypes.c_void_p(start + page * mmap.PAGESIZE)
        assert libc.mprotect(address, ctypes.c_size_t(mmap.PAGESIZE), 0) == 0
forest = nf.grow(table, np.arange(S) % 2, trees=1, candidates=candidates, draw="tree", seed=5,
                 probes=0, keep_trees=False, oob=False)
print(json.dumps([len(needed) / pages, forest.tally.counts.tolist()]))
"""


def test_a_tree_reads_only_its_pool(tmp_path):
    X = np.random.default_rng(0).normal(size=(1500, 400)).astype(np.float32)
    nf.RankTable(X, folder=tmp_path, keep_values=False)

    def grown(which):
        words = [sys.executable, "-c", FORBIDDING, str(tmp_path), "400", "20", which]
        return subprocess.run(words, capture_output=True, text=True, check=False)

    done = grown("others")
    assert done.returncode == 0, done.stderr
    share, counts = json.loads(done.stdout)
    assert share < 0.15
    alone = {"candidates": 20, "draw": "tree", "seed": 5, "probes": 0, "trees": 1}
    expected = nf.grow(X, np.arange(1500) % 2, **alone).tally.counts
    assert counts == expected.tolist()
    refused = grown("all")  # a read that is forbidden is noticed, by a sanitizer if there is one
    assert refused.returncode == -signal.SIGSEGV or "AddressSanitizer: SEGV" in refused.stderr


def test_sparse_data_are_never_made_dense():
    # tracemalloc sees every array that numpy makes. Dense, X would be 160 MB; the table of ranks
    # takes 1 byte a value, and what is made dense at a time is bounded.
    rng = np.random.default_rng(0)
    place = rng.integers(0, 200, 200_000), rng.integers(0, 100_000, 200_000)
    X = scipy.sparse.coo_array((rng.random(200_000), place), shape=(200, 100_000))
    y = np.arange(200) % 2
    tracemalloc.start()
    try:
        table = nf.RankTable(X.tocsr())
        forest = nf.grow(table, y, trees=2, candidates=10, probes=0, max_depth=3)
        forest.predict(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 40_000_000
    assert table.nbytes < 40_000_000


def test_mapped_memory_is_let_go(data, tmp_path, monkeypatch):

    X, y = data
    monkeypatch.setattr(table_files, "RESIDENT", 1)
    table = nf.RankTable(X, folder=tmp_path / "ranks")
    forest = nf.grow(table, y, trees=200, progress=lambda *_: None)
    assert forest.tally == nf.grow(X, y, trees=200).tally


#: Is killed after it has written all of a table but its description.
KILLED = """
import os, sys, numpy as np, nullforest as nf
from nullforest.data import table_files
describe = table_files._describe
table_files._describe = lambda folder, about: (
    os.kill(os.getpid(), 9) if about["finished"] else describe(folder, about)
)
nf.RankTable(np.ones((9, 4)), folder=sys.argv[1], feature_names=list("abcd"))
"""


def test_a_folder_left_by_a_kill_is_built_anew(tmp_path):
    folder = tmp_path / "ranks"
    done = subprocess.run([sys.executable, "-c", KILLED, str(folder)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert (folder / "names.npy").exists()
    with pytest.raises(nf.InputError, match="no finished rank table"):
        nf.RankTable.open(folder)
    X = np.random.default_rng(0).normal(size=(9, 4))
    nf.RankTable(X, folder=folder)
    table = nf.RankTable.open(folder)
    assert table.feature_names is None  # not those of the table that was never finished
    assert table.fingerprint == nf.RankTable(X).fingerprint


def test_files_of_others_are_not_overwritten(tmp_path):
    X = np.random.default_rng(0).normal(size=(9, 4))
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "values.bin").write_text("precious")
    with pytest.raises(nf.InputError, match=r"values\.bin exists and does not belong"):
        nf.RankTable(X, folder=tmp_path / "a")
    assert [p.name for p in (tmp_path / "a").iterdir() if p.name != ".lock"] == ["values.bin"]
    assert (tmp_path / "a" / "values.bin").read_text() == "precious"
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "block.bin").symlink_to(tmp_path / "target")
    with pytest.raises(nf.InputError, match=r"block\.bin exists"):
        nf.RankTable(X, folder=tmp_path / "b")
    assert not (tmp_path / "target").exists()
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "table.json").write_text('{"legs": 4}')
    with pytest.raises(nf.InputError, match=r"table\.json is damaged, or does not describe"):
        nf.RankTable(X, folder=tmp_path / "c")
    assert (tmp_path / "c" / "table.json").read_text() == '{"legs": 4}'


def test_two_processes_do_not_build_in_one_folder(tmp_path):
    from nullforest.data.table_files import in_folder

    X = np.random.default_rng(0).normal(size=(9, 4))
    building = in_folder(tmp_path / "ranks", 0, keep_values=True)
    with building, pytest.raises(nf.InputError, match="Another process is using"):
        nf.RankTable(X, folder=tmp_path / "ranks")
    nf.RankTable(X, folder=tmp_path / "ranks")


def test_a_full_disk_gets_a_sentence(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 400))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, limits[1]))
    try:
        with pytest.raises(nf.InputError, match="could not be written to"):
            nf.RankTable(X, folder=tmp_path / "ranks")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert nf.RankTable(X, folder=tmp_path / "ranks").shape == (60, 400)


#: Makes a table larger than memory, as far as it knows, and waits.
TEMPORARY = """
import time, numpy as np, nullforest as nf
from nullforest.data import rank_table
rank_table._too_large = lambda *_: True
table = nf.RankTable(np.random.default_rng(0).normal(size=(60, 40)))
print(table.folder, flush=True)
nf.grow(table, np.arange(60) % 2, trees=10**8)
"""


def test_sigterm_removes_a_temporary_table():
    command = [sys.executable, "-c", TEMPORARY]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        folder = Path(child.stdout.readline().strip())
        assert (folder / "table.json").exists()
        child.send_signal(signal.SIGTERM)
        assert child.wait(60) == 128 + signal.SIGTERM
    assert not folder.exists()


def test_missing_values_and_ties_have_different_fingerprints():
    X = np.random.default_rng(0).normal(size=(30, 4))
    missing, tied = X.copy(), X.copy()
    missing[:5, 2], tied[:5, 2] = np.nan, X[:, 2].max() + 1
    prints = {nf.RankTable(values).fingerprint for values in (X, missing, tied)}
    assert len(prints) == 3


def test_what_cannot_be_is_said(tmp_path):
    X = np.random.default_rng(0).normal(size=(30, 20))
    with pytest.raises(nf.InputError, match="no finished rank table"):
        nf.RankTable.open(tmp_path)
    nf.RankTable(X, folder=tmp_path / "a")
    with pytest.raises(nf.InputError, match="holds a rank table already"):
        nf.RankTable(X, folder=tmp_path / "a")
    X[3, 17] = np.inf
    with pytest.raises(nf.InputError, match="Feature x17 holds an infinite value"):
        nf.RankTable(X, folder=tmp_path / "b")
    with pytest.raises(nf.InputError, match="no finished rank table"):
        nf.RankTable.open(tmp_path / "b")
    with h5py.File(tmp_path / "X.h5", "w") as file:
        cube = file.create_dataset("X", data=np.zeros((3, 3, 3)))
        with pytest.raises(nf.InputError, match="3 axes"):
            nf.grow(cube, [0, 1, 0], trees=1)
    with pytest.raises(nf.InputError, match="There is no file"):
        nf.ParquetColumns(tmp_path / "none.parquet")
    (tmp_path / "odd.parquet").write_text("odd")
    with pytest.raises(nf.InputError, match="cannot be read as Parquet"):
        nf.ParquetColumns(tmp_path / "odd.parquet")
    text = pd.DataFrame({"a": ["x", "y"], "b": [1, 2]})
    text.to_parquet(tmp_path / "text.parquet")
    with pytest.raises(nf.InputError, match="no column 'c'"):
        nf.ParquetColumns(tmp_path / "text.parquet", drop=["c"])
    with pytest.raises(nf.InputError, match="not numbers"):
        nf.grow(nf.ParquetColumns(tmp_path / "text.parquet"), [0, 1], trees=1)
