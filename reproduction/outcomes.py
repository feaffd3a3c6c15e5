"""Outcomes of forests whose truth is known: counts by group, and the tail of each null model.

An outcome is all that the experiments need of a run: the histogram of the counts in every group
of features ("relevant", and one or more groups of null features) and the tail P(n > k) of every
null model. Thresholds, false positive and false negative rates follow for any alpha.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nullforest.nulls import Kind, null
from nullforest.tallies.tally import Tally

Floats = NDArray[np.float64]
#: The null models of every experiment.
NULLS: tuple[Kind, ...] = ("paper", "bagged")
RELEVANT = "relevant"
#: Tails are kept down to this level, a tenth of the smallest alpha of the paper.
LOWEST_LEVEL = 1e-4
#: Digits of a kept tail; it is read off figures, and compared with alphas of one digit.
DIGITS = 6


@dataclass(frozen=True)
class Outcome:
    """Counts by group, and the tail of each null model.

    Examples
    --------
    >>> outcome = Outcome({"irrelevant": [(0, 8), (3, 2)], "relevant": [(5, 1), (9, 1)]},
    ...                   {"paper": [0.6, 0.3, 0.1, 0.04, 0.01, 0.002]}, 7.0)
    >>> outcome.threshold("paper", 0.05), outcome.rate_above(2, "irrelevant")
    (3, 0.2)
    >>> outcome.false_positive_rate(3), outcome.false_negative_rate(5)
    (0.0, 0.5)
    """

    groups: Mapping[str, Sequence[tuple[int, int]]]  # counts, and numbers of features with them
    tails: Mapping[str, Sequence[float]]  # P(n > k) for k = 0, 1, … under each null model
    nodes_per_tree: float  # mean number of internal nodes, the paper's K

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

    def false_positive_rate(self, threshold: float) -> float:
        """Share of the null features whose count is greater."""
        return self.rate_above(threshold, *(name for name in self.groups if name != RELEVANT))

    def false_negative_rate(self, threshold: float) -> float:
        """Share of the relevant features whose count is not greater; NaN where there are none."""
        return 1.0 - self.rate_above(threshold, RELEVANT)

    def curve(self, length: int) -> Floats:
        """Observed false positive rate for the thresholds 0, 1, …, length - 1."""
        return np.array([self.false_positive_rate(k) for k in range(length)])

    def tail(self, kind: str, length: int) -> Floats:
        """Tail of a null model for the same thresholds; 0 beyond what was kept."""
        tail = np.asarray(self.tails[kind], float)[:length]
        return np.append(tail, np.zeros(length - len(tail)))


def read_outcomes(records: Sequence[Mapping[str, Any]]) -> list[Outcome]:
    """Outcomes that were kept as records with `dataclasses.asdict`."""
    return [Outcome(r["groups"], r["tails"], r["nodes_per_tree"]) for r in records]


def outcome_of(
    tally: Tally, groups: Mapping[str, NDArray[np.bool_]], nulls: tuple[Kind, ...] = NULLS
) -> Outcome:
    """Outcome of a tally; `groups` says which features are "relevant", and groups the others."""
    irrelevant = np.any([mask for name, mask in groups.items() if name != RELEVANT], axis=0)
    longest = int(tally.counts[irrelevant].max(initial=0))
    return Outcome(
        {
            name: sorted(Counter(tally.counts[mask].tolist()).items())
            for name, mask in groups.items()
        },
        {kind: _tail(tally, kind, longest) for kind in nulls},
        round(float(tally.nodes_per_tree.mean()), DIGITS),
    )


def _tail(tally: Tally, kind: Kind, longest: int) -> list[float]:
    model = null(tally, kind)
    last = min(max(model.threshold(LOWEST_LEVEL), longest), model.largest)
    return [float(f"{p:.{DIGITS}g}") for p in model.sf(np.arange(last + 1))]
