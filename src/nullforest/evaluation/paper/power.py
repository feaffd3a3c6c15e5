"""How does power depend on the strength of the relation and on the number of trees?

The paper's Table "power_analysis": (S, F, F_n) = (150, 5000, 250), N = 25 and 50 relevant features,
ρ = 0.1 … 0.9, T = 250 … 1750, α = 0.01 and 0.001. One forest of 1 750 trees is grown in blocks of
250: tallies add, so every prefix is judged on the way.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import pandas as pd

from nullforest.evaluation.paper.computing import outcome
from nullforest.evaluation.paper.experiment import (
    STRATEGY,
    Claim,
    Experiment,
    Results,
    Size,
    summary,
    trend,
)
from nullforest.evaluation.paper.figures import PALETTE, label_axes, panels
from nullforest.evaluation.paper.outcomes import NULLS
from nullforest.evaluation.paper.stop_rules import BEST_RULE, StopRule
from nullforest.evaluation.paper.store import Cell

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Settings:
    """All parameters of the experiment."""

    n_samples: int = 150
    n_features: int = 5000
    candidates: int = 250
    n_relevant: tuple[int, ...] = (25, 50)
    relevance: tuple[float, ...] = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
    trees: int = 1750
    block: int = 250
    samples: float = 0.5
    stop: StopRule = BEST_RULE


SETTINGS: dict[Size, Settings] = {
    "full": Settings(),
    "quick": Settings(relevance=(0.1, 0.3, 0.5, 0.7, 0.9), trees=1000),
    "tiny": Settings(50, 200, 20, (4,), (0.2, 0.8), trees=60, block=20),
}
RUNS: dict[Size, int] = {"full": 20, "quick": 2, "tiny": 2}
ALPHAS = (0.01, 0.001)
CURVE = ["strategy", "null", "alpha", "n_relevant", "trees", "relevance"]


def cells(size: Size) -> list[Cell]:
    """The settings: number and strength of the relevant features, strategy."""
    s = SETTINGS[size]
    return [
        Cell(
            "growing_forest",
            {
                "n_samples": s.n_samples,
                "n_features": s.n_features,
                "n_relevant": n_relevant,
                "relevance": relevance,
                "trees": s.trees,
                "block": s.block,
                "candidates": s.candidates,
                "draw": draw,
                "samples": s.samples,
                **s.stop.parameters(),
            },
        )
        for n_relevant, relevance, draw in product(s.n_relevant, s.relevance, STRATEGY)
    ]


def table(results: Results) -> pd.DataFrame:
    """True and false positive rate for every setting, number of trees, null and alpha."""
    rows = []
    for cell, records in results:
        p = cell.parameters
        prefixes = zip(*(record["outcomes"] for record in records), strict=True)
        for i, prefix in enumerate(prefixes):
            outcomes = [outcome(record) for record in prefix]
            for kind, alpha in product(NULLS, ALPHAS):
                missed = [o.false_negative_rate(kind, alpha) for o in outcomes]
                rows.append(
                    {
                        "strategy": STRATEGY[p["draw"]],
                        "n_relevant": p["n_relevant"],
                        "relevance": p["relevance"],
                        "trees": min((i + 1) * p["block"], p["trees"]),
                        "null": kind,
                        "alpha": alpha,
                        **summary([1 - rate for rate in missed], "tpr"),
                        **summary([o.false_positive_rate(kind, alpha) for o in outcomes], "fpr"),
                        "runs": len(outcomes),
                    }
                )
    return pd.DataFrame(rows)


def figure(table: pd.DataFrame, results: Results) -> Figure:
    """True and false positive rates against ρ, a curve per number of trees."""
    lines = list(product(sorted(table["strategy"].unique()), NULLS))
    columns = list(product(sorted(table["n_relevant"].unique()), ALPHAS, ("tpr", "fpr")))
    fig, axes = panels(len(lines), len(columns))
    for (strategy, kind), row in zip(lines, axes, strict=True):
        for (n_relevant, alpha, rate), ax in zip(columns, row, strict=True):
            part = table[
                (table["strategy"] == strategy)
                & (table["null"] == kind)
                & (table["n_relevant"] == n_relevant)
                & (table["alpha"] == alpha)
            ]
            for colour, (trees, curve) in zip(PALETTE, part.groupby("trees"), strict=False):
                ax.plot(curve["relevance"], curve[rate], color=colour, label=f"T = {trees}")
            if rate == "fpr":
                ax.axhline(alpha, color="0.7", linewidth=0.8)
            label_axes(
                ax,
                f"Strategy {strategy}, {kind} null, N = {n_relevant}, α = {alpha}",
                "relevance ρ",
                "true positive rate" if rate == "tpr" else "false positive rate",
            )
    axes[0][0].legend(fontsize=5)
    return fig


def claims(table: pd.DataFrame) -> list[Claim]:
    """The paper's sentences about its Table "power_analysis"."""
    paper = table[table["null"] == "paper"]
    middle = paper[(paper["relevance"] > 0.15) & (paper["relevance"] < 0.85)]
    found = [
        _trend("True positive rates rise with ρ.", paper, "relevance", "tpr", rising=True),
        _trend("True positive rates rise with T.", middle, "trees", "tpr", rising=True),
        _converging(middle),
        _trend("True positive rates fall with N.", middle, "n_relevant", "tpr", rising=False),
        _trend("True positive rates fall with α.", middle, "alpha", "tpr", rising=True),
        _trend("False positive rates fall with ρ.", paper, "relevance", "fpr", rising=False),
        _sharper(paper),
        _trend("False positive rates rise with T.", paper, "trees", "fpr", rising=True),
    ]
    bagged = table[(table["null"] == "bagged") & (table["relevance"] < 0.15)]
    found.append(
        Claim(
            "(not in the paper) The bagged null's false positive rates at ρ = 0.1 stay near α "
            "for every number of trees.",
            "rate over α: "
            + ", ".join(
                f"{(part['fpr'] / part['alpha']).mean():.2f} at T = {trees}"
                for trees, part in bagged.groupby("trees")
            ),
            bool((bagged["fpr"] / bagged["alpha"]).groupby(bagged["trees"]).mean().max() <= 1.5),
        )
    )
    return found


