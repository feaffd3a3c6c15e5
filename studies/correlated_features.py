"""Mean squared correlations and saturated trees: numbers quoted in docs/null_probes.md.

python -m studies.correlated_features [--npz FILE] [--thickness FILE]

FILE: arrays X and y; maps of cortical thickness (subjects x vertices). The leukaemia data are
always included.
"""

from __future__ import annotations

import argparse
from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

import nullforest as nf
from nullforest.nulls import bagged
from nullforest.nulls.rates import saturation
from studies.calibration.null_data import normal_features, rows_of
from studies.calibration.tables import ratios, wide
from studies.records import with_progress

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
    load = saturation(forest.tally)
    return rows_of(forest.tally, {"setting": f"{load:.1f} nodes per feature of a pool"}, rng)


def variance_ratio(candidates: int, draw: Literal["node", "tree"]) -> str:
    """Variance of the counts of few features ÷ that of the bagged null model."""
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
    return f"{ratio / np.mean(expected):.2f} ± {error / np.mean(expected):.2f}"


def main() -> None:
    """Print the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--npz", type=Path)
    parser.add_argument("--thickness", type=Path)
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    plain = [mean_r2(normal_features(rng, 100, 2_000), np.arange(100) % 2) for _ in range(20)]
    print(f"independent: {min(plain)} to {max(plain)}")
    print(
        "a fifth relevant:",
        mean_r2(*nf.simulate.independent(100, 2_000, 400, 0.7, seed=1)[:2]),
    )
    leukaemia = nf.datasets.load_leukemia_sex()
    print("leukaemia:", mean_r2(leukaemia.data, leukaemia.target))
    if arguments.npz:
        with np.load(arguments.npz, allow_pickle=False) as file:
            print(f"{arguments.npz.stem}:", mean_r2(file["X"], file["y"]))
    if arguments.thickness:
        model = nf.simulate.CorticalModel.fit(arguments.thickness)
        region = model.region(0.01, 4_000)
        for samples in (100, 200, 400):
            maps = model.draw(samples, region, 0.5, seed=1, dtype=np.float32)
            print(f"cortical, S = {samples}:", mean_r2(*maps))
    draws: list[Literal["node", "tree"]] = ["node", "tree"]
    for draw, candidates in with_progress(list(product(draws, CANDIDATES)), "few features"):
        print(f"variance, {draw}, {candidates} candidates:", variance_ratio(candidates, draw))
    pieces = with_progress(list(range(DATA_SETS)), "small pools")
    rows = pd.DataFrame([row for seed in pieces for row in saturated(seed)])
    print(wide(ratios(rows.assign(setting=rows["setting"].iloc[0]), ["setting"]), "setting"))


if __name__ == "__main__":
    main()
