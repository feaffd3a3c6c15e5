"""What did the forest choose? The Tally: all that a null model needs to know of a forest.

A Tally holds, for a forest of T trees over F features, the selection frequencies n_f
(`counts`), the number of internal nodes K_t of every tree (`nodes_per_tree`), the number of
features F_t each tree could use (`pool_per_tree`), and how many of those each node compared
(`candidates`). Tallies add: the tally of two halves of a forest is the sum of their tallies.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nullforest._util.errors import InputError

Ints = NDArray[np.int64]
Names = NDArray[np.str_]
Lineage = tuple[tuple[int, int, int], ...]

#: Bins of the coupling r of a node to the whole sample: narrow where most nodes lie, on a log
#: scale, since the null's shape changes with log r. The last edge lies above 1 so that r = 1,
#: the root of a tree grown on all samples, falls inside.
COUPLING_EDGES: NDArray[np.float64] = np.concatenate(
    [[0.0], np.geomspace(0.003, 0.98, 17), [1.0001]]
)
N_COUPLING_BINS = len(COUPLING_EDGES) - 1


def _frozen(values: ArrayLike, dtype: Any) -> NDArray[Any]:
    """View `values` as a read-only array (the caller's own array keeps its flags)."""
    view = np.asarray(values, dtype=dtype).view()
    view.flags.writeable = False
    return view


@dataclass(frozen=True, eq=False)
class ProbeTally:
    """How often each virtual probe would have won a node.

    Attributes
    ----------
    ids : (P,) int64
        Identity of each probe; the same identity means the same ranking of the same samples,
        so wins of equal identities add.
    wins : (P,) int64
        Nodes the probe would have won, had it been among the candidates.
    trees : (P,) float64
        Trees' worth of nodes at which the probe was asked; it need not be asked at all nodes of
        a tree, so this need not be a whole number.
    strata : (P,) int64
        Stratum of the probe (0 where all features are continuous).
    feature_strata : (F,) int64
        Stratum of each real feature: it is judged by the probes of the same number.
    couplings : (n_strata, B) int64
        Couplings of the nodes won by probes, per stratum, in the bins of `COUPLING_EDGES`.
    weights : (P,) float64
        How many columns of its stratum the probe stands for; all one where not given. Lucky
        columns are picked more often and weigh less.
    mean_r2 : float
        How much the features are alike: the mean squared rank correlation of pairs of them beyond
        chance, given the label. Zero where not known.
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
        for name in ("ids", "wins", "strata", "feature_strata", "couplings"):
            object.__setattr__(self, name, _frozen(getattr(self, name), np.int64))
        for name in ("trees", "weights"):
            object.__setattr__(self, name, _frozen(getattr(self, name), np.float64))
        each = (self.wins, self.trees, self.strata, self.weights)
        if any(len(values) != len(self.ids) for values in each):
            raise InputError("A probe tally needs one id, win count, tree count and stratum each.")

    def __len__(self) -> int:
        return len(self.ids)

    def __add__(self, other: ProbeTally) -> ProbeTally:
        if not np.array_equal(self.feature_strata, other.feature_strata):
            raise InputError(
                "These tallies sort their features into different probe strata, so they do not "
                "come from the same data and cannot be added."
            )
        ids, first, place = np.unique(
            np.concatenate([self.ids, other.ids]), return_index=True, return_inverse=True
        )
        wins = np.bincount(place, np.concatenate([self.wins, other.wins]), len(ids))
        trees = np.bincount(place, np.concatenate([self.trees, other.trees]), len(ids)).astype(
            float
        )
        return ProbeTally(
            ids=ids,
            wins=wins.astype(np.int64),
            trees=trees.astype(np.float64),
            strata=np.concatenate([self.strata, other.strata])[first],
            feature_strata=self.feature_strata,
            couplings=self.couplings + other.couplings,
            weights=np.concatenate([self.weights, other.weights])[first],
            mean_r2=max(self.mean_r2, other.mean_r2),
        )


@dataclass(frozen=True, eq=False, repr=False)
class Tally:
    """What a forest chose: selection frequencies and what is needed to judge them.

    Make one with :func:`nullforest.tally` from a fitted forest, with :func:`nullforest.grow`,
    or with :meth:`from_counts`; all arrays are read-only.

    Attributes
    ----------
    counts : (F,) int64
        Selection frequency of each feature.
    nodes_per_tree, pool_per_tree : (T,) int64
        Internal nodes of each tree, and how many of the features it could use at all.
    candidates : int or None
        Features compared at each node; None where unknown.
    n_samples : int
        Samples the forest was trained on, before any bagging.
    couplings : (F, B) int32 or None
        For each feature, the couplings of the nodes that it won, counted in the bins of
        `COUPLING_EDGES`; None where they cannot be known.
    probes : ProbeTally or None
        Wins of the virtual probes, where the forest asked any.
    feature_names : (F,) str or None
        Names of the features.
    splitter : {"best", "random", "unknown"}
        Whether a node took the best split of its candidates.
    source : str
        Where the forest came from, for the reader.
    lineage : tuple of (seed, first tree, number of trees)
        Which trees of which random streams are inside, so that none is counted twice.
    fingerprint : str or None
        Hash of the training data; tallies of different data do not add.
    settings : dict or None
        How the trees were grown, where known: what decides their shape, in plain numbers and
        words. Tallies of different settings do not add.
    """

    counts: Ints
    nodes_per_tree: Ints
    pool_per_tree: Ints
    candidates: int | None
    n_samples: int
    couplings: NDArray[np.int32] | None = None
    probes: ProbeTally | None = None
    feature_names: Names | None = None
    splitter: Literal["best", "random", "unknown"] = "best"
    source: str = "counts"
    lineage: Lineage = ()
    fingerprint: str | None = None
    settings: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        for name in ("counts", "nodes_per_tree", "pool_per_tree"):
            object.__setattr__(self, name, _frozen(getattr(self, name), np.int64))
        if self.couplings is not None:
            object.__setattr__(self, "couplings", _frozen(self.couplings, np.int32))
        if self.feature_names is not None:
            object.__setattr__(self, "feature_names", _frozen(self.feature_names, np.str_))
        _check(self)

    @classmethod
    def from_counts(
        cls,
        counts: ArrayLike,
        *,
        nodes_per_tree: ArrayLike,
        pool_per_tree: ArrayLike | None = None,
        candidates: int | None = None,
        n_samples: int,
        feature_names: Iterable[str] | None = None,
    ) -> Tally:
        """Make a tally from bare numbers, for a forest that nullforest cannot read.

        Parameters
        ----------
        counts : array-like of int, (F,)
            How often each feature was chosen to split a node.
        nodes_per_tree : array-like of int, (T,)
            Internal nodes of each tree; their sum is the sum of the counts.
        pool_per_tree : array-like of int, (T,), or int, optional
            Features each tree could use. All of them where not given (Strategy I).
        candidates : int, optional
            Features compared at each node.
        n_samples : int
            Samples the forest was trained on.
        feature_names : iterable of str, optional
            Names of the features.

        Returns
        -------
        Tally

        Examples
        --------
        >>> import nullforest as nf
        >>> t = nf.Tally.from_counts([4, 0, 1], nodes_per_tree=[2, 3], n_samples=20)
        >>> t.n_trees, t.n_nodes, t.draw
        (2, 5, 'node')
        """
        counts = _whole_numbers(counts, "counts")
        nodes = _whole_numbers(nodes_per_tree, "nodes_per_tree")
        pool = len(counts) if pool_per_tree is None else pool_per_tree
        if np.ndim(pool) == 0:
            pool = np.full(len(nodes), pool)
        return cls(
            counts=counts,
            nodes_per_tree=nodes,
            pool_per_tree=_whole_numbers(pool, "pool_per_tree"),
            candidates=candidates,
            n_samples=n_samples,
            feature_names=None if feature_names is None else np.array(list(feature_names), str),
            splitter="unknown",
        )

    @property
    def n_features(self) -> int:
        """Number of features F."""
        return len(self.counts)

    @property
    def n_trees(self) -> int:
        """Number of trees T."""
        return len(self.nodes_per_tree)

    @property
    def n_nodes(self) -> int:
        """Number of internal nodes in the whole forest."""
        return int(self.nodes_per_tree.sum())

    @property
    def draw(self) -> Literal["node", "tree", "both"]:
        """How features were drawn: anew per node, once per tree, or both."""
        if np.all(self.pool_per_tree == self.n_features):
            return "node"
        if self.candidates is None or np.all(self.candidates >= self.pool_per_tree):
            return "tree"
        return "both"

    @property
    def names(self) -> Names:
        """Feature names; `x0`, `x1`, … where the forest has none."""
        if self.feature_names is not None:
            return self.feature_names
        return np.array([f"x{i}" for i in range(self.n_features)], str)

    def __add__(self, other: Tally) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        _check_addable(self, other)
        couplings = probes = None
        if self.couplings is not None and other.couplings is not None:
            couplings = self.couplings + other.couplings
        if self.probes is not None and other.probes is not None:
            probes = self.probes + other.probes
        return replace(
            self,
            counts=self.counts + other.counts,
            nodes_per_tree=np.concatenate([self.nodes_per_tree, other.nodes_per_tree]),
            pool_per_tree=np.concatenate([self.pool_per_tree, other.pool_per_tree]),
            couplings=couplings,
            probes=probes,
            feature_names=self.feature_names
            if self.feature_names is not None
            else other.feature_names,
            source=self.source if self.source == other.source else "several forests",
            lineage=_joined(self.lineage + other.lineage),
            fingerprint=self.fingerprint or other.fingerprint,
            settings=self.settings or other.settings,
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tally):
            return NotImplemented
        from nullforest.tallies.file_format import (
            to_arrays,  # the file format lists every field once
        )

        mine, theirs = to_arrays(self), to_arrays(other)
        return mine.keys() == theirs.keys() and all(
            np.array_equal(mine[key], theirs[key]) for key in mine
        )

    __hash__ = None  # type: ignore[assignment]  # equality compares arrays; no cheap hash exists

    def __repr__(self) -> str:
        parts = [
            f"{self.n_trees} trees",
            f"{self.n_nodes} nodes",
            f"{self.n_features} features",
            f"{self.n_samples} samples",
            f"drawn per {self.draw}" if self.draw != "both" else "drawn per tree and per node",
        ]
        if self.candidates is not None:
            parts.append(f"{self.candidates} candidates")
        if self.probes is not None:
            parts.append(f"{len(self.probes)} probes")
        return f"<Tally of {self.source}: {', '.join(parts)}>"

    def save(self, path: Any) -> None:
        """Write the tally to one file; it appears whole or not at all.

        Examples
        --------
        >>> import nullforest as nf, tempfile, pathlib
        >>> t = nf.Tally.from_counts([4, 0, 1], nodes_per_tree=[2, 3], n_samples=20)
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "forest.tally"
        >>> t.save(path)
        >>> nf.Tally.load(path) == t
        True
        """
        from nullforest.tallies.file_format import write

        write(self, path)

    @staticmethod
    def load(path: Any) -> Tally:
        """Read a tally written by :meth:`save`; nothing in the file is ever executed."""
        from nullforest.tallies.file_format import read

        return read(path)


def _whole_numbers(values: ArrayLike, what: str) -> Ints:
    array = np.asarray(values)
    if array.ndim != 1:
        raise InputError(f"{what} must be a flat list of whole numbers, not of {array.ndim} axes.")
    if array.dtype.kind not in "iu" and not (
        array.dtype.kind == "f" and np.all(np.isfinite(array)) and np.all(array == np.floor(array))
    ):
        raise InputError(f"{what} must hold whole numbers; they count nodes or features.")
    return array.astype(np.int64)  # a copy: the caller may go on changing theirs


def _check(tally: Tally) -> None:
    """Refuse a tally that contradicts itself."""
    F = tally.n_features
    if F == 0 or tally.n_trees == 0:
        raise InputError("A tally needs at least one feature and one tree.")
    if len(tally.pool_per_tree) != tally.n_trees:
        raise InputError(
            f"pool_per_tree has {len(tally.pool_per_tree)} entries for {tally.n_trees} trees; "
            "give one per tree."
        )
    if tally.counts.min() < 0 or tally.nodes_per_tree.min() < 0:
        raise InputError("Counts and nodes per tree cannot be negative.")
    if tally.pool_per_tree.min() < 1 or tally.pool_per_tree.max() > F:
        raise InputError(f"Every tree's pool must lie between 1 and the {F} features.")
    if tally.counts.sum() != tally.n_nodes:
        raise InputError(
            f"The counts add to {tally.counts.sum()}, but the trees have {tally.n_nodes} internal "
            "nodes; every internal node is one selection, so the two must be equal."
        )
    if tally.candidates is not None and not 1 <= tally.candidates <= F:
        raise InputError(f"candidates = {tally.candidates} must lie between 1 and {F} features.")
    if tally.couplings is not None and tally.couplings.shape != (F, N_COUPLING_BINS):
        raise InputError(f"couplings must have the shape ({F}, {N_COUPLING_BINS}).")
    if tally.probes is not None and len(tally.probes.feature_strata) != F:
        raise InputError(f"The probes know {len(tally.probes.feature_strata)} of {F} features.")
    if tally.feature_names is not None and len(tally.feature_names) != F:
        raise InputError(f"{len(tally.feature_names)} feature names for {F} features.")


def _check_addable(a: Tally, b: Tally) -> None:
    """Refuse to add tallies of different data, different settings, or the same trees."""
    for what, mine, theirs in [
        ("numbers of features", a.n_features, b.n_features),
        ("numbers of samples", a.n_samples, b.n_samples),
        ("numbers of candidates per node", a.candidates, b.candidates),
        ("ways to choose a split", a.splitter, b.splitter),
    ]:
        if mine != theirs:
            raise InputError(f"These tallies have different {what}: {mine} and {theirs}.")
    if (
        a.feature_names is not None
        and b.feature_names is not None
        and not np.array_equal(a.feature_names, b.feature_names)
    ):
        odd = int(np.flatnonzero(a.feature_names != b.feature_names)[0])
        raise InputError(
            f"These tallies name their features differently (feature {odd}: "
            f"{a.feature_names[odd]!r} and {b.feature_names[odd]!r})."
        )
    if a.fingerprint and b.fingerprint and a.fingerprint != b.fingerprint:
        raise InputError("These forests were grown on different data; their tallies do not add.")
    if a.settings and b.settings and a.settings != b.settings:
        known = [*a.settings, *(name for name in b.settings if name not in a.settings)]
        odd_one = next(n for n in known if a.settings.get(n) != b.settings.get(n))
        raise InputError(
            f"These forests were grown with different settings ({odd_one}: "
            f"{a.settings.get(odd_one)} and {b.settings.get(odd_one)}); their tallies do not add."
        )
    for seed, first, n in a.lineage:
        for other_seed, other_first, other_n in b.lineage:
            if seed == other_seed and first < other_first + other_n and other_first < first + n:
                raise InputError(
                    f"Both tallies hold trees {max(first, other_first)} to "
                    f"{min(first + n, other_first + other_n) - 1} of seed {seed}; adding them "
                    "would count those twice. Grow one of them with another seed."
                )


def _joined(lineage: Sequence[tuple[int, int, int]]) -> Lineage:
    """Merge neighbours that follow on from each other, so that a sum equals one longer run."""
    joined: list[tuple[int, int, int]] = []
    for seed, first, n in lineage:
        if joined and joined[-1][0] == seed and joined[-1][1] + joined[-1][2] == first:
            joined[-1] = (seed, joined[-1][1], joined[-1][2] + n)
        else:
            joined.append((seed, first, n))
    return tuple(joined)
