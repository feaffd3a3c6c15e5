"""How does a null feature behave in this very forest? It was asked to judge virtual probes.

A probe is a random ranking of the samples. It was asked at some of the nodes whether it would
have won, had it been among the candidates; W_p is how often it would. A real null feature is
among the candidates of a node with probability C/F only, and over all T trees, so its count is a
thinned W_p:

    P(n > k) = weighted mean over p of P(Bin(W_p, q_p) > k),   q_p = (C/F) · T / trees_p,

trees_p being the trees' worth of nodes at which p was asked, and the weight how many columns p
stands for (lucky ones are asked more often). This is exact where probes are asked
the way features are drawn: at nodes chosen one by one where candidates are drawn per node, in
whole trees where they are drawn per tree. Asked at all nodes of a few trees instead, wins come in
clusters that thinning does not undo, and the null is somewhat too wide.

Real features are correlated with each other and so win less than independent probes do; q_p is
therefore scaled to the counts (`matching`), and how much it had to be scaled tells how correlated
the features are. Where the tail is known no better than from 25 probes it goes on with the shape
of the bagged null, which is made to fall off as the probes do (`tails`).

Where features differ in kind (few-level columns), each stratum has its own probes, its own tail
and, if its features were chosen often enough, its own scale.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from nullforest._util.errors import InputError
from nullforest.nulls.bagged import matched
from nullforest.nulls.contrasts import CONTRASTS
from nullforest.nulls.diagnostics import crowding, dispersion
from nullforest.nulls.distribution import Floats, Null, check_alpha
from nullforest.nulls.mean import body_end, matched_scale, pi0
from nullforest.nulls.overdispersion import NONE, Spread
from nullforest.nulls.pools import Pools
from nullforest.nulls.probe_strata import Ints, Stratum, stratum_of
from nullforest.nulls.rates import CROWDED, Shape, Trees
from nullforest.nulls.splice import Splice
from nullforest.nulls.tail import tail_after
from nullforest.tallies.tally import Tally

#: Probes with which a kind of feature can be judged by them at all.
FEWEST_OF_A_KIND = 25
#: Probes, counted whole, that the tail must be known from: to 20 % then (1/√25).
FEWEST_PROBES = 25
#: Probes whose mean excess the tail takes over, 7 % uncertain (1/√200), but never more than this
#: share of the features.
EXCESS_PROBES, EXCESS_SHARE = 200, 0.1
#: How far the tail's couplings may be off (standard deviation of their logarithm): where features
#: are independent as probes are; more of it by the logarithm of how much less features win than
#: probes, since probes stand less well for correlated features; and at most.
MISFIT, MISFIT_CORRELATED, LARGEST_MISFIT = 0.125, 0.6, 0.3
#: Independent probes stand less well for features that are alike. Between these two values of the
#: mean_r2 (independent features have 0 to .0001, genes and cortical maps .02 to .05) the misfit
#: grows to its largest, and the probability beforehand that features differ no more than probes
#: falls to this.
ALIKE, NONE_ALIKE = (0.005, 0.015), 0.1
#: Selections in a stratum's body that give it a scale of its own, known to 10 % (1/√100).
FEWEST_SELECTIONS = 100


class ProbeNull(Null):
    """Null of the selection frequency that the forest's own probes give; made by `from_tally`.

    `sf`, `pmf`, `threshold` and `expected_false_positives` speak of a null feature drawn from all
    features; with several strata that is the mixture of the strata by their share of features,
    so the false positives over all features are held at the level, but not those of each
    stratum. `pvalues` and `thresholds` judge each feature by its own stratum.

    Attributes
    ----------
    distributions : list of Splice
        One per stratum.
    feature_strata : (F,) int
        Index into `distributions` for each feature.
    """

    kind = "probes"

    def __init__(
        self,
        distributions: list[Splice],
        feature_strata: Ints,
        *,
        probes: list[int],
        diagnostics: dict[str, Any] | None = None,
        notes: tuple[str, ...] = (),
    ) -> None:
        self.distributions = distributions
        self.feature_strata = feature_strata
        self.n_features = len(feature_strata)
        self.probes = probes
        self.shares = np.bincount(feature_strata, minlength=len(distributions)) / self.n_features
        self.diagnostics = diagnostics or {}
        self.notes = notes

    @property
    def mean(self) -> float:
        """Expected count of a null feature, over all strata."""
        return float(sum(w * d.mean for w, d in zip(self.shares, self.distributions, strict=True)))

    @property
    def largest(self) -> int:
        """Largest possible count."""
        return max(d.largest for d in self.distributions)

    def pmf(self, k: ArrayLike) -> Floats:
        """Probability that a null feature is selected exactly k times."""
        pairs = zip(self.shares, self.distributions, strict=True)
        return np.asarray(sum(w * d.pmf(k) for w, d in pairs))

    def sf(self, k: ArrayLike) -> Floats:
        """Probability that a null feature is selected more than k times."""
        pairs = zip(self.shares, self.distributions, strict=True)
        return np.asarray(sum(w * d.sf(k) for w, d in pairs))

    def stratum(self, number: int) -> ProbeNull:
        """The null of one stratum alone."""
        features = self.feature_strata[self.feature_strata == number]
        return ProbeNull(
            [self.distributions[number]], np.zeros_like(features), probes=[self.probes[number]]
        )

    def pvalues(self, counts: ArrayLike, *, mid: bool = False) -> Floats:
        """Probability of each feature's count or a larger one, each in its own stratum."""
        counts = np.asarray(counts)
        if len(self.distributions) == 1:
            return super().pvalues(counts, mid=mid)
        if counts.shape != (self.n_features,):
            raise InputError(
                f"These features are judged in {len(self.distributions)} strata, so p-values need "
                f"one count for each of the {self.n_features} features, in their order."
            )
        p = np.empty(self.n_features)
        for number in range(len(self.distributions)):
            here = self.feature_strata == number
            p[here] = self.stratum(number).pvalues(counts[here], mid=mid)
        return p

    def thresholds(self, alpha: float) -> Ints:
        """The count that each feature must exceed, so that every stratum is held at `alpha`."""
        each = [self.stratum(i).threshold(alpha) for i in range(len(self.distributions))]
        return np.array(each, np.int64)[self.feature_strata]

    def tail_note(self, alpha: float) -> str | None:
        """A plain sentence where the tail at `alpha` rests on extrapolation, else None."""
        check_alpha(alpha)
        beyond = [alpha < d.beyond for d in self.distributions]
        share = float(self.shares[beyond].sum())
        if share == 0:
            return None
        seen = max(d.beyond for d, b in zip(self.distributions, beyond, strict=True) if b)
        whom = "" if share == 1 else f" for {share:.0%} of the features"
        return (
            f"At a level of {alpha:.2g} the threshold{whom} lies beyond what the probes show "
            f"(tails down to {seen:.2g}); there the null follows the bagged model's tail, its "
            "spread fitted to the probes. More probes reach further."
        )

    def scaled(self, factor: float) -> ProbeNull:
        """The null of a forest of `factor` times as many trees like these, by its tail's model."""
        tails = [d.tail.scaled(factor) for d in self.distributions]
        longer = [Splice(tail, tail, -1) for tail in tails]
        return ProbeNull(longer, self.feature_strata, probes=self.probes)

    def describe(self) -> dict[str, Any]:
        """Numbers that tell how the null was set up."""
        return {**super().describe(), **self.diagnostics}


