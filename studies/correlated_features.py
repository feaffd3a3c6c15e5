"""Mean squared correlations, saturated trees and few features: numbers of the null models' pages.

python -m studies.correlated_features [--data FOLDER] [--thickness FILE]

FOLDER holds golub.npz (X, y); FILE maps of cortical thickness (subjects x vertices). The leukaemia
data are always included. Results: studies/results/correlated_features.csv; `make pages` writes them
into docs/null_probes.md and docs/null_bagged.md.
"""

from __future__ import annotations

import argparse
import textwrap
from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

import nullforest as nf
from nullforest.nulls import bagged
from nullforest.nulls.rates import TreeLoads
from studies.calibration.null_data import normal_features, rows_of
from studies.calibration.tables import ratios
from studies.markdown import filled
from studies.records import RESULTS, with_progress

#: A forest of saturated trees, with more nodes than features in a pool.
S, F, POOL, TREES, DATA_SETS = 400, 1_000, 31, 1_000, 30
#: Forests of the paper's low-dimensional experiment: few features, whole trees.
FEW_SAMPLES, FEW_FEATURES, FEW_TREES, CANDIDATES, FORESTS = 200, 20, 40, (3, 5, 7), 600
EVERY = 20  # of the forests whose null distribution is computed


def mean_r2(X: Any, y: Any) -> float:
    """Mean squared correlation between features, given the target, as a forest measures it."""
    probes = nf.grow(X, y, trees=1, keep_trees=False, oob=False).tally.probes
    return float("nan") if probes is None else probes.mean_r2


def saturated(seed: int) -> list[dict[str, Any]]:
    """False positives of one null data set in a forest whose pools are small."""
    rng = np.random.default_rng([seed, 8])
    X, y = normal_features(rng, S, F), rng.permutation(np.arange(S) % 2)
    forest = nf.grow(
        X,
        y,
        trees=TREES,
        candidates=POOL,
        draw="tree",
        max_depth=None,
        seed=seed,
        keep_trees=False,
        oob=False,
    )
    load = TreeLoads.of(forest.tally).saturation
    return rows_of(forest.tally, {"setting": f"{load:.1f} nodes per feature of a pool"}, rng)


def variance_ratio(candidates: int, draw: Literal["node", "tree"]) -> tuple[float, float]:
    """Variance of the counts of few features ÷ that of the bagged null model, and its error."""
    observed, expected = [], []
    for seed in range(FORESTS):
        X, y, _ = nf.simulate.independent(FEW_SAMPLES, FEW_FEATURES, 0, 0.0, seed=seed)
        tally = nf.grow(
            X,
            y,
            trees=FEW_TREES,
            candidates=candidates,
            draw=draw,
            max_depth=None,
            probes=0,
            seed=seed,
            keep_trees=False,
            oob=False,
        ).tally
        observed.append(tally.counts.var())
        if seed % EVERY == 0:
            expected.append(bagged.from_tally(tally).distributions[0].variance)
    ratio, error = np.mean(observed), np.std(observed) / np.sqrt(FORESTS)
    return float(ratio / np.mean(expected)), float(error / np.mean(expected))


def correlations(folder: Path | None, thickness: Path | None) -> list[dict[str, Any]]:
    """Mean squared correlations of independent features, and of real ones."""
    rng = np.random.default_rng(0)
    plain = [mean_r2(normal_features(rng, 100, 2_000), np.arange(100) % 2) for _ in range(20)]
    fifth = mean_r2(*nf.simulate.independent(100, 2_000, 400, 0.7, seed=1)[:2])
    leukaemia = nf.datasets.load_leukemia_sex()
    found = {
        "independent, smallest": min(plain),
        "independent, largest": max(plain),
        "independent, a fifth relevant": fifth,
        "leukaemia": mean_r2(leukaemia.data, leukaemia.target),
    }
    if folder:
        with np.load(folder / "golub.npz", allow_pickle=False) as file:
            found["golub"] = mean_r2(file["X"].astype(np.float64), file["y"])
    if thickness:
        model = nf.simulate.CorticalModel.fit(thickness)
        region = model.region(0.01, 4_000)
        for samples in (100, 200, 400):
            maps = model.draw(samples, region, 0.5, seed=1, dtype=np.float32)
            found[f"cortical, S = {samples}"] = mean_r2(*maps)
    return [{"what": "mean_r2", "setting": name, "value": value} for name, value in found.items()]


