"""What did the probes of one kind of feature show? Their wins, thinned to a feature's counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nullforest.nulls.base import Floats
from nullforest.nulls.mixtures import BinomialMixture
from nullforest.tallies import Tally

Ints = NDArray[np.int64]

_NEVER_SEEN = 1e-7  # no tail so small is seen: picks reach to about one in 10⁵


@dataclass(frozen=True)
class Stratum:
    """The probes of one kind of feature: distinct (wins, thinning), and who has them.

    Attributes
    ----------
    wins, thinning : (I,)
        W_p and q_p.
    number : (I,) int
        How many probes have them.
    weights, squares : (I,)
        Sums of their weights, and of the squares of these.
    couplings : (B,) int
        Couplings of the nodes that they won.
    """

    wins: Ints
    thinning: Floats
    number: Ints
    weights: Floats
    squares: Floats
    couplings: Ints

    def thinned(
        self, scale: ArrayLike, shares: ArrayLike = 1.0, *, squared: bool = False
    ) -> BinomialMixture:
        """Counts of a null feature when the thinning is multiplied by `scale`.

        With several scales, each has a probability in `shares`. `squared`: probes weigh the
        squares of their weights. A thinning above 1 is cut to 1.
        """
        factor, share = np.atleast_1d(scale), np.atleast_1d(shares)
        weights = self.squares if squared else self.weights
        return BinomialMixture(
            np.tile(self.wins, len(factor)),
            np.outer(factor, self.thinning).ravel(),
            np.outer(share, weights).ravel(),
        )

    def last_with(self, probes: float, body: BinomialMixture, squared: BinomialMixture) -> int:
        """The last count whose tail is known as well as from so many probes of equal weight.

        A tail t = Σ w P_p / Σ w has the variance Σ w² P_p / (Σ w)² at most, P_p the probability
        that the thinned wins of probe p exceed the count; with equal weights t²/variance is t
        times the number of probes. `squared` are the thinned wins weighted by w².
        """
        k = np.arange(body.quantile(_NEVER_SEEN) + 1)
        good = body.sf(k) ** 2 >= probes * self.noise * squared.sf(k)
        return int(np.argmin(good)) - 1 if not good.all() else len(k) - 1

    @property
    def noise(self) -> float:
        """Σ w² / (Σ w)²: one over the number of probes, were their weights equal."""
        return float(self.squares.sum() / self.weights.sum() ** 2)

    @property
    def n_probes(self) -> int:
        """Probes in the stratum."""
        return int(self.number.sum())

    @property
    def mean(self) -> float:
        """Expected count of an independent null feature, q·W̄."""
        return float(np.average(self.wins * self.thinning, weights=self.weights))

    @property
    def rate_variance(self) -> float:
        """Variance of the probes' rates relative to their mean, the noise of counting removed."""
        counts = self.wins * self.thinning
        noise = np.average(counts * self.thinning, weights=self.weights)
        spread = np.average((counts - self.mean) ** 2, weights=self.weights)
        return float(max(spread / max(1 - self.noise, 0.5) - noise, 0.0) / self.mean**2)

    def only(self, keep: NDArray[np.bool_]) -> Stratum:
        """The stratum with some of its probes."""
        return Stratum(
            self.wins[keep],
            self.thinning[keep],
            self.number[keep],
            self.weights[keep],
            self.squares[keep],
            self.couplings,
        )


def stratum_of(tally: Tally, name: int) -> Stratum:
    """The probes of one stratum, equal ones merged; those never asked say nothing."""
    asked = tally.probes
    assert asked is not None
    assert tally.candidates is not None
    here = (asked.strata == name) & (asked.trees > 0)
    pairs, place, number = np.unique(
        np.stack([asked.wins[here], asked.trees[here]]),
        axis=1,
        return_inverse=True,
        return_counts=True,
    )
    weights = asked.weights[here]
    couplings = asked.couplings[name] if 0 <= name < len(asked.couplings) else None
    if couplings is None or couplings.sum() == 0:
        couplings = asked.couplings.sum(0)
    return Stratum(
        wins=pairs[0].astype(np.int64),
        thinning=tally.candidates / tally.n_features * tally.n_trees / pairs[1],
        number=number.astype(np.int64),
        weights=np.bincount(place.ravel(), weights, len(number)).astype(float),
        squares=np.bincount(place.ravel(), weights**2, len(number)).astype(float),
        couplings=couplings,
    )
