"""Several tests on the same data: their selections, their agreement and their cost."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nullforest._util.errors import InputError, check_known
from nullforest._util.files import writing
from nullforest._util.progress import Report, progress_bar, silent, step_of
from nullforest.data.column_blocks import feature_numbers
from nullforest.data.dataset import Dataset
from nullforest.evaluation.baselines.boruta import boruta
from nullforest.evaluation.baselines.janitza import janitza
from nullforest.evaluation.baselines.label_permutation import label_permutation
from nullforest.evaluation.baselines.results import BaselineResult
from nullforest.evaluation.relabelling import dataset_of, without_blocks
from nullforest.forest.settings import paper_settings
from nullforest.nulls import Kind
from nullforest.nulls.distribution import check_alpha
from nullforest.run.forest import Forest
from nullforest.run.growing import grow
from nullforest.selection.error_rates import ErrorRate
from nullforest.selection.selection import select
from nullforest.tallies.tally import Names

#: Methods that are run where none are given.
DEFAULT_METHODS = ("paper", "bagged", "probes", "altmann", "janitza", "boruta")


@dataclass(frozen=True)
class Answer:
    """Result of one method on one data set."""

    support: NDArray[np.bool_]
    pvalues: NDArray[np.float64]
    forests: int
    seconds: float
    notes: tuple[str, ...] = ()


@dataclass
class Problem:
    """One data set, and the settings that the methods share."""

    data: Dataset
    alpha: float
    error: ErrorRate
    permutations: int
    rounds: int
    seed: int
    n_jobs: int
    settings: dict[str, Any]
    progress: Report = silent
    _forests: dict[bool, Forest] = field(default_factory=dict, init=False)

    def forest(self, *, probed: bool = False) -> Forest:
        """The forest whose counts are tested; its trees are the same with probes or without.

        The time of the probes is charged to the null model that needs them alone.
        """
        if probed not in self._forests:
            plain = {"keep_trees": False, "oob": False} | self.settings
            if not probed:
                plain["probes"] = 0
            data = without_blocks(self.data)
            self._forests[probed] = grow(data, seed=self.seed, n_jobs=self.n_jobs, **plain)
        return self._forests[probed]

    def published(self, test: Callable[..., BaselineResult], *names: str, **options: Any) -> Answer:
        """The answer of a published test, which takes these settings beside those of all tests."""
        options |= {name: getattr(self, name) for name in ("alpha", "seed", "n_jobs", *names)}
        result = test(self.data, **(self.settings | options))
        return Answer(result.support, result.pvalues, result.forests, result.seconds, result.notes)


#: A test of one data set.
Test = Callable[[Problem], Answer]


def _tested(null: Kind) -> Test:
    def run(problem: Problem) -> Answer:
        forest, start = problem.forest(probed=null == "probes"), monotonic()
        selection = select(forest.tally, problem.alpha, problem.error, null)
        seconds = forest.seconds + monotonic() - start
        return Answer(selection.support, selection.pvalues, 1, seconds, selection.notes)

    return run


def _label_permutation(statistic: str) -> Test:
    return lambda problem: problem.published(
        label_permutation, "permutations", "error", "progress", statistic=statistic
    )


#: Every method by its name.
METHODS: dict[str, Test] = {
    "paper": _tested("paper"),
    "bagged": _tested("bagged"),
    "probes": _tested("probes"),
    "altmann": _label_permutation("frequency"),
    "altmann_gini": _label_permutation("gini"),
    "altmann_permutation": _label_permutation("permutation"),
    "janitza": lambda problem: problem.published(janitza, "error"),
    "boruta": lambda problem: problem.published(  # on twice the features
        boruta, "rounds", "progress", candidates=None
    ),
}


@dataclass(frozen=True, repr=False)
class Comparison:
    """Results of several methods on the same data.

    Attributes
    ----------
    answers : dict
        Result of each method, in the order given.
    names : (F,) str
        Names of the features.
    relevant : (F,) bool or None
        Relevant features, where known.
    """

    answers: dict[str, Answer]
    names: Names
    alpha: float
    error: ErrorRate
    relevant: NDArray[np.bool_] | None = None

    @property
    def table(self) -> pd.DataFrame:
        """One row per method: selected, seconds, forests; FPR, FNR, FDR, power if known.

        The rates of one data set come with the standard error of a share of independent features,
        √(p (1 - p) / n), in columns that end in `_se`; those of
        :func:`nullforest.baselines.compare_runs` are better.
        """
        rows = {}
        for method, answer in self.answers.items():
            row: dict[str, Any] = {"selected": int(answer.support.sum())}
            if self.relevant is not None:
                for rate, (value, n) in rates(answer.support, self.relevant).items():
                    row[rate] = value
                    row[f"{rate}_se"] = float(np.sqrt(value * (1 - value) / n)) if n else np.nan
            rows[method] = row | {"seconds": answer.seconds, "forests": answer.forests}
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("method")

    @property
    def shared(self) -> pd.DataFrame:
        """Features selected by both of two methods; on the diagonal, by the one."""
        masks = np.array([a.support for a in self.answers.values()], dtype=np.int64)
        methods = list(self.answers)
        return pd.DataFrame(masks @ masks.T, index=methods, columns=methods)

    @property
    def pvalues(self) -> pd.DataFrame:
        """p-values side by side: one row per feature, one column per method."""
        return self._frame("pvalues")

    @property
    def support(self) -> pd.DataFrame:
        """Selected features: one row per feature, one column per method."""
        return self._frame("support")

    def _frame(self, what: str) -> pd.DataFrame:
        columns = {method: getattr(answer, what) for method, answer in self.answers.items()}
        return pd.DataFrame(columns, index=pd.Index(self.names, name="feature"))

    def features(self) -> pd.DataFrame:
        """p-values and selections of all features, those that most methods select first."""
        support = self.support
        frame = self.pvalues.add_prefix("p_").join(support.add_prefix("selected_"))
        frame.insert(0, "methods", support.sum(axis=1))
        smallest = self.pvalues.min(axis=1).fillna(1.0)
        order = np.lexsort((smallest.to_numpy(), -frame["methods"].to_numpy()))
        return frame.iloc[order]

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain numbers and strings, ready for JSON."""
        table = self.table
        return {
            "alpha": self.alpha,
            "error": self.error,
            "n_features": len(self.names),
            "methods": [
                {
                    "method": method,
                    **{
                        key: None if pd.isna(value) else float(value)
                        for key, value in table.loc[method].items()
                    },
                    "features": self.names[answer.support].tolist(),
                    "notes": list(answer.notes),
                }
                for method, answer in self.answers.items()
            ],
            "shared": self.shared.to_dict(),
        }

    def to_csv(self, path: Any) -> None:
        """Write p-values and selections of all features; the file appears whole or not at all."""
        with writing(path) as file:
            self.features().to_csv(file)

    def to_json(self, path: Any) -> None:
        """Write `to_dict()` as JSON; the file appears whole or not at all."""
        with writing(path) as file:
            json.dump(self.to_dict(), file, indent=2)
            file.write("\n")

    def __repr__(self) -> str:
        lines = [f"<Comparison of {len(self.answers)} methods at {self.error} {self.alpha:g}>"]
        lines.append(self.table.round(4).to_string())
        lines += ["features selected by both:", self.shared.to_string()]
        return "\n".join(lines)


