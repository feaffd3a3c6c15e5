"""Counts of the shadows of a forest: copies of the features with permuted rows."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import InputError
from nullforest.tallies.probe_tally import Ints, frozen


@dataclass(frozen=True, eq=False)
class ShadowTally:
    """How often each shadow was selected.

    Attributes
    ----------
    counts : (k, F) int64
        Selection count of each feature's shadow in each of the k copies.
    couplings : (F, B) int64
        Couplings of the nodes won by the shadows of each feature, in the bins of `COUPLING_EDGES`.
    feature_strata : (F,) int64
        Stratum of each feature, by the ties of its column.
    rows : (1,) uint64
        Hash of the permutations: counts of the same shadows add.
    """

    counts: Ints
    couplings: Ints
    feature_strata: Ints
    rows: Any

    def __post_init__(self) -> None:
        for name in ("counts", "couplings", "feature_strata"):
            object.__setattr__(self, name, frozen(getattr(self, name), np.int64))
        object.__setattr__(self, "rows", frozen(np.atleast_1d(self.rows), np.uint64))
        F = len(self.feature_strata)
        if self.counts.ndim != 2 or self.counts.shape[1] != F or len(self.counts) == 0:
            raise InputError("A tally of shadows needs a count for each feature in each copy.")
        if self.couplings.ndim != 2 or len(self.couplings) != F or self.rows.shape != (1,):
            raise InputError("A tally of shadows needs the couplings of each feature's shadows.")
        for values in (self.counts, self.couplings, self.feature_strata):
            if values.min(initial=0) < 0 or values.sum(dtype=float) >= 2.0**62:
                raise InputError("Counts and couplings of shadows must be numbers of 0 or more.")

    @classmethod
    def of_columns(
        cls, counts: Ints, couplings: NDArray[Any], strata: Ints, rows: NDArray[np.uint32]
    ) -> ShadowTally:
        """From counts (k + 1, F) and couplings (k + 1, F, B) of all columns, the features first."""
        word = hashlib.blake2b(rows.tobytes(), digest_size=8).digest()
        return cls(
            counts=counts[1:],
            couplings=couplings[1:].sum(0, dtype=np.int64),
            feature_strata=strata,
            rows=np.frombuffer(word, np.uint64),
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()  # a pickle may be damaged

    def __len__(self) -> int:
        return len(self.counts)

    def __add__(self, other: ShadowTally) -> ShadowTally:
        same = self.counts.shape == other.counts.shape and np.array_equal(
            self.feature_strata, other.feature_strata
        )
        if not same or self.rows != other.rows:
            raise InputError(
                "These forests have different shadows (other copies, blocks or probe_seed); their "
                "tallies do not add."
            )
        return replace(
            self,
            counts=self.counts + other.counts,
            couplings=self.couplings + other.couplings,
        )
