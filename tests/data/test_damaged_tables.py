"""Damaged rank tables on disk are refused, or equal the table as it was."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

import nullforest as nf
from nullforest.data import rank_table as ranking
from nullforest.data import table_files


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    """Few columns at a time, and nothing so small that it is simply read."""
    monkeypatch.setattr(ranking, "BLOCK", 4 * 60 * 50)
    monkeypatch.setattr(ranking, "SMALL", 0)


@pytest.fixture
def built(tmp_path):
    """A folder with a table of few features, some tied, some missing."""
    X = np.random.default_rng(0).normal(size=(30, 20))
    X[:, 5], X[3, 7] = X[:, 5].round(), np.nan
    nf.RankTable(X, folder=tmp_path / "ranks", feature_names=[f"g{i}" for i in range(20)])
    return tmp_path / "ranks"


def test_every_damaged_byte_is_noticed(built):
    """Of each file, every truncation and every bit: an error, or the table as it was."""
    expected = [np.array(part) for part in nf.RankTable.open(built).native.arrays()]
    rng = np.random.default_rng(0)
    for path in sorted(built.glob("[!.]*")):
        whole = path.read_bytes()
        changes = [whole[:0], whole[:-1], whole[: len(whole) // 2], whole + b"0", b"[]", b"{}"]
        for _ in range(40):
            flipped = bytearray(whole)
            flipped[rng.integers(len(whole))] ^= 1 << rng.integers(8)
            changes.append(bytes(flipped))
        for changed in changes:
            path.write_bytes(changed)
            try:
                table = nf.RankTable.open(built)
            except nf.InputError as error:
                assert "ranks" in str(error)  # noqa: PT017 -- not every change must be refused
                continue
            assert path.name == "table.json"  # its blanks and the order of its entries are free
            for one, other in zip(expected, table.native.arrays(), strict=True):
                np.testing.assert_array_equal(one, other)
        path.write_bytes(whole)
    assert nf.RankTable.open(built).feature_names[3] == "g3"


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("block.bin", lambda ranks: ranks[[1, 1, *range(2, len(ranks))]]),  # a sample twice
        ("block.bin", lambda ranks: ranks[[1, 0, *range(2, len(ranks))]]),  # two exchanged
        ("differs.bin", lambda bits: bits ^ np.uint8(1)),
        ("flags.bin", lambda flags: flags ^ np.uint8(1)),
    ],
    ids=["twice", "exchanged", "ties", "flags"],
)
def test_columns_are_verified_where_the_checksums_agree(built, name, change):
    """A folder that was damaged before its checksums were taken, or that others made."""
    changed = change(np.fromfile(built / name, np.uint8)).tobytes()
    (built / name).write_bytes(changed)
    about = table_files.read_sealed(built / "table.json", table_files.FORMAT, "a rank table")
    about["files"][name]["crc32"] = zlib.crc32(changed)
    table_files.write_sealed(built / "table.json", about)
    with pytest.raises(nf.InputError, match="ranks are damaged"):
        nf.RankTable.open(built)


def test_without_verifying_sizes_and_ranges_are_still_checked(built):
    for name, change in [
        ("block.bin", lambda b: b[:-100]),
        ("differs.bin", lambda b: b[:-8]),
        ("flags.bin", lambda b: b[:-1]),
        ("flags.bin", lambda b: b"\xff" * len(b)),
        ("known.bin", lambda b: b"\xff" * len(b)),
        ("values.bin", lambda b: b + b"0"),
        ("names.npy", lambda b: b[:-1]),
    ]:
        whole = (built / name).read_bytes()
        (built / name).write_bytes(change(whole))
        with pytest.raises(nf.InputError, match="damaged"):
            nf.RankTable.open(built, verify=False)
        (built / name).write_bytes(whole)
    assert nf.RankTable.open(built, verify=False).shape == (30, 20)
