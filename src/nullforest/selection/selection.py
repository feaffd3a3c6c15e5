"""What is the answer? The selected features, their table, and how it was reached."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nullforest._util.errors import InputError
from nullforest._util.files import writing
from nullforest.nulls import Kind
from nullforest.nulls import null as make_null
from nullforest.nulls.distribution import Floats, Null
from nullforest.selection.error_rates import ERROR_RATES, ErrorRate, decide, threshold_of
from nullforest.tallies.tally import Tally

#: The statistic of the paper, and of all nulls in `nullforest.nulls`.
FREQUENCY = "selection frequency"
if TYPE_CHECKING:
    from nullforest.engine.watching import Trajectory

#: Factors of more trees that are tried when nothing was selected.
_MORE_TREES = (1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32)


@dataclass(frozen=True, eq=False, repr=False)
class Selection:
    """Which features are selected, with what p-values, at which error rate.

    Attributes
    ----------
    support : (F,) bool
        Mask of the selected features, in the order of the data's columns.
    pvalues, qvalues : (F,) float
        p-value of each feature, and the smallest false discovery rate that would select it.
    counts : (F,) int
        Selection frequencies.
    threshold : int or float
        A feature is selected when its count (or the other `statistic`) is greater; NaN where every
        feature has a threshold of its own.
    expected_false_positives : float
        Expected number of null features above the threshold, were all features null.
    level : float
        Probability that one null feature exceeds the threshold: the level really reached,
        since counts are discrete.
    alpha, error : float, str
        The error rate asked for.
    null : Null
        The model that the counts were held against.
    tally : Tally
        What the forest chose.
    notes : tuple of str
        Plain sentences that a reader of the result should see.
    seconds : float or None
        How long it took, forest included, where known.
    statistic : str
        What was held against the null, in words.
    values : (F,) float
        The statistic of each feature; the counts where it is the selection frequency.
    forests : int
        Forests that were grown for it.
    trajectory : Trajectory or None
        What was seen of the forest while it grew; see :func:`nullforest.watch`.
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
    statistic: str = FREQUENCY
    values: Floats = field(default_factory=lambda: np.empty(0))
    forests: int = 1
    trajectory: Trajectory | None = None
    _cache: dict[str, Any] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        if not len(self.values):
            object.__setattr__(self, "values", self.tally.counts.astype(np.float64))

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

        Columns: feature, count, expected_count, p_value, q_value, selected; the index is the
        number of the feature's column in the data. A test of another statistic than the selection
        frequency has the columns value and expected_value in place of expected_count.
        """
        frame: pd.DataFrame | None = self._cache.get("table")
        if frame is None:
            expected = self.null.expected_counts()
            by_count = self.statistic == FREQUENCY
            frame = pd.DataFrame(
                {
                    "feature": self.tally.names,
                    "count": self.counts,
                    **({} if by_count else {"value": self.values}),
                    "expected_count" if by_count else "expected_value": expected,
                    "p_value": self.pvalues,
                    "q_value": self.qvalues,
                    "selected": self.support,
                }
            )
            order = np.lexsort((np.arange(len(frame)), -self.values, self.pvalues))
            frame = self._cache["table"] = frame.iloc[order]
        return frame.copy()

    def to_dict(self) -> dict[str, Any]:
        """The answer as plain numbers and strings, ready for JSON."""
        rows = self.table[self.table["selected"]]
        return {
            "n_samples": self.tally.n_samples,
            "n_features": self.tally.n_features,
            "trees": self.tally.n_trees,
            "nodes": self.tally.n_nodes,
            "candidates": self.tally.candidates,
            "draw": self.tally.draw,
            "null": self.null.kind,
            "error": self.error,
            "alpha": self.alpha,
            "threshold": _plain(self.threshold),
            "level": _plain(self.level),
            "expected_false_positives": _plain(self.expected_false_positives),
            "seconds": self.seconds,
            "selected": [
                {
                    "feature": str(name),
                    "count": int(count),
                    "p_value": float(p),
                    "q_value": float(q),
                }
                for name, count, p, q in zip(
                    rows["feature"], rows["count"], rows["p_value"], rows["q_value"], strict=True
                )
            ],
            "statistic": self.statistic,
            "forests": self.forests,
            "diagnostics": self.null.describe(),
            "notes": list(self.notes),
        }

    def to_csv(self, path: Any) -> None:
        """Write the table of all features; the file appears whole or not at all."""
        with writing(path) as file:
            self.table.to_csv(file, index_label="column")

    def to_json(self, path: Any) -> None:
        """Write `to_dict()` as JSON; the file appears whole or not at all."""
        with writing(path) as file:
            json.dump(self.to_dict(), file, indent=2)
            file.write("\n")

    def to_html(self, path: Any, X: Any = None, y: Any = None) -> None:
        """Write a report for the browser: one file that needs no network.

        Parameters
        ----------
        path : str or Path
            Where to write; the file appears whole or not at all.
        X, y : array-like, optional
            The data, to warn of duplicated columns and of classes out of balance.
        """
        from nullforest.report import render_html

        self._check_for_report()
        page = render_html(self, X=X, y=y)
        with writing(path) as file:
            file.write(page)

    def to_markdown(self) -> str:
        """The report as Markdown, without its figures."""
        from nullforest.report import render_markdown, summarize

        self._check_for_report()
        return render_markdown(summarize(self))

    def _check_for_report(self) -> None:
        if not isinstance(self.threshold, int):
            raise InputError(
                f"Reports and plots show counts and one threshold on them, but this is a test of "
                f"{self.statistic} by {self.null.kind}; write its table with to_csv(path)."
            )

    def plot(self, kind: str = "counts", **options: Any) -> Any:
        """Draw the selection with matplotlib.

        Parameters
        ----------
        kind : {"counts", "manhattan", "volcano", "stability", "trajectory"}
            Which plot; see :mod:`nullforest.report.plots`.
        **options
            Of that plot's `from_selection`; `ax` is the axes to draw into.

        Returns
        -------
        Display
            With `ax_` and `figure_`.

        Examples
        --------
        >>> import nullforest as nf
        >>> t = nf.Tally.from_counts([12, 1, 2, 2, 3], nodes_per_tree=[4] * 5, n_samples=20)
        >>> display = nf.select(t, alpha=0.01, null="paper").plot()
        >>> display.ax_.get_ylabel()
        'features'
        """
        from nullforest.report.plots import plot

        self._check_for_report()
        return plot(self, kind, **options)

    def headline(self) -> str:
        """The answer in one sentence."""
        found = f"{self.n_selected} of {self.tally.n_features} features selected"
        if isinstance(self.threshold, int):
            needed = f"count above {self.threshold}"
        elif np.isnan(self.threshold):
            needed = f"{self.statistic} by {self.null.kind}"
        else:
            needed = f"{self.statistic} above {self.threshold:.4g} by {self.null.kind}"
        return (
            f"{found} at a {ERROR_RATES[self.error]} of {self.alpha:g}: "
            f"{needed}, {self.null.mean:.3g} expected by chance"
        )

    def explanation(self) -> str:
        """Why nothing was selected, and what would change that; empty if something was."""
        if self.n_selected:
            return ""
        best = int(np.argmin(self.pvalues))
        count = int(self.counts[best])
        strongest = f"Nothing was selected. The strongest feature, {self.tally.names[best]}, "
        if not isinstance(self.threshold, int):
            return strongest + (
                f"has a {self.statistic} of {self.values[best]:.3g} "
                f"(p = {self.pvalues[best]:.2g}, q = {self.qvalues[best]:.2g})."
            )
        words = [
            f"{strongest}was chosen {count} times (p = {self.pvalues[best]:.2g}); a count above "
            f"{self.threshold} was needed."
        ]
        needed = self.level if self.error == "fpr" else self.alpha / self.tally.n_features
        for factor in _MORE_TREES:
            longer = self.null.scaled(factor)
            if longer is None:
                break
            if count > 0 and float(longer.sf(round(factor * count) - 1)) <= needed:
                trees = round(factor * self.tally.n_trees)
                words.append(f"If it goes on being chosen at this rate, {trees} trees would do.")
                break
        else:
            words.append("More trees alone are not likely to change this.")
        return " ".join(words)

    def __repr__(self) -> str:
        lines = [f"<Selection: {self.headline()}>"]
        if self.n_selected:
            shown = self.table[self.table["selected"]].head(10)
            lines.append(shown.drop(columns="selected").to_string(index=False))
            if self.n_selected > len(shown):
                lines.append(f"... and {self.n_selected - len(shown)} more in .table")
        else:
            lines.append(self.explanation())
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join(lines)


def _plain(number: float) -> float | None:
    """A number that JSON knows."""
    return None if np.isnan(number) else number


def select(
    tally: Tally,
    alpha: float = 0.05,
    error: ErrorRate = "fpr",
    null: Kind | Null = "auto",
    *,
    mid: bool = False,
    seconds: float | None = None,
) -> Selection:
    """Select the features that a forest chose more often than chance explains.

    Parameters
    ----------
    tally : Tally
        What the forest chose; see :func:`nullforest.tally` and :func:`nullforest.grow`.
    alpha : float
        The error rate to hold.
    error : {"fpr", "fdr", "fdr_by", "fwer"}
        Which error rate; see :func:`nullforest.selection.error_rates.decide`.
    null : {"auto", "probes", "bagged", "paper"} or Null
        How a null feature behaves; see :func:`nullforest.null`.
    mid : bool
        Use mid-p values, which are less strict with small counts.
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
    (8, ['age'])
    """
    model = null if isinstance(null, Null) else make_null(tally, null)
    decision = decide(model.pvalues(tally.counts, mid=mid), alpha, error)
    threshold = threshold_of(decision, tally.counts, model)
    return Selection(
        support=decision.support,
        pvalues=decision.pvalues,
        qvalues=decision.qvalues,
        threshold=threshold,
        level=float(model.sf(threshold)),
        expected_false_positives=model.expected_false_positives(threshold),
        alpha=alpha,
        error=error,
        null=model,
        tally=tally,
        notes=model.notes_at(alpha),
        seconds=seconds,
    )
