"""False positive rates with many samples and few features, observed and predicted.

The paper's Table "basic_problem": (S, F) = (200, 20), no relevant features, 100 data sets per
setting, both strategies; the observed false positive rate against the threshold, and the model's
curve.

The model takes trees for independent, but they share samples: half of 200 each. So the same trees
are also grown on samples that they hardly share, as many per tree from ten times as many in all.
"""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from reproduction.claims import ADDED, Claim
from reproduction.experiment import Experiment, Parameters, Results, Size
from reproduction.figures import COLOURS, facets, panels
from reproduction.outcomes import NULLS, read_outcomes
from reproduction.rate_tables import curve_table, setting
from reproduction.stop_rules import StopRule
from reproduction.store import Cell

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FULL = {
    "n_samples": (200, 2000),
    "n_features": 20,
    "n_relevant": 0,
    "relevance": 0.0,
    "draw": ("node", "tree"),
    "trees": (20, 40),
    "candidates": (3, 5, 7),
    # Deep trees: the paper says that K changes with F_n here.
    **asdict(StopRule(1)),
}
SETTINGS: dict[Size, list[Parameters]] = {
    "full": [_FULL],
    "quick": [{**_FULL, "n_samples": 200}],
    "tiny": [{**_FULL, "trees": 20, "candidates": 5}],
}
#: Thresholds that are compared: beyond, all curves are 1 or 0 and agree whatever the model.
LOWEST, HIGHEST = 1e-3, 1 - 1e-3
_PANEL = ("strategy", "trees", "candidates")
_STRATEGIES = (("I",), ("II",), ("I", "II"))


def cell(p: Parameters) -> Cell:
    """One setting; a tree draws half of 200 samples, and as many of more."""
    return Cell("one_forest", {**p, "samples": 100 / p["n_samples"]})


def figure(table: pd.DataFrame, results: Results) -> Figure:
    """All observed curves in grey, their mean in black, the models in colour; as in the paper."""
    table = _printed(table)
    runs = {
        tuple(setting(cell.parameters, ("n_samples", *_PANEL)).values()): records
        for cell, records in results
    }

    def draw(ax: Axes, part: pd.DataFrame, key: Parameters) -> None:
        k = part["threshold"].unique()
        for outcome in read_outcomes(runs[part["n_samples"].iloc[0], *key.values()]):
            ax.plot(k, outcome.curve(len(k)), color="0.8", linewidth=0.5)
        first = part[part["null"] == NULLS[0]]
        ax.plot(k, first["observed"], color="black", linewidth=1.5, label="observed, mean")
        for kind, curve in part.groupby("null"):
            ax.plot(k, curve["model"], color=COLOURS[str(kind)], label=f"{kind} null")

    rows, columns = panels(table, {"strategy": (), "trees": ()}), panels(table, {"candidates": ()})
    return facets(table, rows, columns, draw, legend=7)


def _printed(table: pd.DataFrame) -> pd.DataFrame:
    """The part of the table at the paper's own number of samples."""
    part: pd.DataFrame = table[table["n_samples"] == table["n_samples"].min()]
    return part


def claims(table: pd.DataFrame) -> list[Claim]:
    """The paper's sentences about its Table "basic_problem"."""
    compared = table[(table["model"] > LOWEST) & (table["model"] < HIGHEST)]
    printed = _printed(compared)
    all_claims = [_captured(printed, kind, names) for kind in NULLS for names in _STRATEGIES]
    if len(printed) < len(compared):
        rest = compared.drop(printed.index)
        n_samples = rest["n_samples"].max()
        where = f", trees that hardly share samples (S = {n_samples}, as many per tree as before)"
        all_claims += [_captured(rest, "paper", names, where) for names in _STRATEGIES]
        all_claims.append(_variance_claim(table))
    nodes = _printed(table).groupby(list(_PANEL))["nodes_per_tree"].first()
    by_candidates = nodes.groupby("candidates").mean()
    nodes_claim = Claim(
        "The number of nodes per tree K changes with F_n.",
        ", ".join(f"{k:.1f} at F_n = {c}" for c, k in by_candidates.items()),
        bool(len(by_candidates) < 2 or by_candidates.is_monotonic_decreasing),
    )
    return [*all_claims, nodes_claim]


def _captured(table: pd.DataFrame, kind: str, names: tuple[str, ...], where: str = "") -> Claim:
    """Claim that a null model's curve lies within two standard errors of the mean observed one."""
    part = table[(table["null"] == kind) & table["strategy"].isin(names)]
    gap = (part["observed"] - part["model"]).abs()
    share = float((gap <= 2 * part["gap_se"]).mean())
    ours = "" if kind == "paper" and not where else f"{ADDED} "
    return Claim(
        f"{ours}The {kind} null model captures the mean behaviour, Strategy {' and '.join(names)}"
        f"{where}: the mean observed curve lies within two standard errors of it for at least "
        "90 % of the thresholds.",
        f"{share:.1%} of {len(part)} thresholds in {part.groupby(list(_PANEL)).ngroups} panels; "
        f"largest gap {gap.max():.3f}; within the spread of single data sets for "
        f"{(gap <= part['observed_sd']).mean():.0%}",
        share >= 0.9,
    )


def _variance_claim(table: pd.DataFrame) -> Claim:
    """Claim about the variance of the counts over that of the paper's model."""
    by = ["n_samples", "strategy", "trees", "candidates"]
    tails = table[table["null"] == "paper"].groupby(by)[["observed", "model"]]
    variance = tails.agg(_variance)
    ratio = (variance["observed"] / variance["model"]).groupby(level=by[:2]).agg(["min", "max"])
    excess = (ratio - 1).abs().max(axis=1).groupby(level="n_samples").max()
    return Claim(
        f"{ADDED} What the model lacks is that trees share samples: the variance of the "
        "counts exceeds the model's where they do, and hardly where they do not.",
        "variance ÷ the model's: "
        + "; ".join(
            f"S = {n_samples}, Strategy {strategy}: {low:.2f} to {high:.2f}"
            for (n_samples, strategy), low, high in ratio.itertuples()
        ),
        bool(excess.iloc[-1] < excess.iloc[0] / 2),
    )


def _variance(tail: pd.Series) -> float:
    """Variance of a count with P(n > k) = tail[k]."""
    above = tail.to_numpy()
    return float(((2 * np.arange(len(above)) + 1) * above).sum() - above.sum() ** 2)


EXPERIMENT = Experiment(
    name="low_dimensional",
    title="False positive rate against threshold, many samples and few features",
    settings=SETTINGS,
    runs={"full": 100, "quick": 100, "tiny": 4},
    cell=cell,
    table=partial(curve_table, names=("n_samples", *_PANEL)),
    figure=figure,
    claims=claims,
)