def from_tally(tally: Tally) -> ProbeNull:
    """The probe null of a forest that asked probes.

    Parameters
    ----------
    tally : Tally
        With probes and candidates.

    Examples
    --------
    Here 200 probes were asked in all of 100 trees; features are candidates at every tenth node.

    >>> import numpy as np, nullforest as nf
    >>> from nullforest.nulls import probes
    >>> from nullforest.tallies.tally import ProbeTally
    >>> rng = np.random.default_rng(0)
    >>> counts, wins = rng.poisson(2, 1000), rng.poisson(20, 200)
    >>> nodes = np.bincount(rng.integers(0, 100, counts.sum()), minlength=100)
    >>> asked = ProbeTally(np.arange(200), wins, np.full(200, 100), np.zeros(200),
    ...                    np.zeros(1000), np.bincount([9], [wins.sum()], 18)[None])
    >>> tally = nf.Tally(counts, nodes, np.full(100, 1000), 100, 50, probes=asked)
    >>> null = probes.from_tally(tally)
    >>> bool(abs(null.mean - 2) < 0.2), null.describe()["probes"]
    (True, 200)
    """
    asked = _checked(tally)
    names, features = _numbered(asked.feature_strata)
    strata = [stratum_of(tally, int(name)) for name in names]
    counts = [tally.counts[features == number] for number in range(len(names))]
    trees = Trees.of(tally)
    judged = [number for number, s in enumerate(strata) if s.wins.any()]
    pooled = cache(lambda: _pooled_scale([strata[i] for i in judged], [counts[i] for i in judged]))
    scaled = [_scaled(s, c, pooled) for s, c in zip(strata, counts, strict=True)]
    spreads = [
        _possible(Spread(stratum.thinned, own)) if usable else None
        for (stratum, usable), own in zip(scaled, counts, strict=True)
    ]
    evidence = np.sum([s.evidence for s in spreads if s is not None], axis=0)  # -inf: out
    notes = _crowded(tally)
    alike = float(np.clip((asked.mean_r2 - ALIKE[0]) / (ALIKE[1] - ALIKE[0]), 0.0, 1.0))
    fitted = []
    for before, (stratum, usable), spread, own in zip(strata, scaled, spreads, counts, strict=True):
        if spread is not None:
            factors, shares = spread.factors(evidence, NONE + alike * (NONE_ALIKE - NONE))
            misfit = _misfit(before.mean / stratum.mean, alike)
            fitted.append(_spliced(tally, trees, stratum, factors, shares, misfit))
            continue
        distribution, note = _without_thinning(tally, trees, stratum, own, seldom=usable)
        fitted.append(distribution)
        if note not in notes:
            notes.append(note)
    null = ProbeNull(fitted, features, probes=[s.n_probes for s in strata], notes=tuple(notes))
    null.diagnostics = _diagnostics(tally, null, strata, counts)
    return null


