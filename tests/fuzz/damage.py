"""Damage to bytes, files and folders, as disks, transfers and people do it."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np

from fuzz.inputs import Rng, pick


def damaged(content: bytes, rng: Rng) -> tuple[bytes, str]:
    """The bytes with one kind of damage, and its name."""
    kind = pick(rng, ["flip", "flip", "flips", "cut", "cut", "zeros", "insert", "swap", "noise"])
    data, n = np.frombuffer(content, np.uint8).copy(), len(content)
    if n == 0:
        return b"\x00", "a byte in an empty file"
    at = int(rng.integers(n))
    match kind:
        case "flip" | "flips":
            places = rng.integers(n, size=1 if kind == "flip" else int(rng.integers(2, 9)))
            data[places] ^= (1 << rng.integers(8, size=len(places))).astype(np.uint8)
            return data.tobytes(), f"{len(places)} bits from byte {int(places[0])} on"
        case "cut":
            return data[:at].tobytes(), f"cut to {at} of {n} bytes"
        case "zeros":
            data[at : at + int(rng.integers(1, 64))] = 0
        case "insert":
            more = rng.integers(256, size=int(rng.integers(1, 9)), dtype=np.uint8)
            data = np.insert(data, at, more)
        case "swap":
            other = int(rng.integers(n))
            data[at : at + 8], data[other : other + 8] = (
                np.resize(data[other : other + 8], len(data[at : at + 8])),
                np.resize(data[at : at + 8], len(data[other : other + 8])),
            )
        case "noise":
            data[at:] = rng.integers(256, size=n - at, dtype=np.uint8)
    return data.tobytes(), f"{kind} at byte {at} of {n}"


def damage_file(path: Path, rng: Rng) -> str:
    """Damage a file in place; what was done."""
    content, what = damaged(path.read_bytes(), rng)
    path.write_bytes(content)
    return f"{path.name}: {what}"


def damage_folder(folder: Path, rng: Rng, other: Path) -> str:
    """Damage one of the files of a folder, or the folder; what was done.

    Parameters
    ----------
    folder : Path
        Damaged in place.
    rng : Generator
    other : Path
        A folder of the same kind, of other data.
    """
    files = sorted(path for path in folder.iterdir() if path.is_file())
    path = pick(rng, files)
    kind = pick(
        rng, ["bytes"] * 8 + ["delete", "empty", "other", "copy", "rename", "folder", "link"]
    )
    theirs = other / path.name
    match kind:
        case "bytes":
            return damage_file(path, rng)
        case "delete":
            path.unlink()
        case "empty":
            path.write_bytes(b"")
        case "other" if theirs.exists():
            shutil.copyfile(theirs, path)
        case "copy":
            shutil.copyfile(path, path.with_name(pick(rng, ["copy", f"copy of {path.name}", "~"])))
        case "rename":
            moved = pick(rng, files)
            content = moved.read_bytes()
            moved.write_bytes(path.read_bytes())
            path.write_bytes(content)
            return f"{path.name} and {moved.name}: exchanged"
        case "folder":
            path.unlink()
            path.mkdir()
        case "link":
            path.unlink()
            path.symlink_to(pick(rng, [path.name, "nowhere", str(other)]))
    return f"{path.name}: {kind}"
