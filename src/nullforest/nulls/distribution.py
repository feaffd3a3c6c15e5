"""What can be asked of a null? How often a feature that means nothing is selected by chance."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nullforest._util.errors import InputError

Floats = NDArray[np.float64]


class Null(ABC):
    """Distribution of the selection frequency of a feature that is not related to the label.

    A null answers for one feature by `pmf` and `sf`, and for all features of a forest at once
    by `pvalues`, which a null with several kinds of features overrides.

    Attributes
    ----------
    kind : str
        Name of the model: "paper", "bagged" or "probes".
    n_features : int
        Features the expected number of false positives counts over.
    notes : tuple of str
        Plain sentences the reader of a result should see.
    """

    kind: str
    n_features: int
    notes: tuple[str, ...] = ()

    @property
    @abstractmethod
    def mean(self) -> float:
        """Expected count of a null feature."""

    @property
    @abstractmethod
    def largest(self) -> int:
        """Largest count that is possible at all."""

    @abstractmethod
    def pmf(self, k: ArrayLike) -> Floats:
        """Probability that a null feature is selected exactly k times."""

    @abstractmethod
    def sf(self, k: ArrayLike) -> Floats:
        """Probability that a null feature is selected more than k times."""

    def threshold(self, alpha: float) -> int:
        """Smallest κ with P(n > κ) ≤ alpha (the paper's Eq. thresholdII).

        A feature is selected when its count is *greater* than the threshold.
        """
        check_alpha(alpha)
        low, high = -1, 0  # sf(low) > alpha ≥ sf(high), once the doubling has ended
        while high < self.largest and float(self.sf(high)) > alpha:
            low, high = high, min(2 * high + 1, self.largest)
        while high - low > 1:
            middle = (low + high) // 2
            if float(self.sf(middle)) > alpha:
                low = middle
            else:
                high = middle
        return high

    def expected_false_positives(self, threshold: float) -> float:
        """Expected number of null features with a count greater than `threshold`."""
        return float(self.n_features * self.sf(threshold))

    def pvalues(self, counts: ArrayLike, *, mid: bool = False) -> Floats:
        """Probability of each feature's count or a larger one under the null.

        Parameters
        ----------
        counts : array-like of int, (F,)
            Observed selection frequencies.
        mid : bool
            Count only half of the probability of the observed count itself (mid-p). Mid-p
            values are uniform on average but may exceed the level; plain ones never do.
        """
        counts = np.asarray(counts)
        values, place = np.unique(counts, return_inverse=True)
        p = self.sf(values - 1)
        if mid:
            p = p - 0.5 * self.pmf(values)
        # A count above the largest possible one has probability zero; anything else has not,
        # even where it underflows.
        p = np.where(values <= self.largest, np.maximum(p, np.finfo(float).tiny), p)
        return np.asarray(p[place].reshape(counts.shape))

    def expected_counts(self) -> Floats:
        """Expected count of each feature, were it null."""
        return np.full(self.n_features, self.mean)

    def tail_note(self, alpha: float) -> str | None:
        """A plain sentence where the tail at `alpha` rests on extrapolation, else None."""
        check_alpha(alpha)
        return None

    def notes_at(self, alpha: float) -> tuple[str, ...]:
        """Sentences that a reader of p-values near `alpha` should see."""
        note = self.tail_note(alpha)
        return self.notes if note is None else (*self.notes, note)

    def scaled(self, factor: float) -> Null | None:
        """The null of `factor` times as many trees like these; None where it is not known."""
        return None

    def describe(self) -> dict[str, Any]:
        """Numbers that tell how the null was set up, for tables and JSON."""
        return {"null": self.kind, "expected_count": self.mean}


def check_alpha(alpha: float) -> None:
    """Refuse an error rate outside (0, 1)."""
    if not 0.0 < alpha < 1.0:
        raise InputError(f"alpha = {alpha} is no error rate; give a number between 0 and 1.")
