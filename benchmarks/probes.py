"""Cost of the virtual probes, and the nodes at which they are evaluated.

First the share that `probes="auto"` adds to the growing of a forest, by processor time (which
depends less on what else the machine is doing), runs interleaved, best of several. Then two ways to
evaluate the probes equally often: each at a share of all nodes, or in a share of the trees at all
their nodes. For both the cost, the noise of q·W̄ between forests on the same data, and the
variance that the thinned wins give a null feature's count, beside the variance of the counts.

    python benchmarks/probes.py [--repeats 5]
"""

from __future__ import annotations

import argparse
import time
from typing import Any
from unittest.mock import patch

import numpy as np

import nullforest as nf
from nullforest.data.rank_table import RankTable
from nullforest.forest import null_column_budget, virtual_probes

#: S, F, trees, candidates, number of classes (0: numbers), other settings.
WORKS: dict[str, tuple[int, int, int, int, int, dict[str, Any]]] = {
    "two classes": (100, 20_000, 2_000, 1_000, 2, {}),
    "two classes, S = 400": (400, 20_000, 500, 1_000, 2, {}),
    "two classes, F = 100 000": (100, 100_000, 2_000, 1_000, 2, {}),
    "two classes, F = 5 000": (100, 5_000, 2_000, 250, 2, {}),
    "two classes, F = 1 000": (100, 1_000, 2_000, 50, 2, {}),
    "one pool per tree": (100, 20_000, 2_000, 1_000, 2, {"draw": "tree"}),
    "bootstrap": (100, 20_000, 500, 1_000, 2, {"samples": 1.0, "replace": True}),
    "three classes": (100, 20_000, 500, 1_000, 3, {}),
    "numbers": (100, 20_000, 500, 1_000, 0, {}),
}


def data(S: int, F: int, kind: int) -> tuple[RankTable, np.ndarray]:
    rng = np.random.default_rng(S + F)
    table = RankTable(rng.standard_normal((S, F), dtype=np.float32))
    _ = table.strata  # sorted once, like the ranks
    return table, rng.normal(size=S) if kind == 0 else rng.permutation(np.arange(S) % kind)


def seconds(table: RankTable, y: np.ndarray, **settings: Any) -> float:
    start = time.process_time()
    nf.grow(table, y, max_depth=None, keep_trees=False, oob=False, n_jobs=1, **settings)
    return time.process_time() - start


def shares(repeats: int) -> None:
    print("| forest | probes | seconds without | with | added |\n|---|---|---|---|---|")
    for name, (S, F, trees, candidates, kind, settings) in WORKS.items():
        table, y = data(S, F, kind)
        settings = {"trees": trees, "candidates": candidates} | settings
        number = null_column_budget.default_number(S, F, candidates)
        best = {0: np.inf, number: np.inf}
        for _ in range(repeats):
            for probes in best:
                best[probes] = min(best[probes], seconds(table, y, probes=probes, **settings))
        added = best[number] / best[0] - 1
        print(f"| {name} | {number} | {best[0]:.3f} | {best[number]:.3f} | {added:.0%} |")


def nodes_or_trees(repeats: int) -> None:
    F = 2_000
    print("\n| candidates | evaluated | added | noise of q·W̄ | variance | of the counts |")
    print("|---|---|---|---|---|---|")
    for candidates in (round(F**0.5), F // 20):
        table, y = data(100, F, 2)
        always = null_column_budget.RATE_UNITS
        some = round(1.5 * candidates / F * always)
        plain = min(
            seconds(table, y, trees=1_000, candidates=candidates, probes=0) for _ in range(repeats)
        )
        for how, rates in {
            "at a share of the nodes": (always, some),
            "in a share of the trees": (some, always),
        }.items():
            best, means, variances, counts = np.inf, [], [], []
            with patch.object(virtual_probes, "evaluation_rates", lambda *_, rates=rates: rates):
                for seed in range(4 * repeats):
                    start = time.process_time()
                    tally = nf.grow(
                        table,
                        y,
                        trees=1_000,
                        max_depth=None,
                        candidates=candidates,
                        probes=2_000,
                        seed=seed,
                        probe_seed=0,
                        keep_trees=False,
                        oob=False,
                        n_jobs=1,
                    ).tally
                    best = min(best, time.process_time() - start)
                    assert tally.probes is not None
                    q = candidates / F * tally.n_trees / tally.probes.trees[0]
                    W, weights = tally.probes.wins, tally.probes.weights
                    mean = np.average(W, weights=weights)
                    variance = np.average((W - mean) ** 2, weights=weights)
                    means.append(q * mean)
                    variances.append(q * q * variance + q * (1 - q) * mean)
                    counts.append(tally.counts.var())
            noise = np.std(means, ddof=1) / np.mean(means)
            print(
                f"| {candidates} | {how} | {best / plain - 1:.0%} | {noise:.2%} | "
                f"{np.mean(variances):.2f} | {np.mean(counts):.2f} |"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    shares(repeats)
    nodes_or_trees(repeats)


if __name__ == "__main__":
    main()
