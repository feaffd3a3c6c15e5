"""Which probes does a forest ask? Their number, their kinds, and in which trees.

A probe is a column that knows nothing of y; at the nodes of some trees it is asked whether it
would have won in the place of one of the candidates (`native/probes.hpp` is the specification).
Features are sorted into strata by the ties of their columns, so that each is judged by probes of
its own kind: for features with (nearly) as many values as samples a probe is a random ranking, for
all others it is a real column of the stratum with its samples rearranged.

The tail of the null is made by the few columns that go with y by chance. So of many rankings the
lucky ones are asked more often than others, and weigh less (`pick_rankings`): the same number of
questions then shows a tail ten times as far out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import InputError
from nullforest.engine import _native
from nullforest.engine.data.rank_table import RankTable
from nullforest.engine.data.targets import Target
from nullforest.engine.probes.correlation import mean_r2
from nullforest.tallies.tally import ProbeTally

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

#: A probe is asked this many times as often as a feature is a candidate (where that is possible),
#: so that its wins are thinned by q = 2/3: there is room to scale q up to the counts.
ASKED_PER_CANDIDATE = 1.5
#: Rates of asking are whole multiples of one over this (`native/probes.hpp`).
RATE_UNITS = 2**16
#: What the probes may add to the evaluations of a forest. A question to a probe costs about twice
#: the look at a candidate, so that this is a quarter of the time at most (benchmarks/probes.py).
LARGEST_SHARE = 0.1
#: With few features even a few probes are a large share, of a small forest. So many are asked
#: nevertheless: the tail is then seen down to 25/2000, about .01.
FEWEST, MOST = 2000, 4000
#: With few features: the tail is then seen down to 25/300, and goes on by the bagged model.
FEWEST_OF_ALL = 300
#: Further strata add so much of that each.
PER_STRATUM = 0.15
#: From here on the share of the cost is what counts, so that there are no more than this.
MANY_FEATURES, MOST_OF_MANY = 20_000, 3500
#: Ranks (probes × samples) beyond which few features are no excuse any more: about a second.
MOST_RANKS = 2_000_000
#: Too few to see a tail of .05 with 10 of them beyond it: then none are asked.
TOO_FEW = 200

#: Rankings from which one probe is picked: with 2 000 probes, 25 have a tail of .001 or less.
SCREENED = 16
#: Sums (rankings × samples × outputs) beyond which fewer are looked at: about 20 ms.
MOST_SUMS = 20_000_000

#: A column with at least this many levels per sample counts as one without ties.
CONTINUOUS = 0.8
#: Edges of the bins: number of levels (2, 3, 4-6, 7-12, 13-24, more); share of the pairs of samples
#: that differ, and so could be split (for SNPs it grows with the allele frequency to .625, so the
#: edges are close there); share of missing values (none, up to 5 %, …).
LEVEL_EDGES = (2.5, 3.5, 6.5, 12.5, 24.5)
DIFFERENT_EDGES = (0.06, 0.12, 0.18, 0.24, 0.31, 0.39, 0.47, 0.54, 0.6, 0.67, 0.75, 0.85)
MISSING_EDGES = (0.0, 0.05, 0.2, 0.5)
#: Most kinds of columns with ties, and the share of the features below which a kind is joined with
#: a neighbour.
MOST_STRATA, RARE = 24, 0.02


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
    missing : tuple of bool
        For each stratum, whether any of its columns has missing values; none where not given.
    """

    features: Ints
    copies: tuple[bool, ...]
    askable: tuple[bool, ...]
    missing: tuple[bool, ...] = ()

    @property
    def sizes(self) -> Ints:
        """Features in each stratum."""
        return np.bincount(self.features, minlength=len(self.copies))


