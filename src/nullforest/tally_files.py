"""How is a tally kept on disk? One zip archive of plain arrays and a JSON header, no pickles."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from nullforest.errors import InputError
from nullforest.files import writing
from nullforest.tallies import ProbeTally, Tally

FORMAT = "nullforest tally"
FORMAT_VERSION = 2  # 1: all probes weigh the same

_ARRAYS = ("counts", "nodes_per_tree", "pool_per_tree")
_OPTIONAL_ARRAYS = ("couplings", "feature_names")
_PROBE_ARRAYS = ("ids", "wins", "trees", "strata", "feature_strata", "couplings", "weights")
_HEADER = ("candidates", "n_samples", "splitter", "source", "lineage", "fingerprint")


def to_arrays(tally: Tally) -> dict[str, NDArray[Any]]:
    """List every field of a tally as a plain array (the header as JSON bytes)."""
    header = {"format": FORMAT, "version": FORMAT_VERSION}
    header |= {name: getattr(tally, name) for name in _HEADER}
    text = json.dumps(header, sort_keys=True).encode()
    arrays: dict[str, NDArray[Any]] = {"header": np.frombuffer(text, np.uint8)}
    arrays |= {name: getattr(tally, name) for name in _ARRAYS}
    for name in _OPTIONAL_ARRAYS:
        if getattr(tally, name) is not None:
            arrays[name] = getattr(tally, name)
    if tally.probes is not None:
        arrays |= {f"probe_{name}": getattr(tally.probes, name) for name in _PROBE_ARRAYS}
    return arrays


def write(tally: Tally, path: Any) -> None:
    """Write `tally` to `path`, which appears whole or not at all."""
    with writing(path, binary=True) as file:
        np.savez_compressed(cast(BinaryIO, file), **to_arrays(tally))  # type: ignore[arg-type]  # numpy's stub takes the keyword `allow_pickle` for a bool


def read(path: Any) -> Tally:
    """Read a tally; say in a sentence what is wrong with a file that is none."""
    path = Path(path)
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            if not isinstance(archive, np.lib.npyio.NpzFile) or "header" not in archive:
                raise InputError(f"{path} is not a tally; make one with Tally.save().")
            header = json.loads(archive["header"].tobytes())
            if header.get("format") != FORMAT:
                raise InputError(f"{path} is not a tally; make one with Tally.save().")
            if header["version"] > FORMAT_VERSION:
                raise InputError(
                    f"{path} is a tally of format {header['version']}, but this nullforest reads "
                    f"only up to {FORMAT_VERSION}; upgrade nullforest."
                )
            fields = {name: header[name] for name in _HEADER}
            fields["lineage"] = tuple(tuple(part) for part in fields["lineage"])
            fields |= {name: archive[name] for name in _ARRAYS}
            fields |= {name: archive[name] for name in _OPTIONAL_ARRAYS if name in archive}
            if "probe_ids" in archive:
                fields["probes"] = ProbeTally(
                    **{
                        name: archive[f"probe_{name}"]
                        for name in _PROBE_ARRAYS
                        if f"probe_{name}" in archive
                    }
                )
            return Tally(**fields)
    except FileNotFoundError:
        raise InputError(f"There is no file {path}.") from None
    except InputError:
        raise
    except (OSError, EOFError, KeyError, TypeError, ValueError, zipfile.BadZipFile) as error:
        raise InputError(
            f"{path} cannot be read as a tally ({error}); it is damaged, cut short, or something "
            "else. Take the tally again."
        ) from None
