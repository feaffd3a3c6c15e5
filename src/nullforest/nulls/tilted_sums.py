r"""Probabilities of sums of independent counts, far into the tail.

A sum of counts has the product of their generating functions. Inverting it by a Fourier transform
has an absolute error of about 1e-16, useless where the probabilities are smaller. So the sum is
*tilted* first: P(n = k) e^{sk} / M(s) is again such a sum, centred at any k, and its relative error
there is about 1e-13. A few tilted windows cover the whole range; tails are then sums of
non-negative numbers, never 1 − cdf. All constants here are numerical.

`TreeSum` is a sum over trees in the paper's null model, where tree t contributes a mixture of
binomials, P_t(z) = Σ_h w_th (1 − p_th + p_th z)^K_t; `UnitSum` a sum of counts with given
probabilities, as those of the features of a group.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from nullforest._util.errors import InputError
from nullforest.nulls.distribution import Floats

#: A window is taken for whole as far as tilted probabilities are above this share of the peak.
_WHOLE = 5e-5
#: Smaller ones are taken from a window too, down to this share, where rounding errors begin; a
#: value that no window shows is impossible.
_KEPT = 1e-12
#: The next window is centred this many standard deviations beyond the end of the last.
_REACH = 3.8
#: Values whose tilted tail is below e^-32 = 1e-14 are left out of a window.
_LEFT_OUT = -32.0
#: A tail is summed until what is left is below e^-24 = 4e-11 of it.
TAIL_SHARE = 24.0
#: Characteristic function values below e^-36 = 2e-16 are lost in rounding.
_NEGLIGIBLE = -36.0
#: Complex values held at once, so that they stay in the cache.
_CHUNK = 1 << 15
#: Powers up to this are taken of the base itself.
_SMALL_POWER = 64
#: e^-740 is close to the smallest positive double; e^700 to the largest.
_UNDERFLOW, _MOST_TILT = -740.0, 700.0
#: Values in a window; they take about 1 GB.
_MOST_VALUES = 1 << 24


class Tilted(NamedTuple):
    """A sum under the tilt e^{sn}: log M(s), moments, and the parameters of its tilted parts."""

    s: float
    log_mgf: float
    mean: float
    deviation: float
    parts: Any

    @property
    def extreme(self) -> bool:
        """Whether the sum lies at an end of its support."""
        return self.deviation == 0 or abs(self.s) > 0.99 * _MOST_TILT

    def log_density(self, k: Any) -> Any:
        """Log of what turns tilted probabilities at k into untilted ones."""
        return self.log_mgf - self.s * k


class LatticeSum(ABC):
    """A sum of independent counts: what a Fourier transform needs to know of it."""

    @property
    @abstractmethod
    def largest(self) -> int:
        """Largest value that the sum can take."""

    @abstractmethod
    def log_mgf(self, s: float) -> float:
        """Logarithm of E[e^{sn}]."""

    @abstractmethod
    def tilted(self, s: float) -> Tilted:
        """The sum under the tilt e^{sn}."""

    @abstractmethod
    def transform(self, tilted: Tilted, period: int) -> NDArray[np.complex128]:
        """Fourier transform of the tilted sum at 0, 1, … of the `period` frequencies.

        Those that are left out at the end are negligible.
        """

    def span(self, tilted: Tilted) -> tuple[int, int]:
        """First and last value of the tilted sum: by Chernoff's bound 1e-14 lies outside."""
        fastest = min(8 / max(tilted.deviation, 1e-9), 4.0)  # 8 is the best for a normal sum
        ends = []
        for sign in (-1, 1):
            reaches = [
                (self.log_mgf(tilted.s + sign * t) - tilted.log_mgf) / t - _LEFT_OUT / t
                for t in (fastest, fastest / 2)
            ]
            ends.append(sign * min(reaches))
        last = min(self.largest, int(np.ceil(ends[1])))
        return min(max(0, int(np.floor(ends[0]))), last), last

    def tilt_to(self, k: float, tilted: Tilted) -> Tilted:
        """The tilt whose mean is k, by Newton steps on log(mean), and bisection where they fail."""
        low, high = -_MOST_TILT, _MOST_TILT
        for trial in range(100):
            short = k - tilted.mean
            # A window is 8 deviations wide. No tilt moves the sum beyond its smallest value.
            if abs(short) <= 0.05 * tilted.deviation or tilted.extreme:
                break
            low, high = (tilted.s, high) if short > 0 else (low, tilted.s)
            slope = tilted.deviation**2 / tilted.mean
            step, most = np.log(k / tilted.mean), 2.0 * 1.5**trial
            s = tilted.s + float(np.clip(step / max(slope, abs(step) / most), -most, most))
            tilted = self.tilted(s if low < s < high else (low + high) / 2)
        return tilted

    def window(self, tilted: Tilted) -> tuple[int, Floats]:
        """The tilted probabilities: the first value, and all of them."""
        first, last = self.span(tilted)
        if last - first > _MOST_VALUES:
            raise InputError(
                f"Under this null model counts vary over {last - first} values, too many to sum; "
                "test the tally of fewer trees."
            )
        period = fft.next_fast_len(last - first + 1, real=True)
        pmf = fft.irfft(self.transform(tilted, period), period)
        pmf = np.roll(pmf, -(first % period))[: last - first + 1]
        pmf[pmf < _KEPT * pmf.max()] = 0.0
        place = np.flatnonzero(pmf)
        return first + int(place[0]), pmf[place[0] : place[-1] + 1]


