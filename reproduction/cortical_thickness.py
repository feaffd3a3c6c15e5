"""Control of the rates with features that are correlated as on a cortex.

The paper's Table "correlated": synthetic thickness maps, S = 100 … 500, a region of atrophy of 0 to
2 % of the vertices, both strategies, α = 0.01 and 0.001, 20 runs. Vertices near the region share
its noise, so that they help a tree to cancel it: they are relevant given the region, though the
generator calls them irrelevant. False positives near and far are reported apart.
"""

from __future__ import annotations

from dataclasses import asdict
from functools import partial

import pandas as pd

from reproduction.claims import ADDED, Claim, trend
from reproduction.experiment import Experiment, Settings
from reproduction.figures import rate_figure
from reproduction.outcomes import NULLS
from reproduction.rate_tables import ALPHAS, RATES, Rate, rate_table
from reproduction.stop_rules import BEST_RULE
from reproduction.store import Cell

_FULL = {
    "source": None,  # the embedded maps
    "n_samples": (100, 150, 200, 250, 300, 350, 400, 450, 500),
    "region_share": (0.0, 0.001, 0.002, 0.005, 0.01, 0.02),
    # Middle of the region: a vertex on the lateral side, well away from the medial wall.
    "seed_vertex": 4000,
    # Vertices up to this far from the region, in millimetres, count as near it: four times the
    # smoothness of the maps, beyond which smoothing leaves no correlation.
    "near": 20.0,
    "relevance": 0.5,
    "trees_share": 1 / 10,
    "candidates_share": 1 / 20,
    "draw": ("node", "tree"),
    "samples": 0.5,
    **asdict(BEST_RULE),
}
SETTINGS: Settings = {
    "full": [_FULL],
    "quick": [{**_FULL, "n_samples": (100, 300, 500), "region_share": (0.0, 0.005, 0.02)}],
    "tiny": [{**_FULL, "n_samples": 30, "region_share": (0.0, 0.02), "trees_share": 1 / 200}],
}
_RATES: dict[str, Rate] = {
    "fpr": RATES["fpr"],
    "fpr_far": lambda outcome, k: outcome.rate_above(k, "far"),
    "fpr_near": lambda outcome, k: outcome.rate_above(k, "near"),
    "fnr": RATES["fnr"],
}


def claims(table: pd.DataFrame) -> list[Claim]:
    """The paper's sentences about its Table "correlated"."""
    paper = table[table["null"] == "paper"]
    some = paper[paper["region_share"] > 0]
    at = some[some["alpha"] == 0.01]
    fine = paper[paper["alpha"] == 0.001]
    large, small = fine[fine["region_share"] >= 0.01], fine[fine["region_share"] < 0.01]
    grows = "as the region grows."
    all_claims = [
        trend(f"False positive rates fall {grows}", paper, "region_share", "fpr", rising=False),
        Claim(
            "At α = 0.01 the false positive rates are around α except for N = 0.",
            _by_region(at),
            bool(at["fpr"].between(0.005, 0.02).mean() >= 0.8),  # "around": within a factor of 2
        ),
        Claim(
            "At α = 0.001 the rates are above α except for N = 1 % and 2 %.",
            _by_region(fine),
            bool((small["fpr"] > 0.001).mean() >= 0.8 and (large["fpr"] <= 0.001).mean() >= 0.8),
        ),
        trend("False negative rates fall sharply with S.", some, "n_samples", "fnr", rising=False),
        trend(f"False negative rates rise {grows}", some, "region_share", "fnr", rising=True),
    ]
    for kind in NULLS:
        part = table[(table["null"] == kind) & (table["region_share"] > 0)]
        far, near = part["fpr_far"] / part["alpha"], part["fpr_near"] / part["alpha"]
        all_claims.append(
            Claim(
                f"{ADDED} False positives of the {kind} null model lie near the region "
                "rather than far from it.",
                f"rate over α: near {near.mean():.2f}, far {far.mean():.2f}",
                bool(near.mean() > far.mean()),
            )
        )
    return all_claims


def _by_region(part: pd.DataFrame) -> str:
    means = part.groupby("region_share")["fpr"].mean()
    return "mean rate " + ", ".join(f"{rate:.4f} at {s:.1%}" for s, rate in means.items())


EXPERIMENT = Experiment(
    name="cortical",
    title="Cortical thickness maps: correlated features",
    settings=SETTINGS,
    runs={"full": 20, "quick": 2, "tiny": 2},
    cell=partial(Cell, "cortical_maps"),
    table=partial(
        rate_table, names=("source", "strategy", "n_samples", "region_share"), rates=_RATES
    ),
    figure=partial(
        rate_figure,
        rows={"strategy": (), "null": NULLS, "alpha": ALPHAS},
        columns={"rate": tuple(_RATES)},
        x="n_samples",
        by="region_share",
    ),
    claims=claims,
)
