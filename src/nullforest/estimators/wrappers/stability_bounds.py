r"""Bounds on the expected number of false features in stability selection.

q features are selected on average on a half-sample, of p in all; a feature is stable when the
share of half-samples that select it is at least the threshold π.

- Meinshausen & Bühlmann (2010), Theorem 1: E[V] ≤ q² / ((2π − 1) p), if null features are
  exchangeable and the selector is no worse than a random choice.
- Shah & Samworth (2013), Theorem 1, for complementary pairs: the same number bounds the expected
  number of stable features that are selected on a half-sample with probability q/p at most, without
  any assumption.
- Their Theorem 2, for B pairs and distributions of the paired selection proportion that are
  unimodal, with θ = q/p ≤ 1/√3: E[V] ≤ C(π, B) q²/p, where

      C = 1 / (2 (2π − 1 − 1/(2B)))      for min(½ + θ², ½ + 1/(2B) + ¾ θ²) < π ≤ ¾,
      C = 4 (1 − π + 1/(2B)) / (1 + 1/B)  for ¾ < π ≤ 1.
"""

from __future__ import annotations

import math
from typing import Literal

from nullforest._util.errors import InputError

Bound = Literal["worst-case", "unimodal"]


def expected_false(
    threshold: float, q: float, n_features: int, pairs: int, bound: Bound = "worst-case"
) -> float:
    """Bound on the expected number of false stable features.

    Parameters
    ----------
    threshold : float
        Share of half-samples π that must select a feature, above ½.
    q : float
        Mean number of features selected on a half-sample.
    n_features : int
        Number of features p.
    pairs : int
        Complementary pairs B; used by the unimodal bound only.
    bound : {"worst-case", "unimodal"}
        Without assumptions on the distribution of the selection proportion, or for unimodal ones
        (the worst-case bound where that is not smaller, or not defined).

    Examples
    --------
    >>> round(expected_false(0.9, q=20, n_features=1000, pairs=50), 3)
    0.5
    >>> round(expected_false(0.9, q=20, n_features=1000, pairs=50, bound="unimodal"), 3)
    0.173
    """
    if not 0.5 < threshold <= 1.0:
        raise InputError(
            f"threshold = {threshold} must lie above 0.5 and up to 1; there is no bound below."
        )
    theta = q / n_features
    worst = theta * q / (2 * threshold - 1)
    if bound == "worst-case":
        return worst
    return min(worst, _unimodal_factor(threshold, theta, pairs) * theta * q)


def _unimodal_factor(threshold: float, theta: float, pairs: int) -> float:
    lowest = min(0.5 + theta**2, 0.5 + 1 / (2 * pairs) + 0.75 * theta**2)
    if theta > 1 / math.sqrt(3) or threshold <= lowest:
        return math.inf
    if threshold <= 0.75:
        room = 2 * threshold - 1 - 1 / (2 * pairs)
        return 1 / (2 * room) if room > 0 else math.inf
    return 4 * (1 - threshold + 1 / (2 * pairs)) / (1 + 1 / pairs)


def lowest_threshold(
    most: float, q: float, n_features: int, halves: int, pairs: int, bound: Bound
) -> float | None:
    """Smallest share of the half-samples that holds the expected number of false features.

    Examples
    --------
    >>> lowest_threshold(1.0, q=20, n_features=1000, halves=100, pairs=50, bound="worst-case")
    0.7
    """
    for number in range(halves // 2 + 1, halves + 1):
        threshold = number / halves
        if expected_false(threshold, q, n_features, pairs, bound) <= most * (1 + 1e-12):  # rounding
            return threshold
    return None
