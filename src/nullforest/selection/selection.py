"""Selections: the selected features, their table, and how they were selected."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nullforest._util.errors import InputError
from nullforest._util.files import writing
from nullforest._util.words import printable
from nullforest.data.effects import Effects
from nullforest.nulls import Kind
from nullforest.nulls import null as make_null
from nullforest.nulls.distribution import Floats, Null
from nullforest.selection import described, records, sentences
from nullforest.selection.agreement import Agreement, agreement
from nullforest.selection.error_rates import ErrorRate, critical_level, decide
from nullforest.selection.trajectory import Trajectory
from nullforest.tallies.tally import Tally
from nullforest.tallies.trend import trend_note


@dataclass(frozen=True, eq=False, repr=False)
class Selection:
    """The selected features, their p-values, and the error rate.

    Attributes
    ----------
    support : (F,) bool
        Mask of the selected features, in the order of the data's columns.
    pvalues, qvalues : (F,) float
        p-value of each feature, and the smallest false discovery rate that would select it.
    counts : (F,) int
        Selection frequencies.
    threshold : int or float
        A feature is selected when its count is greater; NaN where features have different
        thresholds, as those of different strata do.
    thresholds : (F,) int or float
        Threshold of each feature.
    expected_false_positives : float
        Expected number of null features above their thresholds, were all features null.
    level : float
        Probability that a null feature exceeds its threshold, the mean over all features. It is
        below the nominal level, since counts are discrete.
    alpha, error : float, str
        The error rate and its level.
    null : Null
        The null distribution of the counts.
    tally : Tally
        The selection counts of the forest.
    notes : tuple of str
        Sentences that a reader of the result should see.
    seconds : float or None
        Time it took, forest included, where known.
    trajectory : Trajectory or None
        The selection as trees were added; see :func:`nullforest.watch`.
    columns : (F,) int or None
        Position of each feature in the user's data, from 0; None where it is not known.
    known_agreement : Agreement or None
        The `agreement`, where it was computed while the forest grew.
    annotations : DataFrame or None
        Symbol, position or coordinates of each feature: columns after its name in `table`.
    effects : Effects or None
        Direction and size of each feature's association with the target; see :meth:`with_effects`.

    Examples
    --------
    >>> import nullforest as nf
    >>> X, y, relevant = nf.simulate.independent(100, 300, n_relevant=5, relevance=0.6)
    >>> selection = nf.select(nf.grow(X, y, trees=400))
    >>> selection.n_selected, bool((selection.support == relevant).all())
    (5, True)
    >>> selection.table.columns.tolist()
    ['feature', 'count', 'expected_count', 'p_value', 'q_value', 'selected']
    """

    support: NDArray[np.bool_]
    pvalues: Floats
    qvalues: Floats
    threshold: float
    level: float
    expected_false_positives: float
    alpha: float
    error: ErrorRate
    null: Null
    tally: Tally
    notes: tuple[str, ...] = ()
    seconds: float | None = None
    trajectory: Trajectory | None = None
    thresholds: NDArray[Any] = field(default_factory=lambda: np.empty(0))
    columns: NDArray[np.int64] | None = field(default_factory=lambda: np.empty(0, np.int64))
    known_agreement: Agreement | None = None
    annotations: pd.DataFrame | None = None
    effects: Effects | None = None

    def __post_init__(self) -> None:
        F = self.tally.n_features
        for name, default in (
            ("thresholds", lambda: np.full(F, self.threshold)),
            ("columns", lambda: np.arange(F)),
        ):
            given = getattr(self, name)
            if given is not None and not len(given):
                object.__setattr__(self, name, default())

    @property
    def counts(self) -> NDArray[np.int64]:
        """Selection frequency of each feature."""
        return self.tally.counts

    @cached_property
    def agreement(self) -> Agreement | None:
        """Expected agreement with the selection of an independent forest on the same data.

        None where the trees are too few.
        """
        return self.known_agreement or agreement(self)

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

        Columns: feature, count, expected_count (of its null distribution), p_value, q_value,
        selected; the index is the number of the feature's column in X. Then those of `effects`,
        where known, which are descriptive.
        """
        return self._table.copy()

    @cached_property
    def _table(self) -> pd.DataFrame:
        columns = {
            "feature": self.tally.names,
            **({} if self.annotations is None else dict(self.annotations)),
            "count": self.counts,
            "expected_count": self.null.expected_counts(),
            "p_value": self.pvalues,
            "q_value": self.qvalues,
            "selected": self.support,
            **({} if self.effects is None else self.effects.columns),
        }
        order = np.lexsort((np.arange(len(self.counts)), -self.counts, self.pvalues))
        return pd.DataFrame(columns).iloc[order]

    def to_html(
        self,
        path: Any,
        X: Any = None,
        y: Any = None,
        *,
        features: int | None = None,
        link: str | None = None,
    ) -> None:
        """Write a report for the browser: one file that needs no network.

        Parameters
        ----------
        path : str or Path
            Where to write; the file appears whole or not at all.
        X, y : array-like, optional
            The data, for pictures of the leading features, which hold their values, and for
            warnings of duplicated columns and of classes out of balance.
        features : int, optional
            How many features have a picture; 200 where not given, 0 for none.
        link : str, optional
            Web address to which names link, such as "https://example.org/{feature}"; columns of
            annotations can be used likewise.
        """
        from nullforest.report import render_html

        page = render_html(self, X=X, y=y, features=features, link=link)
        with writing(path) as file:
            file.write(page)

    def to_markdown(self) -> str:
        """The report as Markdown, without its figures."""
        from nullforest.report import render_markdown, summarize

        return render_markdown(summarize(self))

    def plot(self, kind: str = "counts", **options: Any) -> Any:
        """Draw the selection with matplotlib.

        Parameters
        ----------
        kind : str
            "counts", "features", "correlation", … (:data:`nullforest.report.plots.DISPLAYS`).
        **options
            Of that plot's `from_selection`; `ax` is the axes to draw into.

        Returns
        -------
        Display

        Examples
        --------
        >>> import nullforest as nf
        >>> t = nf.Tally.from_counts([12, 1, 2, 2, 3], nodes_per_tree=[4] * 5, n_samples=20)
        >>> display = nf.select(t, alpha=0.01, error="fpr", null="paper").plot()
        >>> display.ax_.get_ylabel()
        'features'
        """
        from nullforest.report.plots import plot

        return plot(self, kind, **options)

    expected_false_discoveries = property(sentences.expected_false_discoveries)
    with_effects = described.with_effects
    with_annotations = described.with_annotations
    _repr_html_ = described.notebook
    to_dict = records.to_dict
    to_csv = records.to_csv
    to_json = records.to_json
    headline = sentences.headline
    expected_errors = sentences.expected_errors
    expected_agreement = sentences.expected_agreement
    explanation = sentences.explanation

    def __repr__(self) -> str:
        lines = [f"<Selection: {self.headline()}>"]
        if self.n_selected:
            shown = self.table[self.table["selected"]].head(10)
            shown["feature"] = shown["feature"].map(printable)
            lines.append(shown.drop(columns="selected").to_string(index=False))
            if self.n_selected > len(shown):
                lines.append(f"... and {self.n_selected - len(shown)} more in .table")
        lines.append(self.expected_errors() or self.explanation())
        lines += [f"note: {printable(note)}" for note in self.notes]
        return "\n".join(lines)