def rates(support: NDArray[np.bool_], relevant: NDArray[np.bool_]) -> dict[str, tuple[float, int]]:
    """FPR, FNR, FDR and power of a selection, and the number of features each is a share of.

    A rate over no features at all is NaN; the FDR of an empty selection is 0.
    """
    hits, selected = int((support & relevant).sum()), int(support.sum())
    true, null = int(relevant.sum()), int((~relevant).sum())
    power = hits / true if true else float("nan")
    return {
        "fpr": ((selected - hits) / null if null else float("nan"), null),
        "fnr": (1 - power, true),
        "fdr": ((selected - hits) / selected if selected else 0.0, selected),
        "power": (power, true),
    }


def compare(
    X: Any,
    y: Any = None,
    methods: Sequence[str] | Mapping[str, Test] = DEFAULT_METHODS,
    *,
    alpha: float = 0.05,
    error: ErrorRate = "fdr",
    relevant: Any = None,
    permutations: int = 250,
    rounds: int = 100,
    seed: int = 0,
    n_jobs: int = -1,
    progress: Report | None = None,
    **settings: Any,
) -> Comparison:
    """Run several tests on the same data with the same settings.

    Parameters
    ----------
    X, y
        As :func:`nullforest.grow` takes them. X is sorted once; "paper", "bagged" and "probes"
        test the same trees.
    methods : sequence of str
        "paper", "bagged", "probes", "altmann" (on the selection frequency), "altmann_gini",
        "altmann_permutation", "janitza", "boruta". Or a mapping of names to tests, functions of a
        `Problem` that return an `Answer`; `METHODS` holds those above.
    alpha, error
        As in :func:`nullforest.select`; Boruta has rules of its own.
    relevant : array-like of bool or of column numbers, optional
        Relevant features, where known.
    permutations, rounds : int
        Permutations of the permutation tests; rounds of Boruta.
    seed, n_jobs, progress, **settings
        As in :func:`nullforest.baselines.label_permutation`.

    Returns
    -------
    Comparison
        With `table` (selected, rates, seconds and forests of each method), `shared` (features
        selected by both of two), `features()`, `to_csv(path)` and `to_json(path)`.

    Examples
    --------
    >>> import numpy as np, nullforest as nf
    >>> X = np.random.default_rng(0).normal(size=(60, 50))
    >>> c = nf.compare(X, X[:, 5] > 0, ["paper", "bagged"], trees=100, error="fwer", relevant=[5])
    >>> c.table["power"].tolist(), int(c.shared.loc["paper", "bagged"])
    ([1.0, 1.0], 1)
    """
    check_alpha(alpha)
    if not isinstance(methods, Mapping):
        for method in methods or [""]:
            check_known("method", method, METHODS)
        methods = {method: METHODS[method] for method in methods}
    data = dataset_of(X, y, settings, n_jobs=n_jobs)
    F = data.table.shape[1]
    truth = None
    if relevant is not None:
        truth = np.zeros(F, bool)
        truth[feature_numbers(relevant, F)] = True
    defaults = paper_settings(F)
    settings |= {name: defaults[name] for name in defaults if settings.get(name) in (None, "auto")}
    problem = Problem(data, alpha, error, permutations, rounds, seed, n_jobs, settings)
    answers: dict[str, Answer] = {}
    with progress_bar("Comparing", progress) as report:
        for i, (method, test) in enumerate(methods.items()):
            problem.progress = step_of(report, i, len(methods))
            answers[method] = test(problem)
            report(i + 1, len(methods))
    return Comparison(answers, data.names, alpha, error, truth)


