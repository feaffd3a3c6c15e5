"""How does the model compare with permutation testing? The paper's two tables of numbers.

Its Tables "comparison_st1" and "comparison_st2": S = 100 and 250, F = 500, 2 000 and 5 000, N = 0
and 2 %, T = F/10, F_n = F/20, half of the samples per tree, 250 permutations of the labels, 20
runs, α = 0.05 and 0.01. The paper does not give its stop rule, so that all of `STOP_RULES` are run;
the permutations, 250 times the work, for the three that fit best and for trees grown to the end.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import pandas as pd

from nullforest.evaluation.paper import high_dimensional
from nullforest.evaluation.paper.computing import outcome
from nullforest.evaluation.paper.experiment import (
    STRATEGY,
    Claim,
    Experiment,
    Results,
    Size,
    share,
    summary,
)
from nullforest.evaluation.paper.figures import PALETTE, label_axes, panels
from nullforest.evaluation.paper.outcomes import RELEVANT
from nullforest.evaluation.paper.stop_rules import BEST_RULE, STOP_RULES, StopRule, rule_of
from nullforest.evaluation.paper.store import Cell, Record
from nullforest.nulls.paper import PaperNull

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Settings:
    """All parameters of the experiment; trees and candidates as in the high-dimensional one."""

    n_samples: tuple[int, ...] = (100, 250)
    n_features: tuple[int, ...] = (500, 2000, 5000)
    relevant_shares: tuple[float, ...] = (0.0, 0.02)
    permutations: int = 250
    rules: tuple[StopRule, ...] = STOP_RULES
    permuted: tuple[StopRule, ...] = (BEST_RULE, StopRule(10), StopRule(10, 3), StopRule(1))


SETTINGS: dict[Size, Settings] = {
    "full": Settings(),
    "quick": Settings(
        n_features=(500,), permutations=100, rules=(BEST_RULE, StopRule(1)), permuted=(BEST_RULE,)
    ),
    "tiny": Settings((50,), (200,), permutations=20, rules=(BEST_RULE,), permuted=(BEST_RULE,)),
}
RUNS: dict[Size, int] = {"full": 20, "quick": 4, "tiny": 2}
ALPHAS = (0.05, 0.01)
#: Columns that name a cell of the printed tables, the strategy left out.
CELL = ["method", "n_samples", "n_features", "relevant_share", "alpha"]


def cells(size: Size) -> list[Cell]:
    """The settings: first the forests, then their permutations; the best stop rule before others.

    The forests of the best rule are those of the high-dimensional experiment.
    """
    s = SETTINGS[size]
    rules = sorted(s.rules, key=lambda rule: rule != BEST_RULE)
    forests = [cell for rule in rules for cell in forests_of(rule, s)]
    permuted = [
        Cell("permuted_forests", {**cell.parameters, "permutations": s.permutations})
        for rule in s.permuted
        for cell in forests
        if rule_of(cell.parameters) == rule
    ]
    return forests + permuted


def forests_of(rule: StopRule, s: Settings) -> list[Cell]:
    """The settings of the forests that end by one stop rule."""
    settings = high_dimensional.Settings(stop=rule)
    return [
        Cell("one_forest", high_dimensional.setting(S, F, relevant, draw, settings))
        for S, F, relevant, draw in product(s.n_samples, s.n_features, s.relevant_shares, STRATEGY)
    ]


def table(results: Results) -> pd.DataFrame:
    """False positive and false negative rate per setting, stop rule, method and alpha.

    Methods: "model" is the paper's null, "model_whole" the same with the mean number of nodes
    per tree rounded up and put in for every tree, and "bagged" the bagged null; "permutation"
    counts the permutations with a count at least as large, "permutation_larger" those with a
    larger one.
    """
    rows = []
    for cell, records in results:
        p = cell.parameters
        for alpha in ALPHAS:
            for method, rates in _rates(cell, records, alpha).items():
                rows.append(
                    {
                        "strategy": STRATEGY[p["draw"]],
                        "rule": str(rule_of(p)),
                        "n_samples": p["n_samples"],
                        "n_features": p["n_features"],
                        "relevant_share": p["relevant_share"],
                        "alpha": alpha,
                        "method": method,
                        **summary([fpr for fpr, _ in rates], "fpr"),
                        **summary([fnr for _, fnr in rates], "fnr"),
                        "runs": len(records),
                    }
                )
    return pd.DataFrame(rows)


def _rates(cell: Cell, records: list[Record], alpha: float) -> dict[str, list[tuple[float, float]]]:
    """False positive and negative rates of every run, by method."""
    if cell.kind == "one_forest":
        outcomes = [outcome(record) for record in records]
        thresholds = {
            "model": [o.threshold("paper", alpha) for o in outcomes],
            "model_whole": [_whole_threshold(cell, o.nodes_per_tree, alpha) for o in outcomes],
        }
        if all("bagged" in o.tails for o in outcomes):
            thresholds["bagged"] = [o.threshold("bagged", alpha) for o in outcomes]
        return {
            method: [
                (o.rate_above(k, *o.irrelevant), 1.0 - o.rate_above(k, RELEVANT))
                for o, k in zip(outcomes, found, strict=True)
            ]
            for method, found in thresholds.items()
        }
    permutations = cell.parameters["permutations"]
    return {
        method: [_permutation_rates(record[rule], alpha, permutations) for record in records]
        for method, rule in (("permutation", "at_least"), ("permutation_larger", "larger"))
    }


def _whole_threshold(cell: Cell, nodes_per_tree: float, alpha: float) -> int:
    """The paper's threshold if all trees had the same, whole number of nodes."""
    p = cell.parameters
    pool = p["candidates"] if p["draw"] == "tree" else p["n_features"]
    nodes = [math.ceil(nodes_per_tree)] * p["trees"]
    return PaperNull(nodes, [pool] * p["trees"], p["n_features"]).threshold(alpha)


