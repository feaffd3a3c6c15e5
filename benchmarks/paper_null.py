"""Time of the paper's null model: unequal trees with pools, and the sum over partitions.

Run: python benchmarks/paper_null.py
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter

import numpy as np

import parts
from nullforest.nulls.paper import PaperNull

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from naive.null_counts import paper_strategy_two_pmf


def best_of(function, repeats: int = 7) -> float:
    """Seconds of the fastest of several runs."""
    times = []
    for _ in range(repeats):
        start = perf_counter()
        function()
        times.append(perf_counter() - start)
    return min(times)


def main() -> None:
    rng = np.random.default_rng(0)
    T, F = 100_000, 20_000
    nodes = rng.integers(20, 60, T)
    cases = {
        "Strategy I, unequal trees": np.full(T, F),
        "Strategy II, unequal trees": np.full(T, 1_000),
        "unequal trees, 1 000 different pools": rng.integers(500, 1_500, T),
    }
    print(f"{T} trees, {F} features: null built and threshold at 0.01 found")
    taken = {}
    for name, pools in cases.items():
        seconds = best_of(lambda pools=pools: PaperNull(nodes, pools, F).threshold(0.01))
        taken[f"the paper's null model and a threshold, 10⁵ trees: {name}"] = seconds
        print(f"  {name:40s} {1000 * seconds:8.1f} ms")
    parts.keep("paper_null.py", taken)
    print("P(n = 0), …, P(n = 30) of 500 trees with 30 nodes, pools of 250 among 5 000")
    k = np.arange(31)
    ours = best_of(lambda: PaperNull([30] * 500, [250] * 500, 5_000).pmf(k))
    theirs = best_of(lambda: [paper_strategy_two_pmf(int(j), 500, 30, 250, 5_000) for j in k], 1)
    print(f"  generating function                      {1000 * ours:8.1f} ms")
    print(f"  the paper's integer partitions           {1000 * theirs:8.1f} ms")
    print(f"  ratio                                    {theirs / ours:8.0f}")


if __name__ == "__main__":
    main()