def sort_into_strata(n_levels: Ints, alike: Ints, n_missing: Ints, n_samples: int) -> Strata:
    """Sort features into strata by the ties of their columns.

    Parameters
    ----------
    n_levels, alike, n_missing : (F,) int64
        Distinct values of each column (missing is one), how many of the n_samples² pairs of
        samples (each with itself too) have equal values, and how many values are missing.
    n_samples : int
        Number of samples.

    Examples
    --------
    Two genes, three SNPs (one of them rare), and a constant column, of 100 samples:

    >>> import numpy as np
    >>> levels = np.array([100, 98, 3, 3, 2, 1])
    >>> alike = np.array([100, 104, 4700, 4800, 9418, 10_000])
    >>> strata = sort_into_strata(levels, alike, np.zeros(6, int), 100)
    >>> strata.features.tolist(), strata.copies
    ([0, 0, 2, 2, 1, 3], (False, True, True, True))
    """
    continuous = (n_missing == 0) & (n_levels >= CONTINUOUS * n_samples)
    constant = n_levels == 1
    bins = np.stack(
        [
            np.digitize(n_levels, LEVEL_EDGES),
            np.digitize(1 - alike / n_samples**2, DIFFERENT_EDGES),
            np.digitize(n_missing / n_samples, MISSING_EDGES, right=True),
        ],
        axis=1,
    )
    kinds = np.full(len(n_levels), -1, np.int64)
    discrete = ~continuous & ~constant
    kinds[discrete] = _merged(bins[discrete], len(n_levels))
    kinds[continuous] = -2
    kinds[constant] = np.iinfo(np.int64).max
    names, features = np.unique(kinds, return_inverse=True)
    missing = np.bincount(features, n_missing, len(names)) > 0
    return Strata(
        features.astype(np.int64),
        copies=tuple(bool(name != -2) for name in names),
        askable=tuple(bool(name != np.iinfo(np.int64).max) for name in names),
        missing=tuple(missing.tolist()),
    )


