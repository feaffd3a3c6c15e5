"""Does the model's false positive rate match what is seen when features are many?

The paper's Table "FPR_predictions": T = F/10 trees, F_n = F/20 candidates, half of the samples per
tree, N = 0, 0.1 %, 1 % and 2 % relevant features with ρ = 0.5, 20 runs each; the observed false
positive rate against the threshold, and the model's curve.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from nullforest.evaluation.paper.computing import outcome
from nullforest.evaluation.paper.experiment import STRATEGY, Claim, Experiment, Results, Size
from nullforest.evaluation.paper.figures import COLOURS, PALETTE, label_axes, panels
from nullforest.evaluation.paper.outcomes import NULLS
from nullforest.evaluation.paper.stop_rules import BEST_RULE, StopRule
from nullforest.evaluation.paper.store import Cell

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Settings:
    """All parameters of this experiment and of the control of the rates."""

    n_samples: tuple[int, ...] = (100, 150, 200, 250)
    n_features: tuple[int, ...] = (500, 1000, 2000, 5000, 10000)
    relevant_shares: tuple[float, ...] = (0.0, 0.001, 0.01, 0.02)
    relevance: float = 0.5
    trees_share: float = 1 / 10
    candidates_share: float = 1 / 20
    samples: float = 0.5
    stop: StopRule = BEST_RULE


SETTINGS: dict[Size, Settings] = {
    "full": Settings(),
    "quick": Settings(n_samples=(100, 250), n_features=(500, 2000)),
    "tiny": Settings(n_samples=(50,), n_features=(200,), relevant_shares=(0.0, 0.02)),
}
RUNS: dict[Size, int] = {"full": 20, "quick": 4, "tiny": 2}
#: Sample sizes and numbers of features that the figure shows, as far as they were run.
SHOWN = ((100, 250), (500, 2000, 10000))


def setting(
    n_samples: int, n_features: int, share: float, draw: str, s: Settings
) -> dict[str, Any]:
    """Parameters of one cell; trees, candidates and relevant features follow from F."""
    return {
        "n_samples": n_samples,
        "n_features": n_features,
        "relevant_share": share,
        "n_relevant": 0 if share == 0 else max(1, round(share * n_features)),
        "relevance": s.relevance,
        "trees": round(n_features * s.trees_share),
        "candidates": round(n_features * s.candidates_share),
        "draw": draw,
        "samples": s.samples,
        **s.stop.parameters(),
    }


def cells(size: Size) -> list[Cell]:
    """The settings: samples, features, share of relevant ones, strategy."""
    s = SETTINGS[size]
    return [
        Cell("one_forest", setting(S, F, share, draw, s))
        for S, F, share, draw in product(s.n_samples, s.n_features, s.relevant_shares, STRATEGY)
    ]


def table(results: Results) -> pd.DataFrame:
    """Mean observed and predicted rate for every setting, null and threshold."""
    rows = []
    for cell, records in results:
        p = cell.parameters
        outcomes = [outcome(record) for record in records]
        length = max(len(o.tails[kind]) for o in outcomes for kind in NULLS)
        observed = np.array([o.curve(length) for o in outcomes])
        for kind in NULLS:
            model = np.nan_to_num(np.array([o.tail(kind, length) for o in outcomes]))
            rows += [
                {
                    "strategy": STRATEGY[p["draw"]],
                    "n_samples": p["n_samples"],
                    "n_features": p["n_features"],
                    "relevant_share": p["relevant_share"],
                    "null": kind,
                    "threshold": k,
                    "observed": observed[:, k].mean(),
                    "observed_se": observed[:, k].std(ddof=1) / np.sqrt(len(outcomes)),
                    "model": model[:, k].mean(),
                    "runs": len(outcomes),
                }
                for k in range(length)
            ]
    return pd.DataFrame(rows)


def figure(table: pd.DataFrame, results: Results) -> Figure:
    """Observed rates for every N in one panel per S and F; models in colour, on a log scale."""
    samples = [S for S in sorted(table["n_samples"].unique()) if S in SHOWN[0]]
    features = [F for F in sorted(table["n_features"].unique()) if F in SHOWN[1]]
    samples = samples or sorted(table["n_samples"].unique())[:1]
    features = features or sorted(table["n_features"].unique())[:1]
    lines = list(product(sorted(table["strategy"].unique()), samples))
    fig, axes = panels(len(lines), len(features))
    for (strategy, S), row in zip(lines, axes, strict=True):
        for F, ax in zip(features, row, strict=True):
            part = table[
                (table["strategy"] == strategy)
                & (table["n_samples"] == S)
                & (table["n_features"] == F)
            ]
            shares = sorted(part["relevant_share"].unique())
            for colour, share in zip(PALETTE, shares, strict=False):
                curves = part[part["relevant_share"] == share]
                seen = curves[(curves["null"] == "paper") & (curves["observed"] > 0)]
                ax.semilogy(
                    seen["threshold"], seen["observed"], color=colour, label=f"N = {share:.1%}"
                )
                if share in (shares[0], shares[-1]):
                    for kind in NULLS:
                        model = curves[(curves["null"] == kind) & (curves["model"] > 1e-5)]
                        ax.semilogy(
                            model["threshold"],
                            model["model"],
                            color=COLOURS[kind],
                            linestyle="--" if share == shares[0] else ":",
                            label=f"{kind} null, N = {share:.0%}",
                        )
            ax.set_ylim(1e-5, 1.5)
            label_axes(
                ax, f"Strategy {strategy}, S = {S}, F = {F}", "threshold", "false positive rate"
            )
    axes[0][0].legend(fontsize=6)
    return fig


def excess(table: pd.DataFrame, kind: str, share: float, level: float = 0.01) -> pd.DataFrame:
    """Observed rate over the model's, at the first threshold where the model is ≤ `level`."""
    part = table[(table["null"] == kind) & (table["relevant_share"] == share)]
    part = part[part["model"] <= level].sort_values("threshold")
    first = part.groupby(["strategy", "n_samples", "n_features"]).first().reset_index()
    first["excess"] = first["observed"] / first["model"]
    return first


