"""How does a null feature behave when all trees share one sample? From the tally alone.

A null feature that happens to go with the label in these samples wins again and again. The
strength of that is known from the nodes: the coupling r of a node to the whole sample says how
much of a feature's score there is the score it has everywhere (see `contrasts` and `shapes`).
Given its luck z, a null feature's count is Bin(N, μ₀ s(z)/N), N the nodes of the forest; μ₀ and
which features are null are found from the counts.

**The iteration ends.** The features deemed null are those with at most κ selections; κ starts at
the largest count. Each round takes the couplings of the nodes these won, matches μ₀ to the body
of the counts (`matching`), and computes the count κ' that a null feature exceeds with probability
1/F at most, so that about one null feature is lost. If some feature deemed null has more than κ'
selections, κ is lowered to κ' and another round follows; otherwise it is done. So every round but
the last removes at least one feature and none ever returns: there are at most F + 1 rounds
(in practice two to four). κ' ≥ 0 keeps the features that were never chosen, and where the rest
won no node at all, the last couplings are kept.

**How many contrasts.** Not derived. Five suit two balanced classes and subsamples of half of the
samples. Unbalanced classes, numeric outcomes (skewed ones above all), bootstraps and whole or
small samples make null features more unequal, as fewer contrasts do. So, with the
null features settled, the likelihood of the counts below the models' 95 % quantile chooses among
five, three, two and one, five being the most likely beforehand; with few features or few trees
the counts cannot tell, and five it is. The choice and its prior weights were set by hand on
simulated null data; they mend part of the excess only.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import xlogy

from nullforest.errors import InputError
from nullforest.nulls.base import Floats, Null
from nullforest.nulls.contrasts import CONTRASTS
from nullforest.nulls.diagnostics import dispersion
from nullforest.nulls.matching import matched_scale, null_share
from nullforest.nulls.mixtures import BinomialMixture
from nullforest.nulls.shapes import Shape, Trees
from nullforest.tallies import Tally

#: Contrasts of a null feature and how likely they are before any count is seen: balanced classes
#: are the usual case, and one contrast must be wanted by odds of 70 to 1.
PRIOR = {5: 0.73, 3: 0.2, 2: 0.06, 1: 0.01}
_CHOICE_TAIL = 0.05  # a wider body than for the mean: it must show the spread


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
    >>> from nullforest.tallies import N_COUPLING_BINS
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
    counts, nodes = tally.counts, max(tally.n_nodes, 1)
    start = max(float(counts.mean()), 0.5 / tally.n_features)
    all_couplings = tally.couplings.sum(0, dtype=np.int64)
    cutoff = int(counts.max())
    shape = Shape(all_couplings, trees, 1.0, CONTRASTS)
    while True:
        lost = np.flatnonzero(counts > cutoff)
        couplings = all_couplings - tally.couplings[lost].sum(0, dtype=np.int64)
        if couplings.sum() > 0:
            shape = Shape(couplings, trees, couplings.sum() / nodes, CONTRASTS)
        mixture = matched(shape, counts, nodes, start)
        further = mixture.quantile(1 / tally.n_features)
        if not np.any(counts[counts <= cutoff] > further):
            break
        cutoff = further
    contrasts, mixture = _most_likely(shape, mixture, counts, nodes, start)
    return BaggedNull(
        mixture,
        tally.n_features,
        cutoff=cutoff,
        diagnostics={
            "null_share": null_share(mixture, counts),
            "dispersion": dispersion(tally, counts[counts <= cutoff]),
            "contrasts": contrasts,
        },
        notes=_notes(tally),
    )


def matched(shape: Shape, counts: NDArray[np.int64], nodes: int, start: float) -> BinomialMixture:
    """Counts of null features whose rates have this shape, their mean matched to the counts.

    Parameters
    ----------
    shape : Shape
        How the rates spread.
    counts : (F,) int
        Selection frequencies of all features.
    nodes : int
        Nodes of the forest: no count can be larger.
    start : float
        A positive guess of the mean, not below half of it.
    """
    rates, weights = shape.rates(2 * start)

    def model(mean: float) -> BinomialMixture:
        return BinomialMixture(np.full(len(rates), nodes), mean * rates / nodes, weights)

    return model(matched_scale(lambda mean: [model(mean)], [counts], start))


def _most_likely(
    shape: Shape, five: BinomialMixture, counts: NDArray[np.int64], nodes: int, start: float
) -> tuple[int, BinomialMixture]:
    """The number of contrasts that the body of the counts makes most likely, and its model."""
    models = {
        m: five if m == CONTRASTS else matched(replace(shape, contrasts=m), counts, nodes, start)
        for m in PRIOR
    }
    end = max(1, *(model.quantile(_CHOICE_TAIL) for model in models.values()))
    k = np.arange(end + 1)
    seen = np.bincount(counts[counts <= end], minlength=end + 1)

    def evidence(contrasts: int) -> float:
        pmf = models[contrasts].pmf(k)
        return float(np.log(PRIOR[contrasts]) + xlogy(seen, pmf / pmf.sum()).sum())

    best = max(models, key=evidence)
    return best, models[best]


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
    if tally.n_features < 100:  # below, one tenth of the features is less than ten
        return (
            f"With only {tally.n_features} features the expected count of a null feature is "
            "estimated from few numbers; p-values are rough.",
        )
    return ()