def _permutation_rates(
    exceeded: Mapping[str, list[int]], alpha: float, permutations: int
) -> tuple[float, float]:
    """False positive and negative rate: a feature is relevant where its p-value is ≤ alpha."""
    # The last bin holds "more often", which is no exceedance number of its own. A thousandth
    # of a permutation keeps 0.05 · 100 from falling below 5 by rounding.
    most = int(alpha * permutations + 1e-3)

    def selected(numbers: list[int]) -> float:
        total = sum(numbers)
        return sum(numbers[: most + 1]) / total if total else float("nan")

    return selected(exceeded["irrelevant"]), 1.0 - selected(exceeded[RELEVANT])


def figure(table: pd.DataFrame, results: Results) -> Figure:
    """Our rates for the methods, side by side per setting, with the best stop rule."""
    part = table[table["rule"] == str(BEST_RULE)]
    kinds = [("fpr", 0.0), ("fpr", 0.02), ("fnr", 0.02)]
    lines = list(product(sorted(part["strategy"].unique()), ALPHAS))
    fig, axes = panels(len(lines), len(kinds))
    methods = ("permutation", "model", "bagged")
    for (strategy, alpha), row in zip(lines, axes, strict=True):
        for (rate, relevant), ax in zip(kinds, row, strict=True):
            chosen = part[
                (part["strategy"] == strategy)
                & (part["alpha"] == alpha)
                & (part["relevant_share"] == relevant)
            ]
            for i, method in enumerate(methods):
                bars = chosen[chosen["method"] == method]
                places = [j + 0.27 * (i - 1) for j in range(len(bars))]
                errors = 2 * bars[f"{rate}_sd"] / bars["runs"] ** 0.5
                ax.bar(places, bars[rate], 0.25, yerr=errors, color=PALETTE[i + 1], label=method)
            names = [
                f"{row.n_samples},\n{row.n_features}"
                for row in chosen[chosen["method"] == "model"].itertuples()
            ]
            ax.set_xticks(range(len(names)), names)
            if rate == "fpr":
                ax.axhline(alpha, color="0.7", linewidth=0.8)
            label_axes(
                ax,
                f"Strategy {strategy}, α = {alpha}, N = {relevant:.0%}",
                "S, F",
                "false positive rate" if rate == "fpr" else "false negative rate",
            )
    axes[0][0].legend(fontsize=6)
    return fig


def claims(table: pd.DataFrame) -> list[Claim]:
    """The paper's sentences about its comparison tables, with the best stop rule."""
    best = table[table["rule"] == str(BEST_RULE)]
    by = ["strategy", "n_samples", "n_features", "relevant_share", "alpha"]
    wide = best.pivot_table(index=by, columns="method", values=["fpr", "fnr"]).reset_index()
    if "permutation" not in set(best["method"]):
        return []
    wide = wide[wide[("fpr", "permutation")].notna()]
    alpha = wide["alpha"]
    permuted = wide[("fpr", "permutation")]
    none = wide[(wide["relevant_share"] == 0) & (alpha == 0.01)]
    some = wide[wide["relevant_share"] > 0]
    return [
        Claim(
            "Permutation testing limits the false positive rate at the desired level everywhere.",
            f"{share(permuted <= alpha)} settings; largest rate over α "
            f"{(permuted / alpha).max():.2f}",
            bool((permuted <= alpha).all()),
        ),
        Claim(
            "The model gives slightly higher rates than α at N = 0 and α = 0.01.",
            f"mean {none[('fpr', 'model')].mean():.4f}, largest {none[('fpr', 'model')].max():.4f}",
            bool(0.01 < none[("fpr", "model")].max() < 0.02),
        ),
        Claim(
            "The model limits the false positive rate at N = 2 %.",
            f"{share(some[('fpr', 'model')] <= some['alpha'])} settings",
            bool((some[("fpr", "model")] <= some["alpha"]).all()),
        ),
        Claim(
            "The model has lower false negative rates than permutation testing at N = 2 %.",
            f"{share(some[('fnr', 'model')] <= some[('fnr', 'permutation')])} settings; mean "
            f"{some[('fnr', 'model')].mean():.3f} against "
            f"{some[('fnr', 'permutation')].mean():.3f}",
            bool((some[("fnr", "model")] <= some[("fnr", "permutation")]).mean() >= 0.8),
        ),
    ]


EXPERIMENT = Experiment(
    name="comparison",
    title="Comparison with permutation testing",
    cells=cells,
    runs=RUNS,
    table=table,
    figure=figure,
    claims=claims,
)
