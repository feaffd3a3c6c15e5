"""What did the probes of one kind of feature show? Their wins, thinned to a feature's counts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc

from nullforest.nulls.binomial_mixture import BinomialMixture
from nullforest.nulls.distribution import Floats
from nullforest.tallies.tally import Tally

Ints = NDArray[np.int64]

_NEVER_SEEN = 1e-7  # no tail so small is seen: picks reach to about one in 10⁵
_ALIKE = 0.05  # in √(expected count), of which counts have a standard deviation of ½
_TRIED = 24  # counts looked at in one round of a search


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

    def thinned(self, scale: ArrayLike, shares: ArrayLike = 1.0) -> BinomialMixture:
        """Counts of a null feature when the thinning is multiplied by `scale`.

        With several scales, each has a probability in `shares`. A thinning above 1 is cut to 1.
        """
        factor, share = np.atleast_1d(scale), np.atleast_1d(shares)
        return BinomialMixture(
            np.tile(self.wins, len(factor)),
            np.outer(factor, self.thinning).ravel(),
            np.outer(share, self.weights).ravel(),
        )

    def worth(self, k: ArrayLike) -> Floats:
        """How many probes, counted whole, the tail P(n > k) is known from.

        With P_p the probability that the thinned wins of probe p exceed k, the tail is
        t = Σ w P_p / Σ w, and its variance Σ w² (P_p − t)² / (Σ w)². Probes of equal weight that
        exceed k for certain or not at all would give t²/variance = t · number / (1 − t). Thinned
        wins that only may exceed k tell more than that: many probes have a part in such a tail.
        """
        at = np.atleast_1d(np.asarray(k, float))
        wins, thinning, weights, squares = self._groups
        above = np.where(
            wins > at, betainc(at + 1, np.maximum(wins - at, 1.0), np.minimum(thinning, 1.0)), 0.0
        )
        tail = weights @ above / weights.sum()
        variance = squares @ (above - tail) ** 2 / weights.sum() ** 2
        return np.asarray(np.divide(tail**2, variance, out=np.zeros_like(tail), where=variance > 0))

    @cached_property
    def _groups(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Wins, thinning, weights and squares of groups of probes that are nearly alike."""
        expected = self.wins * self.thinning
        group = np.floor(np.sqrt(expected) / _ALIKE).astype(np.int64)
        group = np.unique(group, return_inverse=True)[1].ravel()
        weights, squares, wins, mean = (
            np.bincount(group, each).astype(float)
            for each in (
                self.weights,
                self.squares,
                self.weights * self.wins,
                self.weights * expected,
            )
        )
        wins, mean = wins / weights, mean / weights
        thinning = np.divide(mean, wins, out=np.zeros_like(mean), where=wins > 0)
        return wins[:, None], thinning[:, None], weights, squares

    def last_with(self, probes: float) -> int:
        """The last count whose tail is known as well as from so many whole probes."""
        end = self.thinned(1.0).quantile(_NEVER_SEEN)
        low, high = -1, end + 1
        while high - low > 1:  # in a few rounds of many counts each
            tried = np.unique(np.linspace(low + 1, high - 1, _TRIED).astype(np.int64))
            good = self.worth(tried) >= probes
            first_bad = len(tried) if good.all() else int(np.argmin(good))
            low, high = (
                int(tried[first_bad - 1]) if first_bad else low,
                int(tried[first_bad]) if first_bad < len(tried) else high,
            )
        return low

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
