"""Tallies on disk: one zip archive of plain arrays and a JSON header, no pickles."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import InputError
from nullforest._util.files import as_path, reading, writing
from nullforest._util.words import Command
from nullforest.tallies.null_columns import NullColumns
from nullforest.tallies.tally import Tally

#: How a tally comes to be.
_SAVE = Command("Tally.save()", "nullforest select --tally FILE")
FORMAT = "nullforest tally"
FORMAT_VERSION = 3  # 1: probes without weights; 2: without the mean squared correlation
#: Version of tallies with shadows, which earlier releases cannot read.
SHADOWS_VERSION = 4

_ARRAYS = ("counts", "nodes_per_tree", "pool_per_tree")
_OPTIONAL_ARRAYS = ("couplings", "feature_names", "levels")
#: Name in the file of each field of the null columns of a kind.
_NULL_COLUMNS: dict[str, dict[str, str]] = {
    "probes": {
        name: f"probe_{name}" for name in NullColumns.__dataclass_fields__ if name != "kind"
    },
    "shadows": {
        "ids": "shadow_rows",
        "wins": "shadow_counts",
        "couplings": "shadow_couplings",
        "feature_strata": "shadow_feature_strata",
    },
}
_HEADER = ("candidates", "n_samples", "splitter", "source", "lineage", "fingerprint", "settings")
#: Later additions to the header, left out where they have these values.
_ADDED: dict[str, Any] = {"column_orders": 0, "notes": (), "n_constant": 0}


def to_arrays(tally: Tally) -> dict[str, NDArray[Any]]:
    """Every field of a tally as a plain array (the header as JSON bytes)."""
    arrays: dict[str, NDArray[Any]] = {name: getattr(tally, name) for name in _ARRAYS}
    for name in _OPTIONAL_ARRAYS:
        if getattr(tally, name) is not None:
            arrays[name] = getattr(tally, name)
    version = FORMAT_VERSION if tally.shadows is None else SHADOWS_VERSION
    if (columns := tally.null_columns) is not None:
        for name, key in _NULL_COLUMNS[columns.kind].items():
            values = np.asarray(getattr(columns, name))
            arrays[key] = values.view(np.uint64) if key == "shadow_rows" else values
    header = {"format": FORMAT, "version": version, "arrays": list(arrays)}
    header |= {name: getattr(tally, name) for name in _HEADER}
    header |= {n: v for n, usual in _ADDED.items() if (v := getattr(tally, n)) != usual}
    text = json.dumps(header, sort_keys=True).encode()
    return {"header": np.frombuffer(text, np.uint8), **arrays}


def save(tally: Tally, path: Any) -> None:
    """Write `tally` to `path`, which appears whole or not at all."""
    archive = io.BytesIO()  # an archive that is cut off by a full disk cannot be closed
    np.savez_compressed(archive, **to_arrays(tally))  # type: ignore[arg-type]  # numpy's stub takes the keyword `allow_pickle` for a bool
    with writing(path, binary=True) as file:
        file.write(archive.getvalue())


def load(path: Any) -> Tally:
    """Read a tally; an InputError says what is wrong with any other file."""
    path = as_path(path)
    with reading(path, "a tally"), path.open("rb") as file:
        try:
            archive = np.load(file, allow_pickle=False)
        except ValueError:  # numpy would advise to load it as a pickle, which is unsafe
            archive = None
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise InputError(f"{path} is not a tally, or is damaged; make one with ", _SAVE, ".")
        with archive:
            return from_arrays(archive, path)


def from_arrays(archive: Mapping[str, NDArray[Any]], path: Path) -> Tally:
    """The tally in the arrays of :func:`to_arrays`, which were read from a file."""
    header = json.loads(archive["header"].tobytes()) if "header" in archive else None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise InputError(f"{path} is not a tally; make one with ", _SAVE, ".")
    if header["version"] > SHADOWS_VERSION:
        raise InputError(
            f"{path} is a tally of format {header['version']}, but this nullforest reads "
            f"only up to {SHADOWS_VERSION}; upgrade nullforest."
        )
    if lost := [name for name in header.get("arrays", ()) if name not in archive]:
        raise ValueError(f"{lost[0]} is missing")
    header.setdefault("settings", None)  # version 1 of the format has none
    fields = {name: header[name] for name in _HEADER}
    fields |= {name: header[name] for name in _ADDED if name in header}
    fields["notes"] = tuple(map(str, fields.get("notes", ())))
    if "n_drawn" in (fields["settings"] or ()):  # the name of `samples` in 0.1.0
        fields["settings"]["samples"] = fields["settings"].pop("n_drawn")
    fields["lineage"] = tuple((int(s), int(f), int(n)) for s, f, n in fields["lineage"])
    fields |= {name: archive[name] for name in _ARRAYS}
    fields |= {name: archive[name] for name in _OPTIONAL_ARRAYS if name in archive}
    for kind, keys in _NULL_COLUMNS.items():
        if keys["ids"] in archive:
            columns: dict[str, Any] = {n: archive[key] for n, key in keys.items() if key in archive}
            columns["ids"] = columns["ids"].view(np.int64)  # of shadows unsigned in the file
            fields["null_columns"] = NullColumns(kind=kind, **columns)  # type: ignore[arg-type]  # one of the two
    return Tally(**fields)


def merge(paths: Sequence[Any]) -> Tally:
    """Add the tallies in several files; a refusal names the two files that do not fit.

    The order of the files does not matter: trees of one seed are sorted by their numbers, so
    that the parts of a forest add up to the tally of the whole, byte for byte.

    Examples
    --------
    >>> import numpy as np, nullforest as nf, tempfile, pathlib
    >>> X, folder = np.random.default_rng(0).normal(size=(40, 30)), pathlib.Path(tempfile.mkdtemp())
    >>> for first in (0, 50):
    ...     nf.grow(X, X[:, 2] > 0, trees=50, first_tree=first).tally.save(folder / f"{first}")
    >>> merge([folder / "50", folder / "0"]) == nf.grow(X, X[:, 2] > 0, trees=100).tally
    True
    """
    if not paths:
        raise InputError("There are no tallies to add; name at least one file.")
    parts = sorted(((load(path), path) for path in paths), key=lambda part: part[0].lineage)
    total = parts[0][0]
    for i, (tally, path) in enumerate(parts[1:], 1):
        for other, earlier in parts[:i]:
            if not tally.lineage and other == tally:  # lineages reveal equal forests otherwise
                raise InputError(
                    f"{path} and {earlier} hold the same tally; give each forest once."
                )
        try:
            total = total + tally
        except InputError as error:
            raise InputError(f"{path} does not add to {_named(parts, tally, i)}: {error}") from None
    return total


def _named(parts: Sequence[tuple[Tally, Any]], tally: Tally, number: int) -> str:
    """The first of the files before `number` that `tally` does not add to."""
    for other, path in parts[:number]:
        try:
            other + tally
        except InputError:
            return str(path)
    return "the others"
