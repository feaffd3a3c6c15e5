"""Which tests agree, and what do they cost? Several of them side by side on the same data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nullforest._util.errors import InputError
from nullforest._util.progress import Report, progress_bar
from nullforest.engine import RankTable
from nullforest.evaluation.comparison.methods import METHODS, Answer, Problem
from nullforest.evaluation.comparison.result import Comparison, rates
from nullforest.evaluation.packages import PEERS
from nullforest.nulls.distribution import check_alpha
from nullforest.selection.error_rates import ErrorRate

__all__ = ["DEFAULT_METHODS", "METHODS", "Comparison", "compare", "compare_runs", "rates"]

#: What is run where the user does not say.
DEFAULT_METHODS = ("paper", "bagged", "probes", "altmann", "janitza", "boruta")


def compare(
    X: Any,
    y: Any,
    methods: Sequence[str] = DEFAULT_METHODS,
    *,
    alpha: float = 0.05,
    error: ErrorRate = "fpr",
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
        judge the same trees.
    methods : sequence of str
        Names from `METHODS`. One that cannot be run here is left out, and the result says why.
    alpha : float
        The error rate asked of all.
    error : {"fpr", "fdr", "fdr_by", "fwer"}
        Which error rate; Boruta has rules of its own.
    relevant : array-like of bool or of column numbers, optional
        The truth, where known.
    permutations, rounds : int
        Permutations of the permutation tests; rounds of Boruta.
    seed, n_jobs
        Seed and threads.
    progress : callable, optional
        Told (methods done, in all); a bar on the terminal where not given.
    **settings
        All other settings of :func:`nullforest.grow`: trees, candidates, draw, samples, …

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
    unknown = [m for m in methods if m not in METHODS]
    if unknown or not methods:
        raise InputError(
            f"There is no method {unknown[0] if unknown else ''!r}; choose from "
            f"{', '.join(METHODS)}."
        )
    table = X if isinstance(X, RankTable) else RankTable(X, n_jobs=n_jobs)
    problem = Problem(table, y, alpha, error, permutations, rounds, seed, n_jobs, settings)
    answers: dict[str, Answer] = {}
    skipped: dict[str, str] = {}
    with progress_bar("Comparing", progress) as tell:
        for i, method in enumerate(dict.fromkeys(methods)):
            why = PEERS[method].missing() if method in PEERS else ""
            if why:
                skipped[method] = why
            else:

                def within(done: float, total: int, i: int = i) -> None:
                    tell(i + done / total, len(methods))

                problem.progress = within
                answers[method] = METHODS[method](problem)
            tell(i + 1, len(methods))
    names = problem.forest().tally.names
    return Comparison(answers, names, alpha, error, _mask(relevant, len(names)), skipped)


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

            def within(done: float, total: int, r: int = r) -> None:
                tell(r + done / total, repeats)

            one = compare(X, y, methods, relevant=relevant, seed=r, progress=within, **settings)
            frame = one.table
            frame["any_false"] = (frame["fpr"] > 0).astype(float)
            rows.append(frame.drop(columns=[c for c in frame if str(c).endswith("_se")]))
    every = pd.concat(rows, keys=range(repeats))
    by_method = every.groupby(level="method", sort=False)
    means, errors = by_method.mean(), by_method.sem()
    order = [c for name in means for c in (name, f"{name}_se")]
    return means.join(errors.add_suffix("_se"))[order]


def _mask(relevant: Any, n_features: int) -> NDArray[np.bool_] | None:
    if relevant is None:
        return None
    given = np.asarray(relevant)
    if given.dtype == bool and given.shape == (n_features,):
        return given
    if given.dtype.kind not in "iu" or (
        given.size and not (given.min() >= 0 and given.max() < n_features)
    ):
        raise InputError(
            f"relevant must be a mask of the {n_features} features, or numbers of their columns."
        )
    mask = np.zeros(n_features, bool)
    mask[given] = True
    return mask
