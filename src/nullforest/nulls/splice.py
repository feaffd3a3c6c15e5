"""What if the tail reaches beyond what was seen? One distribution to the joint, another beyond."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from nullforest.nulls.binomial_mixture import BinomialMixture, Floats

_Function = Callable[[ArrayLike], Floats]


class Splice:
    """Counts that follow `body` up to the count `joint`, and the shape of `tail` beyond.

    P(n > k) is the body's for k ≤ joint, and P_body(n > joint) · P_tail(n > k)/P_tail(n > joint)
    for larger k, so that it is continuous, falls, and has the tail's ratios. joint = −1 takes
    the tail alone.

    Examples
    --------
    >>> coin = BinomialMixture([4], [0.5], [1.0])
    >>> bool(np.allclose(Splice(coin, coin, 1).sf([0, 1, 2, 3]), coin.sf([0, 1, 2, 3])))
    True
    """

    def __init__(self, body: BinomialMixture, tail: BinomialMixture, joint: int) -> None:
        self.body = body
        self.tail = tail
        self.joint = joint
        self.beyond = 1.0 if joint < 0 else float(body.sf(joint))
        below = 1.0 if joint < 0 else float(tail.sf(joint))
        self._factor = self.beyond / below if below > 0 else 0.0

    @property
    def largest(self) -> int:
        """Largest possible count."""
        return max(self.tail.largest, self.joint + 1) if self._factor > 0 else self.body.largest

    @cached_property
    def mean(self) -> float:
        """Expected count, the sum of P(n > k) over all k."""
        if self._factor == 0:
            return self.body.mean
        end = self.tail.quantile(1e-15 * float(self.tail.sf(self.joint)))  # the rest is rounding
        below, above = np.arange(self.joint + 1), np.arange(self.joint + 1, end + 1)
        return float(self.body.sf(below).sum() + self._factor * self.tail.sf(above).sum())

    def sf(self, k: ArrayLike) -> Floats:
        """P(count > k)."""
        return self._chosen(k, self.body.sf, self.tail.sf)

    def pmf(self, k: ArrayLike) -> Floats:
        """P(count = k)."""
        return self._chosen(k, self.body.pmf, self.tail.pmf)

    def _chosen(self, k: ArrayLike, body: _Function, tail: _Function) -> Floats:
        k = np.asarray(k, float)
        if self._factor == 0:
            return np.asarray(body(k))
        return np.where(k < self.joint + 1, body(k), self._factor * tail(k))
