"""How does a null feature behave when all trees share one sample? From the tally alone.

A null feature that happens to go with the label in these samples wins again and again. The
strength of that is known from the nodes: the coupling r of a node to the whole sample says how
much of a feature's score there is the score it has everywhere (see `contrasts` and `shapes`).
Given its luck z, a null feature's count is Bin(N, μ₀ s(z)/N), N the nodes of the forest (fewer
where trees draw pools, see `pools`); μ₀ and which features are null are found from the counts.

**The iteration ends.** The features deemed null are those with at most κ selections; κ starts at
the largest count. Each round takes the couplings of the nodes these won, matches μ₀ to the body
of the counts (`matching`), and computes the count κ' that a null feature exceeds with probability
1/F at most, so that about one null feature is lost. If some feature deemed null has more than κ'
selections, κ is lowered to κ' and another round follows; otherwise it is done. So every round but
the last removes at least one feature and none ever returns: there are at most F + 1 rounds
(in practice two to four). κ' ≥ 0 keeps the features that were never chosen, and where the rest
won no node at all, the last couplings are kept.

**How strong the luck is.** The couplings say how much of a feature's score at a node is the score
it has everywhere, but a best cut is not quite the largest of three fixed contrasts: unbalanced
classes, numeric outcomes, bootstraps and whole or small samples make null features more unequal
than that. So the couplings may be multiplied by a common factor, near 1 beforehand (log-normal,
σ = 0.2). The likelihood of the counts below the models' 90 % quantile turns its possible values
into weights, and the null is the average over them: a prediction that knows how well the factor
is known. Three contrasts and the width of the prior were set by hand on simulated null data.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import xlogy

from nullforest._util.errors import InputError
from nullforest.nulls.binomial_mixture import BinomialMixture
from nullforest.nulls.contrasts import CONTRASTS
from nullforest.nulls.diagnostics import crowding, dispersion
from nullforest.nulls.distribution import Floats, Null
from nullforest.nulls.mean import (
    FEW_FEATURES,
    body_end,
    body_tail,
    matched_scale,
    pi0,
)
from nullforest.nulls.pools import Pools
from nullforest.nulls.rates import Shape, Trees, shared_out
from nullforest.tallies.tally import Tally

#: Logarithms of the factor on the couplings, beyond two prior standard deviations either way.
LOG_FACTORS = 0.15 * np.arange(-3.0, 4.0)
PRIOR_DEVIATION = 0.2
_NEGLIGIBLE = 1e-3  # factors of less weight are left out


class BaggedNull(Null):
    """Null of the selection frequency that knows of bagging; made by `from_tally`.

    Attributes
    ----------
    mixture : BinomialMixture
        Distribution of a null feature's count.
    cutoff : int
        Features with more selections were not taken for null when the model was fitted.
    """

    kind = "bagged"

    def __init__(
        self,
        mixture: BinomialMixture,
        n_features: int,
        *,
        cutoff: int,
        diagnostics: dict[str, Any] | None = None,
        notes: tuple[str, ...] = (),
    ) -> None:
        self.mixture = mixture
        self.n_features = n_features
        self.cutoff = cutoff
        self.diagnostics = diagnostics or {}
        self.notes = notes

    @property
    def mean(self) -> float:
        """Expected count of a null feature, μ₀."""
        return self.mixture.mean

    @property
    def largest(self) -> int:
        """Largest possible count: every node of the forest."""
        return self.mixture.largest

    def pmf(self, k: ArrayLike) -> Floats:
        """Probability that a null feature is selected exactly k times."""
        return self.mixture.pmf(k)

    def sf(self, k: ArrayLike) -> Floats:
        """Probability that a null feature is selected more than k times."""
        return self.mixture.sf(k)

    def scaled(self, factor: float) -> BaggedNull:
        """The null of a forest of `factor` times as many trees like these."""
        return BaggedNull(
            self.mixture.scaled(factor), self.n_features, cutoff=round(factor * self.cutoff)
        )

    def describe(self) -> dict[str, Any]:
        """Numbers that tell how the null was set up."""
        return {**super().describe(), **self.diagnostics}


def from_tally(tally: Tally) -> BaggedNull:
    """The bagged null of a forest.

    Parameters
    ----------
    tally : Tally
        With couplings and candidates, of a forest whose nodes take the best split.

    Examples
    --------
    A forest of 50 trees, all of whose nodes hold a fifth of the whole sample's impurity.

    >>> import numpy as np, nullforest as nf
    >>> from nullforest.nulls import bagged
    >>> from nullforest.tallies.tally import N_COUPLING_BINS
    >>> couplings = np.zeros((500, N_COUPLING_BINS), np.int32)
    >>> couplings[:, 12] = np.random.default_rng(0).poisson(4, 500)
    >>> counts = couplings.sum(1)
    >>> nodes = np.full(50, counts.sum() // 50)
    >>> nodes[: counts.sum() % 50] += 1
    >>> tally = nf.Tally(counts, nodes, np.full(50, 500), 20, 100, couplings)
    >>> null = bagged.from_tally(tally)
    >>> null.kind, bool(null.sf(12) > 1e-3)
    ('bagged', True)
    """
    _check(tally)
    assert tally.couplings is not None
    trees = Trees.of(tally)
    counts, pools = tally.counts, Pools.of(tally)
    start = max(float(counts.mean()), 0.5 / tally.n_features)
    all_couplings = tally.couplings.sum(0, dtype=np.int64)
    cutoff = int(counts.max())
    shape = Shape(all_couplings, trees, 1.0, CONTRASTS)
    while True:
        lost = np.flatnonzero(counts > cutoff)
        couplings = all_couplings - tally.couplings[lost].sum(0, dtype=np.int64)
        if couplings.sum() > 0:
            shape = Shape(couplings, trees, couplings.sum() / pools.nodes, CONTRASTS)
        mixture = matched(shape, counts, pools, start)
        further = mixture.quantile(1 / tally.n_features)
        if not np.any(counts[counts <= cutoff] > further):
            break
        cutoff = further
    factor, mixture = _averaged(shape, mixture, counts, pools, start)
    return BaggedNull(
        mixture,
        tally.n_features,
        cutoff=cutoff,
        diagnostics={
            "pi0": pi0(mixture, counts),
            "dispersion": dispersion(tally, counts[counts <= cutoff]),
            "coupling_factor": factor,
        },
        notes=_notes(tally),
    )


def matched(shape: Shape, counts: NDArray[np.int64], pools: Pools, start: float) -> BinomialMixture:
    """Counts of null features whose rates have this shape, their mean matched to the counts.

    Parameters
    ----------
    shape : Shape
        How the rates spread.
    counts : (F,) int
        Selection frequencies of all features.
    pools : Pools
        The forest's nodes, and how many of them are open to a feature.
    start : float
        A positive guess of the mean, not below half of it.
    """
    rates, weights = shape.rates(2 * start)
    if 1 < len(counts) < FEW_FEATURES:
        rates, weights = shared_out(rates, weights, len(counts))
    trials, chances, weights = pools.components(rates, weights, 2 * start)

    def model(mean: float) -> BinomialMixture:
        return BinomialMixture(trials, mean * chances, weights)

    tail = body_tail(len(counts))
    return model(matched_scale(lambda mean: [model(mean)], [counts], start, tail))


def _averaged(
    shape: Shape, plain: BinomialMixture, counts: NDArray[np.int64], pools: Pools, start: float
) -> tuple[float, BinomialMixture]:
    """The most likely factor on the couplings (geometric mean), and the average of the models."""
    if shape.equal:
        return 1.0, plain
    factors = np.exp(LOG_FACTORS)
    models = [
        plain if factor == 1 else matched(replace(shape, scale=float(factor)), counts, pools, start)
        for factor in factors
    ]
    end = max(body_end(model, body_tail(len(counts))) for model in models)
    k = np.arange(end + 1)
    seen = np.bincount(counts[counts <= end], minlength=end + 1)
    evidence = -0.5 * (LOG_FACTORS / PRIOR_DEVIATION) ** 2
    for place, model in enumerate(models):
        pmf = model.pmf(k)
        evidence[place] += xlogy(seen, pmf / pmf.sum()).sum()
    weights = np.exp(evidence - evidence.max())
    weights[weights < _NEGLIGIBLE * weights.max()] = 0
    weights /= weights.sum()
    used = [(w, model) for w, model in zip(weights, models, strict=True) if w > 0]
    average = BinomialMixture(
        np.concatenate([model.trials for _, model in used]),
        np.concatenate([model.chances for _, model in used]),
        np.concatenate([w * model.weights for w, model in used]),
    )
    return float(np.exp(weights @ LOG_FACTORS)), average


def _check(tally: Tally) -> None:
    if tally.splitter == "random":
        raise InputError(
            "The bagged null does not describe forests with random cut points (ExtraTrees); grow "
            'a forest with nullforest.grow, which has probes, or use null="paper" with care.'
        )
    if tally.couplings is None:
        raise InputError(
            "The bagged null needs the couplings of the nodes, which this tally does not hold; "
            'take the tally from the fitted forest itself, or use null="paper" with care.'
        )
    if tally.candidates is None:
        raise InputError(
            "The bagged null needs to know how many features each node compared; give candidates "
            'when the tally is made, or use null="paper" with care.'
        )


def _notes(tally: Tally) -> tuple[str, ...]:
    notes = []
    if tally.n_features < 100:  # below, one tenth of the features is less than ten
        notes.append(
            f"With only {tally.n_features} features the expected count of a null feature is "
            "estimated from few numbers; p-values are rough."
        )
    load = crowding(tally)
    if load > 1:
        notes.append(
            f"A tree has {load:.1f} times as many nodes as features to choose from, so it takes "
            "the same one several times over; the bagged null knows that roughly, and is cautious. "
            "Larger pools help, or a forest that asks probes (nullforest.grow)."
        )
    return tuple(notes)
