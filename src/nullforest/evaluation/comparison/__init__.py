"""Several tests on the same data: their selections, their agreement and their cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from nullforest._util.errors import InputError, check_known
from nullforest._util.progress import Report, progress_bar, step_of
from nullforest.data.column_blocks import feature_numbers
from nullforest.data.rank_table import RankTable
from nullforest.data.survival_times import survival_of
from nullforest.evaluation.comparison.adapters import METHODS, Answer, Problem
from nullforest.evaluation.comparison.result import Comparison, rates
from nullforest.evaluation.packages import PACKAGES
from nullforest.forest.settings import paper_settings
from nullforest.nulls.distribution import check_alpha
from nullforest.selection.error_rates import ErrorRate

__all__ = ["DEFAULT_METHODS", "METHODS", "Comparison", "compare", "compare_runs", "rates"]

#: Methods that are run where none are given.
DEFAULT_METHODS = ("paper", "bagged", "probes", "altmann", "janitza", "boruta")


def compare(
    X: Any,
    y: Any,
    methods: Sequence[str] = DEFAULT_METHODS,
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
        Names from `METHODS`. One that cannot be run here is left out, with the reason in `skipped`.
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

    Examples
    --------
    >>> import numpy as np, nullforest as nf
    >>> X = np.random.default_rng(0).normal(size=(60, 50))
    >>> c = nf.compare(X, X[:, 5] > 0, ["paper", "bagged"], trees=100, error="fwer", relevant=[5])
    >>> c.table["power"].tolist(), int(c.shared.loc["paper", "bagged"])
    ([1.0, 1.0], 1)
    """
    check_alpha(alpha)
    for method in methods or [""]:
        check_known("method", method, METHODS)
    table = RankTable.of(X, n_jobs).numeric()
    usual = paper_settings(table.shape[1])
    for name in usual:  # "auto" and None stand for these
        if settings.get(name) not in (None, "auto"):
            usual[name] = settings[name]
    settings |= usual
    problem = Problem(table, y, alpha, error, permutations, rounds, seed, n_jobs, settings)
    answers: dict[str, Answer] = {}
    skipped: dict[str, str] = {}
    survival = survival_of(y) is not None
    with progress_bar("Comparing", progress) as tell:
        for i, method in enumerate(dict.fromkeys(methods)):
            why = PACKAGES[method].missing() if method in PACKAGES else ""
            if survival and method in PACKAGES and not PACKAGES[method].survival:
                why = "it does not take survival times"
            if why:
                skipped[method] = why
            else:
                problem.progress = step_of(tell, i, len(methods))
                answers[method] = METHODS[method](problem)
            tell(i + 1, len(methods))
    names = problem.forest().tally.names
    known = None
    if relevant is not None:
        known = np.zeros(len(names), bool)
        known[feature_numbers(relevant, len(names))] = True
    return Comparison(answers, names, alpha, error, known, skipped)


def compare_runs(
    make: Callable[[int], tuple[Any, Any, Any]],
    methods: Sequence[str] = DEFAULT_METHODS,
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
    >>> table = nf.compare_runs(make, ["paper"], repeats=3, trees=50, alpha=0.01)
    >>> bool(table.loc["paper", "power"] > 0.5)
    True
    """
    if repeats < 2:
        raise InputError(f"repeats = {repeats} must be at least 2: one run has no standard error.")
    rows = []
    with progress_bar("Comparing on simulated data", progress) as tell:
        for r in range(repeats):
            X, y, relevant = make(r)
            settings |= {"relevant": relevant, "seed": r, "progress": step_of(tell, r, repeats)}
            frame = compare(X, y, methods, **settings).table
            frame["any_false"] = (frame["fpr"] > 0).astype(float)
            rows.append(frame.drop(columns=[c for c in frame if str(c).endswith("_se")]))
    every = pd.concat(rows, keys=range(repeats))
    by_method = every.groupby(level="method", sort=False)
    means, errors = by_method.mean(), by_method.sem()
    order = [c for name in means for c in (name, f"{name}_se")]
    return means.join(errors.add_suffix("_se"))[order]
