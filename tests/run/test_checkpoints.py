"""Checkpoints keep what was finished and refuse what does not belong to them."""

from __future__ import annotations

import json
import resource
import shutil

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_array_equal

from nullforest import InputError
from nullforest.run.checkpoints import HEADER, Checkpoint, DamagedError, digest, plain

IDENTITY = {"features": digest(np.arange(3)), "seed": 3, "share": 0.5, "depth": None}


def opened(folder, **changes):
    return Checkpoint(folder, "sum", IDENTITY | changes)


@pytest.fixture
def kept(tmp_path):
    """A checkpoint with one part."""
    with opened(tmp_path / "kept") as checkpoint:
        checkpoint.write("part", {"found": [1, 2]}, {"values": np.arange(5.0)})
    return tmp_path / "kept"


def test_parts_come_back_as_they_were_and_are_replaced(kept):
    with opened(kept) as checkpoint:
        part = checkpoint.read("part")
        assert part.content == {"found": [1, 2]}
        assert_array_equal(part.arrays["values"], np.arange(5.0))
        assert checkpoint.read("other") is None
        checkpoint.write("part", "new")
    with opened(kept) as checkpoint:
        assert checkpoint.read("part").content == "new"
        assert checkpoint.read("part").arrays == {}
    found = Checkpoint.open(kept, "sum")
    assert found.read("part").content == "new"
    assert Checkpoint.open(kept.parent, "sum") is None


def test_without_a_folder_nothing_is_kept():
    with opened(None) as checkpoint:
        checkpoint.write("part", 1)
        assert checkpoint.read("part") is None


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"seed": 4}, r"differs in its seed \(3, not 4\)"),
        ({"depth": 2}, r"differs in its depth \(null, not 2\)"),
        ({"features": digest(np.ones(3))}, r"differs in its features; give"),
        ({"new": 1}, r"differs in its new \(null, not 1\)"),
    ],
)
def test_another_identity_is_refused_with_its_difference(kept, changes, words):
    with pytest.raises(InputError, match=words), opened(kept, **changes):
        pass
    other_kind = Checkpoint(kept, "product", IDENTITY)
    with pytest.raises(InputError, match="does not describe"), other_kind:
        pass
    with opened(kept) as checkpoint:  # a refusal changes nothing
        assert checkpoint.read("part").content == {"found": [1, 2]}


def test_a_part_of_another_run_or_of_another_name_is_refused(kept, tmp_path):
    with opened(tmp_path / "other", seed=9) as checkpoint:
        checkpoint.write("part", 1)
    shutil.copy(kept / "part", kept / "copy")
    with opened(kept) as checkpoint, pytest.raises(InputError, match="does not belong"):
        checkpoint.read("copy")
    shutil.copy(tmp_path / "other" / "part", kept / "part")
    with opened(kept) as checkpoint, pytest.raises(InputError, match="does not belong"):
        checkpoint.read("part")


def test_files_of_others_are_neither_read_nor_replaced(tmp_path):
    np.savez(tmp_path / "part", a=1)
    (tmp_path / "part.npz").rename(tmp_path / "part")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    before = (tmp_path / "part").read_bytes()
    with opened(tmp_path) as checkpoint:
        for name in ("part", "link"):
            with pytest.raises(InputError, match="does not belong"):
                checkpoint.read(name)
        with pytest.raises(InputError, match="does not belong"):
            checkpoint.write("link", 1)
    assert (tmp_path / "part").read_bytes() == before
    assert not (tmp_path / "target").exists()


def test_every_damaged_byte_is_noticed(kept):
    """Never another content: the right one, or a sentence."""
    rng = np.random.default_rng(0)
    for name in ("part", HEADER):
        whole = (kept / name).read_bytes()
        for trial in range(150):
            damaged = bytearray(whole)
            if trial % 3 == 0:
                damaged = damaged[: rng.integers(len(whole))]
            else:
                damaged[rng.integers(len(whole))] ^= 1 << rng.integers(8)
            (kept / name).write_bytes(damaged)
            try:
                with opened(kept) as checkpoint:
                    part = checkpoint.read("part")
            except InputError:
                continue
            assert part.content == {"found": [1, 2]}
            assert_array_equal(part.arrays["values"], np.arange(5.0))
        (kept / name).write_bytes(whole)


def test_a_damaged_part_is_told_from_a_foreign_one(kept):
    (kept / "part").write_bytes((kept / "part").read_bytes()[:-30])
    with opened(kept) as checkpoint, pytest.raises(DamagedError, match="is damaged"):
        checkpoint.read("part")


def test_one_process_at_a_time(kept):
    with opened(kept), pytest.raises(InputError, match="Another process is using"), opened(kept):
        pass
    with opened(kept):
        pass


def test_a_full_disk_gives_a_sentence_and_leaves_the_state_before(kept):
    large = np.random.default_rng(0).random(10_000)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with opened(kept) as checkpoint:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
        try:
            with pytest.raises(InputError, match=r"could not be written .*What was saved before"):
                checkpoint.write("part", 1, {"large": large})
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert {path.name for path in kept.iterdir()} == {"part", HEADER, ".lock"}
    with opened(kept) as checkpoint:
        assert checkpoint.read("part").content == {"found": [1, 2]}
        checkpoint.write("part", 1, {"large": large})


def test_a_place_that_cannot_be_used_is_named(tmp_path):
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "below", tmp_path / ("n" * 300)):
        with pytest.raises(InputError, match="cannot be used for a sum"), opened(folder):
            pass
    for every in (-1.0, float("nan"), "often"):
        with pytest.raises(InputError, match="no time between two savings"):
            Checkpoint(tmp_path, "sum", {}, every=every)


def test_saving_is_due_by_the_clock_and_takes_a_small_share(tmp_path):
    with Checkpoint(tmp_path, "sum", {}, every=float("inf")) as checkpoint:
        assert not checkpoint.due
        assert checkpoint.interval == 86400.0
    with Checkpoint(tmp_path, "sum", {}, every=0) as checkpoint:
        assert checkpoint.due
        checkpoint.write("part", 1, {"large": np.random.default_rng(0).random(300_000)})
        assert checkpoint.interval > 0


def test_the_header_is_readable(kept):
    header = json.loads((kept / HEADER).read_text())
    assert header["format"].endswith(", sum")
    assert header["identity"] == IDENTITY


def test_digests_tell_apart_what_differs_and_nothing_else():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, 4))
    values = [
        None,
        0,
        0.0,
        False,
        "0",
        [0],
        [[0], 0],
        [0, [0]],
        {"a": 1},
        {"a": 2},
        X,
        X.T,
        X.astype(np.float32),
        np.where(X.max() - 1e-12 < X, 0, X),
        scipy.sparse.csc_array(X * (X > 0)),
        np.array(["a", "b"]),
        np.array(["a", "c"]),
        np.array(["a", None], object),
        np.array(["2020-01-01"], "M8[D]"),
        np.arange(5000),
        np.where(np.arange(5000) == 2500, 0, np.arange(5000)),  # NumPy shows both the same
        len,
        digest,
    ]
    assert len({digest(value) for value in values}) == len(values)
    assert digest(X) == digest(np.asfortranarray(X))
    assert digest(scipy.sparse.csc_array(X)) == digest(scipy.sparse.csr_array(X))
    assert digest({"a": 1, "b": 2}) == digest({"b": np.int64(2), "a": 1})
    assert digest(object()) == digest(object())  # its address is arbitrary
    assert plain(np.float64(0.5)) == 0.5
    assert plain(X) == digest(X)