@dataclass(frozen=True)
class TreeSum(LatticeSum):
    """A sum over independent trees; equal trees are merged into one class.

    The parts of the tilted sum are the weights (n, H) and win probabilities (m, H).
    """

    trees: Floats  # (n,) how many trees are in each class
    nodes: Floats  # (n,) internal nodes K of each, ascending; `trees` ascends where they are equal
    pool: NDArray[np.intp]  # (n,) which of the m pools each class has
    log_weights: Floats  # (m, H) log w_h of each pool's components with p_h > 0
    wins: Floats  # (m, H) their p_h, the probability to win one node
    log_rest: Floats  # (m,) log of the weight of the component that never wins (−inf: none)

    @property
    def largest(self) -> int:
        """Largest value that the sum can take."""
        return round(float(np.sum(self.trees * self.nodes)))

    def log_mgf(self, s: float) -> float:
        """Logarithm of E[e^{sn}]."""
        return float(self.trees @ self._log_terms(s)[2])

    def _log_terms(self, s: float) -> tuple[Floats, Floats, Floats]:
        """Log of 1 − p + p e^s, of each tree's terms of the generating function, and their sum."""
        certain = self.wins == 1
        base = np.where(certain, s, np.log1p(np.expm1(s) * np.where(certain, 0.0, self.wins)))
        log_parts = self.log_weights[self.pool] + self.nodes[:, None] * base[self.pool]
        log_mgf = np.logaddexp(np.logaddexp.reduce(log_parts, axis=1), self.log_rest[self.pool])
        return base, log_parts, log_mgf

    def tilted(self, s: float) -> Tilted:
        """The sum under the tilt e^{sn}."""
        base, log_parts, log_mgf = self._log_terms(s)
        weights, wins = np.exp(log_parts - log_mgf[:, None]), self.wins * np.exp(s - base)
        expected = self.nodes[:, None] * wins[self.pool]
        mean = (weights * expected).sum(axis=1)
        rest = np.exp(self.log_rest[self.pool] - log_mgf)
        # Within and between the components; a difference of squares would cancel.
        squares = expected * (1 - wins[self.pool]) + (expected - mean[:, None]) ** 2
        variance = (weights * squares).sum(axis=1) + rest * mean**2
        deviation = float(self.trees @ variance) ** 0.5
        log_total, parts = float(self.trees @ log_mgf), (weights, wins)
        return Tilted(s, log_total, float(self.trees @ mean), deviation, parts)

    def transform(self, tilted: Tilted, period: int) -> NDArray[np.complex128]:
        """E[e^{−i angle n}] up to the last angle at which it matters, a product over all trees."""
        turns = min(period // 2, int(self.last_angle(tilted) / (2 * np.pi) * period) + 1)
        angles = np.linspace(0.0, 2 * np.pi * turns / period, turns + 1)
        out = np.empty(len(angles), complex)
        step = max(1, _CHUNK // self.wins.size)
        for start in range(0, len(angles), step):
            out[start : start + step] = self._product(tilted, angles[start : start + step])
        return np.conj(out)

    def _product(self, tilted: Tilted, angles: Floats) -> NDArray[np.complex128]:
        (weights, wins), angle = tilted.parts, angles[:, None, None]
        versine = 2 * np.sin(angle / 2) ** 2
        one = (1 - wins * versine) + 1j * (wins * np.sin(angle))
        # A large power multiplies the rounding error of its base; its logarithm keeps its digits.
        log_one = _log_modulus(wins, versine) + 1j * np.arctan2(one.imag, one.real)
        rest = 1 - weights.sum(axis=1)
        product = np.ones(len(angles), complex)
        power, reached = np.ones_like(one), 0.0
        # The classes are sorted by K: the K-th powers of all pools follow from the last ones.
        values, starts = np.unique(self.nodes, return_index=True)
        for K, same_K in zip(values, np.split(np.arange(len(self.nodes)), starts[1:]), strict=True):
            gap, reached = K - reached, K
            power *= one**gap if gap <= _SMALL_POWER else np.exp(gap * log_one)
            value = power.take(self.pool[same_K], axis=1)
            value *= weights[same_K]
            # Summing over an axis of length one costs more than all the rest.
            value = value.sum(axis=2) if value.shape[2] > 1 else value[:, :, 0]
            value += rest[same_K]
            repeats, first = np.unique(self.trees[same_K], return_index=True)
            same = np.multiply.reduceat(value, first, axis=1)
            product *= np.prod(same**repeats, axis=1)
        return product

    def last_angle(self, tilted: Tilted) -> float:
        """Angle beyond which |characteristic| is negligible, to a factor of 2; at most π.

        Each tree's |Σ w_h (1 − p_h + p_h e^{i angle})^K| is at most Σ w_h |1 − p_h + p_h e^{i
        angle}|^K, which falls from angle 0 to π.
        """
        weights, wins = tilted.parts
        rest = 1 - weights.sum(axis=1)

        def log_bound(angle: float) -> float:
            log_one = _log_modulus(wins, 2 * np.sin(angle / 2) ** 2)
            terms = weights * np.exp(self.nodes[:, None] * log_one[self.pool])
            return float(self.trees @ np.log(np.maximum(terms.sum(axis=1) + rest, 1e-300)))

        angle = np.pi
        while log_bound(angle / 2) <= _NEGLIGIBLE:
            angle /= 2
        return float(angle)


@dataclass(frozen=True)
class UnitSum(LatticeSum):
    """A sum of independent counts with given probabilities.

    The parts of the tilted sum are the tilted probabilities of the units.
    """

    units: tuple[tuple[Floats, int], ...]  # probabilities of 0 … K of a count, and how many of it

    @property
    def largest(self) -> int:
        """Largest value that the sum can take."""
        return sum(number * (len(pmf) - 1) for pmf, number in self.units)

    def log_mgf(self, s: float) -> float:
        """Logarithm of E[e^{sn}]."""
        return self.tilted(s).log_mgf

    def tilted(self, s: float) -> Tilted:
        """The sum under the tilt e^{sn}."""
        log_mgf = mean = variance = 0.0
        parts = []
        for pmf, number in self.units:
            k = np.arange(len(pmf))
            with np.errstate(divide="ignore"):
                log = np.log(pmf) + s * k
            log_sum = float(np.logaddexp.reduce(log))
            one = np.exp(log - log_sum)
            centre = float(one @ k)
            log_mgf += number * log_sum
            mean += number * centre
            variance += number * float(one @ (k - centre) ** 2)
            parts.append(one)
        return Tilted(s, log_mgf, mean, variance**0.5, parts)

    def transform(self, tilted: Tilted, period: int) -> NDArray[np.complex128]:
        """A product of transforms; what lies beyond the period is folded, as the sum will be."""
        product = np.ones(period // 2 + 1, complex)
        for one, (_, number) in zip(tilted.parts, self.units, strict=True):
            folded = np.bincount(np.arange(len(one)) % period, one, period)
            product *= fft.rfft(folded) ** number
        return product


def _log_modulus(wins: Floats, versine: Any) -> Any:
    """Log of |1 − p + p e^{i angle}|, where the versine is 1 − cos(angle)."""
    return 0.5 * np.log1p(np.maximum(-2.0 * wins * (1 - wins) * versine, -1 + 1e-16))


def _whole(first: int, pmf: Floats) -> tuple[int, int]:
    """First and last value up to which a window is whole."""
    seen = np.flatnonzero(pmf > _WHOLE * pmf.max())
    return first + int(seen[0]), first + int(seen[-1])


class LatticeTable:
    """Probabilities of a sum of counts, filled in by windows as far as they are needed.

    The first window lies `deviations` standard deviations above the mean. The table is whole from
    `low` to `high`.
    """

    def __init__(self, total: LatticeSum, deviations: float = 0.0) -> None:
        self.total = total
        tilted = total.tilted(0.0)
        if deviations and total.largest:
            goal = tilted.mean + deviations * tilted.deviation
            tilted = total.tilt_to(min(max(goal, 0.5), total.largest - 0.5), tilted)
        self._ends = {-1: tilted, 1: tilted}
        first, pmf = total.window(tilted)
        self.first, self._tilted, self.log_pmf = first, np.zeros(1), np.full(1, -np.inf)
        self._add(first, pmf, tilted)
        self.low, self.high = _whole(first, pmf)

    @property
    def last(self) -> int:
        """Last value in the table."""
        return self.first + len(self.log_pmf) - 1

    def extend(self, low: int, high: int, log_tail: float) -> None:
        """Make the table reach from `low` to beyond `high`, where the tail falls below e^log_tail.

        The table also ends where the probabilities underflow, at e^-740.
        """
        while self.high < self.total.largest and (
            self.high <= high or self._log_tail_beyond() > log_tail
        ):
            self.high = self._next_window(self.high, 1)
        while self.low > max(low, 0):
            self.low = self._next_window(self.low, -1)

    def reach(self, k: Floats, *, tail: bool) -> None:
        """Extend the table to these values; for a `tail`, until it is summed to e^-24 of itself."""
        if k.size:
            low, high = (int(np.clip(end, 0, self.total.largest)) for end in (k.min(), k.max()))
            self.extend(low, high, 0.0)
            if tail:
                self.extend(low, high, self.log_tail(high) - TAIL_SHARE)

    def _log_tail_beyond(self) -> float:
        """Bound on log P(n > high): what the table holds, and what its last window left out."""
        upper = self._ends[1]
        left_out = upper.log_density(self.last) + np.log(_KEPT) if upper.s >= 0 else 0.0
        return float(np.logaddexp(self.log_tail(self.high), left_out))

    def _next_window(self, end: int, up: int) -> int:
        """Add a window beyond one end of the table (up: 1 or -1); the new end."""
        last, outermost = self.total.largest if up > 0 else 0, self._ends[up]
        if up * outermost.s >= 0 and outermost.log_density(end) < _UNDERFLOW:
            return last
        reach = _REACH * outermost.deviation
        while True:
            # The ends of the support would need an infinite tilt.
            goal = min(max(end + up * (1 + reach), 0.5), self.total.largest - 0.5)
            tilted = self.total.tilt_to(goal, outermost)
            if tilted.extreme:
                return last
            first, pmf = self.total.window(tilted)
            near, far = _whole(first, pmf)[::up]
            # Next to the end values may be impossible; a window that is centred there tells.
            if up * near <= up * end + 1 or reach < 0.25:
                break
            reach /= 2  # the deviation shrinks towards the ends of the support
        self._ends[up] = tilted
        self._add(first, pmf, tilted)
        return up * max(up * far, up * end + 1)

    def _add(self, first: int, pmf: Floats, tilted: Tilted) -> None:
        """Take from a window what it shows better than the table."""
        around = (max(self.first - first, 0), max(first + len(pmf) - 1 - self.last, 0))
        self._tilted = np.pad(self._tilted, around)
        self.log_pmf = np.pad(self.log_pmf, around, constant_values=-np.inf)
        self.first = min(self.first, first)
        place = slice(first - self.first, first - self.first + len(pmf))
        better = pmf > self._tilted[place]
        k = np.arange(first, first + len(pmf))[better]
        self.log_pmf[place][better] = np.log(pmf[better]) + tilted.log_density(k)
        self._tilted[place][better] = pmf[better]
        self._tails = np.append(np.cumsum(np.exp(self.log_pmf)[::-1])[::-1], 0.0)

    def log_tail(self, k: int) -> float:
        """Log of P(n > k) as far as the table reaches."""
        after = min(max(k + 1 - self.first, 0), len(self.log_pmf))
        if self._tails[after] > np.finfo(float).tiny:
            return float(np.log(self._tails[after]))
        return float(np.logaddexp.reduce(self.log_pmf[after:])) if self.last > k else -np.inf

    def pmf(self, k: NDArray[Any]) -> Floats:
        """P(n = k); zero outside the table."""
        inside = (k >= self.first) & (k <= self.last) & (k == np.floor(k))
        place = np.where(inside, k - self.first, 0).astype(np.int64)
        return np.where(inside, np.exp(self.log_pmf[place]), 0.0)

    def sf(self, k: NDArray[Any]) -> Floats:
        """P(n > k), summed from the far end of the tail."""
        place = np.clip(np.floor(k) + 1 - self.first, 0, len(self._tails) - 1).astype(np.int64)
        return np.where(k < 0, 1.0, np.minimum(self._tails[place], 1.0))