def few_features() -> list[dict[str, Any]]:
    """Variance ratios by how candidates are drawn, and how many."""
    draws: list[Literal["node", "tree"]] = ["node", "tree"]
    rows = []
    for draw, candidates in with_progress(list(product(draws, CANDIDATES)), "few features"):
        value, error = variance_ratio(candidates, draw)
        row = {"what": "variance ratio", "setting": draw, "candidates": candidates}
        rows.append(row | {"value": value, "error": error})
    return rows


def small_pools() -> list[dict[str, Any]]:
    """False positive rate ÷ level in forests of saturated trees, by null model."""
    pieces = with_progress(list(range(DATA_SETS)), "small pools")
    rows = pd.DataFrame([row for seed in pieces for row in saturated(seed)])
    load = rows["setting"].iloc[0]
    table = ratios(rows.assign(setting=load), ["setting"])
    return [
        {
            "what": f"rate, {row.setting}",
            "setting": row.null,
            "alpha": row.alpha,
            "value": row.ratio,
            "error": row.error,
        }
        for row in table.itertuples()
    ]


def _rows() -> pd.DataFrame:
    return pd.read_csv(RESULTS / "correlated_features.csv")


def with_pools(text: str) -> str:
    """The page on the probe null model with the rates in saturated trees."""
    table = _rows()
    table = table[table["what"].str.startswith("rate, ")]
    load = table["what"].iloc[0].removeprefix("rate, ")

    def rates(null: str) -> str:
        own = table[table["setting"] == null]
        cells = zip(own["alpha"], own["value"], own["error"], strict=True)
        return ", ".join(f"{ratio:.2f} ± {error:.2f} at {alpha:g}" for alpha, ratio, error in cells)

    part = (
        f"{S} samples, {F // 1000} 000 features, pools of {POOL}, {load}, {DATA_SETS} data sets: "
        f"false positive rate ÷ level {rates('auto')}; with the bagged null model "
        f"{rates('bagged')} (`python -m studies.correlated_features`)."
    )
    return filled(text, {"small pools": textwrap.fill(part, 110)})


def with_variances(text: str) -> str:
    """The page on the bagged null model with the variance of the counts of few features."""
    table = _rows()
    table = table[table["what"] == "variance ratio"]
    low, high = table.groupby("setting")["value"].min(), table.groupby("setting")["value"].max()
    part = (
        f"{FEW_SAMPLES} samples, {FEW_FEATURES} features, {FEW_TREES} fully grown trees, "
        f"{CANDIDATES[0]} to {CANDIDATES[-1]} candidates: the variance of the counts is "
        f"{low['node']:.2f} to {high['node']:.2f} times the model's where candidates are drawn at "
        f"each node, {low['tree']:.2f} to {high['tree']:.2f} times where once per tree (standard "
        f"errors of at most {table['error'].max():.2f}; `python -m studies.correlated_features`)."
    )
    return filled(text, {"few features": textwrap.fill(part, 110)})


def main() -> None:
    """Compute the numbers, and write them down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder of golub.npz")
    parser.add_argument("--thickness", type=Path)
    given = parser.parse_args()
    rows = correlations(given.data, given.thickness) + few_features() + small_pools()
    frame = pd.DataFrame(rows).assign(version=nf.__version__)
    path = RESULTS / "correlated_features.csv"
    frame.to_csv(path, index=False, float_format="%.4g", lineterminator="\n")
    print(frame.to_string())


if __name__ == "__main__":
    main()