def _converging(part: pd.DataFrame) -> Claim:
    by_trees = part.groupby("trees")["tpr"].mean()
    steps = by_trees.diff().dropna()
    return Claim(
        "The gain in true positive rate of each further block of trees gets smaller.",
        ", ".join(f"{step:+.3f} to T = {trees}" for trees, step in steps.items()),
        bool(len(steps) < 2 or steps.iloc[-1] < steps.iloc[0]),
    )


def _sharper(part: pd.DataFrame) -> Claim:
    drop = {
        n: curve[curve["relevance"] == curve["relevance"].max()]["fpr"].mean()
        / curve[curve["relevance"] == curve["relevance"].min()]["fpr"].mean()
        for n, curve in part.groupby("n_relevant")
    }
    ratios = list(drop.values())
    return Claim(
        "The fall of the false positive rate with ρ is sharper for larger N (rate at the largest "
        "ρ over that at the smallest).",
        ", ".join(f"{ratio:.2f} at N = {n!s}" for n, ratio in drop.items()),
        bool(len(ratios) < 2 or ratios[-1] < ratios[0]),
    )


def _trend(text: str, part: pd.DataFrame, along: str, value: str, *, rising: bool) -> Claim:
    holds, words = trend(
        part, along, value, [name for name in CURVE if name != along], rising=rising
    )
    return Claim(text, words, holds)


EXPERIMENT = Experiment(
    name="power",
    title="Power against relevance and number of trees",
    cells=cells,
    runs=RUNS,
    table=table,
    figure=figure,
    claims=claims,
)