def claims(table: pd.DataFrame) -> list[Claim]:
    """The paper's sentences about its Table "FPR_predictions"."""
    found = []
    shares = sorted(table["relevant_share"].unique())
    for kind in NULLS:
        alone = excess(table, kind, 0.0)
        small = alone[alone["n_features"] / alone["n_samples"] <= 5]["excess"]
        large = alone[alone["n_features"] / alone["n_samples"] >= 50]["excess"]
        if len(small) and len(large):
            leaves = bool(abs(large.mean() - 1) > abs(small.mean() - 1))
            ours = kind != "paper"
            whose, verb = ("(not in the paper) ", "does not leave") if ours else ("", "leaves")
            found.append(
                Claim(
                    f"{whose}At N = 0 observation {verb} the {kind} null as F/S grows (observed "
                    "over predicted rate where the null says 1 %).",
                    f"{small.mean():.2f} at F/S ≤ 5, {large.mean():.2f} at F/S ≥ 50",
                    leaves != ours,
                )
            )
    at = [excess(table, "paper", share)["observed"].mean() for share in shares]
    found.append(
        Claim(
            "Relevant features make the observed false positive rate smaller.",
            ", ".join(f"{rate:.4f} at N = {s:.1%}" for s, rate in zip(shares, at, strict=True))
            + " (where the paper's null says 1 %)",
            bool(np.all(np.diff(at) < 0)),
        )
    )
    return found


EXPERIMENT = Experiment(
    name="high_dimensional",
    title="False positive rate against threshold, few samples and many features",
    cells=cells,
    runs=RUNS,
    table=table,
    figure=figure,
    claims=claims,
)