def _crowded(tally: Tally) -> list[str]:
    """A note where pools are so small that a feature wins several nodes of the same tree."""
    load = crowding(tally)
    if load <= CROWDED or tally.pool_per_tree.min() == tally.n_features:
        return []
    return [
        f"A tree has {load:.1f} nodes for each feature of its pool, and a feature in it wins "
        "several of them together; p-values below 0.01 may be too small then. Larger pools help, "
        'or features drawn at each node (draw="node").'
    ]


def _numbered(strata: Ints) -> tuple[Ints, Ints]:
    """The strata that occur, and for each feature the place of its own among them."""
    if strata.min() == strata.max():  # nearly always; spares sorting a million features
        return strata[:1], np.zeros_like(strata)
    names, places = np.unique(strata, return_inverse=True)
    return names, places.astype(np.int64)


def _checked(tally: Tally) -> Any:
    if tally.probes is None or len(tally.probes) == 0 or not tally.probes.trees.any():
        raise InputError(
            "This tally holds no probes; grow the forest with nullforest.grow(..., "
            'probes="auto"), or use null="bagged".'
        )
    if tally.candidates is None:
        raise InputError(
            "The probe null needs to know how many features each node compared; give candidates "
            "when the tally is made."
        )
    return tally.probes


def _pooled_scale(strata: list[Stratum], counts: list[Ints]) -> float:
    """One factor on the thinning of all strata, for those chosen too seldom to have their own."""
    if not strata:
        return 1.0
    return matched_scale(lambda scale: [s.thinned(scale) for s in strata], counts, 1.0)


def _scaled(stratum: Stratum, counts: Ints, pooled: Callable[[], float]) -> tuple[Stratum, bool]:
    """The stratum with its thinning matched to the counts, and whether it can be thinned so."""
    if not stratum.wins.any() or stratum.n_probes < FEWEST_OF_A_KIND:
        return stratum, False
    scale = _own_scale(stratum, counts, pooled)
    possible = scale * stratum.thinning <= 1
    if not possible.all() and stratum.only(possible).n_probes >= stratum.n_probes / 2:
        stratum = stratum.only(possible)  # chosen by trees asked, not by wins: no bias
        scale = _own_scale(stratum, counts, pooled)
        possible = scale * stratum.thinning <= 1
    if not possible.all():
        return stratum, False
    return replace(stratum, thinning=scale * stratum.thinning), True


def _possible(spread: Spread) -> Spread | None:
    """Nothing where the probes won so seldom that the counts could not have come from them."""
    return spread if np.isfinite(spread.evidence).any() else None


