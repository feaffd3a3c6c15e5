"""False discovery proportion and power of the Benjamini–Hochberg procedure at .05.

The paper's generator with independent features: 0 to 20 % of them relevant, with correlation ρ
with the label, and S samples.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import pandas as pd

import nullforest as nf
from studies.calibration.null_data import NULLS, fresh
from studies.records import Records, with_progress

FEATURES, ALPHA, RUNS = 2_000, 0.05, 10
SHARES, RELEVANCES, SAMPLES = (0.0, 0.01, 0.05, 0.1, 0.2), (0.2, 0.5, 0.7), (100, 300)


def settings() -> list[tuple[float, float, int]]:
    """Every share, relevance and sample size; without relevant features there is no ρ."""
    grid = product(SHARES, RELEVANCES, SAMPLES)
    return [(n, rho, S) for n, rho, S in grid if n > 0 or rho == RELEVANCES[0]]


def run_piece(share: float, relevance: float, S: int, seed: int) -> list[dict[str, Any]]:
    """One data set, tested with every null model."""
    n_relevant = round(share * FEATURES)
    X, y, relevant = nf.simulate.independent(S, FEATURES, n_relevant, relevance, seed=seed)
    forest = nf.grow(X, y, seed=seed, keep_trees=False, oob=False)
    rows = []
    for kind in NULLS:
        support = nf.select(forest.tally, ALPHA, "fdr", kind).support
        rows.append(
            {
                "share": share,
                "relevance": relevance,
                "S": S,
                "seed": seed,
                "null": kind,
                "selected": int(support.sum()),
                "false": int((support & ~relevant).sum()),
                "relevant": n_relevant,
            }
        )
    return rows


def run() -> None:
    """All settings, resumable."""
    records = Records("calibration_signal", ("share", "relevance", "S", "seed"))
    done = records.done()
    pieces = [(*setting, seed) for seed in fresh(RUNS) for setting in settings()]
    for piece in with_progress(
        [piece for piece in pieces if tuple(map(str, piece)) not in done], "with signal"
    ):
        records.add(run_piece(*piece))


def table(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean false discovery proportion and power, with standard errors."""
    rows = rows.assign(
        fdp=rows["false"] / rows["selected"].clip(lower=1),
        power=(rows["selected"] - rows["false"]) / rows["relevant"].where(rows["relevant"] > 0),
        any=rows["false"] > 0,
    )
    grouped = rows.groupby(["share", "relevance", "S", "null"], sort=False)
    return grouped.agg(
        fdp=("fdp", "mean"),
        fdp_error=("fdp", "sem"),
        power=("power", "mean"),
        power_error=("power", "sem"),
        any_false=("any", "mean"),
        runs=("fdp", "size"),
    ).reset_index()


def shown(found: pd.DataFrame, value: str) -> pd.DataFrame:
    """One line per setting, one column per null model: a mean and its standard error."""
    lines = []
    for (share, relevance, S), part in found.groupby(["share", "relevance", "S"], sort=False):
        at = part.set_index("null")
        line: dict[str, object] = {
            "relevant": f"{share:.0%}",
            "ρ": f"{relevance:g}" if share else "–",
            "S": S,
        }
        line |= {
            kind: f"{at.loc[kind, value]:.3f} ± {at.loc[kind, f'{value}_error']:.3f}"
            for kind in NULLS
        }
        if value == "fdp":
            line |= {
                "data sets with a false discovery (auto)": f"{at.loc['auto', 'any_false']:.1%}"
            }
        if share or value == "fdp":
            lines.append(line | {"data sets": at["runs"].max()})
    return pd.DataFrame(lines)


def _words(setting: tuple[float, float, int]) -> str:
    share, relevance, S = setting
    return f"{share:.0%} relevant, ρ = {relevance:g}, S = {S}"


def verdicts(found: pd.DataFrame) -> list[str]:
    """The requirements on discoveries, each with the number measured."""
    auto = found[found["null"] == "auto"].set_index(["share", "relevance", "S"])
    worst = auto["fdp"].idxmax()
    largest = auto["fdp"].max()
    lines = [
        f"Largest mean false discovery proportion of `auto`: {largest:.3f} at {_words(worst)} "
        "(required: at most 0.07)."
    ]
    shortfall = []
    for setting, own in auto.iterrows():
        others = found[
            (found["null"] != "auto")
            & (found["fdp"] <= 0.07)
            & (found[["share", "relevance", "S"]] == list(setting)).all(axis=1)
        ]
        if setting[0] > 0 and len(others) and others["power"].max() > 0:
            shortfall.append((own["power"] / others["power"].max(), setting))
    if shortfall:
        ratio, setting = min(shortfall)
        lines.append(
            "Smallest power of `auto` ÷ the largest power of the other null models with a false "
            f"discovery proportion of at most 0.07: {ratio:.2f} at {_words(setting)} (required: at "
            "least 0.9)."
        )
    hard = auto.loc[(0.2, 0.5, 100), "power"]
    lines.append(
        f"Power of `auto` at 20 % relevant, ρ = 0.5, S = 100: {hard:.3f} (required: at least 0.75)."
    )
    return lines
