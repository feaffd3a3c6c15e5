"""Selections: the selected features, their table, and how they were selected."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nullforest._util.errors import InputError
from nullforest._util.files import writing
from nullforest._util.words import PERMUTATION_TEST, Sentence, Setting, printable
from nullforest.data.annotations import joined, matched
from nullforest.data.effect_sizes import effect_sizes
from nullforest.data.effects import Effects, decimals, plain_rows
from nullforest.data.matrices import as_columns
from nullforest.data.targets import Target, as_target
from nullforest.nulls import Kind
from nullforest.nulls import null as make_null
from nullforest.nulls.constants import BULK_FEATURES
from nullforest.nulls.distribution import Floats, Null
from nullforest.selection.agreement import Agreement, agreement
from nullforest.selection.error_rates import ERROR_RATES, ErrorRate, critical_level, decide
from nullforest.selection.trajectory import Trajectory
from nullforest.tallies.favoured_columns import trend_note
from nullforest.tallies.tally import Tally

#: A null mean that exceeds the mean of all counts by this factor is a contradiction: in null data
#: of 10 to 3 000 independent features it was at most 1.13 times that mean.
_CONTRADICTION = 1.2
#: Factors of more trees that an explanation tries.
_MORE_TREES = (1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32)


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
    thresholds: NDArray[Any]
    notes: tuple[str, ...] = ()
    seconds: float | None = None
    trajectory: Trajectory | None = None
    columns: NDArray[np.int64] | None = None
    known_agreement: Agreement | None = None
    annotations: pd.DataFrame | None = None
    effects: Effects | None = None

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
        page = _report("render_html")(self, X=X, y=y, features=features, link=link)
        with writing(path) as file:
            file.write(page)

    def to_markdown(self) -> str:
        """The report as Markdown, without its figures."""
        return str(_report("render_markdown")(_report("summarize")(self)))

    def _repr_html_(self) -> str:
        return str(_report("notebook_html")(self))

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
        return import_module("nullforest.report.plots").plot(self, kind, **options)

    def with_effects(self, X: Any, y: Any) -> Selection:
        """The same selection with the direction and size of every feature in its table.

        Parameters
        ----------
        X, y : array-like
            The data that the forest was grown on; y is compared as its criterion takes it.

        Examples
        --------
        >>> import nullforest as nf, numpy as np
        >>> X, y = np.random.default_rng(0).normal(size=(50, 500)), np.arange(50) % 2
        >>> X[:, 0] += 2 * y
        >>> selection = nf.select(nf.grow(X, y, trees=100)).with_effects(X, y)
        >>> selection.table["higher_in"][0], round(float(selection.table["auc"][0]), 2)
        ('1', 0.93)
        """
        return replace(self, effects=effect_sizes(*data_of(self, X, y)))

    def with_annotations(self, table: Any) -> Selection:
        """The same selection with further columns about its features in the table and report.

        Parameters
        ----------
        table : DataFrame, or mapping of column to {feature: text}
            See :func:`nullforest.data.annotations.matched`.

        Examples
        --------
        >>> import nullforest as nf
        >>> t = nf.Tally.from_counts([12, 1, 2, 2, 3], nodes_per_tree=[4] * 5, n_samples=20)
        >>> selection = nf.select(t, null="paper").with_annotations({"symbol": {"x0": "XIST"}})
        >>> selection.table["symbol"].tolist()
        ['XIST', '', '', '', '']
        """
        beside = matched(table, self.tally.names)
        return replace(self, annotations=joined(self.annotations, beside))

    def to_dict(self) -> dict[str, Any]:
        """The answer as plain numbers and strings, ready for JSON."""
        rows = self.table[self.table["selected"]]
        rows["threshold"] = self.thresholds[rows.index]
        beside = [] if self.annotations is None else list(self.annotations)
        shown = ["feature", *beside, "count", "threshold", "p_value", "q_value"]
        shown += [] if self.effects is None else self.effects.columns
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
            "expected_agreement": None if self.agreement is None else self.agreement.expected,
            "seconds": self.seconds,
            "selected": plain_rows(rows[shown].to_dict("records")),
            "effects": None if self.effects is None else self.effects.to_dict(),
            "diagnostics": {
                name: _plain(value) if isinstance(value, float) else value
                for name, value in self.null.describe().items()
            },
            "notes": list(self.notes),
            "expected_false_discoveries": self.expected_false_discoveries,
            "strata": self.strata(),
        }

    def to_csv(self, path: Any) -> None:
        """Write the table of all features; the file appears whole or not at all.

        Its first column is the feature's position in the data (`columns`), where that is known.
        """
        table = self.table
        if self.columns is not None:
            table.insert(0, "column", self.columns[table.index])
        with writing(path) as file:
            table.to_csv(file, index=False)

    def to_json(self, path: Any) -> None:
        """Write `to_dict()` as JSON; the file appears whole or not at all."""
        with writing(path) as file:
            json.dump(self.to_dict(), file, indent=2)
            file.write("\n")

    def strata(self) -> list[dict[str, Any]]:
        """One row for each stratum, as plain numbers; empty where all features share one.

        Each row has the number of features, the count expected under the null, the count to exceed
        (`threshold`), the number of false positives expected if all features were null, and the
        number of selected features. The last two add to those of the selection.

        Examples
        --------
        >>> import nullforest as nf
        >>> t = nf.Tally.from_counts([12, 1, 2, 2, 3], nodes_per_tree=[4] * 5, n_samples=20)
        >>> nf.select(t, null="paper").strata()
        []
        """
        null, tested = self.null, np.flatnonzero(self.tally.varying)
        if null.feature_strata is None or null.kind == "shadows":
            return []
        strata = null.feature_strata[tested]
        if strata.min() == strata.max():
            return []
        exceeding, expected = null.pvalues(self.thresholds + 1), null.expected_counts()
        members = [tested[strata == number] for number in np.unique(strata)]
        return [
            {
                "features": len(columns),
                "expected_count": float(expected[columns[0]]),
                "threshold": int(self.thresholds[columns[0]]),
                "expected_false_positives": float(exceeding[columns].sum()),
                "selected": int(self.support[columns].sum()),
            }
            for columns in members
        ]

    def headline(self) -> str:
        """Number of selected features, error rate, threshold and expected count."""
        return (
            f"{self.n_selected} of {self.tally.n_features} features selected at a "
            f"{ERROR_RATES[self.error]} of {self.alpha:g}: count above "
            f"{self.own_thresholds()}, {self.own_expected_counts()} expected under the null"
        )

    def own_thresholds(self) -> str:
        """The count to exceed: one for all features, or the range over strata or features."""
        return self._range(self.thresholds)

    def own_expected_counts(self) -> str:
        """The count expected under the null, or the range of those of strata or features."""
        return self._range(self.null.expected_counts()[self.tally.varying])

    def _range(self, values: NDArray[Any]) -> str:
        """The number that all features share, or the smallest and the largest one."""
        low, high = (
            str(value) if isinstance(value, np.integer) else f"{value:.3g}"
            for value in (values.min(), values.max())
        )
        return low if low == high else f"{low} to {high} by {each_has_its_own(self.null)}"

    def expected_errors(self) -> str:
        """The number of false positives that the error rate allows; empty if nothing was selected.

        Examples
        --------
        >>> import nullforest as nf
        >>> t = nf.Tally.from_counts([12, 9, 2, 2, 3], nodes_per_tree=[4] * 7, n_samples=20)
        >>> nf.select(t, null="paper").expected_errors()
        'At most 0.05 false positives are expected among the selected feature.'
        >>> nf.select(t, error="fpr", null="paper").expected_errors()
        'At most 0.195 false positives are expected among the selected feature.'
        """
        n = self.n_selected
        if not n:
            return ""
        among = "the selected feature" if n == 1 else f"the {n} selected features"
        number = f"{self.expected_false_discoveries:.3g} false positives are expected"
        if self.error == "fwer":
            return (
                f"The probability of any false positive among {among} is at most "
                f"{self.alpha:g}; at most {number}."
            )
        if self.expected_false_discoveries >= n:
            return f"At most {number}, no fewer than are selected ({n}): all of them may be false."
        return f"At most {number} among {among}."

    @property
    def expected_false_discoveries(self) -> float:
        """Bound of the expected number of null features among the selected ones.

        For false discovery rates alpha times the number of selected features; for other error rates
        the number of features that would exceed their thresholds, were all of them null.
        """
        if self.error in ("fdr", "fdr_by"):
            return self.alpha * self.n_selected
        return float(self.expected_false_positives)

    def expected_agreement(self) -> str:
        """How far another seed is expected to select the same; empty where that is not known.

        Examples
        --------
        >>> import nullforest as nf
        >>> X, y, relevant = nf.simulate.independent(100, 300, n_relevant=5, relevance=0.7)
        >>> nf.select(nf.grow(X, y, trees=2000)).expected_agreement()
        'The selection of another seed is expected to have a Jaccard index of 1.00 with this one.'
        """
        if self.agreement is None:
            return ""
        if self.agreement.n_selected == 0 and self.agreement.expected == 1:
            return "Another seed is expected to select nothing either."
        return (
            "The selection of another seed is expected to have a Jaccard index of "
            f"{self.agreement.expected:.2f} with this one."
        )

    def explanation(self) -> str:
        """Why nothing was selected, and what would change that; empty if something was."""
        if self.n_selected:
            return ""
        best = int(np.argmin(self.pvalues))
        p, count = self.pvalues[best], int(self.counts[best])
        name = printable(self.tally.names[best])
        words = (
            f"Nothing was selected. The most significant feature, {name}, was selected {count} "
            f"times (p = {p:.2g}); a count above {self.thresholds[best]} was needed."
        )
        level = critical_level(self.alpha, self.error, self.tally.n_varying)
        for factor in _MORE_TREES:
            longer = self.null.scaled(factor)
            if longer is None:
                return words
            if count and longer.pvalues(np.round(factor * self.counts))[best] <= level:
                trees = round(factor * self.tally.n_trees)
                return f"{words} At the same selection rate, {trees} trees would be enough."
        return f"{words} More trees alone are not likely to change this."

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


def data_of(selection: Selection, X: Any, y: Any = None) -> tuple[Any, Target | None]:
    """Check that X is the data of a selection, and take y by the criterion of its forest.

    Parameters
    ----------
    selection : Selection
    X : array-like, DataFrame, sparse matrix, RankTable or matrix on disk, (S, F), or None
    y : array-like, or Target, or None
        Taken as classes, numbers or survival times as the criterion says, where the tally has one;
        distances are made by a function that no tally has, so that y is then taken as it looks.

    Examples
    --------
    >>> import nullforest as nf, numpy as np
    >>> X, y = np.random.default_rng(0).normal(size=(50, 500)), np.arange(50) % 10
    >>> selection = nf.select(nf.grow(X, y, trees=10, criterion="variance"))
    >>> data_of(selection, X, y)[1].criterion
    'variance'
    """
    S, F = selection.tally.n_samples, selection.tally.n_features
    shape = (S, F) if X is None else X.shape if hasattr(X, "shape") else as_columns(X).source.shape
    if tuple(shape) != (S, F):
        raise InputError(
            f"X has the shape {tuple(shape)}, but the forest was grown on {S} samples and {F} "
            "features; give the same data."
        )
    if y is None or isinstance(y, Target):
        return X, y
    criterion = (selection.tally.settings or {}).get("criterion", "auto")
    criterion = "auto" if criterion == "neighbourhood" else criterion
    return X, as_target(y, S, criterion=criterion)


def each_has_its_own(null: Null) -> str:
    """What has a null distribution of its own: the features, or their strata."""
    return "feature" if null.kind == "shadows" else "stratum"


def null_mean_notes(tally: Tally, null: Null) -> tuple[str, ...]:
    """Notes about a null mean that rests on too few null features."""
    F, mean = tally.n_varying, float(tally.counts.sum() / tally.n_varying)
    if null.kind == "shadows":  # the shadows are null, whatever the features are
        return ()
    remedy = (
        "Use shadows, as ",
        Setting("trees", "auto"),
        " does with few features (",
        Setting("shadows"),
        "), or a permutation test (",
        PERMUTATION_TEST,
        ").",
    )
    if null.mean > _CONTRADICTION * mean:
        problem = (
            f"The null mean cannot be estimated: it comes out as {null.mean:.4g}, above the mean "
            f"count of all {F} features, {mean:.4g}. Too few of them are null features, and the "
            "p-values are too large. "
        )
        return (Sentence(problem, *remedy),)
    if null.kind == "probes" and F < BULK_FEATURES:
        problem = (
            f"The null mean is estimated from only {F} features; p-values are approximate, and the "
            "power is low where many of them are relevant. "
        )
        return (Sentence(problem, *remedy),)
    return ()


def printed(row: Mapping[Any, Any], effects: Iterable[str] = ()) -> list[str]:
    """Feature, count, expected count, p, q and effects of a row of the table, as people read them.

    Examples
    --------
    >>> row = {"feature": "x0", "count": 12, "expected_count": 2.0, "p_value": 1e-4, "q_value": 0.2}
    >>> printed(row | {"higher_in": "ill", "auc": 0.951}, ["higher_in", "auc"])
    ['x0', '12', '2', '0.0001', '0.2', 'ill', '0.95']
    """
    digits = {"expected_count": 3, "p_value": 2, "q_value": 2}
    numbers = [f"{row[name]:.{number}g}" for name, number in digits.items()]
    beside = row.get("name") or row.get("region")  # a symbol, or the region of an atlas
    label = f"{row['feature']} ({beside})" if beside else row["feature"]
    cells = (row[name] for name in effects)
    numbers += [cell if isinstance(cell, str) else decimals(cell) for cell in cells]
    return [label, str(row["count"]), *numbers]


def _report(name: str) -> Any:
    """A function of the report.

    Selections are shown by methods, where people look for them; the report stands above them and
    is imported when one is called.
    """
    return getattr(import_module("nullforest.report"), name)


def _plain(number: float) -> float | None:
    """A number that JSON knows."""
    return None if np.isnan(number) else number


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
    remarks: tuple[str, ...] = ()
    if isinstance(forest, Tally):
        tally = forest
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
    least, most = thresholds[tested].min(), thresholds[tested].max()
    return Selection(
        support=decision.support,
        pvalues=decision.pvalues,
        qvalues=decision.qvalues,
        threshold=int(least) if least == most else float("nan"),
        level=float(exceeding) / F,
        expected_false_positives=float(exceeding),
        alpha=float(alpha),
        error=error,
        null=model,
        tally=tally,
        notes=(
            *remarks,
            *tally.notes,
            *(trend_note(tally) if tally.column_orders else ()),
            *null_mean_notes(tally, model),
            *model.notes_at(alpha),
        ),
        seconds=seconds,
        thresholds=thresholds,
        columns=np.arange(tally.n_features),
    )
