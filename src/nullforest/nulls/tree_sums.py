r"""How are the probabilities of a sum over trees computed, far into the tail?

The sum n = Σ_t n_t has the generating function Π_t P_t(z), where tree t contributes a mixture
of binomials, P_t(z) = Σ_h w_th (1 − p_th + p_th z)^K_t. Inverting it by a Fourier transform has
an absolute error of about 1e-16, useless where the probabilities are smaller. So the sum is
*tilted* first: P(n = k) e^{sk} / M(s) is again a sum of such mixtures, centred at any k we want,
and its relative error there is about 1e-13. A few tilted windows cover the whole range; tails
are then sums of non-negative numbers, never 1 − cdf.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: A window reaches this many standard deviations from its centre. There the tilted probability
#: is still about e^-8 of its peak, so that a rounding error of 1e-13 stays below 1e-9 of it.
_REACH = 4.0
#: Share of the peak below which values are left to the next window.
_KEPT = 5e-5
#: Characteristic function values below e^-36 = 2e-16 are lost in rounding.
_NEGLIGIBLE = -36.0
#: Complex values held at once, so that they stay in the cache.
_CHUNK = 1 << 15
#: Powers up to this are taken of the base itself.
_SMALL_POWER = 64
#: e^-740 is close to the smallest positive double.
_UNDERFLOW = -740.0


@dataclass(frozen=True)
class TreeSum:
    """A sum over independent trees; equal trees are merged into one kind.

    Attributes
    ----------
    trees : (n,) how many trees are of each kind
    nodes : (n,) internal nodes K of each kind, ascending; `trees` ascends where they are equal
    pool : (n,) which of the m pools each kind has
    log_weights : (m, H) log w_h of each pool's components with p_h > 0
    wins : (m, H) their p_h, the probability to win one node
    log_rest : (m,) log of the weight of the component that never wins (−inf: none)
    """

    trees: Floats
    nodes: Floats
    pool: NDArray[np.intp]
    log_weights: Floats
    wins: Floats
    log_rest: Floats

    @property
    def largest(self) -> int:
        """Largest value that the sum can take."""
        return round(float(np.sum(self.trees * self.nodes)))

    def tilted(self, s: float) -> tuple[Floats, Floats, float]:
        """Weights (n, H) and win probabilities (m, H) under the tilt e^{sn}, and log M(s)."""
        base = np.log1p(np.expm1(s) * self.wins)
        log_parts = self.log_weights[self.pool] + self.nodes[:, None] * base[self.pool]
        log_mgf = np.logaddexp(np.logaddexp.reduce(log_parts, axis=1), self.log_rest[self.pool])
        weights = np.exp(log_parts - log_mgf[:, None])
        return weights, self.wins * np.exp(s - base), float(np.sum(self.trees * log_mgf))

    def mean_and_variance(self, weights: Floats, wins: Floats) -> tuple[float, float]:
        """Mean and variance of the sum, given the trees' weights and win probabilities."""
        given = self.nodes[:, None] * wins[self.pool]
        mean = (weights * given).sum(axis=1)
        second = (weights * given * (1 - wins[self.pool] + given)).sum(axis=1)
        return float(np.sum(self.trees * mean)), float(np.sum(self.trees * (second - mean**2)))

    def characteristic(
        self, weights: Floats, wins: Floats, angles: Floats
    ) -> NDArray[np.complex128]:
        """E[e^{i angle n}], a product over all trees."""
        out = np.empty(len(angles), complex)
        step = max(1, _CHUNK // wins.size)
        for start in range(0, len(angles), step):
            out[start : start + step] = self._product(weights, wins, angles[start : start + step])
        return out

    def _product(self, weights: Floats, wins: Floats, angles: Floats) -> NDArray[np.complex128]:
        angle = angles[:, None, None]
        one = (1 - wins * (1 - np.cos(angle))) + 1j * (wins * np.sin(angle))
        # A large power multiplies the rounding error of its base; its logarithm keeps its digits.
        shrink = -2.0 * wins * (1 - wins) * (1 - np.cos(angle))
        log_one = 0.5 * np.log1p(np.maximum(shrink, -1 + 1e-16)) + 1j * np.arctan2(
            one.imag, one.real
        )
        rest = 1 - weights.sum(axis=1)
        product = np.ones(len(angles), complex)
        power, reached = np.ones_like(one), 0.0
        # The kinds are sorted by K: the K-th powers of all pools follow from the last ones.
        values, starts = np.unique(self.nodes, return_index=True)
        for K, kinds in zip(values, np.split(np.arange(len(self.nodes)), starts[1:]), strict=True):
            gap, reached = K - reached, K
            power *= one**gap if gap <= _SMALL_POWER else np.exp(gap * log_one)
            value = power.take(self.pool[kinds], axis=1)
            value *= weights[kinds]
            # Summing over an axis of length one costs more than all the rest.
            value = value.sum(axis=2) if value.shape[2] > 1 else value[:, :, 0]
            value += rest[kinds]
            repeats, first = np.unique(self.trees[kinds], return_index=True)
            same = np.multiply.reduceat(value, first, axis=1)
            product *= np.prod(same**repeats, axis=1)
        return product

    def last_angle(self, weights: Floats, wins: Floats) -> float:
        """Angle beyond which |characteristic| is negligible; π where it never is.

        Each tree's |1 − A + A w| is at most exp(−A (1 − |w|)), where |w| = e^−x falls from
        angle 0 to π and 1 − e^−x is at least x / (1 + x).
        """

        def log_bound(angle: float) -> float:
            shrink = -2.0 * wins * (1 - wins) * (1 - np.cos(angle))
            x = -0.5 * np.log1p(np.maximum(shrink, -1 + 1e-16))
            x = self.nodes[:, None] * x[self.pool]
            return -float(np.sum(self.trees * (weights * x / (1 + x)).sum(axis=1)))

        if log_bound(np.pi) > _NEGLIGIBLE:
            return float(np.pi)
        low, high = 0.0, np.pi
        for _ in range(7):  # to 2.5 % of the circle
            middle = (low + high) / 2
            low, high = (middle, high) if log_bound(middle) > _NEGLIGIBLE else (low, middle)
        return high

    def tilt_to(self, k: float, s: float) -> float:
        """The tilt whose mean is k, by Newton steps on log(mean) from the guess s."""
        for _ in range(60):
            weights, wins, _ = self.tilted(s)
            mean, variance = self.mean_and_variance(weights, wins)
            if variance < 1e-9 * mean:  # a certain value cannot be moved
                break
            step = (np.log(k) - np.log(mean)) * mean / variance
            s += float(np.clip(step, -2.0, 2.0))
            if abs(mean - k) < 0.05 * np.sqrt(variance) + 1e-9:  # a window is 8 deviations wide
                break
        return s


def window_at(total: TreeSum, s: float, *, trim: bool = True) -> tuple[int, Floats]:
    """Log probabilities near the mean of the sum tilted by s: the first value, and all of them."""
    weights, wins, log_mgf = total.tilted(s)
    mean, variance = total.mean_and_variance(weights, wins)
    deviation = np.sqrt(variance)
    # The tails of such sums are at most Poisson-like, heavier than normal ones when the mean is
    # small; a period of 18 deviations and 60 more keeps the aliases below 1e-12 of the values.
    period = int(np.ceil(18 * deviation)) + 60
    first = max(0, int(np.floor(mean - _REACH * deviation - 1)))
    last = min(total.largest, int(np.ceil(mean + _REACH * deviation + 1)))
    limit = total.last_angle(weights, wins) / (2 * np.pi) * period
    turns = np.arange(min(period // 2, int(limit) + 1) + 1)
    value = total.characteristic(weights, wins, 2 * np.pi * turns / period)
    share = np.full(len(turns), 2.0)
    share[0] = 1.0
    if 2 * turns[-1] == period:
        share[-1] = 1.0  # the angle π is its own mirror image
    k = np.arange(first, last + 1)
    # Whole turns are taken off in integers: k · angle itself would lose digits when k is large.
    angle = 2 * np.pi / period * (np.outer(k, turns) % period)
    pmf = (np.cos(angle) * value.real + np.sin(angle) * value.imag) @ share / period
    # Rounding leaves ±1e-17 where a value is impossible (pools of a single feature, say).
    log_pmf = np.log(np.where(pmf > 1e-15, pmf, 1.0))
    log_pmf = np.where(pmf > 1e-15, log_pmf + log_mgf - s * k, -np.inf)
    if not trim:
        return first, log_pmf
    # Near the ends of the support the tilted probabilities fall faster than normal ones.
    kept = np.flatnonzero(pmf > _KEPT * pmf.max())
    return first + int(kept[0]), log_pmf[kept[0] : kept[-1] + 1]


class LatticeTable:
    """Probabilities of a sum over trees, filled in by windows as far as they are asked for.

    The first window lies `deviations` standard deviations above the mean.
    """

    def __init__(self, total: TreeSum, deviations: float = 0.0) -> None:
        self.total = total
        s = 0.0
        if deviations:
            weights, wins, _ = total.tilted(0.0)
            mean, variance = total.mean_and_variance(weights, wins)
            s = total.tilt_to(min(mean + deviations * np.sqrt(variance), total.largest - 0.5), s)
        self.first, self.log_pmf = window_at(total, s)
        self._upper = self._lower = s

    @property
    def last(self) -> int:
        """Last value in the table."""
        return self.first + len(self.log_pmf) - 1

    def extend(self, low: int, high: int, log_tail: float) -> None:
        """Make the table reach from `low` to beyond `high`, where the tail falls below e^log_tail.

        The table also ends where the probabilities underflow, at e^-740.
        """
        while self.last < self.total.largest and (
            self.last < high + 1 or self.log_pmf[-1] > log_tail
        ):
            if self.log_pmf[-1] < _UNDERFLOW:
                break
            first, log_pmf = self._next_window(self.last + 1)
            self.log_pmf = np.append(self.log_pmf, log_pmf[self.last + 1 - first :])
        while self.first > max(low, 0):
            if self.log_pmf[0] < _UNDERFLOW:
                break
            first, log_pmf = self._next_window(self.first - 1)
            self.log_pmf = np.append(log_pmf[: self.first - first], self.log_pmf)
            self.first = first

    def _next_window(self, edge: int) -> tuple[int, Floats]:
        """A window that holds `edge`, the first value outside the table, near its own border."""
        up = edge > self.first
        s = self._upper if up else self._lower
        reach = 0.95 * _REACH * self._deviation(s) * (1 if up else -1)
        while True:
            # The ends of the support would need an infinite tilt.
            goal = min(max(edge + reach, 0.5), self.total.largest - 0.5)
            tilt = self.total.tilt_to(goal, s)
            # Where a value is impossible, no trimmed window holds it: take an untrimmed one.
            first, log_pmf = window_at(self.total, tilt, trim=abs(reach) > 0.25)
            if first <= edge < first + len(log_pmf):
                self._upper, self._lower = (tilt, self._lower) if up else (self._upper, tilt)
                return first, log_pmf
            reach /= 2  # the deviation shrinks towards the ends, and with it the window

    def _deviation(self, s: float) -> float:
        weights, wins, _ = self.total.tilted(s)
        return float(np.sqrt(self.total.mean_and_variance(weights, wins)[1]))

    def log_tail(self, k: int) -> float:
        """Log of P(n > k) as far as the table reaches."""
        after = self.log_pmf[max(k + 1 - self.first, 0) :]
        return float(np.logaddexp.reduce(after)) if len(after) else -np.inf

    def pmf(self, k: NDArray[Any]) -> Floats:
        """P(n = k); zero outside the table."""
        inside = (k >= self.first) & (k <= self.last) & (k == np.floor(k))
        place = np.where(inside, k - self.first, 0).astype(np.int64)
        return np.where(inside, np.exp(self.log_pmf[place]), 0.0)

    def sf(self, k: NDArray[Any]) -> Floats:
        """P(n > k), summed from the far end of the tail."""
        tail = np.append(np.cumsum(np.exp(self.log_pmf)[::-1])[::-1], 0.0)
        tail = np.minimum(tail, 1.0)
        place = np.clip(np.floor(k) + 1 - self.first, 0, len(tail) - 1).astype(np.int64)
        return np.where(k < 0, 1.0, tail[place])
