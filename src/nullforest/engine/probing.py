"""Which probes does a forest ask? Their number, their kinds, and in which trees.

A probe is a column that knows nothing of y; at the nodes of some trees it is asked whether it
would have won in the place of one of the candidates (`native/probes.hpp` is the specification).
Features are sorted into strata by the ties of their columns, so that each is judged by probes of
its own kind: for features with (nearly) as many values as samples a probe is a random ranking, for
all others it is a real column of the stratum with its samples rearranged.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nullforest.engine import _native
from nullforest.engine.ranking import RankTable
from nullforest.errors import InputError
from nullforest.tallies import ProbeTally

Ints = NDArray[np.int64]

#: A probe is asked this many times as often as a feature is a candidate (where that is possible),
#: so that its wins are thinned by q = 2/3: there is room to scale q up to the counts.
ASKED_PER_CANDIDATE = 1.5
#: Rates of asking are whole multiples of one over this (`native/probes.hpp`).
RATE_UNITS = 2**16
#: What the probes may add to the evaluations of a forest. A question to a probe costs somewhat
#: more than the look at a candidate, so that this is a quarter of the time (benchmarks/probes.py).
LARGEST_SHARE = 0.15
#: With few features even a few probes are a large share, of a small forest. So many are asked
#: nevertheless: the tail is then seen down to 25/2000, about .01.
FEWEST, MOST = 2000, 4000
#: Ranks (probes × samples) beyond which few features are no excuse any more: about a second.
MOST_RANKS = 2_000_000
#: Too few to see a tail of .05 with 10 of them beyond it: then none are asked.
TOO_FEW = 200
#: Probes that every stratum has at least, where the number is chosen here.
FEWEST_IN_STRATUM = 100

#: A column with at least this many levels per sample counts as one without ties.
CONTINUOUS = 0.8
#: Edges of the bins: number of levels (2, 3, 4-6, 7-12, 13-24, more), share of the samples that
#: do not have the commonest level, share of missing values (none, up to 5 %, …).
LEVEL_EDGES = (2.5, 3.5, 6.5, 12.5, 24.5)
MINOR_EDGES = (1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2)
MISSING_EDGES = (0.0, 0.05, 0.2, 0.5)
#: Most kinds of few-level columns; the rarest are joined with their neighbours.
MOST_STRATA = 24


@dataclass(frozen=True)
class Strata:
    """The kinds of features.

    Attributes
    ----------
    features : (F,) int64
        Stratum of each feature, 0, 1, ….
    copies : tuple of bool
        For each stratum, whether its probes are copies of its features (else random rankings).
    askable : tuple of bool
        For each stratum, whether a probe could ever win (not so for constant columns).
    """

    features: Ints
    copies: tuple[bool, ...]
    askable: tuple[bool, ...]

    @property
    def sizes(self) -> Ints:
        """Features in each stratum."""
        return np.bincount(self.features, minlength=len(self.copies))


def sort_into_strata(n_levels: Ints, commonest: Ints, n_missing: Ints, n_samples: int) -> Strata:
    """Sort features into strata by the ties of their columns.

    Parameters
    ----------
    n_levels, commonest, n_missing : (F,) int64
        Distinct values of each column (missing is one), how often the commonest occurs, and how
        many values are missing.
    n_samples : int
        Number of samples.

    Examples
    --------
    Two genes, three SNPs (one of them rare), and a constant column, of 100 samples:

    >>> import numpy as np
    >>> levels, commonest = np.array([100, 98, 3, 3, 2, 1]), np.array([1, 2, 60, 64, 97, 100])
    >>> strata = sort_into_strata(levels, commonest, np.zeros(6, int), 100)
    >>> strata.features.tolist(), strata.copies
    ([0, 0, 2, 2, 1, 3], (False, True, True, True))
    """
    continuous = (n_missing == 0) & (n_levels >= CONTINUOUS * n_samples)
    constant = n_levels == 1
    bins = np.stack(
        [
            np.digitize(n_levels, LEVEL_EDGES),
            np.digitize(1 - commonest / n_samples, MINOR_EDGES),
            np.digitize(n_missing / n_samples, MISSING_EDGES, right=True),
        ],
        axis=1,
    )
    kinds = np.full(len(n_levels), -1, np.int64)
    discrete = ~continuous & ~constant
    kinds[discrete] = _merged(bins[discrete])
    kinds[continuous] = -2
    kinds[constant] = np.iinfo(np.int64).max
    names, features = np.unique(kinds, return_inverse=True)
    return Strata(
        features.astype(np.int64),
        copies=tuple(bool(name != -2) for name in names),
        askable=tuple(bool(name != np.iinfo(np.int64).max) for name in names),
    )


def _merged(bins: Ints) -> Ints:
    """Number the distinct rows of `bins`, the rarest joined with the nearest until few are left."""
    if len(bins) == 0:
        return np.zeros(0, np.int64)
    rows, place, sizes = np.unique(bins, axis=0, return_inverse=True, return_counts=True)
    into = np.arange(len(rows))
    alive = list(range(len(rows)))
    while len(alive) > MOST_STRATA:
        rarest = min(alive, key=lambda i: (sizes[i], i))
        alive.remove(rarest)
        distance = [((rows[i] - rows[rarest]) ** 2).sum() for i in alive]
        nearest = alive[int(np.argmin(distance))]
        into[into == rarest] = nearest
        sizes[nearest] += sizes[rarest]
    merged: Ints = into[place.ravel()]
    return merged


@dataclass(frozen=True)
class ProbePlan:
    """How many probes, from which seed, and how often each is asked.

    Attributes
    ----------
    number, seed : int
        Number of probes and their seed.
    in_tree, at_node : int
        In what share of the trees a probe is asked, and there at what share of the nodes, in
        units of 2⁻¹⁶.
    """

    number: int
    seed: int
    in_tree: int
    at_node: int

    def trees_asked(self, trees: int) -> float:
        """Trees' worth of nodes at which a probe is asked (no rounding below 2²¹ trees)."""
        return trees * (self.in_tree / RATE_UNITS) * (self.at_node / RATE_UNITS)