def common_threshold(thresholds: NDArray[Any]) -> float:
    """The threshold that all features share; NaN where they have several."""
    return int(thresholds[0]) if (thresholds == thresholds[0]).all() else float("nan")


@runtime_checkable
class Counted(Protocol):
    """What has been counted, as a grown forest has: its tally, and sentences about it."""

    @property
    def tally(self) -> Tally:
        """The selection counts."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences that a reader of the result should see."""


def select(
    forest: Tally | Counted,
    alpha: float = 0.05,
    error: ErrorRate = "fdr",
    null: Kind | Null = "auto",
    *,
    mid: bool = False,
    seconds: float | None = None,
) -> Selection:
    """Select the features whose counts are larger than expected under the null.

    Parameters
    ----------
    forest : Tally or Forest
        The selection counts of a forest; see :func:`nullforest.tally` and :func:`nullforest.grow`.
    alpha : float
        The level of the error rate.
    error : {"fdr", "fdr_by", "fpr", "fwer"}
        The error rate; see :func:`nullforest.selection.error_rates.decide`.
    null : {"auto", "probes", "shadows", "bagged", "paper"} or Null
        The null distribution of the counts; see :func:`nullforest.null`.
    mid : bool
        Use mid-p values, which are less conservative for small counts.
    seconds : float, optional
        Time the forest took, to be kept with the result.

    Returns
    -------
    Selection

    Examples
    --------
    >>> import nullforest as nf
    >>> t = nf.Tally.from_counts([12, 1, 2, 2, 3], nodes_per_tree=[4] * 5, n_samples=20,
    ...                          feature_names=["age", "a", "b", "c", "d"])
    >>> s = nf.select(t, alpha=0.01, null="paper")
    >>> s.threshold, s.selected.tolist()
    (10, ['age'])
    """
    if isinstance(forest, Tally):
        tally, remarks = forest, ()
    elif isinstance(forest, Counted):
        tally, remarks = forest.tally, forest.notes
    else:
        raise InputError(
            "nf.select takes the tally of a forest, or a forest of nf.grow; write "
            "nf.select(nf.tally(forest)) with a forest of scikit-learn, and "
            "nf.select(nf.grow(X, y)) with data."
        )
    model = null if isinstance(null, Null) else make_null(tally, null)
    tested = tally.varying
    decision = decide(model.pvalues(tally.counts, mid=mid), alpha, error, tested=tested)
    F, n_selected = tally.n_varying, int(decision.support.sum())
    strata = model.feature_strata
    strata = np.zeros(tally.n_features, np.int64) if strata is None else strata
    level = critical_level(alpha, error, F, n_selected)
    thresholds = model.thresholds(level)
    if mid:  # a count at the threshold may have a mid-p value below the level
        each = np.full(int(strata.max()) + 1, np.iinfo(np.int64).max)
        np.minimum.at(each, strata[decision.support], tally.counts[decision.support] - 1)
        thresholds = np.minimum(thresholds, each[strata])
    exceeding = model.pvalues(thresholds + 1)[tested].sum()
    return Selection(
        support=decision.support,
        pvalues=decision.pvalues,
        qvalues=decision.qvalues,
        threshold=common_threshold(thresholds[tested]),
        level=float(exceeding) / F,
        expected_false_positives=float(exceeding),
        alpha=float(alpha),
        error=error,
        null=model,
        tally=tally,
        notes=(
            *remarks,
            *tally.notes,
            *trend_note(tally),
            *sentences.null_mean_notes(tally, model),
            *model.notes_at(alpha),
        ),
        seconds=seconds,
        thresholds=thresholds,
    )
