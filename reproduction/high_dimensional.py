"""False positive rates with few samples and many features, observed and predicted.

The paper's Table "FPR_predictions": T = F/10 trees, F_n = F/20 candidates, half of the samples per
tree, N = 0, 0.1 %, 1 % and 2 % relevant features with ρ = 0.5, 20 runs each; the observed false
positive rate against the threshold, and the model's curve.
"""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from reproduction.claims import ADDED, Claim
from reproduction.experiment import Experiment, Parameters, Results, Settings
from reproduction.figures import COLOURS, PALETTE, facets, panels, words
from reproduction.outcomes import NULLS
from reproduction.rate_tables import curve_table
from reproduction.stop_rules import BEST_RULE, StopRule
from reproduction.store import Cell

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FULL = {
    "n_samples": (100, 150, 200, 250),
    "n_features": (500, 1000, 2000, 5000, 10000),
    "relevant_share": (0.0, 0.001, 0.01, 0.02),
    "draw": ("node", "tree"),
}
#: Settings of this experiment and of the control of the rates.
SETTINGS: Settings = {
    "full": [_FULL],
    "quick": [{**_FULL, "n_samples": (100, 250), "n_features": (500, 2000)}],
    "tiny": [{**_FULL, "n_samples": 50, "n_features": 200, "relevant_share": (0.0, 0.02)}],
}
#: Columns that name a setting.
NAMES = ("strategy", "n_samples", "n_features", "relevant_share")


def cell(p: Parameters, stop: StopRule = BEST_RULE) -> Cell:
    """One setting; trees, candidates and relevant features follow from F."""
    F, share = p["n_features"], p["relevant_share"]
    n_relevant = max(1, round(share * F)) if share else 0
    derived = {"n_relevant": n_relevant, "trees": round(F / 10), "candidates": round(F / 20)}
    return Cell("one_forest", {**p, **derived, "relevance": 0.5, "samples": 0.5, **asdict(stop)})


def figure(table: pd.DataFrame, results: Results) -> Figure:
    """Observed rates for every N in one panel per S and F; models in colour, on a log scale."""

    def draw(ax: Axes, part: pd.DataFrame, key: Parameters) -> None:
        shares = sorted(part["relevant_share"].unique())
        for colour, share in zip(PALETTE, shares, strict=False):
            curves = part[part["relevant_share"] == share]
            seen = curves[(curves["null"] == "paper") & (curves["observed"] > 0)]
            label = words({"relevant_share": share})
            ax.semilogy(seen["threshold"], seen["observed"], color=colour, label=label)
            if share in (shares[0], shares[-1]):
                dashes = "--" if share == shares[0] else ":"
                for kind in NULLS:
                    model = curves[(curves["null"] == kind) & (curves["model"] > 1e-5)]
                    k, label = model["threshold"], f"{kind} null, N = {share:.0%}"
                    ax.semilogy(k, model["model"], dashes, color=COLOURS[kind], label=label)
        ax.set_ylim(1e-5, 1.5)

    rows = panels(table, {"strategy": (), "n_samples": (100, 250)})
    columns = panels(table, {"n_features": (500, 2000, 10000)})
    return facets(table, rows, columns, draw, legend=6)


def excess(table: pd.DataFrame, kind: str, share: float, level: float = 0.01) -> pd.DataFrame:
    """Observed rate over the model's, at the first threshold where the model is ≤ `level`."""
    part = table[(table["null"] == kind) & (table["relevant_share"] == share)]
    part = part[part["model"] <= level].sort_values("threshold")
    first = part.groupby(["strategy", "n_samples", "n_features"]).first().reset_index()
    return first.assign(excess=first["observed"] / first["model"])


def claims(table: pd.DataFrame) -> list[Claim]:
    """The paper's sentences about its Table "FPR_predictions"."""
    all_claims = []
    shares = sorted(table["relevant_share"].unique())
    for kind in NULLS:
        alone = excess(table, kind, 0.0)
        small = alone[alone["n_features"] / alone["n_samples"] <= 5]["excess"]
        large = alone[alone["n_features"] / alone["n_samples"] >= 50]["excess"]
        if len(small) and len(large):
            departs = bool(abs(large.mean() - 1) > abs(small.mean() - 1))
            ours = kind != "paper"
            whose, verb = (f"{ADDED} ", "does not depart") if ours else ("", "departs")
            all_claims.append(
                Claim(
                    f"{whose}At N = 0 the observed rate {verb} from the {kind} null model as F/S "
                    "grows (observed ÷ predicted rate where the model says 1 %).",
                    f"{small.mean():.2f} at F/S ≤ 5, {large.mean():.2f} at F/S ≥ 50",
                    departs != ours,
                )
            )
    at = [excess(table, "paper", share)["observed"].mean() for share in shares]
    smaller = Claim(
        "Relevant features make the observed false positive rate smaller.",
        ", ".join(f"{rate:.4f} at N = {s:.1%}" for s, rate in zip(shares, at, strict=True))
        + " (where the paper's null model says 1 %)",
        bool(np.all(np.diff(at) < 0)),
    )
    return [*all_claims, smaller]


EXPERIMENT = Experiment(
    name="high_dimensional",
    title="False positive rate against threshold, few samples and many features",
    settings=SETTINGS,
    runs={"full": 20, "quick": 4, "tiny": 2},
    cell=cell,
    table=partial(curve_table, names=NAMES),
    figure=figure,
    claims=claims,
)
