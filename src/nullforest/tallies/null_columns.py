"""Null columns of a forest: virtual probes, or shadows of the features.

A *virtual probe* is a column of random ranks that is scored at nodes but never splits one. A
*shadow* is a copy of a feature with permuted rows that competes for nodes as features do.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nullforest._util.errors import InputError

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def frozen(values: ArrayLike, dtype: Any) -> NDArray[Any]:
    """View `values` as a read-only array (the caller's own array keeps its flags)."""
    view = np.asarray(values, dtype=dtype).view()
    view.flags.writeable = False
    return view


@dataclass(frozen=True, eq=False)
class NullColumns:
    """How often the null columns of a forest won a node.

    Attributes
    ----------
    kind : {"probes", "shadows"}
        What they are. All probes, or all shadows: a forest has no null columns of both kinds.
    ids : (P,) or (1,) int64
        Identity of each probe, or of the permutations of all shadows. The same identity means the
        same ranking of the same samples, so wins of equal identities add.
    wins : (P,) or (k, F) int64
        Nodes that each probe would have won as one of the candidates; nodes that each feature's
        shadow won in each of the k copies.
    couplings : (n_strata, B) or (F, B) int64
        Couplings of the nodes won by the probes of each stratum, or by the shadows of each
        feature, in the bins of `COUPLING_EDGES`.
    feature_strata : (F,) int64
        Stratum of each feature, by the ties of its column. A feature is tested against the null
        columns of its stratum.
    trees : (P,) float64
        Trees' worth of nodes at which a probe was evaluated. A probe need not be evaluated at all
        nodes of a tree, so this need not be a whole number. Empty for shadows, as are the next two.
    strata : (P,) int64
        Stratum of each probe (0 where all features are continuous).
    weights : (P,) float64
        Horvitz–Thompson weight of each probe: the inverse of its inclusion probability. All one
        where not given.
    mean_r2 : float
        Mean squared rank correlation between features, conditional on the target, minus its
        expectation for independent features. Zero where unknown.
    """

    kind: Literal["probes", "shadows"]
    ids: Ints
    wins: Ints
    couplings: Ints
    feature_strata: Ints
    trees: Floats = field(default_factory=lambda: np.empty(0))
    strata: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    weights: Floats = field(default_factory=lambda: np.empty(0))
    mean_r2: float = 0.0

    def __post_init__(self) -> None:
        if self.kind == "probes" and len(self.weights) == 0:
            object.__setattr__(self, "weights", np.ones(len(self.ids)))
        object.__setattr__(self, "mean_r2", float(self.mean_r2))
        for name in ("ids", "wins", "couplings", "feature_strata", "strata"):
            object.__setattr__(self, name, frozen(getattr(self, name), np.int64))
        for name in ("trees", "weights"):
            object.__setattr__(self, name, frozen(getattr(self, name), np.float64))
        F = len(self.feature_strata)
        if self.kind == "probes":
            columns = (self.ids, self.wins, self.trees, self.strata, self.weights)
            fits = all(values.shape == (len(self.ids),) for values in columns)
            n_strata = (
                int(max(self.strata.max(initial=-1), self.feature_strata.max(initial=-1))) + 1
            )
        else:
            fits = self.wins.shape == (max(len(self.wins), 1), F) and self.ids.shape == (1,)
            n_strata = F
        if not fits:
            raise InputError(
                "Probes need one id, win count, tree count and stratum each; shadows one count for "
                "each feature in each copy."
            )
        if self.couplings.ndim != 2 or len(self.couplings) < n_strata:
            raise InputError("Null columns need the couplings of every stratum.")
        if not -1.0 <= self.mean_r2 <= 1.0:
            raise InputError(f"mean_r2 = {self.mean_r2} is no mean squared correlation.")
        for name in ("wins", "trees", "weights", "couplings", "strata", "feature_strata"):
            values = getattr(self, name)
            if not np.all(values >= 0) or not values.sum(dtype=float) < 2.0**62:
                raise InputError(f"The {name} of null columns must be numbers of 0 or more.")

    @classmethod
    def of_shadows(
        cls, counts: Ints, couplings: NDArray[Any], strata: Ints, rows: NDArray[np.uint32]
    ) -> NullColumns:
        """From counts (k + 1, F) and couplings (k + 1, F, B) of all columns, the features first."""
        word = hashlib.blake2b(rows.tobytes(), digest_size=8).digest()
        return cls(
            kind="shadows",
            ids=np.frombuffer(word, np.int64),
            wins=counts[1:],
            couplings=couplings[1:].sum(0, dtype=np.int64),
            feature_strata=strata,
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()  # a pickle may be damaged

    def __len__(self) -> int:
        """Number of probes, or of copies of the features."""
        return len(self.wins)

    def __add__(self, other: NullColumns) -> NullColumns:
        if not np.array_equal(self.feature_strata, other.feature_strata):
            raise InputError(
                "These tallies sort their features into different strata, so they are not of the "
                "same data; their tallies do not add."
            )
        couplings = self.couplings + other.couplings
        if self.kind == "shadows":
            if self.ids != other.ids or self.wins.shape != other.wins.shape:
                raise InputError(
                    "These forests have different shadows (other copies, blocks or probe_seed); "
                    "their tallies do not add."
                )
            return replace(self, wins=self.wins + other.wins, couplings=couplings)
        ids, first, place = np.unique(
            np.concatenate([self.ids, other.ids]), return_index=True, return_inverse=True
        )

        def total(mine: NDArray[Any], theirs: NDArray[Any]) -> NDArray[Any]:
            return np.bincount(place, np.concatenate([mine, theirs]), len(ids))

        return replace(
            self,
            ids=ids,
            wins=total(self.wins, other.wins).astype(np.int64),
            trees=total(self.trees, other.trees),
            strata=np.concatenate([self.strata, other.strata])[first],
            couplings=couplings,
            weights=np.concatenate([self.weights, other.weights])[first],
            mean_r2=max(self.mean_r2, other.mean_r2),
        )

    def halves(self, wins: Ints, rng: np.random.Generator) -> tuple[NullColumns, NullColumns]:
        """Those of two random halves of the forest; `wins` are those of the first one's shadows."""
        shadowed = self.kind == "shadows"
        first = replace(
            self,
            wins=wins.reshape(self.wins.shape) if shadowed else rng.binomial(self.wins, 0.5),
            trees=self.trees / 2,
            couplings=rng.binomial(self.couplings, 0.5),
        )
        second = replace(
            self,
            wins=self.wins - first.wins,
            trees=self.trees - first.trees,
            couplings=self.couplings - first.couplings,
        )
        return first, second
