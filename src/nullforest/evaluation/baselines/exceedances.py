"""Exceedance counts: how often permuted statistics reach the observed ones.

Only what the p-values need is held: per feature how many permutations gave a larger and an equal
statistic, its own and pooled over all features, and the sum. The permuted statistics themselves
(permutations × features, float32) are held only for the parametric fits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import InputError
from nullforest.nulls.distribution import Floats
from nullforest.run.checkpoints import Checkpoint

#: Name of the state in a checkpoint, and its arrays.
_PART, _ARRAYS = "exceedances", ("larger", "equal", "pooled_larger", "pooled_equal", "total")


@dataclass(frozen=True, eq=False)
class Exceedances:
    """Comparison of the observed statistics with those of permutations 0 to `done` - 1.

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
        kept = () if keep else None
        return cls(observed, zeros, zeros, zeros, zeros, np.zeros(len(observed)), kept, done=0)

    def plus(self, values: Floats) -> Exceedances:
        """One permutation more; this one stays as it is, so that Ctrl-C leaves no half of it."""
        ordered = np.sort(values)
        not_larger = np.searchsorted(ordered, self.observed, "right")
        smaller = np.searchsorted(ordered, self.observed, "left")
        kept = self.permuted
        return replace(
            self,
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

    def save(self, checkpoint: Checkpoint) -> None:
        """Keep the state."""
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        if self.permuted:
            arrays["permuted"] = self.matrix()
        checkpoint.write(_PART, self.done, arrays)

    def restored(self, checkpoint: Checkpoint) -> Exceedances:
        """The state that was kept, if any, else this one."""
        known = checkpoint.read(_PART)
        if known is None:
            return self
        kept = None if self.permuted is None else tuple(known.arrays.get("permuted", ()))
        arrays = {name: known.arrays[name] for name in _ARRAYS}
        return replace(self, **arrays, permuted=kept, done=known.content)