def _merged(bins: Ints, n_features: int) -> Ints:
    """Number the distinct rows of `bins`, rare ones joined with their nearest.

    Those with few features go to a neighbouring bin if there is one; while there are too many, the
    rarest goes to the nearest, however far.
    """
    if len(bins) == 0:
        return np.zeros(0, np.int64)
    rows, place, sizes = np.unique(bins, axis=0, return_inverse=True, return_counts=True)
    into = np.arange(len(rows))
    alive = list(range(len(rows)))
    settled: set[int] = set()
    while rare := [i for i in alive if i not in settled]:
        rarest = min(rare, key=lambda i: (sizes[i], i))
        others = [i for i in alive if i != rarest]
        distance = [int(((rows[i] - rows[rarest]) ** 2).sum()) for i in others]
        adjacent = bool(others) and min(distance) == 1 and sizes[rarest] < RARE * n_features
        if not adjacent and len(alive) <= MOST_STRATA:
            settled.add(rarest)
            continue
        nearest = others[int(np.argmin(distance))]
        alive.remove(rarest)
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

    As many as add a quarter to the time of the forest, at most 3 500. Below 20 000 features at
    least 2 000, which cost more than a quarter, of a forest that is small (with 5 000 features
    about as much as the forest itself). Below 1 000 features, where the forest takes next to no
    time, two for each feature and 300 at least. Strata add to that. Where samples are so many that
    this would take long, fewer, and none where those would be too few to say anything.

    Examples
    --------
    >>> default_number(100, 20_000, 1000), default_number(100, 500, 25)
    (1333, 1000)
    >>> default_number(5000, 1000, 32), default_number(100_000, 100, 10)
    (400, 0)
    """
    asked = min(1.0, ASKED_PER_CANDIDATE * candidates / n_features)
    cheap = int(LARGEST_SHARE * candidates / asked)
    fewest = min(FEWEST, max(FEWEST_OF_ALL, 2 * n_features))
    wanted = min(int(fewest * (1 + PER_STRATUM * (n_strata - 1))), MOST_RANKS // n_samples)
    many = n_features >= MANY_FEATURES
    number = min(MOST_OF_MANY, cheap) if many else min(MOST, max(cheap, wanted))
    return number if number >= TOO_FEW else 0


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
    """Probes of each stratum: a quarter of them evenly, the others by the number of features.

    Examples
    --------
    >>> strata = Strata(np.repeat([0, 1], [90, 10]), (False, True), (True, True))
    >>> shared_out(1000, strata)
    [800, 200]
    """
    askable = np.array(strata.askable)
    if not askable.any():
        return [0] * len(askable)
    weight = np.where(askable, 0.25 / askable.sum(), 0.0)
    sizes = np.where(askable, strata.sizes, 0)
    weight += 0.75 * sizes / sizes.sum()
    ends = np.rint(np.cumsum(weight) * number).astype(int)
    return [int(n) for n in np.diff(ends, prepend=0)]


def pick_rankings(
    luck: NDArray[np.float32], number: int, start: float
) -> tuple[NDArray[np.uint32], Floats]:
    """Pick rankings, lucky ones more often, and say how many each of them stands for.

    Half of them at random, so to speak, and half so that a tail u holds √u of them: a ranking
    surpassed by a share u of all is picked with probability π = min(1, c (1 + 1/(2√u))), and its
    weight 1/π makes weighted means unbiased. No weight is above 4/3 of the mean (where no π is
    cut to one), so that luck which says nothing of wins costs a quarter of the probes' worth.

    Parameters
    ----------
    luck : (N,) float32
        How well each ranking goes with y; not negative.
    number : int
        How many to pick, at most N.
    start : float
        A random number from 0 to 1: picks are one apart along the cumulated probabilities.

    Examples
    --------
    >>> luck = np.random.default_rng(0).random(10_000, np.float32)
    >>> picked, weights = pick_rankings(luck, 500, 0.3)
    >>> len(picked), int((luck[picked] > 0.99).sum()), round(float(weights.sum()), -2)
    (500, 26, 10000.0)
    """
    # The luckiest first, equal ones by number: sorted as whole numbers, of which none are equal.
    falling = np.uint64(0xFFFFFFFF) - luck.view(np.uint32).astype(np.uint64)
    keys = np.sort(falling << np.uint64(32) | np.arange(len(luck), dtype=np.uint64))
    order = (keys & np.uint64(0xFFFFFFFF)).astype(np.int64)
    wish = 1 + 0.5 / np.sqrt((np.arange(len(luck)) + 0.5) / len(luck))
    left = np.cumsum(wish[::-1])[::-1]
    factor = (number - np.arange(len(luck))) / left
    chance = np.minimum(1.0, factor[np.argmax(factor * wish <= 1)] * wish)
    steps = np.cumsum(chance)
    steps *= number / steps[-1]
    here = np.flatnonzero(np.diff(np.floor(steps + start), prepend=0.0))
    by_number = np.argsort(order[here])
    return order[here][by_number].astype(np.uint32), 1 / chance[here][by_number]


def make_probes(
    table: RankTable, plan: ProbePlan, target: Target, least: int = 1
) -> _native.Probes | None:
    """The probes themselves; None for none.

    Parameters
    ----------
    table, plan, target
        The data, which probes are wanted, and the outcome whose lucky rankings are preferred.
    least : int
        Fewest samples, of all, on either side of a cut that counts as luck.
    """
    if plan.number == 0:
        return None
    strata = table.strata
    numbers = shared_out(plan.number, strata)
    if not any(numbers):
        return None
    sides, picked, weights = zip(
        *(
            _rankings(table, plan.seed, stratum, number, target, least)
            for stratum, number in enumerate(numbers)
        ),
        strict=True,
    )
    return _native.Probes(
        table.native,
        strata.features,
        numbers,
        list(strata.copies),
        plan.seed,
        plan.in_tree,
        plan.at_node,
        list(sides),
        np.concatenate(picked),
        np.concatenate(weights),
    )


def _rankings(
    table: RankTable, seed: int, stratum: int, number: int, target: Target, least: int
) -> tuple[int, NDArray[np.uint32], Floats]:
    """The side of the square from which a stratum's probes are picked, their places, weights."""
    strata = table.strata
    plain = np.arange(number, dtype=np.uint32), np.ones(number)
    if number == 0 or strata.missing[stratum]:
        return 0, *plain
    sums = number * len(target.values) * max(target.n_classes, target.values[0].size)
    screened = min(float(SCREENED), MOST_SUMS / sums)
    if target.criterion == "neighbourhood" or screened < 2:  # distances: luck is not defined
        return math.isqrt(number - 1) + 1, *plain
    side = math.ceil(math.sqrt(screened * number))
    luck = _native.luck_of_rankings(
        table.native,
        strata.features,
        list(strata.copies),
        target.criterion,
        target.values,
        target.n_classes,
        target.weight,
        seed,
        stratum,
        side,
        min(least, len(target.values) // 2),
    )
    word = _native.tree_key(seed, 2**64 - 1 - stratum)  # no tree has such a number
    return side, *pick_rankings(luck, number, (word >> 11) / 2**53)


def tally_of(
    probes: _native.Probes, plan: ProbePlan, table: RankTable, target: Target, raw: dict[str, Any]
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
        weights=probes.weights[order],
        mean_r2=mean_r2(table, target),
    )
