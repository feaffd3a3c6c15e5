"""Is the false discovery rate held, and what power is left, when some features are relevant?

The paper's generator with independent features: 0 to 20 % relevant, correlation ρ with the label,
S samples; Benjamini-Hochberg at 0.05.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import pandas as pd

import nullforest as nf
from studies.calibration.null_data import NULLS, fresh
from studies.records import Records, with_progress

FEATURES, TREES, ALPHA, RUNS = 2_000, 2_000, 0.05, 100
#: Where hardly anything is found, the false discovery proportion of a run is nearly always 0 or 1,
#: and its mean over 100 runs known to .02 only; over 400 to .01.
MORE_RUNS = 400
SHARES, RELEVANCES, SAMPLES = (0.0, 0.01, 0.05, 0.1, 0.2), (0.2, 0.5, 0.7), (100, 300)


def settings() -> list[tuple[float, float, int]]:
    """Every share, relevance and sample size; without relevant features ρ means nothing."""
    grid = product(SHARES, RELEVANCES, SAMPLES)
    return [(n, rho, S) for n, rho, S in grid if n > 0 or rho == RELEVANCES[0]]


def runs_of(share: float, relevance: float, S: int) -> int:
    """Number of runs of a setting."""
    faint = share == 0 or (relevance == min(RELEVANCES) and min(SAMPLES) == S)
    return MORE_RUNS if faint else RUNS


def run_piece(share: float, relevance: float, S: int, seed: int) -> list[dict[str, Any]]:
    """One data set, judged by every null."""
    n_relevant = round(share * FEATURES)
    X, y, relevant = nf.simulate.independent(S, FEATURES, n_relevant, relevance, seed=seed)
    forest = nf.grow(
        X, y, trees=TREES, candidates=FEATURES // 20, seed=seed, keep_trees=False, oob=False
    )
    rows = []
    for kind in NULLS:
        chosen = nf.select(forest.tally, ALPHA, "fdr", kind).support
        rows.append(
            {
                "share": share,
                "relevance": relevance,
                "S": S,
                "seed": seed,
                "null": kind,
                "selected": int(chosen.sum()),
                "false": int((chosen & ~relevant).sum()),
                "relevant": n_relevant,
            }
        )
    return rows


def run() -> None:
    """All settings, resumable."""
    records = Records("calibration_signal", ("share", "relevance", "S", "seed"))
    done = records.done()
    pieces = [
        (*setting, seed)
        for seed in fresh(MORE_RUNS)
        for setting in settings()
        if seed in fresh(runs_of(*setting))
    ]
    for piece in with_progress(
        [piece for piece in pieces if tuple(map(str, piece)) not in done], "with signal"
    ):
        records.add(run_piece(*piece))


def table(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean false discovery proportion and power with standard errors, per setting and null."""
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


def _words(setting: tuple[float, float, int]) -> str:
    share, relevance, S = setting
    return f"{share:.0%} relevant, ρ = {relevance:g}, S = {S}"


def verdicts(found: pd.DataFrame) -> list[str]:
    """The promises about discoveries, each with the number behind it."""
    auto = found[found["null"] == "auto"].set_index(["share", "relevance", "S"])
    worst = auto["fdp"].idxmax()
    largest = auto["fdp"].max()
    lines = [f"largest mean FDP of auto: {largest:.3f} at {_words(worst)} (promised ≤ 0.07)"]
    shortfall = []
    for setting, own in auto.iterrows():
        rivals = found[
            (found["null"] != "auto")
            & (found["fdp"] <= 0.07)
            & (found[["share", "relevance", "S"]] == list(setting)).all(axis=1)
        ]
        if setting[0] > 0 and len(rivals) and rivals["power"].max() > 0:
            shortfall.append((own["power"] / rivals["power"].max(), setting))
    if shortfall:
        ratio, setting = min(shortfall)
        lines.append(
            f"smallest power of auto ÷ the better honest rival's: {ratio:.2f} at {_words(setting)} "
            "(promised ≥ 0.9)"
        )
    hard = auto.loc[(0.2, 0.5, 100), "power"]
    lines.append(f"power at 20 % relevant, ρ = .5, S = 100: {hard:.3f} (promised ≥ 0.75)")
    return lines
