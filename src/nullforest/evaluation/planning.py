"""Power by simulation, before data are collected: how many trees and candidates are enough.

Data are drawn by the paper's generator (independent features, N of them correlated with the label
by ρ), forests are grown on them, and the selected features are compared with the relevant ones.
The tallies of a forest's first trees add up, so one forest of the largest size gives the power at
every smaller size too.

**Discrete levels.** Counts are whole numbers: with few trees the levels that a threshold can reach
lie far apart, and a strict alpha needs a count that no feature reaches. The table holds, for each
number of trees, the level reached at alpha, the next coarser one, and the strictest alpha at which
half of the relevant features are selected.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from nullforest._util.checks import whole_number
from nullforest._util.errors import InputError
from nullforest._util.progress import progress_bar, silent
from nullforest.data.dataset import Dataset
from nullforest.datasets.simulate.independent import independent
from nullforest.forest.settings import MOST_TREES, default_candidates
from nullforest.nulls import Kind
from nullforest.nulls.distribution import check_alpha
from nullforest.run import backends as compute
from nullforest.run.forest import Forest
from nullforest.run.growing import grow
from nullforest.selection.error_rates import ERROR_RATES, ErrorRate
from nullforest.selection.selection import Selection, select

#: Power that may be given up for a smaller forest: less than a plan of a few runs can tell.
_ENOUGH = 0.01


@dataclass(frozen=True, eq=False, repr=False)
class PowerPlan:
    """Power of forests of several sizes on simulated data.

    Attributes
    ----------
    table : DataFrame
        One row per (candidates, trees), means over the runs: power (share of the relevant
        features found) and its standard error power_se, fpr (share of null features selected),
        fdp (share of null ones among the selected), expected_count of a null feature, threshold,
        level reached, next_level (with a threshold lower by one), finest_alpha (the strictest
        level that half of the relevant features pass), seconds to grow.
    trees, candidates : int
        The smallest forest whose power is within 0.01, or a standard error, of the best.
    power : float
        Its power.
    settings : dict
        Arguments of the plan.
    """

    table: pd.DataFrame
    trees: int
    candidates: int
    power: float
    settings: dict[str, Any]

    def headline(self) -> str:
        """The recommended forest in one sentence."""
        s = self.settings
        return (
            f"{self.trees} trees with {self.candidates} candidates find {self.power:.0%} of "
            f"{s['n_relevant']} features with ρ = {s['relevance']:g} among {s['n_features']}, with "
            f"{s['n_samples']} samples, at a {ERROR_RATES[s['error']]} of {s['alpha']:g}"
        )

    def __repr__(self) -> str:
        return f"<PowerPlan: {self.headline()}>\n{self.table.round(4).to_string(index=False)}"


def plan(
    n_samples: int,
    n_features: int,
    n_relevant: int,
    relevance: float = 0.5,
    *,
    alpha: float = 0.05,
    error: ErrorRate = "fdr",
    null: Kind = "auto",
    trees: Sequence[int] | None = None,
    candidates: Sequence[int] | None = None,
    draw: Literal["node", "tree"] = "node",
    samples: float = 0.5,
    runs: int = 5,
    seed: int = 0,
    n_jobs: int = -1,
    progress: bool = True,
) -> PowerPlan:
    """Power of forests of several sizes, on data drawn by the paper's generator.

    Parameters
    ----------
    n_samples, n_features, n_relevant : int
        S, F and the number of relevant features.
    relevance : float
        Correlation ρ of a relevant feature with the label.
    alpha, error, null
        How features are selected; see :func:`nullforest.select`.
    trees : sequence of int, optional
        Numbers of trees to try; F/2 to 8 F where not given.
    candidates : sequence of int, optional
        Numbers of candidates to try; half, once and twice the default of :func:`nullforest.grow`
        where not given.
    draw, samples
        Settings of the forests.
    runs : int
        Data sets to draw; the standard error of the power falls with their root.
    seed : int
        Seed of the data and the forests.
    n_jobs : int
        Threads.
    progress : bool
        Show a bar on a terminal when the work lasts.

    Returns
    -------
    PowerPlan
        With `table` (power, rates, thresholds and levels by candidates and trees), the smallest
        sufficient `trees` and `candidates`, and `headline()`.

    Notes
    -----
    Real features are correlated and relevant ones unequal, so the power is that of an ideal study.

    Examples
    --------
    >>> import nullforest as nf
    >>> study = nf.plan(100, 200, 5, relevance=0.6, trees=[50, 200], candidates=[14], runs=2)
    >>> study.trees, study.candidates, bool(study.power > 0.5)
    (200, 14, True)
    """
    check_alpha(alpha)
    if n_relevant < 1:
        raise InputError(f"n_relevant = {n_relevant} must be at least 1; power is about them.")
    whole_number("runs", runs, 1, MOST_TREES)
    # At about five nodes per tree, a forest ends at 4 F trees at the earliest by default.
    F, width = n_features, default_candidates(n_features)
    sizes = _checked("trees", trees or [F // 2, F, 2 * F, 4 * F, 8 * F], MOST_TREES)
    widths = _checked("candidates", candidates or [width // 2 or 1, width, min(2 * width, F)], F)
    study: dict[str, Any] = {
        "n_samples": n_samples,
        "n_features": n_features,
        "n_relevant": n_relevant,
        "relevance": relevance,
        "alpha": alpha,
        "error": error,
        "null": null,
        "draw": draw,
        "samples": samples,
        "runs": runs,
        "seed": seed,
    }
    backend = compute.find()
    shared = (study, sizes, widths, n_jobs if backend is None else 1)
    rows: list[dict[str, Any]] = []
    with progress_bar("Growing forests", None if progress else silent) as report:
        for rows_of_run in compute.each(_rows_of_run, shared, range(runs), backend):
            rows += rows_of_run
            report(len(rows), runs * len(widths) * len(sizes))
    table = _summary(pd.DataFrame(rows))
    best = _smallest(table)
    return PowerPlan(
        table, int(best["trees"]), int(best["candidates"]), float(best["power"]), study
    )


def _rows_of_run(
    study: dict[str, Any], sizes: list[int], widths: list[int], n_jobs: int, run: int
) -> list[dict[str, Any]]:
    """One data set, and on it a forest for every number of candidates."""
    seed = study["seed"] + run
    S, F, N, rho = (study[n] for n in ("n_samples", "n_features", "n_relevant", "relevance"))
    X, y, relevant = independent(S, F, N, rho, seed=seed, dtype=np.float32)
    data = Dataset.of(X, y, n_jobs=n_jobs)
    settings = {name: study[name] for name in ("draw", "samples")}
    settings |= {"seed": seed, "n_jobs": n_jobs, "backend": "threads", "keep_trees": False}
    rows = []
    for width in widths:
        forest: Forest | None = None
        for size in sizes:
            trees = size - (0 if forest is None else forest.n_trees)
            forest = grow(data, trees=trees, candidates=width, more=forest, oob=False, **settings)
            selection = select(forest, study["alpha"], study["error"], study["null"])
            rows.append(_row(selection, relevant, forest.seconds))
    return rows


def _row(selection: Selection, relevant: Any, seconds: float) -> dict[str, Any]:
    false = int((selection.support & ~relevant).sum())
    null, threshold = selection.null, selection.threshold
    # Half of the relevant features pass a level that their upper median passes.
    median = np.sort(selection.pvalues[relevant])[(int(relevant.sum()) - 1) // 2]
    return {
        "candidates": selection.tally.candidates,
        "trees": selection.tally.n_trees,
        "power": float(selection.support[relevant].mean()),
        "fpr": false / max(int((~relevant).sum()), 1),
        "fdp": false / max(selection.n_selected, 1),
        "expected_count": null.mean,
        "threshold": threshold,
        "level": selection.level,
        "next_level": float(null.sf(threshold - 1)),
        "finest_alpha": float(median),
        "seconds": seconds,
    }


def _summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Means over the runs; levels, which differ by factors, are averaged as logarithms."""
    logs = ["level", "next_level", "finest_alpha"]
    tiny = float(np.finfo(float).tiny)
    rows = rows.assign(**{name: np.log(rows[name].clip(lower=tiny)) for name in logs})
    grouped = rows.groupby(["candidates", "trees"])
    table = grouped.mean().reset_index()
    table[logs] = np.exp(table[logs])
    table.insert(3, "power_se", grouped["power"].sem().to_numpy())
    return table


def _smallest(table: pd.DataFrame) -> Any:
    """The row of least work whose power is within the error of the best."""
    best = table.iloc[int(table["power"].to_numpy().argmax())]
    slack = max(_ENOUGH, 0.0 if math.isnan(best["power_se"]) else float(best["power_se"]))
    enough = table[table["power"] >= best["power"] - slack]
    work = (enough["trees"] * enough["candidates"]).to_numpy()
    return enough.iloc[int(work.argmin())]


def _checked(name: str, numbers: Sequence[int], most: int) -> list[int]:
    values = sorted({int(number) for number in numbers})
    if values[0] < 1 or values[-1] > most:
        raise InputError(f"{name} = {values} must be whole numbers from 1 to {most}.")
    return values
