"""How is a tally kept on disk? One zip archive of plain arrays and a JSON header, no pickles."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import InputError
from nullforest._util.files import writing
from nullforest.tallies.tally import ProbeTally, Tally

FORMAT = "nullforest tally"
FORMAT_VERSION = 3  # 1: all probes weigh the same; 2: nobody knows how alike features are

_ARRAYS = ("counts", "nodes_per_tree", "pool_per_tree")
_OPTIONAL_ARRAYS = ("couplings", "feature_names")
_PROBE_ARRAYS = ("ids", "wins", "trees", "strata", "feature_strata", "couplings", "weights")
_HEADER = ("candidates", "n_samples", "splitter", "source", "lineage", "fingerprint", "settings")
#: Arrays that travel with a tally but are no part of it begin with this.
_BESIDE = "beside_"


def to_arrays(tally: Tally) -> dict[str, NDArray[Any]]:
    """List every field of a tally as a plain array (the header as JSON bytes)."""
    arrays: dict[str, NDArray[Any]] = {name: getattr(tally, name) for name in _ARRAYS}
    for name in _OPTIONAL_ARRAYS:
        if getattr(tally, name) is not None:
            arrays[name] = getattr(tally, name)
    if tally.probes is not None:
        arrays |= {f"probe_{name}": getattr(tally.probes, name) for name in _PROBE_ARRAYS}
        arrays["probe_mean_r2"] = np.array(tally.probes.mean_r2)
    header = {"format": FORMAT, "version": FORMAT_VERSION, "arrays": list(arrays)}
    header |= {name: getattr(tally, name) for name in _HEADER}
    text = json.dumps(header, sort_keys=True).encode()
    return {"header": np.frombuffer(text, np.uint8), **arrays}


def write(tally: Tally, path: Any, beside: Mapping[str, NDArray[Any]] | None = None) -> None:
    """Write `tally` to `path`, which appears whole or not at all.

    Arrays in `beside` travel in the same file; :func:`read` passes over them.
    """
    arrays = to_arrays(tally) | {_BESIDE + name: a for name, a in (beside or {}).items()}
    with writing(path, binary=True) as file:
        np.savez_compressed(cast(BinaryIO, file), **arrays)  # type: ignore[arg-type]  # numpy's stub takes the keyword `allow_pickle` for a bool
        file.flush()
        os.fsync(file.fileno())  # the rename must not reach the disk before the content


def read(path: Any) -> Tally:
    """Read a tally; say in a sentence what is wrong with a file that is none."""
    return read_with(path)[0]


def read_with(path: Any) -> tuple[Tally, dict[str, NDArray[Any]]]:
    """Read a tally and the arrays that were written beside it."""
    path = Path(path)
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            return _tally_in(archive, path), {
                name.removeprefix(_BESIDE): archive[name]
                for name in archive.files
                if name.startswith(_BESIDE)
            }
    except FileNotFoundError:
        raise InputError(f"There is no file {path}.") from None
    except InputError:
        raise
    except ValueError:  # numpy's advice to load what is no archive unsafely is not for our readers
        raise InputError(
            f"{path} is no tally, or a damaged one; make one with Tally.save()."
        ) from None
    except Exception as error:  # bytes at random make zip, zlib, numpy and json say anything
        reason = str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
        raise InputError(
            f"{path} cannot be read as a tally ({reason}); it is damaged, cut short, or something "
            "else. Take the tally again."
        ) from None


def _tally_in(archive: Any, path: Path) -> Tally:
    if not isinstance(archive, np.lib.npyio.NpzFile) or "header" not in archive:
        raise InputError(f"{path} is not a tally; make one with Tally.save().")
    header = json.loads(archive["header"].tobytes())
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise InputError(f"{path} is not a tally; make one with Tally.save().")
    if header["version"] > FORMAT_VERSION:
        raise InputError(
            f"{path} is a tally of format {header['version']}, but this nullforest reads "
            f"only up to {FORMAT_VERSION}; upgrade nullforest."
        )
    if lost := [name for name in header.get("arrays", ()) if name not in archive]:
        raise ValueError(f"{lost[0]} is missing")
    fields = {name: header[name] for name in _HEADER if name != "settings"}
    fields["settings"] = header.get("settings")  # the first tallies did not know theirs
    fields["lineage"] = tuple((int(s), int(f), int(n)) for s, f, n in fields["lineage"])
    fields |= {name: archive[name] for name in _ARRAYS}
    fields |= {name: archive[name] for name in _OPTIONAL_ARRAYS if name in archive}
    if "probe_ids" in archive:
        known = {name: f"probe_{name}" for name in _PROBE_ARRAYS if f"probe_{name}" in archive}
        mean_r2 = float(archive["probe_mean_r2"]) if "probe_mean_r2" in archive else 0.0
        fields["probes"] = ProbeTally(
            **{name: archive[key] for name, key in known.items()},
            mean_r2=mean_r2,
        )
    return Tally(**fields)


def merge(paths: Sequence[Any]) -> Tally:
    """Add the tallies in several files; a refusal names the two files that do not fit.

    The order of the files does not matter: trees of one seed are put in the order of their
    numbers, so that parts of a forest add up to the tally of the whole, byte for byte.

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
    parts = sorted(((read(path), path) for path in paths), key=lambda part: part[0].lineage)
    total = parts[0][0]
    for i, (tally, path) in enumerate(parts[1:], 1):
        for other, known in parts[:i]:
            if not tally.lineage and other == tally:  # else the lineage tells
                raise InputError(f"{path} and {known} hold the same tally; give each forest once.")
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
