"""Processor time of the kernels of each instruction set that this processor has.

Grows the same forests, without virtual probes and with them, by every set of kernels in turn on one
thread, and keeps the best processor time of each. Writes benchmarks/results/instruction_sets.csv.

    python benchmarks/instruction_sets.py [--repeats 5]
"""

from __future__ import annotations

import argparse
import csv
import os
from pathlib import Path

import numpy as np

import nullforest as nf
import other_engines as engines
from nullforest import _native
from nullforest._util.files import writing
from nullforest.data.rank_table import RankTable

VARIABLE = "NULLFOREST_ISA"
SETS = ("avx512", "avx2", "neon", "portable")
#: S, F, trees, candidates, classes (0: a number), other settings of the forest
WORKS = {
    "A, 250 × 5 000": (250, 5_000, 500, 250, 2, {}),
    "B, 100 × 10 000": (100, 10_000, 1_000, 500, 2, {}),
    "C, 500 × 10 242": (500, 10_242, 128, 512, 2, {}),
    "A, bootstrap": (250, 5_000, 100, 250, 2, {"replace": True}),
    "A, weights": (250, 5_000, 100, 250, 2, {"sample_weight": np.linspace(0.5, 1.5, 250)}),
    "A, three classes": (250, 5_000, 100, 250, 3, {}),
    "A, numeric target": (250, 5_000, 100, 250, 0, {}),
    "D, 5 000 × 1 000": (5_000, 1_000, 20, 32, 2, {}),
}


def available() -> list[str]:
    """The instruction sets of this build and processor, the fastest first."""
    before, found = os.environ.get(VARIABLE), []
    for name in SETS:
        os.environ[VARIABLE] = name
        if _native.isa() == name:
            found.append(name)
    os.environ[VARIABLE] = before or ""
    return found


def times(work: str, repeats: int, probes: str | int) -> dict[str, float]:
    """Best processor seconds by instruction set; all must grow the same forest."""
    S, F, trees, candidates, classes, others = WORKS[work]
    rng = np.random.default_rng(S + F)
    table = RankTable(rng.normal(size=(S, F)).astype(np.float32))
    y = rng.permutation(np.arange(S) % classes) if classes else rng.normal(size=S)
    settings = {"trees": trees, "candidates": candidates, "probes": probes} | others
    settings |= {"max_depth": None, "keep_trees": False, "oob": False, "n_jobs": 1}
    best: dict[str, float] = {}
    counts = []
    for _ in range(repeats):
        for name in available():
            os.environ[VARIABLE] = name
            forests = []
            seconds = engines.timed(lambda: forests.append(nf.grow(table, y, **settings)))[1]  # noqa: B023
            best[name] = min(best.get(name, np.inf), seconds)
            counts.append(forests[0].tally.counts)
    assert all(np.array_equal(counts[0], other) for other in counts[1:])
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    rows = []
    for work in WORKS:
        for probes in (0, "auto"):
            best = times(work, arguments.repeats, probes)
            fastest = min(best.values())
            name = work + (", virtual probes" if probes else "")
            rows += [
                {"work": name, "instruction_set": isa, "processor_seconds": round(s, 4)}
                for isa, s in best.items()
            ]
            cells = (f"{s:.3g} s ({s / fastest:.1f} ×)" for s in best.values())
            if len(rows) == len(best):
                print(f"| work | {' | '.join(best)} |\n|---|{'---|' * len(best)}")
            print(f"| {name} | {' | '.join(cells)} |", flush=True)
    path = Path(__file__).parent / "results" / "instruction_sets.csv"
    with writing(path) as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
