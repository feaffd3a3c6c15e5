"""The Tally: the selection counts of a forest with what is needed to test them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nullforest._util.errors import InputError
from nullforest.data.dense import as_names
from nullforest.forest.couplings import COUPLING_EDGES as COUPLING_EDGES
from nullforest.forest.couplings import N_COUPLING_BINS as N_COUPLING_BINS
from nullforest.tallies.null_columns import Ints, NullColumns, frozen

Names = NDArray[np.str_]
Lineage = tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, eq=False, repr=False)
class Tally:
    """The selection counts of a forest with what is needed to test them.

    Make one with :func:`nullforest.tally` from a fitted forest, with :func:`nullforest.grow`,
    or with :meth:`from_counts`; all arrays are read-only. Tallies add: the tally of two halves of
    a forest is the sum of their tallies.

    Attributes
    ----------
    counts : (F,) int64
        Selection count n_f of each feature: nodes that it splits.
    nodes_per_tree, pool_per_tree : (T,) int64
        Internal nodes K_t of each tree, and how many of the features it could use at all, F_t.
    candidates : int or None
        Features compared at each node; None where unknown.
    n_samples : int
        Samples the forest was trained on, before any bagging.
    couplings : (F, B) int32 or None
        For each feature, the couplings of the nodes that it won, counted in the bins of
        `COUPLING_EDGES`; None where they cannot be known.
    null_columns : NullColumns or None
        Wins of the virtual probes that the forest evaluated, or of the features' shadows, copies
        with permuted rows. Shadows compete for nodes like features: pools and candidates count
        them too.
    feature_names : (F,) str or None
        Names of the features.
    levels : (F, 2) float64 or None
        Fewest and most distinct values that each column can have, where there are no probes to
        represent columns of different kinds.
    n_constant : int
        Features with one value in all samples. They are never candidates and are not tested;
        pools and candidates do not count them.
    splitter : {"best", "random", "unknown"}
        Whether a node took the best split of its candidates.
    column_orders : int
        Orders of the columns in which the forest was trained, where the library favours columns
        by their number; 0 where it does not.
    source : str
        Where the forest came from, for the reader.
    lineage : tuple of (seed, first tree, number of trees)
        Which trees of which random streams are inside, so that none is counted twice.
    fingerprint : str or None
        Hash of the training data; tallies of different data do not add.
    settings : dict or None
        The settings that decide the shape of the trees, where known. Tallies of different settings
        do not add.
    notes : tuple of str
        Sentences of the reader of the forest that belong to every result.
    n_features, n_varying, n_columns : int
        Number of features F; of those that are not constant, which are tested; and of the columns
        that compete for nodes: varying features and their shadows.
    n_trees, n_nodes : int
        Number of trees T, and of internal nodes in the whole forest.
    varying : (F,) bool
        Whether each feature varies: constant ones are in the last strata, or have one level.
    probes, shadows : NullColumns or None
        The null columns, where they are of this kind.

    Examples
    --------
    >>> import nullforest as nf
    >>> X, y, relevant = nf.simulate.independent(100, 300, n_relevant=5, relevance=0.6)
    >>> first, second = (nf.grow(X, y, trees=100, seed=seed).tally for seed in (1, 2))
    >>> both = first + second
    >>> both.n_trees, bool((both.counts == first.counts + second.counts).all())
    (200, True)
    """

    counts: Ints
    nodes_per_tree: Ints
    pool_per_tree: Ints
    candidates: int | None
    n_samples: int
    couplings: NDArray[np.int32] | None = None
    null_columns: NullColumns | None = None
    feature_names: Names | None = None
    levels: NDArray[np.float64] | None = None
    n_constant: int = 0
    splitter: Literal["best", "random", "unknown"] = "best"
    column_orders: int = 0
    source: str = "counts"
    lineage: Lineage = ()
    fingerprint: str | None = None
    settings: dict[str, Any] | None = None
    notes: tuple[str, ...] = ()
    n_features: int = field(init=False)
    n_varying: int = field(init=False)
    n_columns: int = field(init=False)
    n_trees: int = field(init=False)
    n_nodes: int = field(init=False)
    varying: NDArray[np.bool_] = field(init=False)
    probes: NullColumns | None = field(init=False)
    shadows: NullColumns | None = field(init=False)

    def __post_init__(self) -> None:
        columns = self.null_columns
        types = {"couplings": np.int32, "feature_names": np.str_, "levels": np.float64}
        for name in ("counts", "nodes_per_tree", "pool_per_tree", *types):
            if (values := getattr(self, name)) is not None:
                object.__setattr__(self, name, frozen(values, types.get(name, np.int64)))
        F, shadowed = len(self.counts), columns is not None and columns.kind == "shadows"
        if F == 0 or len(self.nodes_per_tree) == 0:
            raise InputError("A tally needs at least one feature and one tree.")
        if not isinstance(self.n_constant, int | np.integer) or not 0 <= self.n_constant < F:
            raise InputError(f"n_constant = {self.n_constant!r:.60} must be from 0 to {F - 1}.")
        self.__dict__.update(
            n_features=F,
            n_varying=F - self.n_constant,
            n_columns=(F - self.n_constant) * (1 + len(columns) if columns and shadowed else 1),
            n_trees=len(self.nodes_per_tree),
            n_nodes=int(self.nodes_per_tree.sum()),
            probes=None if shadowed else columns,
            shadows=columns if shadowed else None,
        )
        self._check_arrays()
        varying = np.ones(F, bool)
        if self.n_constant and columns is not None:
            strata = columns.feature_strata
            varying = strata < np.partition(strata, self.n_varying)[self.n_varying]
        elif self.n_constant and self.levels is not None:
            varying = self.levels[:, 1] > 1
        elif self.n_constant:
            raise InputError(
                "Constant features need levels or null columns, which tell them apart."
            )
        if np.count_nonzero(varying) != self.n_varying or self.counts[~varying].any():
            raise InputError(
                f"n_constant = {self.n_constant} is not the number of features without a "
                "selection that have one level, or are in the last strata."
            )
        object.__setattr__(self, "varying", frozen(varying, np.bool_))

    def _check_arrays(self) -> None:
        """Refuse arrays that contradict each other."""
        F, columns = self.n_features, self.null_columns
        for name in ("counts", "nodes_per_tree", "pool_per_tree"):
            if (values := getattr(self, name)).ndim != 1 or values.sum(dtype=float) >= 2.0**62:
                raise InputError(
                    f"{name} must be a flat list of numbers that add to less than 2⁶²."
                )
        if len(self.pool_per_tree) != self.n_trees:
            raise InputError(
                f"pool_per_tree has {len(self.pool_per_tree)} entries for {self.n_trees} trees; "
                "give one per tree."
            )
        if self.counts.min() < 0 or self.nodes_per_tree.min() < 0:
            raise InputError("Counts and nodes per tree cannot be negative.")
        if self.pool_per_tree.min() < 1 or self.pool_per_tree.max() > self.n_columns:
            raise InputError(
                f"Every tree's pool must lie between 1 and the {self.n_columns} features."
            )
        selections = self.counts.sum()
        if self.shadows is not None:
            selections += self.shadows.wins.sum()
        if selections != self.n_nodes:
            raise InputError(
                f"The counts add to {selections}, but the trees have {self.n_nodes} internal "
                "nodes; every internal node is one selection, so the two must be equal."
            )
        for name, most in [("candidates", self.n_columns), ("n_samples", 2**62)]:
            value = getattr(self, name)
            if value is None and name == "candidates":
                continue
            if not isinstance(value, int | np.integer) or not 1 <= value <= most:
                raise InputError(f"{name} = {value!r:.60} must be a whole number from 1 to {most}.")
        if columns is not None and columns.feature_strata.shape != (F,):
            n = len(columns.feature_strata)
            raise InputError(f"The null columns are of {n} features, not of {F}.")
        # A tree has fewer nodes, its leaves included, than twice the samples.
        most = 2 * self.n_samples * self.n_trees
        if self.probes is not None and self.probes.wins.max(initial=0) > most:
            raise InputError("A probe cannot win more nodes than the forest has.")
        if self.feature_names is not None and self.feature_names.shape != (F,):
            raise InputError(f"{len(self.feature_names)} feature names for {F} features.")
        for name, shape in [("couplings", (F, N_COUPLING_BINS)), ("levels", (F, 2))]:
            if (values := getattr(self, name)) is not None and values.shape != shape:
                raise InputError(f"{name} must have the shape {shape}.")

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()  # a pickle may be damaged

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
        counts, nodes_per_tree : array-like of int
            See :class:`Tally`; both have the same sum.
        pool_per_tree : array-like of int, (T,), or int, optional
            Features each tree could use. All of them where not given (Strategy I).
        candidates, n_samples, feature_names
            See :class:`Tally`.

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
            feature_names=None if feature_names is None else as_names(feature_names),
            splitter="unknown",
        )

    @property
    def draw(self) -> Literal["node", "tree", "both"]:
        """How features were drawn: anew per node, once per tree, or both."""
        if np.all(self.pool_per_tree == self.n_columns):
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
        couplings = null_columns = None
        names = other.feature_names if self.feature_names is None else self.feature_names
        levels = other.levels if self.levels is None else self.levels
        if self.couplings is not None and other.couplings is not None:
            couplings = self.couplings + other.couplings
        if self.null_columns is not None and other.null_columns is not None:
            null_columns = self.null_columns + other.null_columns
        if self.levels is not None and other.levels is not None:
            fewest = np.maximum(self.levels[:, 0], other.levels[:, 0])
            most = np.minimum(self.levels[:, 1], other.levels[:, 1])
            levels = np.stack([fewest, np.maximum(most, fewest)], axis=1)
        return replace(
            self,
            counts=self.counts + other.counts,
            nodes_per_tree=np.concatenate([self.nodes_per_tree, other.nodes_per_tree]),
            pool_per_tree=np.concatenate([self.pool_per_tree, other.pool_per_tree]),
            couplings=couplings,
            null_columns=null_columns,
            feature_names=names,
            levels=levels,
            source=self.source if self.source == other.source else "several forests",
            lineage=_joined(self.lineage + other.lineage),
            fingerprint=self.fingerprint or other.fingerprint,
            settings=self.settings or other.settings,
            column_orders=self.column_orders + other.column_orders,
            notes=tuple(dict.fromkeys(self.notes + other.notes)),
        )

    def halves(self, seed: int = 0) -> tuple[Tally, Tally]:
        """Split the tally into those of two halves of its forest; they add to the whole.

        The trees of a forest are exchangeable, so that the nodes of half of them are a random half
        of all nodes. A half drawn without replacement from the nodes has the distribution of the
        tally of half of the trees, and the two are as independent as two forests of that size on
        the same data. The clustering of a feature's nodes in trees is lost, which matters only
        where a tree often uses one feature several times.

        Parameters
        ----------
        seed : int
            Seed of the split.

        Examples
        --------
        >>> import nullforest as nf
        >>> whole = nf.Tally.from_counts([40, 3, 1], nodes_per_tree=[4] * 11, n_samples=20)
        >>> first, second = whole.halves()
        >>> first.n_trees, second.n_trees, (first.counts + second.counts).tolist()
        (6, 5, [40, 3, 1])
        """
        if self.n_trees < 2:
            raise InputError("A forest of one tree has no halves.")
        rng = np.random.default_rng(seed)
        columns, varying = self.counts, self.varying
        nodes = self.nodes_per_tree[::2]
        if self.shadows is not None:
            columns = np.append(columns, self.shadows.wins)
            varying = np.tile(varying, 1 + len(self.shadows))
        # Constant columns have no nodes and take no random numbers: they change no other column.
        drawn = np.zeros_like(columns)
        drawn[varying] = _drawn(columns[varying], int(nodes.sum()), rng)
        counts, wins = np.split(drawn, [self.n_features])
        null_columns = rest_columns = self.null_columns
        if self.null_columns is not None:
            null_columns, rest_columns = self.null_columns.halves(wins, rng)
        couplings = rest = None
        if self.couplings is not None:  # alternate bins are rounded up; their noise does not matter
            couplings = (self.couplings + np.arange(self.couplings.shape[1]) % 2) // 2
            rest = self.couplings - couplings
        first = replace(
            self,
            counts=counts,
            nodes_per_tree=nodes,
            pool_per_tree=self.pool_per_tree[::2],
            couplings=couplings,
            null_columns=null_columns,
            lineage=(),
        )
        second = replace(
            self,
            counts=self.counts - counts,
            nodes_per_tree=self.nodes_per_tree[1::2],
            pool_per_tree=self.pool_per_tree[1::2],
            couplings=rest,
            null_columns=rest_columns,
            lineage=(),
        )
        return first, second

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tally):
            return NotImplemented
        from nullforest.tallies.file_format import to_arrays  # it lists every field once

        mine, theirs = to_arrays(self), to_arrays(other)
        same = (np.array_equal(mine[key], theirs[key]) for key in mine)
        return mine.keys() == theirs.keys() and all(same)

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
        if self.shadows is not None:
            parts.append(f"{len(self.shadows)} shadows of each feature")
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
        from nullforest.tallies.file_format import save

        save(self, path)

    @staticmethod
    def load(path: Any) -> Tally:
        """Read a tally written by :meth:`save`; nothing in the file is ever executed."""
        from nullforest.tallies.file_format import load

        return load(path)


def _whole_numbers(values: ArrayLike, what: str) -> Ints:
    array = np.asarray(values)
    if array.ndim != 1:
        raise InputError(f"{what} must be a flat list of whole numbers, not of {array.ndim} axes.")
    if array.dtype.kind not in "iu" and not (
        array.dtype.kind == "f" and np.all(np.isfinite(array)) and np.all(array == np.floor(array))
    ):
        raise InputError(f"{what} must hold whole numbers; they count nodes or features.")
    return array.astype(np.int64)  # a copy: the caller may change theirs later


def _check_addable(a: Tally, b: Tally) -> None:
    """Refuse to add tallies of different data, different settings, or the same trees."""
    for what, mine, theirs in [
        ("numbers of features", a.n_features, b.n_features),
        ("numbers of constant features", a.n_constant, b.n_constant),
        ("numbers of shadows", a.n_columns - a.n_varying, b.n_columns - b.n_varying),
        ("numbers of samples", a.n_samples, b.n_samples),
        ("numbers of candidates per node", a.candidates, b.candidates),
        ("split rules", a.splitter, b.splitter),
    ]:
        if mine != theirs:
            raise InputError(f"These tallies have different {what}: {mine} and {theirs}.")
    if a.feature_names is not None and b.feature_names is not None:
        for odd in np.flatnonzero(a.feature_names != b.feature_names)[:1].tolist():
            raise InputError(
                f"These tallies name their features differently (feature {odd}: "
                f"{a.feature_names[odd]!r} and {b.feature_names[odd]!r})."
            )
    if a.fingerprint and b.fingerprint and a.fingerprint != b.fingerprint:
        raise InputError("These forests were grown on different data; their tallies do not add.")
    if a.settings and b.settings and a.settings != b.settings:
        first, second = a.settings.get, b.settings.get
        name = next(name for name in a.settings | b.settings if first(name) != second(name))
        raise InputError(
            f"These forests were grown with different settings ({name}: {first(name)} and "
            f"{second(name)}); their tallies do not add."
        )
    for (seed, own_first, n), (other, other_first, m) in product(a.lineage, b.lineage):
        begin, end = max(own_first, other_first), min(own_first + n, other_first + m)
        if seed == other and begin < end:
            raise InputError(
                f"Both tallies hold trees {begin} to {end - 1} of seed {seed}; adding them would "
                "count those twice. Grow one of them with another seed."
            )


def _joined(lineage: Sequence[tuple[int, int, int]]) -> Lineage:
    """Merge neighbours that follow each other, so that a sum equals one longer run."""
    joined: list[tuple[int, int, int]] = []
    for seed, first, n in lineage:
        if joined and (joined[-1][0], sum(joined[-1][1:])) == (seed, first):
            _, first, before = joined.pop()
            n += before
        joined.append((seed, first, n))
    return tuple(joined)


def _drawn(counts: Ints, n: int, rng: np.random.Generator) -> Ints:
    """Numbers of each column's nodes among `n` that are drawn without replacement."""
    total = int(counts.sum())
    if total < 10**9:  # the limit of numpy
        return rng.multivariate_hypergeometric(counts, n, method="marginals")
    drawn = rng.binomial(counts, n / total)
    more = n - int(drawn.sum())  # about √total / 2, spread in proportion to the room there is
    room = counts - drawn if more > 0 else drawn
    step = (room * (abs(more) / room.sum())).astype(np.int64)
    step[np.argsort(-room, kind="stable")[: abs(more) - int(step.sum())]] += 1
    return np.asarray(drawn + np.sign(more) * step)
