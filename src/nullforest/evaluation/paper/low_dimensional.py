"""Does the model's false positive rate match what is seen when samples are many?

The paper's Table "basic_problem": (S, F) = (200, 20), no relevant features, 100 data sets per
setting, both strategies; the observed false positive rate against the threshold, and the model's
curve.

The model takes trees for independent, but they share samples: half of 200 each. So the same trees
are also grown on samples that they hardly share, as many per tree from ten times as many in all.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from nullforest.evaluation.paper.computing import outcome
from nullforest.evaluation.paper.experiment import STRATEGY, Claim, Experiment, Results, Size
from nullforest.evaluation.paper.figures import COLOURS, label_axes, panels
from nullforest.evaluation.paper.outcomes import NULLS
from nullforest.evaluation.paper.stop_rules import DEEP
from nullforest.evaluation.paper.store import Cell

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Settings:
    """All parameters of the experiment."""

    n_samples: int = 200
    n_features: int = 20
    candidates: tuple[int, ...] = (3, 5, 7)
    trees: tuple[int, ...] = (20, 40)
    samples: float = 0.5
    fewer_shared: tuple[int, ...] = (1, 10)  # times as many samples, of which as few per tree


SETTINGS: dict[Size, Settings] = {
    "full": Settings(),
    "quick": Settings(fewer_shared=(1,)),
    "tiny": Settings(candidates=(5,), trees=(20,)),
}
RUNS: dict[Size, int] = {"full": 100, "quick": 100, "tiny": 4}
#: Thresholds that are judged: beyond, all curves are 1 or 0 and agree whatever the model.
LOWEST, HIGHEST = 1e-3, 1 - 1e-3
_STRATEGIES = (("I",), ("II",), ("I", "II"))


def cells(size: Size) -> list[Cell]:
    """The settings: how many samples are shared, strategy, trees, candidates."""
    s = SETTINGS[size]
    return [
        Cell(
            "one_forest",
            {
                "n_samples": times * s.n_samples,
                "n_features": s.n_features,
                "n_relevant": 0,
                "relevance": 0.0,
                "trees": trees,
                "candidates": candidates,
                "draw": draw,
                "samples": s.samples / times,
                **DEEP.parameters(),
            },
        )
        for times, draw, trees, candidates in product(
            s.fewer_shared, STRATEGY, s.trees, s.candidates
        )
    ]


def table(results: Results) -> pd.DataFrame:
    """Observed and predicted rate for every setting, null and threshold."""
    rows = []
    for cell, records in results:
        outcomes = [outcome(record) for record in records]
        length = max(len(o.tails[kind]) for o in outcomes for kind in NULLS)
        observed = np.array([o.curve(length) for o in outcomes])
        for kind in NULLS:
            model = np.nan_to_num(np.array([o.tail(kind, length) for o in outcomes]))
            gap = observed - model
            for k in range(length):
                rows.append(
                    {
                        "n_samples": cell.parameters["n_samples"],
                        "strategy": STRATEGY[cell.parameters["draw"]],
                        "trees": cell.parameters["trees"],
                        "candidates": cell.parameters["candidates"],
                        "nodes_per_tree": np.mean([o.nodes_per_tree for o in outcomes]),
                        "null": kind,
                        "threshold": k,
                        "observed": observed[:, k].mean(),
                        "observed_sd": observed[:, k].std(ddof=1),
                        "model": model[:, k].mean(),
                        "gap_se": gap[:, k].std(ddof=1) / np.sqrt(len(gap)),
                        "runs": len(outcomes),
                    }
                )
    return pd.DataFrame(rows)


def agreement(table: pd.DataFrame) -> pd.DataFrame:
    """Per panel and null: share of the thresholds at which model and observation agree.

    `within_2_se`: the mean observed curve lies within two standard errors of the model;
    `within_sd`: the model lies within one standard deviation of the single observed curves.
    """
    judged = table[(table["model"] > LOWEST) & (table["model"] < HIGHEST)].copy()
    gap = (judged["observed"] - judged["model"]).abs()
    judged["within_2_se"] = gap <= 2 * judged["gap_se"]
    judged["within_sd"] = gap <= judged["observed_sd"]
    judged["largest_gap"] = gap
    return (
        judged.groupby(["n_samples", "strategy", "trees", "candidates", "null"])
        .agg(
            thresholds=("threshold", "size"),
            within_2_se=("within_2_se", "mean"),
            within_sd=("within_sd", "mean"),
            largest_gap=("largest_gap", "max"),
        )
        .reset_index()
    )


def figure(table: pd.DataFrame, results: Results) -> Figure:
    """All observed curves in grey, their mean in black, the models in colour; as in the paper."""
    table = _printed(table)
    columns = sorted(table["candidates"].unique())
    lines = sorted(product(table["strategy"].unique(), table["trees"].unique()))
    fig, axes = panels(len(lines), len(columns))
    n_samples = table["n_samples"].iloc[0]
    runs = {
        _panel(cell): records
        for cell, records in results
        if cell.parameters["n_samples"] == n_samples
    }
    for (strategy, trees), row in zip(lines, axes, strict=True):
        for candidates, ax in zip(columns, row, strict=True):
            part = table[
                (table["strategy"] == strategy)
                & (table["trees"] == trees)
                & (table["candidates"] == candidates)
            ]
            k = part["threshold"].unique()
            for record in runs[strategy, trees, candidates]:
                ax.plot(k, outcome(record).curve(len(k)), color="0.8", linewidth=0.5)
            first = part[part["null"] == NULLS[0]]
            ax.plot(k, first["observed"], color="black", linewidth=1.5, label="observed, mean")
            for kind, curve in part.groupby("null"):
                ax.plot(k, curve["model"], color=COLOURS[str(kind)], label=f"{kind} null")
            title = f"Strategy {strategy}, T = {trees}, $F_n$ = {candidates}"
            label_axes(ax, title, "threshold", "false positive rate")
    axes[0][0].legend(fontsize=7)
    return fig


def _printed(table: pd.DataFrame) -> pd.DataFrame:
    """The part of the table at the paper's own number of samples."""
    part: pd.DataFrame = table[table["n_samples"] == table["n_samples"].min()]
    return part


