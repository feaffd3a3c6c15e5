"""What came of one forest whose truth is known? Its counts, and what each null says of them.

An outcome is all that the experiments need of a run: the histogram of the counts in every group
of features ("relevant", and one or more groups of irrelevant ones) and the tail P(n > k) of every
null. Thresholds, false positive and false negative rates follow for any alpha.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nullforest.nulls import Kind, null
from nullforest.tallies.tally import Tally

Floats = NDArray[np.float64]
#: The nulls that every experiment is judged by.
NULLS: tuple[Kind, ...] = ("paper", "bagged")
RELEVANT = "relevant"
#: Tails are kept down to this level, a tenth of the smallest alpha of the paper.
LOWEST_LEVEL = 1e-4
#: Digits of a kept tail; it is read off figures, and compared with alphas of one digit.
DIGITS = 6


@dataclass(frozen=True)
class Outcome:
    """Counts by group, and the tail of each null.

    Attributes
    ----------
    groups : mapping of str to list of (count, number of features)
        Histogram of the counts of each group of features.
    tails : mapping of str to (k,) float
        P(n > k) for k = 0, 1, … under each null.
    nodes_per_tree : float
        Mean number of internal nodes, the paper's K.

    Examples
    --------
    >>> outcome = Outcome({"irrelevant": [(0, 8), (3, 2)], "relevant": [(5, 1), (9, 1)]},
    ...                   {"paper": [0.6, 0.3, 0.1, 0.04, 0.01, 0.002]}, 7.0)
    >>> outcome.threshold("paper", 0.05), outcome.rate_above(2, "irrelevant")
    (3, 0.2)
    >>> outcome.false_positive_rate("paper", 0.05), outcome.false_negative_rate("paper", 0.003)
    (0.0, 0.5)
    """

    groups: Mapping[str, list[tuple[int, int]]]
    tails: Mapping[str, list[float]]
    nodes_per_tree: float

    def threshold(self, kind: str, alpha: float) -> int:
        """Smallest κ with P(n > κ) ≤ alpha."""
        passed = np.flatnonzero(np.asarray(self.tails[kind]) <= alpha)
        if not len(passed):
            raise ValueError(f"the {kind} null was kept down to a level above {alpha}")
        return int(passed[0])

    def rate_above(self, threshold: float, *groups: str) -> float:
        """Share of the features of some groups whose count is greater; NaN without features."""
        above = sum(n for name in groups for k, n in self.groups[name] if k > threshold)
        total = sum(n for name in groups for _, n in self.groups[name])
        return above / total if total else float("nan")

    @property
    def irrelevant(self) -> list[str]:
        """Names of the groups of irrelevant features."""
        return [name for name in self.groups if name != RELEVANT]

    def false_positive_rate(self, kind: str, alpha: float) -> float:
        """Share of the irrelevant features above the threshold."""
        return self.rate_above(self.threshold(kind, alpha), *self.irrelevant)

    def false_negative_rate(self, kind: str, alpha: float) -> float:
        """Share of the relevant features not above the threshold; NaN where there are none."""
        return 1.0 - self.rate_above(self.threshold(kind, alpha), RELEVANT)

    def curve(self, length: int) -> Floats:
        """Observed false positive rate for the thresholds 0, 1, …, length - 1."""
        return np.array([self.rate_above(k, *self.irrelevant) for k in range(length)])

    def tail(self, kind: str, length: int) -> Floats:
        """The null's false positive rate for the same thresholds; NaN beyond what was kept."""
        kept = np.asarray(self.tails[kind], float)[:length]
        return np.append(kept, np.full(length - len(kept), np.nan))

    def to_record(self) -> dict[str, Any]:
        """Plain numbers for a file."""
        return {
            "groups": {name: [list(pair) for pair in pairs] for name, pairs in self.groups.items()},
            "tails": {kind: list(tail) for kind, tail in self.tails.items()},
            "nodes_per_tree": self.nodes_per_tree,
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Outcome:
        """Read back what `to_record` gave."""
        groups = {name: [(k, n) for k, n in pairs] for name, pairs in record["groups"].items()}
        return cls(groups, record["tails"], record["nodes_per_tree"])


def outcome_of(
    tally: Tally, groups: Mapping[str, NDArray[np.bool_]], nulls: tuple[Kind, ...] = NULLS
) -> Outcome:
    """Sort a tally's counts by truth and ask the nulls.

    Parameters
    ----------
    tally : Tally
    groups : mapping of str to (F,) bool
        Which features belong to "relevant" and to the groups of irrelevant ones.
    nulls : tuple of str
        Kinds of nulls to ask.
    """
    irrelevant = np.any([mask for name, mask in groups.items() if name != RELEVANT], axis=0)
    longest = int(tally.counts[irrelevant].max(initial=0))
    return Outcome(
        {name: _histogram(tally.counts[mask]) for name, mask in groups.items()},
        {kind: _tail(tally, kind, longest) for kind in nulls},
        round(float(tally.nodes_per_tree.mean()), DIGITS),
    )


def _histogram(counts: NDArray[np.int64]) -> list[tuple[int, int]]:
    values, numbers = np.unique(counts, return_counts=True)
    return list(zip(values.tolist(), numbers.tolist(), strict=True))


def _tail(tally: Tally, kind: Kind, longest: int) -> list[float]:
    model = null(tally, kind)
    last = min(max(model.threshold(LOWEST_LEVEL), longest), model.largest)
    return [float(f"{p:.{DIGITS}g}") for p in model.sf(np.arange(last + 1))]
