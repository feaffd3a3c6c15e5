"""Power against the strength of the relation and the number of trees.

The paper's Table "power_analysis": (S, F, F_n) = (150, 5000, 250), N = 25 and 50 relevant features,
ρ = 0.1 … 0.9, T = 250 … 1750, α = 0.01 and 0.001. One forest of 1 750 trees is grown in blocks of
250: tallies add, so every prefix is tested on the way.
"""

from __future__ import annotations

from dataclasses import asdict
from functools import partial

import pandas as pd

from reproduction.claims import ADDED, Claim, trend
from reproduction.experiment import Experiment, Results, Settings
from reproduction.figures import rate_figure
from reproduction.outcomes import NULLS, RELEVANT
from reproduction.rate_tables import ALPHAS, RATES, Rate, rate_table
from reproduction.stop_rules import BEST_RULE
from reproduction.store import Cell

_FULL = {
    "n_samples": 150,
    "n_features": 5000,
    "n_relevant": (25, 50),
    "relevance": (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    "trees": 1750,
    "block": 250,
    "candidates": 250,
    "draw": ("node", "tree"),
    "samples": 0.5,
    **asdict(BEST_RULE),
}
_SMALL = {"n_samples": 50, "n_features": 200, "trees": 60, "block": 20, "candidates": 20}
SETTINGS: Settings = {
    "full": [_FULL],
    "quick": [{**_FULL, "relevance": (0.1, 0.3, 0.5, 0.7, 0.9), "trees": 1000}],
    "tiny": [{**_FULL, **_SMALL, "n_relevant": 4, "relevance": (0.2, 0.8)}],
}
_RATES: dict[str, Rate] = {
    "tpr": lambda outcome, k: outcome.rate_above(k, RELEVANT),
    "fpr": RATES["fpr"],
}


def table(results: Results) -> pd.DataFrame:
    """True and false positive rate for every setting, number of trees, null model and alpha."""
    prefixes = []
    for cell, records in results:
        p = cell.parameters
        for i, outcomes in enumerate(zip(*(r["outcomes"] for r in records), strict=True)):
            trees = min((i + 1) * p["block"], p["trees"])
            prefixes.append((Cell(cell.kind, {**p, "trees": trees}), list(outcomes)))
    return rate_table(prefixes, ("strategy", "n_relevant", "relevance", "trees"), _RATES)


def claims(table: pd.DataFrame) -> list[Claim]:
    """The paper's sentences about its Table "power_analysis"."""
    paper = table[table["null"] == "paper"]
    middle = paper[(paper["relevance"] > 0.15) & (paper["relevance"] < 0.85)]
    steps = middle.groupby("trees")["tpr"].mean().diff().dropna()
    rates = paper.groupby(["n_relevant", "relevance"])["fpr"].mean().unstack("relevance")
    drop = rates[rates.columns.max()] / rates[rates.columns.min()]
    bagged = table[(table["null"] == "bagged") & (table["relevance"] < 0.15)]
    ratio = (bagged["fpr"] / bagged["alpha"]).groupby(bagged["trees"]).mean()
    return [
        trend("True positive rates rise with ρ.", paper, "relevance", "tpr", rising=True),
        trend("True positive rates rise with T.", middle, "trees", "tpr", rising=True),
        Claim(
            "The gain in true positive rate of each further block of trees gets smaller.",
            ", ".join(f"{step:+.3f} to T = {trees}" for trees, step in steps.items()),
            bool(len(steps) < 2 or steps.iloc[-1] < steps.iloc[0]),
        ),
        trend("True positive rates fall with N.", middle, "n_relevant", "tpr", rising=False),
        trend("True positive rates fall with α.", middle, "alpha", "tpr", rising=True),
        trend("False positive rates fall with ρ.", paper, "relevance", "fpr", rising=False),
        Claim(
            "The fall of the false positive rate with ρ is sharper for larger N (rate at the "
            "largest ρ over that at the smallest).",
            ", ".join(f"{fall:.2f} at N = {n}" for n, fall in drop.items()),
            bool(len(drop) < 2 or drop.iloc[-1] < drop.iloc[0]),
        ),
        trend("False positive rates rise with T.", paper, "trees", "fpr", rising=True),
        Claim(
            f"{ADDED} With the bagged null model the mean false positive rate at ρ = 0.1 "
            "is at most 1.5 α for each of these numbers of trees.",
            "rate over α: " + ", ".join(f"{r:.2f} at T = {trees}" for trees, r in ratio.items()),
            bool(ratio.max() <= 1.5),
        ),
    ]


EXPERIMENT = Experiment(
    name="power",
    title="Power against relevance and number of trees",
    settings=SETTINGS,
    runs={"full": 20, "quick": 2, "tiny": 2},
    cell=partial(Cell, "growing_forest"),
    table=table,
    figure=partial(
        rate_figure,
        rows={"strategy": (), "null": NULLS},
        columns={"n_relevant": (), "alpha": ALPHAS, "rate": ("tpr", "fpr")},
        x="relevance",
        by="trees",
    ),
    claims=claims,
)