def asking_rates(n_features: int, pool: int, candidates: int) -> tuple[int, int]:
    """In what share of the trees and of their nodes a probe is asked, in units of 2⁻¹⁶.

    A feature is in the pool of a tree with probability F_t/F, and there a candidate at a node with
    probability C/F_t. A probe is asked more often by one factor; in more trees where pools are
    drawn, so that wins in one tree stay together as a feature's do, else at more nodes.

    Examples
    --------
    >>> asking_rates(20_000, 20_000, 1000), asking_rates(20_000, 1000, 1000)
    ((65536, 4916), (4916, 65536))
    """
    in_tree = min(1.0, ASKED_PER_CANDIDATE * pool / n_features) if pool < n_features else 1.0
    overall = min(1.0, ASKED_PER_CANDIDATE * candidates / n_features)
    at_node = min(1.0, overall / in_tree)
    return math.ceil(in_tree * RATE_UNITS), math.ceil(at_node * RATE_UNITS)


def default_number(n_samples: int, n_features: int, candidates: int, n_strata: int = 1) -> int:
    """Number of probes that `probes="auto"` asks.

    As many as add a quarter to the time of the forest, but between 2 000 and 4 000: below 20 000
    features they cost more than a quarter, of a forest that is small (with 5 000 features about as
    much as the forest itself, with 500 ten times as much). Where samples are so many that this
    would take long, fewer, and none where those would be too few to say anything.

    Examples
    --------
    >>> default_number(100, 20_000, 1000), default_number(100, 500, 25)
    (2000, 2000)
    >>> default_number(5000, 1000, 32), default_number(100_000, 100, 10)
    (400, 0)
    """
    asked = min(1.0, ASKED_PER_CANDIDATE * candidates / n_features)
    cheap = int(LARGEST_SHARE * candidates / asked)
    number = min(MOST, max(cheap, min(FEWEST, MOST_RANKS // n_samples)))
    if number < TOO_FEW:
        return 0
    return max(number, FEWEST_IN_STRATUM * n_strata)


def plan_probes(
    table: RankTable,
    probes: int | Literal["auto"],
    seed: int,
    pool: int,
    candidates: int,
) -> ProbePlan:
    """Fill in what was left open and refuse what cannot be."""
    rates = asking_rates(table.shape[1], pool, candidates)
    if isinstance(probes, str):
        if probes != "auto":
            raise InputError(f"probes = {probes!r} must be 'auto' or a number, 0 for none.")
        n_strata = sum(table.strata.askable)
        return ProbePlan(default_number(*table.shape, candidates, n_strata), seed, *rates)
    if isinstance(probes, bool) or not hasattr(probes, "__index__") or not 0 <= int(probes) < 2**31:
        raise InputError(f"probes = {probes!r} must be 'auto' or a number, 0 for none.")
    return ProbePlan(int(probes), seed, *rates)


def shared_out(number: int, strata: Strata) -> list[int]:
    """Probes of each stratum: half of them evenly, half by the number of features.

    Examples
    --------
    >>> strata = Strata(np.repeat([0, 1], [90, 10]), (False, True), (True, True))
    >>> shared_out(1000, strata)
    [700, 300]
    """
    askable = np.array(strata.askable)
    if not askable.any():
        return [0] * len(askable)
    weight = np.where(askable, 0.5 / askable.sum(), 0.0)
    sizes = np.where(askable, strata.sizes, 0)
    weight += 0.5 * sizes / sizes.sum()
    ends = np.rint(np.cumsum(weight) * number).astype(int)
    return [int(n) for n in np.diff(ends, prepend=0)]


def make_probes(table: RankTable, plan: ProbePlan) -> _native.Probes | None:
    """The probes themselves; None for none."""
    if plan.number == 0:
        return None
    strata = table.strata
    numbers = shared_out(plan.number, strata)
    if not any(numbers):
        return None
    return _native.Probes(
        table.native,
        strata.features,
        numbers,
        list(strata.copies),
        plan.seed,
        plan.in_tree,
        plan.at_node,
    )


def tally_of(
    probes: _native.Probes, plan: ProbePlan, table: RankTable, raw: dict[str, Any]
) -> ProbeTally:
    """What the engine counted, in the order of the probes' identities, as sums of tallies are."""
    order = np.argsort(probes.ids)
    return ProbeTally(
        ids=probes.ids[order],
        wins=raw["probe_wins"][order],
        trees=np.full(len(order), plan.trees_asked(int(raw["n_trees"]))),
        strata=probes.strata[order],
        feature_strata=table.strata.features,
        couplings=raw["probe_couplings"],
    )