def _without_thinning(
    tally: Tally, trees: Trees, stratum: Stratum, counts: Ints, *, seldom: bool
) -> tuple[Splice, str]:
    """The bagged model of a stratum's counts, and why it must serve."""
    shape = _tail(tally, trees, stratum)
    if not stratum.wins.any() or stratum.n_probes < FEWEST_OF_A_KIND:
        return _bagged_model(tally, shape, counts), (
            f"Fewer than {FEWEST_OF_A_KIND} probes, or none that ever won, stand for some "
            "features; their null is the bagged model."
        )
    if seldom:
        return _bagged_model(tally, shape, counts), (
            "The probes won too seldom to tell how often a feature is chosen that means nothing; "
            "the null is the bagged model. More trees help."
        )
    shape = shape.with_variance(stratum.rate_variance)
    return _bagged_model(tally, shape, counts), (
        "The probes were asked in too few trees to stand for all of them (thinning above 1); "
        "the null is the bagged model with its spread fitted to the probes."
    )


def _misfit(excess: float, alike: float) -> float:
    """How uncertain the tail's couplings are where probes win `excess` times what features do."""
    correlated = MISFIT_CORRELATED * np.log(max(excess, 1.0))
    misfit = min(float(np.hypot(MISFIT, correlated)), LARGEST_MISFIT)
    return misfit + alike * (LARGEST_MISFIT - misfit)


def _spliced(
    tally: Tally,
    trees: Trees,
    stratum: Stratum,
    factors: Floats,
    shares: Floats,
    misfit: float,
) -> Splice:
    """The thinned probes, spread out by `factors`, and the tail that goes on from them."""
    body = stratum.thinned(factors, shares)
    joint = stratum.last_with(FEWEST_PROBES)
    edge = max(body.quantile(EXCESS_SHARE), stratum.last_with(EXCESS_PROBES))
    few = 1 / np.sqrt(max(float(stratum.worth(edge)[0]), 1.0))
    error = few * body.excess_variation(edge)
    tail = tail_after(body, edge, error, misfit, _tail(tally, trees, stratum), tally.n_nodes)
    return Splice(body, tail, joint)


def _own_scale(stratum: Stratum, counts: Ints, pooled: Callable[[], float]) -> float:
    """The stratum's matched factor on the thinning, or the pooled one where it has few counts."""
    end = body_end(stratum.thinned(1.0))
    if counts[counts <= end].sum() < FEWEST_SELECTIONS:
        return pooled()
    return matched_scale(lambda scale: [stratum.thinned(scale)], [counts], 1.0)


def _tail(tally: Tally, trees: Trees, stratum: Stratum) -> Shape:
    """The shape of the bagged model for a stratum."""
    couplings = stratum.couplings
    if couplings.sum() == 0 and tally.couplings is not None:
        couplings = tally.couplings.sum(0, dtype=np.int64)
    won = stratum.mean * tally.n_features / max(tally.n_nodes, 1) if len(stratum.wins) else 0.0
    share = float(np.clip(won, 0.0, 1.0)) or 1.0
    return Shape(couplings, trees, share, CONTRASTS)


def _bagged_model(tally: Tally, shape: Shape, counts: Ints) -> Splice:
    """The bagged model alone, matched to a stratum's counts."""
    start = max(float(counts.mean()), 0.5 / len(counts))
    model = matched(shape, counts, Pools.of(tally), start)
    return Splice(model, model, -1)


def _diagnostics(
    tally: Tally, null: ProbeNull, strata: list[Stratum], counts: list[Ints]
) -> dict[str, Any]:
    likely = null.thresholds(1 / max(tally.n_features, 2))  # about one null feature exceeds it
    shares = [pi0(d.body, c) for d, c in zip(null.distributions, counts, strict=True)]
    pairs = zip(null.shares, strata, strict=True)
    expected = float(sum(w * s.mean for w, s in pairs if len(s.wins)))
    return {
        "pi0": float(null.shares @ shares),
        "dispersion": dispersion(tally, tally.counts[tally.counts <= likely]),
        "probes": int(sum(s.n_probes for s in strata)),
        "mean_r2": tally.probes.mean_r2 if tally.probes is not None else 0.0,
        "strata": len(strata),
        "probe_to_feature_ratio": expected / null.mean if null.mean > 0 else float("nan"),
        "seen_to": float(max(d.beyond for d in null.distributions)),
    }