def _panel(cell: Cell) -> tuple[str, int, int]:
    p = cell.parameters
    return STRATEGY[p["draw"]], p["trees"], p["candidates"]


def claims(table: pd.DataFrame) -> list[Claim]:
    """The paper's sentences about its Table "basic_problem"."""
    agree = agreement(table)
    printed = agree["n_samples"] == agree["n_samples"].min()
    found = [_captured(agree[printed], kind, names) for kind in NULLS for names in _STRATEGIES]
    if not printed.all():
        n_samples = agree["n_samples"].max()
        found += [
            _captured(
                agree[~printed],
                "paper",
                names,
                f", trees that hardly share samples (S = {n_samples}, as many per tree as before)",
            )
            for names in _STRATEGIES
        ]
        found.append(_spread(table))
    table = _printed(table)
    nodes = table.groupby(["strategy", "trees", "candidates"])["nodes_per_tree"].first()
    by_candidates = nodes.groupby("candidates").mean()
    found.append(
        Claim(
            "The number of nodes per tree K changes with $F_n$.",
            ", ".join(f"{k:.1f} at F_n = {c}" for c, k in by_candidates.items()),
            bool(len(by_candidates) < 2 or by_candidates.is_monotonic_decreasing),
        )
    )
    return found


def _captured(agree: pd.DataFrame, kind: str, names: tuple[str, ...], where: str = "") -> Claim:
    """Whether a null's curve meets the mean observed one."""
    part = agree[(agree["null"] == kind) & agree["strategy"].isin(names)]
    weights = part["thresholds"] / part["thresholds"].sum()
    within = float((part["within_2_se"] * weights).sum())
    spread = float((part["within_sd"] * weights).sum())
    ours = "" if kind == "paper" else "(not in the paper) "
    return Claim(
        f"{ours}The {kind} null's curve captures the mean behaviour, Strategy {' and '.join(names)}"
        f"{where}: the mean observed curve lies within two standard errors of it for at least "
        "90 % of the thresholds.",
        f"{within:.1%} of {part['thresholds'].sum()} thresholds in {len(part)} "
        f"panels; largest gap {part['largest_gap'].max():.3f}; within the spread of "
        f"single data sets for {spread:.0%}",
        within >= 0.9,
    )


def _spread(table: pd.DataFrame) -> Claim:
    """How much more counts vary than the paper's model says, with samples shared and not."""
    words, worst = [], []
    for (n_samples, strategy), part in table[table["null"] == "paper"].groupby(
        ["n_samples", "strategy"]
    ):
        ratios = [
            _variance(panel["observed"]) / _variance(panel["model"])
            for _, panel in part.groupby(["trees", "candidates"])
        ]
        words.append(
            f"S = {n_samples}, Strategy {strategy}: {min(ratios):.2f} to {max(ratios):.2f}"
        )
        worst.append((n_samples, max(abs(ratio - 1) for ratio in ratios)))
    shared = max(excess for n, excess in worst if n == min(table["n_samples"]))
    apart = max(excess for n, excess in worst if n == max(table["n_samples"]))
    return Claim(
        "What the model lacks is that trees share samples: the variance of the counts exceeds the "
        "model's where they do, and hardly where they do not.",
        "variance ÷ the model's: " + "; ".join(words),
        apart < shared / 2,
    )


def _variance(tail: pd.Series) -> float:
    """Variance of a count with P(n > k) = tail[k]."""
    above = tail.to_numpy()
    return float(((2 * np.arange(len(above)) + 1) * above).sum() - above.sum() ** 2)


EXPERIMENT = Experiment(
    name="low_dimensional",
    title="False positive rate against threshold, many samples and few features",
    cells=cells,
    runs=RUNS,
    table=table,
    figure=figure,
    claims=claims,
)
