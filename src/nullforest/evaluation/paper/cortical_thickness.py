"""Does the control hold when features are correlated as on a cortex?

The paper's Table "correlated": synthetic thickness maps, S = 100 … 500, a region of atrophy of 0 to
2 % of the vertices, both strategies, α = 0.01 and 0.001, 20 runs. Vertices near the region share
its noise, so that they help a tree to cancel it: they are relevant given the region, though the
generator calls them irrelevant. False positives near and far are reported apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
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

    n_samples: tuple[int, ...] = (100, 150, 200, 250, 300, 350, 400, 450, 500)
    region_shares: tuple[float, ...] = (0.0, 0.001, 0.002, 0.005, 0.01, 0.02)
    relevance: float = 0.5
    trees_share: float = 1 / 10
    candidates_share: float = 1 / 20
    samples: float = 0.5
    #: Middle of the region: a vertex on the lateral side, well away from the medial wall.
    seed_vertex: int = 4000
    #: Vertices up to this far from the region, in millimetres, count as near it: four times the
    #: smoothness of the maps, beyond which smoothing leaves no correlation.
    near: float = 20.0
    stop: StopRule = BEST_RULE


SETTINGS: dict[Size, Settings] = {
    "full": Settings(),
    "quick": Settings(n_samples=(100, 300, 500), region_shares=(0.0, 0.005, 0.02)),
    "tiny": Settings(n_samples=(30,), region_shares=(0.0, 0.02), trees_share=1 / 200),
}
RUNS: dict[Size, int] = {"full": 20, "quick": 2, "tiny": 2}
ALPHAS = (0.01, 0.001)
CURVE = ["strategy", "null", "alpha", "region_share", "n_samples"]


def cells(size: Size, maps: str | None = None) -> list[Cell]:
    """The settings: samples, region, strategy; `maps` is the file of the source maps."""
    s = SETTINGS[size]
    return [
        Cell(
            "cortical_maps",
            {
                "source": maps,
                "n_samples": S,
                "region_share": region,
                "seed_vertex": s.seed_vertex,
                "near": s.near,
                "relevance": s.relevance,
                "trees_share": s.trees_share,
                "candidates_share": s.candidates_share,
                "draw": draw,
                "samples": s.samples,
                **s.stop.parameters(),
            },
        )
        for S, region, draw in product(s.n_samples, s.region_shares, STRATEGY)
    ]


def table(results: Results) -> pd.DataFrame:
    """False positive rates (all, far, near) and false negative rate per setting and null."""
    rows = []
    for cell, records in results:
        p = cell.parameters
        outcomes = [outcome(record) for record in records]
        for kind, alpha in product(NULLS, ALPHAS):
            thresholds = [o.threshold(kind, alpha) for o in outcomes]
            pairs = list(zip(outcomes, thresholds, strict=True))
            rows.append(
                {
                    "source": "embedded" if p["source"] is None else Path(p["source"]).name,
                    "strategy": STRATEGY[p["draw"]],
                    "n_samples": p["n_samples"],
                    "region_share": p["region_share"],
                    "null": kind,
                    "alpha": alpha,
                    **summary([o.rate_above(k, "far", "near") for o, k in pairs], "fpr"),
                    **summary([o.rate_above(k, "far") for o, k in pairs], "fpr_far"),
                    **summary([o.rate_above(k, "near") for o, k in pairs], "fpr_near"),
                    **summary([o.false_negative_rate(kind, alpha) for o in outcomes], "fnr"),
                    "runs": len(outcomes),
                }
            )
    return pd.DataFrame(rows)


def figure(table: pd.DataFrame, results: Results) -> Figure:
    """Rates against S, a curve per region; all, far and near false positives, then misses."""
    lines = list(product(sorted(table["strategy"].unique()), NULLS, ALPHAS))
    columns = {
        "fpr": "false positive rate",
        "fpr_far": "false positive rate, far",
        "fpr_near": "false positive rate, near",
        "fnr": "false negative rate",
    }
    fig, axes = panels(len(lines), len(columns))
    for (strategy, kind, alpha), row in zip(lines, axes, strict=True):
        part = table[
            (table["strategy"] == strategy) & (table["null"] == kind) & (table["alpha"] == alpha)
        ]
        for (rate, name), ax in zip(columns.items(), row, strict=True):
            for colour, (region, curve) in zip(PALETTE, part.groupby("region_share"), strict=False):
                ax.plot(curve["n_samples"], curve[rate], color=colour, label=f"N = {region:.1%}")
            if rate != "fnr":
                ax.axhline(alpha, color="0.7", linewidth=0.8)
            label_axes(ax, f"Strategy {strategy}, {kind} null, α = {alpha}", "samples S", name)
    axes[0][0].legend(fontsize=5)
    return fig


def claims(table: pd.DataFrame) -> list[Claim]:
    """The paper's sentences about its Table "correlated"."""
    paper = table[table["null"] == "paper"]
    some = paper[paper["region_share"] > 0]
    at = some[some["alpha"] == 0.01]
    fine = paper[paper["alpha"] == 0.001]
    large, small = fine[fine["region_share"] >= 0.01], fine[fine["region_share"] < 0.01]
    found = [
        _trend(
            "False positive rates fall as the region grows.",
            paper,
            "region_share",
            "fpr",
            rising=False,
        ),
        Claim(
            "At α = 0.01 the false positive rates are around α except for N = 0.",
            _by_region(at, 0.01),
            bool(at["fpr"].between(0.005, 0.02).mean() >= 0.8),  # "around": within a factor of 2
        ),
        Claim(
            "At α = 0.001 the rates are above α except for N = 1 % and 2 %.",
            _by_region(fine, 0.001),
            bool((small["fpr"] > 0.001).mean() >= 0.8 and (large["fpr"] <= 0.001).mean() >= 0.8),
        ),
        _trend("False negative rates fall sharply with S.", some, "n_samples", "fnr", rising=False),
        _trend(
            "False negative rates rise as the region grows.",
            some,
            "region_share",
            "fnr",
            rising=True,
        ),
    ]
    for kind in NULLS:
        part = table[(table["null"] == kind) & (table["region_share"] > 0)]
        far, near = part["fpr_far"] / part["alpha"], part["fpr_near"] / part["alpha"]
        found.append(
            Claim(
                f"(not in the paper) False positives of the {kind} null lie near the region "
                "rather than far from it.",
                f"rate over α: near {near.mean():.2f}, far {far.mean():.2f}",
                bool(near.mean() > far.mean()),
            )
        )
    return found


def _by_region(part: pd.DataFrame, alpha: float) -> str:
    means = part.groupby("region_share")["fpr"].mean()
    return "mean rate " + ", ".join(f"{rate:.4f} at {s:.1%}" for s, rate in means.items())


def _trend(text: str, part: pd.DataFrame, along: str, value: str, *, rising: bool) -> Claim:
    holds, words = trend(
        part, along, value, [name for name in CURVE if name != along], rising=rising
    )
    return Claim(text, words, holds)


def experiment(maps: str | None = None) -> Experiment:
    """The experiment on the embedded maps, or on those of a file."""
    return Experiment(
        name="cortical",
        title="Cortical thickness maps: correlated features",
        cells=partial(cells, maps=maps),
        runs=RUNS,
        table=table,
        figure=figure,
        claims=claims,
    )
