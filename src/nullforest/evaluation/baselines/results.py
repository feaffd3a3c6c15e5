"""How does another test's answer become a Selection? Its p-values, and what chance would give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nullforest._util.errors import InputError
from nullforest.nulls.distribution import Floats, Null
from nullforest.selection.error_rates import ErrorRate, decide
from nullforest.selection.selection import Selection
from nullforest.tallies.tally import Tally


@dataclass
class Reference(Null):
    """What a published test expects of a feature that means nothing.

    Such a test gives p-values, and no distribution that could be asked for other values.

    Attributes
    ----------
    kind : str
        Name of the test.
    expected : (F,) float
        Expected statistic of each feature, were it null.
    details : dict
        Numbers that tell how the test went.
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
    def largest(self) -> int:
        """Largest statistic that is possible; not known."""
        self._refuse()

    def pmf(self, k: ArrayLike) -> Floats:
        """Not known to a test of this kind."""
        self._refuse()

    def sf(self, k: ArrayLike) -> Floats:
        """Not known to a test of this kind."""
        self._refuse()

    def expected_counts(self) -> Floats:
        """Expected statistic of each feature, were it null."""
        return self.expected

    def describe(self) -> dict[str, Any]:
        """Numbers that tell how the test went."""
        return {"null": self.kind, "expected": self.mean, **self.details}

    def _refuse(self) -> NoReturn:
        raise InputError(
            f"The test by {self.kind} knows the p-values of the features and no more; see "
            "selection.pvalues, or judge the tally by nullforest.null(selection.tally)."
        )


def selection_from(
    pvalues: Floats,
    values: Floats,
    *,
    kind: str,
    statistic: str,
    expected: Floats,
    tally: Tally,
    alpha: float,
    error: ErrorRate,
    forests: int,
    seconds: float,
    one_threshold: bool,
    support: NDArray[np.bool_] | None = None,
    notes: tuple[str, ...] = (),
    details: Mapping[str, Any] | None = None,
) -> Selection:
    """Decide on the p-values of a test and make its answer.

    `one_threshold` says that all features share one null, so that those selected are the ones
    with the largest statistics. `support` overrules the decision, for a test with a rule of its
    own.
    """
    decision = decide(pvalues, alpha, error)
    chosen = decision.support if support is None else support
    threshold = float("nan")
    if one_threshold:
        threshold = float(values[~chosen].max()) if not chosen.all() else float(-np.inf)
    if error == "fpr":
        level = alpha
    else:
        level = float(pvalues[chosen].max()) if chosen.any() else alpha / len(pvalues)
    return Selection(
        support=chosen,
        pvalues=decision.pvalues,
        qvalues=decision.qvalues,
        threshold=threshold,
        level=level,
        expected_false_positives=level * len(pvalues),
        alpha=alpha,
        error=error,
        null=Reference(kind, expected, details or {}),
        tally=tally,
        notes=notes,
        seconds=seconds,
        statistic=statistic,
        values=values,
        forests=forests,
    )
