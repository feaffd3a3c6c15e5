"""Results of published tests: statistics, p-values and the selected features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nullforest._util.files import writing
from nullforest._util.words import printable
from nullforest.evaluation.baselines.importances import MEASURES
from nullforest.nulls.distribution import Floats
from nullforest.selection.error_rates import ERROR_RATES, ErrorRate, decide
from nullforest.tallies.tally import Tally


@dataclass(frozen=True, eq=False, repr=False)
class BaselineResult:
    """The features that a published test selects, with their p-values.

    Such a test has p-values, but no null distribution of counts as a Selection has.

    Attributes
    ----------
    test, statistic : str
        Names of the test and of the statistic.
    values, expected : (F,) float
        Statistic of each feature, and its mean under the null hypothesis.
    support : (F,) bool
        Mask of the selected features.
    pvalues, qvalues : (F,) float
        p-value of each feature, and the smallest false discovery rate that would select it.
    alpha, error : float, str
        The error rate and its level.
    tally : Tally
        Selection counts of the features in the forest that was tested.
    forests : int
        Forests that were grown.
    seconds : float
    notes : tuple of str
        Sentences that a reader of the result should see.
    details : mapping
        Further numbers of the test.

    Examples
    --------
    >>> import numpy as np, nullforest as nf
    >>> X = np.random.default_rng(0).normal(size=(60, 40))
    >>> result = nf.baselines.label_permutation(X, X[:, 5] > 0, trees=50, permutations=99)
    >>> result.headline()
    '1 of 40 features selected at a false positive rate of 0.01: selection frequency by label
    permutation'
    """

    test: str
    statistic: str
    values: Floats
    expected: Floats
    support: NDArray[np.bool_]
    pvalues: Floats
    qvalues: Floats
    alpha: float
    error: ErrorRate
    tally: Tally
    forests: int
    seconds: float
    notes: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        pvalues: Floats,
        *,
        alpha: float,
        error: ErrorRate,
        support: NDArray[np.bool_] | None = None,
        **measured: Any,
    ) -> Self:
        """The result of these p-values; `support` is the selection of a test with its own rule."""
        decision = decide(pvalues, alpha, error)
        return cls(
            support=decision.support if support is None else support,
            pvalues=decision.pvalues,
            qvalues=decision.qvalues,
            alpha=alpha,
            error=error,
            **measured,
        )

    @property
    def counts(self) -> NDArray[np.int64]:
        """Selection frequency of each feature."""
        return self.tally.counts

    @property
    def n_selected(self) -> int:
        """Number of selected features."""
        return int(self.support.sum())

    @property
    def selected(self) -> NDArray[np.str_]:
        """Names of the selected features, the most significant first."""
        table = self.table
        return np.asarray(table["feature"][table["selected"]], str)

    @property
    def table(self) -> pd.DataFrame:
        """All features, the most significant first.

        Columns: feature, count, value (of the statistic, where that is not the count),
        expected_value or expected_count, p_value, q_value, selected.
        """
        counted = self.statistic == MEASURES["frequency"]
        columns = {
            "feature": self.tally.names,
            "count": self.counts,
            **({} if counted else {"value": self.values}),
            f"expected_{'count' if counted else 'value'}": self.expected,
            "p_value": self.pvalues,
            "q_value": self.qvalues,
            "selected": self.support,
        }
        order = np.lexsort((np.arange(len(self.values)), -self.values, self.pvalues))
        return pd.DataFrame(columns).iloc[order]

    def headline(self) -> str:
        """Number of selected features, error rate and test in one sentence."""
        return (
            f"{self.n_selected} of {len(self.values)} features selected at a "
            f"{ERROR_RATES[self.error]} of {self.alpha:g}: {self.statistic} by {self.test}"
        )

    def to_csv(self, path: Any) -> None:
        """Write the table of all features; the file appears whole or not at all."""
        with writing(path) as file:
            self.table.to_csv(file, index=False)

    def __repr__(self) -> str:
        shown = self.table.head(max(1, min(self.n_selected, 10))).drop(columns="selected")
        shown["feature"] = shown["feature"].map(printable)
        lines = [f"<BaselineResult: {self.headline()}>", shown.to_string(index=False)]
        return "\n".join([*lines, *(f"note: {printable(note)}" for note in self.notes)])
