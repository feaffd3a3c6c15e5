"""How often did chance do as well? Counts over permutations, kept on disk if asked for.

Only what the p-values need is held: per feature how many permutations gave a larger and an equal
statistic, its own and pooled over all features, and the sum. The permuted statistics themselves
(permutations × features, float32) are held only for the parametric fits.
"""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import InputError
from nullforest._util.files import writing
from nullforest.nulls.distribution import Floats

FORMAT = "nullforest permutations 1"
#: Seconds between two writings of the file, at least.
EVERY = 5.0
#: Writing may take this share of the time, at most.
SHARE = 0.05

_COUNTS = ("larger", "equal", "pooled_larger", "pooled_equal")


@dataclass(frozen=True, eq=False)
class Exceedances:
    """How the observed statistics compare with those of permutations 0 to `done` - 1.

    Attributes
    ----------
    observed : (F,) float
    larger, equal : (F,) int
        Permutations in which the feature's own statistic was larger than observed, or equal.
    pooled_larger, pooled_equal : (F,) int
        The same over the permuted statistics of all features.
    total : (F,) float
        Sum of the permuted statistics.
    permuted : tuple of (F,) float32, or None
        The permuted statistics, where kept.
    """

    observed: Floats
    larger: NDArray[np.int64]
    equal: NDArray[np.int64]
    pooled_larger: NDArray[np.int64]
    pooled_equal: NDArray[np.int64]
    total: Floats
    permuted: tuple[NDArray[np.float32], ...] | None
    done: int

    @classmethod
    def none_yet(cls, observed: Floats, *, keep: bool) -> Exceedances:
        """Before the first permutation."""
        zeros = np.zeros(len(observed), np.int64)
        return cls(
            observed=observed,
            larger=zeros,
            equal=zeros,
            pooled_larger=zeros,
            pooled_equal=zeros,
            total=np.zeros(len(observed)),
            permuted=() if keep else None,
            done=0,
        )

    def plus(self, values: Floats) -> Exceedances:
        """One permutation more; this one stays as it is, so that Ctrl-C leaves no half of it."""
        ordered = np.sort(values)
        not_larger = np.searchsorted(ordered, self.observed, "right")
        smaller = np.searchsorted(ordered, self.observed, "left")
        kept = self.permuted
        return Exceedances(
            observed=self.observed,
            larger=self.larger + (values > self.observed),
            equal=self.equal + (values == self.observed),
            pooled_larger=self.pooled_larger + (len(values) - not_larger),
            pooled_equal=self.pooled_equal + (not_larger - smaller),
            total=self.total + values,
            permuted=None if kept is None else (*kept, values.astype(np.float32)),
            done=self.done + 1,
        )

    def pvalues(self, *, strict: bool, pooled: bool) -> Floats:
        """(1 + #{permuted ≥ observed}) / (1 + number), or strictly #{permuted > observed} / number.

        The first is a valid p-value; the second is what the paper used, and can be zero.
        """
        n = self.done * (len(self.observed) if pooled else 1)
        larger = self.pooled_larger if pooled else self.larger
        equal = self.pooled_equal if pooled else self.equal
        return np.asarray(larger / n if strict else (1 + larger + equal) / (1 + n))

    def matrix(self) -> NDArray[np.float32]:
        """The permuted statistics, (permutations, F)."""
        if self.permuted is None:
            raise InputError("The permuted statistics were not kept.")
        return np.stack(self.permuted)


class Checkpoint:
    """A file that holds exceedances, so that an interrupted run can go on.

    Parameters
    ----------
    path : path or None
        The file; nothing is written where None.
    identity : dict
        What the run depends on; a file of another run is refused.
    """

    def __init__(self, path: Any, identity: dict[str, Any]) -> None:
        self.path = None if path is None else Path(path)
        self.identity = json.dumps({"format": FORMAT, **identity}, sort_keys=True)
        self._next = monotonic() + EVERY
        if self.path is not None and not self.path.parent.is_dir():
            raise InputError(f"There is no folder {self.path.parent} to resume from; create it.")

    def restore(self, state: Exceedances) -> Exceedances:
        """The state in the file, if there is one, else `state`."""
        if self.path is None or not self.path.exists():
            return state
        try:
            with self.path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
                identity = archive["identity"].tobytes().decode()
                arrays = {name: archive[name] for name in archive.files}
        except (OSError, EOFError, KeyError, ValueError, zipfile.BadZipFile) as error:
            raise InputError(
                f"{self.path} cannot be resumed from ({error}); give another file, or delete it."
            ) from None
        if identity != self.identity or not np.array_equal(arrays["observed"], state.observed):
            raise InputError(
                f"{self.path} belongs to a run on other data or with other settings"
                f"{_difference(identity, self.identity)}; give another file, or delete it."
            )
        return Exceedances(
            observed=state.observed,
            **{name: arrays[name] for name in (*_COUNTS, "total")},
            permuted=None if state.permuted is None else tuple(arrays.get("permuted", ())),
            done=int(arrays["done"]),
        )

    def save(self, state: Exceedances, *, now: bool = False) -> None:
        """Write the file if it is time, or at once; it is whole at any moment."""
        if self.path is None or (not now and monotonic() < self._next):
            return
        start = monotonic()
        arrays = {name: getattr(state, name) for name in (*_COUNTS, "total", "observed")}
        arrays["done"] = np.array(state.done)
        arrays["identity"] = np.frombuffer(self.identity.encode(), np.uint8)
        if state.permuted:
            arrays["permuted"] = state.matrix()
        with writing(self.path, binary=True) as file:
            np.savez(cast(BinaryIO, file), **arrays)
        end = monotonic()
        self._next = end + max(EVERY, (end - start) / SHARE)


def _difference(theirs: str, ours: str) -> str:
    """Name the first setting that differs, where the file can be read that far."""
    try:
        a, b = json.loads(theirs), json.loads(ours)
    except ValueError:
        return ""
    for key in b:
        if a.get(key) != b[key] and not isinstance(b[key], dict):
            return f" ({key} was {a.get(key)!r} and is {b[key]!r})"
    return ""
