"""Comparison with permutation testing: the paper's two tables of numbers.

Its Tables "comparison_st1" and "comparison_st2": S = 100 and 250, F = 500, 2 000 and 5 000, N = 0
and 2 %, T = F/10, F_n = F/20, half of the samples per tree, 250 permutations of the labels, 20
runs, α = 0.05 and 0.01. The paper does not give its stop rule, so that all of `STOP_RULES` are run;
the permutations, 250 times the work, for the three that fit best and for trees grown to the end.
"""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from nullforest.nulls.paper import PaperNull
from reproduction import high_dimensional
from reproduction.claims import Claim, in_settings
from reproduction.experiment import Experiment, Parameters, Results, Settings
from reproduction.figures import PALETTE, facets, mark_levels, panels
from reproduction.outcomes import Outcome, read_outcomes
from reproduction.rate_tables import RATES, rate_row
from reproduction.stop_rules import BEST_RULE, STOP_RULES, StopRule
from reproduction.store import Cell, Record

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


#: The forests of the printed tables.
FORESTS = {
    "n_samples": (100, 250),
    "n_features": (500, 2000, 5000),
    "relevant_share": (0.0, 0.02),
    "draw": ("node", "tree"),
}
_PERMUTED = (BEST_RULE, StopRule(10), StopRule(10, 3), StopRule(1))
_QUICK = {**FORESTS, "n_features": 500, "rule": BEST_RULE}
_TINY = {**_QUICK, "n_samples": 50, "n_features": 200}
#: First the forests, then their permutations; the best stop rule before others.
SETTINGS: Settings = {
    "full": [
        {"rule": STOP_RULES, **FORESTS},
        {"rule": _PERMUTED, **FORESTS, "permutations": 250},
    ],
    "quick": [_QUICK, {**_QUICK, "rule": StopRule(1)}, {**_QUICK, "permutations": 100}],
    "tiny": [_TINY, {**_TINY, "permutations": 20}],
}
ALPHAS = (0.05, 0.01)
#: Columns that name a cell of the printed tables, the strategy left out.
CELL = ["method", "n_samples", "n_features", "relevant_share", "alpha"]
#: Methods of permutation testing, and the exceedances that each counts.
_PERMUTATION = {"permutation": "at_least", "permutation_larger": "larger"}


def cell(p: Parameters) -> Cell:
    """One setting; the forests of the best rule are those of the high-dimensional experiment."""
    forest = {name: value for name, value in p.items() if name != "rule"}
    kind = "permuted_forests" if "permutations" in p else "one_forest"
    return Cell(kind, high_dimensional.cell(forest, p["rule"]).parameters)


def table(results: Results) -> pd.DataFrame:
    """False positive and false negative rate per setting, stop rule, method and alpha.

    Methods: "model" is the paper's null model, "model_whole" the same with the mean number of
    nodes per tree rounded up and put in for every tree, and "bagged" the bagged null model;
    "permutation" counts the permutations with a count at least as large, "permutation_larger"
    those with a larger one.
    """
    names = ("strategy", "rule", *high_dimensional.NAMES[1:])
    rows = []
    for (cell, records), alpha in product(results, ALPHAS):
        runs = [_tested(cell, record, alpha) for record in records]
        for method in runs[0]:
            tested = {"alpha": alpha, "method": method}
            rows.append(rate_row(cell, names, tested, [run[method] for run in runs], RATES))
    return pd.DataFrame(rows)


def _tested(cell: Cell, record: Record, alpha: float) -> dict[str, tuple[Outcome, float]]:
    """Outcome and threshold of one run, by method."""
    p = cell.parameters
    if cell.kind == "permuted_forests":
        # The p-value is ≤ alpha with at most this many exceedances. A thousandth of a permutation
        # keeps 0.05 · 100 from falling below 5 by rounding.
        most = int(alpha * p["permutations"] + 1e-3)
        return {
            method: (_exceedances(record[counted]), -most - 1)
            for method, counted in _PERMUTATION.items()
        }
    (outcome,) = read_outcomes([record])
    pool = p["candidates"] if p["draw"] == "tree" else p["n_features"]
    nodes = [math.ceil(outcome.nodes_per_tree)] * p["trees"]
    whole = PaperNull(nodes, [pool] * p["trees"], p["n_features"]).threshold(alpha)
    thresholds = {"model": outcome.threshold("paper", alpha), "model_whole": whole}
    if "bagged" in outcome.tails:
        thresholds["bagged"] = outcome.threshold("bagged", alpha)
    return {method: (outcome, threshold) for method, threshold in thresholds.items()}


