"""Tallies add, refuse what does not fit, and survive the disk."""

import io
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nullforest import InputError, Tally
from nullforest.tallies.null_columns import NullColumns
from nullforest.tallies.tally import N_COUPLING_BINS


def make(seed=0, F=5, T=3, first=0, probes=True, **changes):
    rng = np.random.default_rng(seed)
    splits = [rng.integers(F, size=rng.integers(1, 9)) for _ in range(T)]
    counts = np.bincount(np.concatenate(splits), minlength=F)
    couplings = np.zeros((F, N_COUPLING_BINS), int)
    couplings[:, 3] = counts
    fields = {
        "counts": counts,
        "nodes_per_tree": [len(c) for c in splits],
        "pool_per_tree": [F] * T,
        "candidates": 2,
        "n_samples": 20,
        "couplings": couplings,
        "null_columns": NullColumns(
            "probes",
            ids=np.arange(4) + seed % 2,
            wins=rng.integers(9, size=4),
            trees=np.full(4, T),
            strata=np.zeros(4),
            feature_strata=np.zeros(F),
            couplings=rng.integers(5, size=(1, N_COUPLING_BINS)),
        )
        if probes
        else None,
        "feature_names": [f"gene {i}" for i in range(F)],
        "lineage": ((7, first, T),),
        "fingerprint": "abc",
    }
    return Tally(**(fields | changes))


def test_a_tally_cannot_be_changed_and_leaves_the_callers_array_alone():
    counts = np.array([2, 1])
    tally = Tally.from_counts(counts, nodes_per_tree=[3], n_samples=9)
    with pytest.raises(ValueError, match="read-only"):
        tally.counts[0] = 5
    with pytest.raises(AttributeError):
        tally.n_samples = 3
    counts[0] = 100
    assert tally.counts.tolist() == [2, 1]


def test_addition_adds_every_part():
    a, b = make(0), make(2, first=3)
    total = a + b
    assert (total.counts == a.counts + b.counts).all()
    assert total.nodes_per_tree.tolist() == [*a.nodes_per_tree, *b.nodes_per_tree]
    assert (total.couplings == a.couplings + b.couplings).all()
    assert (total.probes.wins == a.probes.wins + b.probes.wins).all()
    assert (total.probes.trees == 6).all()
    assert total.lineage == ((7, 0, 6),)


def test_probes_of_different_identity_stand_side_by_side():
    total = make(0) + make(1, first=3)
    assert total.probes.ids.tolist() == [0, 1, 2, 3, 4]
    assert total.probes.trees.tolist() == [3, 6, 6, 6, 3]


@given(st.lists(st.integers(0, 5), min_size=3, max_size=3))
@settings(max_examples=20, deadline=None)
def test_addition_is_associative(seeds):
    a, b, c = (make(seed, first=3 * i) for i, seed in enumerate(seeds))
    assert (a + b) + c == a + (b + c)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"F": 6}, "numbers of features"),
        ({"n_samples": 21}, "numbers of samples"),
        ({"candidates": 3}, "numbers of candidates"),
        ({"splitter": "random"}, "split rules"),
        ({"fingerprint": "xyz"}, "different data"),
        ({"feature_names": list("abcde")}, "gene 0"),
        ({"first": 2}, "trees 2 to 2 of seed 7"),
    ],
)
def test_what_does_not_fit_is_refused_with_a_reason(changes, words):
    other = make(**({"seed": 2, "first": 3} | changes))
    with pytest.raises(InputError, match=words):
        make(0) + other


@pytest.mark.parametrize("probes", [True, False])
def test_a_saved_tally_comes_back_whole(tmp_path, probes):
    tally = make(3, probes=probes, feature_names=["ä b", "x,y", 'q"', "α", "last"])
    tally.save(tmp_path / "one.tally")
    assert Tally.load(tmp_path / "one.tally") == tally
    assert [p.name for p in tmp_path.iterdir()] == ["one.tally"]


def test_broken_files_get_a_sentence(tmp_path):
    make().save(tmp_path / "good")
    good = (tmp_path / "good").read_bytes()
    (tmp_path / "short").write_bytes(good[: len(good) // 2])
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "text").write_text("count,feature\n1,a\n")
    np.savez(tmp_path / "foreign.npz", a=np.ones(3))
    np.save(tmp_path / "array.npy", np.ones(3))
    np.savez(tmp_path / "pickle.npz", header=np.array([{"a": 1}], object), allow_pickle=True)
    with zipfile.ZipFile(tmp_path / "later", "w") as archive:
        buffer = io.BytesIO()
        text = b'{"format": "nullforest tally", "version": 99}'
        np.save(buffer, np.frombuffer(text, np.uint8))
        archive.writestr("header.npy", buffer.getvalue())
    flipped = bytearray(good)
    for place in range(len(good) // 3, len(good) // 3 + 40):  # a single byte may mean nothing
        flipped[place] ^= 0xFF
    (tmp_path / "flipped").write_bytes(bytes(flipped))
    names = ["short", "empty", "text", "foreign.npz", "array.npy", "pickle.npz", "later", "flipped"]
    for name in [*names, "absent"]:
        with pytest.raises(InputError, match=name):
            Tally.load(tmp_path / name)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"counts": [1, 2]}, "counts add to 3"),
        ({"counts": [-1, 6]}, "negative"),
        ({"counts": [[5, 0]]}, "flat"),
        ({"counts": [2.5, 2.5]}, "whole numbers"),
        ({"counts": []}, "at least one feature"),
        ({"pool_per_tree": [1]}, "one per tree"),
        ({"pool_per_tree": 3}, "pool"),
        ({"candidates": 3}, "candidates = 3"),
        ({"feature_names": ["a"]}, "1 feature names"),
    ],
)
def test_contradictions_are_refused(changes, words):
    fields = {"counts": [4, 1], "nodes_per_tree": [2, 3], "n_samples": 9}
    with pytest.raises(InputError, match=words):
        Tally.from_counts(**(fields | changes))


def test_draw_tells_the_strategy():
    counts = {"counts": [2, 1, 1], "nodes_per_tree": [2, 2], "n_samples": 9}
    assert Tally.from_counts(**counts, candidates=1).draw == "node"
    assert Tally.from_counts(**counts, pool_per_tree=2, candidates=2).draw == "tree"
    assert Tally.from_counts(**counts, pool_per_tree=2, candidates=1).draw == "both"
    assert "drawn per tree and per node" in repr(
        Tally.from_counts(**counts, pool_per_tree=2, candidates=1)
    )