def compare_runs(
    make: Callable[[int], tuple[Any, Any, Any]],
    methods: Sequence[str] | Mapping[str, Test] = DEFAULT_METHODS,
    *,
    repeats: int = 20,
    progress: Report | None = None,
    **settings: Any,
) -> pd.DataFrame:
    """Compare tests over many simulated data sets, with standard errors between them.

    Parameters
    ----------
    make : callable
        Seed → (X, y, relevant), such as
        ``lambda seed: nf.simulate.independent(100, 500, 10, seed=seed)``.
    methods : sequence of str
        As in :func:`compare`.
    repeats : int
        Data sets; data set r is `make(r)`, and the forests on it have the seed r.
    progress : callable, optional
        Told (data sets done, in all); a bar on the terminal where not given.
    **settings
        All other arguments of :func:`compare`.

    Returns
    -------
    DataFrame
        One row per method: the means over the data sets of selected, fpr, fnr, fdr, power,
        seconds, forests and `any_false` (data sets with any false positive), and the standard
        errors of these means in columns that end in `_se`.

    Examples
    --------
    >>> import nullforest as nf
    >>> make = lambda seed: nf.simulate.independent(60, 40, 4, relevance=0.8, seed=seed)
    >>> table = nf.baselines.compare_runs(make, ["paper"], repeats=3, trees=50, alpha=0.01)
    >>> bool(table.loc["paper", "power"] > 0.5)
    True
    """
    if repeats < 2:
        raise InputError(f"repeats = {repeats} must be at least 2: one run has no standard error.")
    rows = []
    with progress_bar("Comparing on simulated data", progress) as report:
        for r in range(repeats):
            X, y, relevant = make(r)
            settings |= {"relevant": relevant, "seed": r, "progress": step_of(report, r, repeats)}
            frame = compare(X, y, methods, **settings).table
            frame["any_false"] = (frame["fpr"] > 0).astype(float)
            rows.append(frame.drop(columns=[c for c in frame if str(c).endswith("_se")]))
    every = pd.concat(rows, keys=range(repeats))
    by_method = every.groupby(level="method", sort=False)
    means, errors = by_method.mean(), by_method.sem()
    order = [c for name in means for c in (name, f"{name}_se")]
    return means.join(errors.add_suffix("_se"))[order]
