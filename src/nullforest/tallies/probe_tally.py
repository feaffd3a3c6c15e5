"""Wins of the virtual probes of a forest.

A virtual probe is a column of random ranks that is scored at nodes but never splits one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nullforest._util.errors import InputError

Ints = NDArray[np.int64]


def frozen(values: ArrayLike, dtype: Any) -> NDArray[Any]:
    """View `values` as a read-only array (the caller's own array keeps its flags)."""
    view = np.asarray(values, dtype=dtype).view()
    view.flags.writeable = False
    return view


@dataclass(frozen=True, eq=False)
class ProbeTally:
    """Number of nodes that each virtual probe would have won.

    Attributes
    ----------
    ids : (P,) int64
        Identity of each probe. The same identity means the same ranking of the same samples, so
        wins of equal identities add.
    wins : (P,) int64
        Nodes that the probe would have won as one of the candidates.
    trees : (P,) float64
        Trees' worth of nodes at which the probe was evaluated. A probe need not be evaluated at
        all nodes of a tree, so this need not be a whole number.
    strata : (P,) int64
        Stratum of the probe (0 where all features are continuous).
    feature_strata : (F,) int64
        Stratum of each feature. A feature is tested against the probes of its stratum.
    couplings : (n_strata, B) int64
        Couplings of the nodes won by probes, per stratum, in the bins of `COUPLING_EDGES`.
    weights : (P,) float64
        Horvitz–Thompson weight of each probe: the inverse of its inclusion probability. All one
        where not given.
    mean_r2 : float
        Mean squared rank correlation between features, conditional on the target, minus its
        expectation for independent features. Zero where unknown.
    """

    ids: Ints
    wins: Ints
    trees: NDArray[np.float64]
    strata: Ints
    feature_strata: Ints
    couplings: Ints
    weights: NDArray[np.float64] = field(default_factory=lambda: np.ones(0))
    mean_r2: float = 0.0

    def __post_init__(self) -> None:
        if len(self.weights) == 0:
            object.__setattr__(self, "weights", np.ones(len(self.ids)))
        object.__setattr__(self, "mean_r2", float(self.mean_r2))
        for name in ("ids", "wins", "strata", "feature_strata", "couplings"):
            object.__setattr__(self, name, frozen(getattr(self, name), np.int64))
        for name in ("trees", "weights"):
            object.__setattr__(self, name, frozen(getattr(self, name), np.float64))
        each = (self.ids, self.wins, self.trees, self.strata, self.weights)
        if any(values.shape != (len(self.ids),) for values in each):
            raise InputError("A probe tally needs one id, win count, tree count and stratum each.")
        strata = np.append(self.strata, self.feature_strata)
        if self.couplings.ndim != 2 or strata.min() < 0 or strata.max() >= len(self.couplings):
            raise InputError("A probe tally needs the couplings of every stratum.")
        if not -1.0 <= self.mean_r2 <= 1.0:
            raise InputError(f"mean_r2 = {self.mean_r2} is no mean squared correlation.")
        for name in ("wins", "trees", "weights", "couplings"):
            values = getattr(self, name)
            if not np.all(values >= 0) or not values.sum(dtype=float) < 2.0**62:
                raise InputError(f"The {name} of a probe tally must be numbers of 0 or more.")

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()  # a pickle may be damaged

    def __len__(self) -> int:
        return len(self.ids)

    def __add__(self, other: ProbeTally) -> ProbeTally:
        if not np.array_equal(self.feature_strata, other.feature_strata):
            raise InputError(
                "These tallies sort their features into different strata, so they are not of the "
                "same data; their tallies do not add."
            )
        ids, first, place = np.unique(
            np.concatenate([self.ids, other.ids]), return_index=True, return_inverse=True
        )

        def total(mine: NDArray[Any], theirs: NDArray[Any]) -> NDArray[Any]:
            return np.bincount(place, np.concatenate([mine, theirs]), len(ids))

        return ProbeTally(
            ids=ids,
            wins=total(self.wins, other.wins).astype(np.int64),
            trees=total(self.trees, other.trees),
            strata=np.concatenate([self.strata, other.strata])[first],
            feature_strata=self.feature_strata,
            couplings=self.couplings + other.couplings,
            weights=np.concatenate([self.weights, other.weights])[first],
            mean_r2=max(self.mean_r2, other.mean_r2),
        )
