"""Does the threshold hold the false positive rate asked for, and what does it miss?

The paper's Tables "StrategyI" and "StrategyII": the forests of the high-dimensional experiment,
judged at α = 0.01 and 0.001.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import pandas as pd

from nullforest.evaluation.paper.computing import outcome
from nullforest.evaluation.paper.experiment import (
    STRATEGY,
    Claim,
    Experiment,
    Results,
    share,
    summary,
    trend,
)
from nullforest.evaluation.paper.figures import PALETTE, label_axes, panels
from nullforest.evaluation.paper.high_dimensional import RUNS, cells
from nullforest.evaluation.paper.outcomes import NULLS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ALPHAS = (0.01, 0.001)
#: What a curve of the figure has in common.
CURVE = ["strategy", "null", "alpha", "n_samples", "relevant_share"]


def table(results: Results) -> pd.DataFrame:
    """False positive and false negative rate for every setting, null and alpha."""
    rows = []
    for cell, records in results:
        p = cell.parameters
        outcomes = [outcome(record) for record in records]
        for kind, alpha in product(NULLS, ALPHAS):
            rows.append(
                {
                    "strategy": STRATEGY[p["draw"]],
                    "n_samples": p["n_samples"],
                    "n_features": p["n_features"],
                    "relevant_share": p["relevant_share"],
                    "null": kind,
                    "alpha": alpha,
                    **summary([o.false_positive_rate(kind, alpha) for o in outcomes], "fpr"),
                    **summary([o.false_negative_rate(kind, alpha) for o in outcomes], "fnr"),
                    "nodes_per_tree": summary([o.nodes_per_tree for o in outcomes], "K")["K"],
                    "runs": len(outcomes),
                }
            )
    return pd.DataFrame(rows)


def figure(table: pd.DataFrame, results: Results) -> Figure:
    """Rates against F, a curve per S and α; per strategy and null a row of N, then of rates."""
    shares = sorted(table["relevant_share"].unique())
    lines = list(product(sorted(table["strategy"].unique()), NULLS, ("fpr", "fnr")))
    fig, axes = panels(len(lines), len(shares))
    for (strategy, kind, rate), row in zip(lines, axes, strict=True):
        for relevant, ax in zip(shares, row, strict=True):
            part = table[
                (table["strategy"] == strategy)
                & (table["null"] == kind)
                & (table["relevant_share"] == relevant)
            ]
            for colour, (S, by_size) in zip(PALETTE, part.groupby("n_samples"), strict=False):
                for alpha, curve in by_size.groupby("alpha"):
                    ax.plot(
                        curve["n_features"],
                        curve[rate],
                        color=colour,
                        linestyle="-" if alpha == ALPHAS[0] else "--",
                        label=f"S = {S}, α = {alpha}",
                    )
            if rate == "fpr":
                for alpha in ALPHAS:
                    ax.axhline(alpha, color="0.7", linewidth=0.8)
                ax.set_yscale("symlog", linthresh=1e-4)
            label_axes(
                ax,
                f"Strategy {strategy}, {kind} null, N = {relevant:.1%}",
                "features F",
                "false positive rate" if rate == "fpr" else "false negative rate",
            )
    axes[0][0].legend(fontsize=5)
    return fig


def claims(table: pd.DataFrame) -> list[Claim]:
    """The paper's sentences about its Tables "StrategyI" and "StrategyII"."""
    paper = table[table["null"] == "paper"]
    bagged = table[table["null"] == "bagged"]
    none, few = paper[paper["relevant_share"] == 0], paper[paper["relevant_share"] == 0.001]
    many = paper[paper["relevant_share"] >= 0.01]
    found = [
        Claim(
            "At N = 0 the rates are higher than α.",
            f"{share(none['fpr'] > none['alpha'])} settings; mean ratio "
            f"{(none['fpr'] / none['alpha']).mean():.2f}",
            bool((none["fpr"] > none["alpha"]).mean() >= 0.8),
        ),
        _trend("At N = 0 the rates grow with F.", none, "n_features", "fpr", rising=True),
        Claim(
            "At N = 0 there is no consistent trend with S.",
            trend(none, "n_samples", "fpr", [*CURVE[:3], "n_features"], rising=True)[1],
            not any(
                trend(none, "n_samples", "fpr", [*CURVE[:3], "n_features"], rising=rising)[0]
                for rising in (True, False)
            ),
        ),
    ]
    if len(few):
        found.append(
            Claim(
                "At N = 0.1 % the rates are lower than at N = 0 and still above α = 0.001.",
                f"mean ratio to α: {(few['fpr'] / few['alpha']).mean():.2f} at 0.1 %, "
                f"{(none['fpr'] / none['alpha']).mean():.2f} at 0",
                bool(
                    (few["fpr"].mean() < none["fpr"].mean())
                    and (few[few["alpha"] == 0.001]["fpr"] > 0.001).mean() > 0.5
                ),
            )
        )
    at = many[many["alpha"] == 0.01]
    found.append(
        Claim(
            "At N = 1 % and 2 % and α = 0.01 all rates are below α.",
            f"{share(at['fpr'] < 0.01)} settings; largest {at['fpr'].max():.4f}",
            bool((at["fpr"] < 0.01).all()),
        )
    )
    for relevant, wanted in ((0.02, 1.0), (0.01, 0.5)):
        at = many[(many["alpha"] == 0.001) & (many["relevant_share"] == relevant)]
        if len(at):
            words = "all" if wanted == 1.0 else "the majority"
            found.append(
                Claim(
                    f"At N = {relevant:.0%} and α = 0.001 {words} of the rates are below α.",
                    f"{share(at['fpr'] < 0.001)} settings; largest {at['fpr'].max():.4f}",
                    bool((at["fpr"] < 0.001).mean() >= wanted),
                )
            )
    found += [
        _trend("At N ≥ 1 % the rates fall with F.", many, "n_features", "fpr", rising=False),
        _trend("At N ≥ 1 % the rates fall with S.", many, "n_samples", "fpr", rising=False),
        _trend("False negative rates fall with S.", many, "n_samples", "fnr", rising=False),
        _trend("False negative rates rise with N.", many, "relevant_share", "fnr", rising=True),
        _trend("False negative rates rise as α falls.", many, "alpha", "fnr", rising=False),
    ]
    easy = many[(many["n_samples"] >= 200) & (many["n_features"] >= 2000)]
    if len(easy):
        found.append(
            Claim(
                "False negative rates are fairly low for S ≥ 200 and F ≥ 2000.",
                f"mean {easy['fnr'].mean():.3f}, largest {easy['fnr'].max():.3f}",
                bool(easy["fnr"].mean() < 0.1),  # "fairly low" read as one in ten at most
            )
        )
    for alpha in ALPHAS:
        ratio = bagged[(bagged["relevant_share"] == 0) & (bagged["alpha"] == alpha)]["fpr"] / alpha
        found.append(
            Claim(
                f"(not in the paper) The bagged null holds α = {alpha} at N = 0.",
                f"rate over α: mean {ratio.mean():.2f}, from {ratio.min():.2f} to "
                f"{ratio.max():.2f}",
                bool(ratio.mean() <= 1.1),  # a tenth above α is the noise of 20 runs at F = 500
            )
        )
    return found


def _trend(text: str, part: pd.DataFrame, along: str, value: str, *, rising: bool) -> Claim:
    by = [name for name in (*CURVE, "n_features") if name != along]
    holds, words = trend(part, along, value, by, rising=rising)
    return Claim(text, words, holds)


EXPERIMENT = Experiment(
    name="control",
    title="Control of false positive and false negative rates",
    cells=cells,
    runs=RUNS,
    table=table,
    figure=figure,
    claims=claims,
)
