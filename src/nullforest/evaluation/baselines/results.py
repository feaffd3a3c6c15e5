"""Selections made from the p-values of a published test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nullforest._util.errors import InputError
from nullforest.nulls.distribution import Floats, Null
from nullforest.selection.error_rates import ErrorRate, critical_level, decide
from nullforest.selection.selection import Selection
from nullforest.tallies.tally import Tally


@dataclass
class Reference(Null):
    """The expected statistic of a null feature under a published test.

    Such a test gives p-values only, not a distribution.

    Attributes
    ----------
    kind : str
        Name of the test.
    expected : (F,) float
        Expected statistic of each feature, were it null.
    details : dict
        Further numbers of the test.
    """

    kind: str
    expected: Floats
    details: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.n_features = len(self.expected)

    @property
    def mean(self) -> float:
        """Expected statistic of a null feature, the mean over all features."""
        return float(self.expected.mean())

    @property
    def largest(self) -> int:  # type: ignore[override]  # refused, as all that asks for a count
        """Largest possible statistic; not known."""
        self._refuse()

    def pmf(self, k: ArrayLike) -> Floats:
        """Not known for a published test."""
        self._refuse()

    def sf(self, k: ArrayLike) -> Floats:
        """Not known for a published test."""
        self._refuse()

    def expected_counts(self) -> Floats:
        """Expected statistic of each feature, were it null."""
        return self.expected

    def describe(self) -> dict[str, Any]:
        """Numbers that describe the test."""
        return {"null": self.kind, "expected": self.mean, **self.details}

    def _refuse(self) -> NoReturn:
        raise InputError(
            f"The test by {self.kind} has p-values only, in selection.pvalues; use "
            "nullforest.null(selection.tally) for a null distribution."
        )


def selection_from(
    pvalues: Floats,
    values: Floats,
    null: Reference,
    *,
    statistic: str,
    tally: Tally,
    alpha: float,
    error: ErrorRate,
    forests: int,
    seconds: float,
    one_threshold: bool,
    support: NDArray[np.bool_] | None = None,
    notes: tuple[str, ...] = (),
) -> Selection:
    """Make a Selection of the p-values of a test.

    With `one_threshold` all features share one null distribution, so that the selected ones have
    the largest statistics. `support` replaces the decision, for a test with a rule of its own.
    """
    decision = decide(pvalues, alpha, error)
    chosen = decision.support if support is None else support
    threshold = float("nan")
    if one_threshold:
        threshold = float(values[~chosen].max()) if not chosen.all() else float(-np.inf)
    level = critical_level(alpha, error, len(pvalues))
    if error != "fpr" and chosen.any():
        level = float(pvalues[chosen].max())
    return Selection(
        support=chosen,
        pvalues=decision.pvalues,
        qvalues=decision.qvalues,
        threshold=threshold,
        level=level,
        expected_false_positives=level * len(pvalues),
        alpha=alpha,
        error=error,
        null=null,
        tally=tally,
        notes=notes,
        seconds=seconds,
        statistic=statistic,
        values=values,
        forests=forests,
    )