def _exceedances(record: Record) -> Outcome:
    """Outcome of a permutation test: exceedances, negated, since few speak for a feature."""
    groups = {name: [(-k, n) for k, n in enumerate(numbers)] for name, numbers in record.items()}
    return Outcome(groups, {}, math.nan)


def figure(table: pd.DataFrame, results: Results) -> Figure:
    """Our rates for the methods, side by side per setting, with the best stop rule."""

    def draw(ax: Axes, part: pd.DataFrame, key: Parameters) -> None:
        rate = key["rate"]
        for i, method in enumerate(("permutation", "model", "bagged")):
            bars = part[part["method"] == method]
            places = np.arange(len(bars)) + 0.27 * (i - 1)
            errors = 2 * bars[f"{rate}_sd"] / bars["runs"] ** 0.5
            ax.bar(places, bars[rate], 0.25, yerr=errors, color=PALETTE[i + 1], label=method)
        sizes = part[part["method"] == "model"][["n_samples", "n_features"]].to_numpy()
        ax.set_xticks(range(len(sizes)), [f"{S},\n{F}" for S, F in sizes])
        if rate == "fpr":
            mark_levels(ax, part)

    best = table[table["rule"] == str(BEST_RULE)]
    shown = (("fpr", 0.0), ("fpr", 0.02), ("fnr", 0.02))
    columns = [{"rate": rate, "relevant_share": share} for rate, share in shown]
    rows = panels(best, {"strategy": (), "alpha": ALPHAS})
    return facets(best, rows, columns, draw, "S, F", legend=6)


def claims(table: pd.DataFrame) -> list[Claim]:
    """The paper's sentences about its comparison tables, with the best stop rule."""
    best = table[table["rule"] == str(BEST_RULE)]
    if "permutation" not in set(best["method"]):
        return []
    by = ["strategy", "n_samples", "n_features", "relevant_share", "alpha"]
    wide = best.pivot_table(index=by, columns="method", values=["fpr", "fnr"]).reset_index()
    wide = wide[wide[("fpr", "permutation")].notna()]
    fpr, fnr, alpha = wide["fpr"], wide["fnr"], wide["alpha"]
    none = fpr["model"][(wide["relevant_share"] == 0) & (alpha == 0.01)]
    some = wide["relevant_share"] > 0
    model, permutation = fnr["model"][some], fnr["permutation"][some]
    return [
        in_settings(
            "Permutation testing limits the false positive rate at the desired level everywhere.",
            fpr["permutation"] <= alpha,
            f"; largest rate over α {(fpr['permutation'] / alpha).max():.2f}",
        ),
        Claim(
            "The model gives slightly higher rates than α at N = 0 and α = 0.01.",
            f"mean {none.mean():.4f}, largest {none.max():.4f}",
            bool(0.01 < none.max() < 0.02),
        ),
        in_settings(
            "The model limits the false positive rate at N = 2 %.",
            (fpr["model"] <= alpha)[some],
        ),
        in_settings(
            "The model has lower false negative rates than permutation testing at N = 2 %.",
            model <= permutation,
            f"; mean {model.mean():.3f} against {permutation.mean():.3f}",
            least=0.8,
        ),
    ]


EXPERIMENT = Experiment(
    name="comparison",
    title="Comparison with permutation testing",
    settings=SETTINGS,
    runs={"full": 20, "quick": 4, "tiny": 2},
    cell=cell,
    table=table,
    figure=figure,
    claims=claims,
)
