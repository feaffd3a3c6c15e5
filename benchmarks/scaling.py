"""Time and memory against the number of features and of trees.

S = 200 samples, candidates fixed. Ranking should be linear in F, growing should at most double
from 10⁴ to 10⁶ features, and time be linear in T; the memory beyond the input stays below one
float32 matrix. Times are processor seconds. Writes benchmarks/results/scaling.csv.

    python benchmarks/scaling.py [--largest 1000000] [--trees 1000]
"""

from __future__ import annotations

import argparse
import csv
import threading
import time
from pathlib import Path

import numpy as np

import nullforest as nf
import other_engines as engines
from nullforest._util.files import writing
from nullforest.data.rank_table import RankTable

SAMPLES, CANDIDATES = 200, 500


class PeakMemory:
    """Largest resident memory while a block of code runs, beyond what was there before."""

    @staticmethod
    def now() -> float:
        """Resident memory, in megabytes."""
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * 4096 / 2**20

    def __enter__(self) -> PeakMemory:
        self.start = self.peak = self.now()
        self.done = threading.Event()
        self.watch = threading.Thread(target=self._follow)
        self.watch.start()
        return self

    def _follow(self) -> None:
        while not self.done.wait(0.002):
            self.peak = max(self.peak, self.now())

    def __exit__(self, *_: object) -> None:
        self.done.set()
        self.watch.join()
        self.peak = max(self.peak, self.now())

    @property
    def megabytes(self) -> float:
        """How much more memory was held at the peak than at the start."""
        return self.peak - self.start


def grow(table, y, trees: int) -> float:
    settings = {"candidates": CANDIDATES, "keep_trees": False, "oob": False, "probes": 0}
    settings["max_depth"] = None
    return min(
        engines.timed(lambda: nf.grow(table, y, trees=trees, n_jobs=engines.THREADS, **settings))[1]
        for _ in range(3)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--largest", type=int, default=1_000_000)
    parser.add_argument("--trees", type=int, default=1000)
    parser.add_argument("--out", default=str(Path(__file__).parent / "results" / "scaling.csv"))
    chosen = parser.parse_args()
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(SAMPLES) % 2)
    rows = []
    print("     features  trees   ranking    growing   memory beyond X / X")
    for F in [10**3, 10**4, 10**5, 10**6]:
        if chosen.largest < F:
            break
        X = rng.standard_normal((SAMPLES, F), dtype=np.float32)
        with PeakMemory() as memory:
            cpu = time.process_time()
            table = RankTable(X, n_jobs=engines.THREADS)
            ranking = time.process_time() - cpu
            first = nf.grow(table, y, trees=2, candidates=CANDIDATES, n_jobs=engines.THREADS)
        del first
        share = memory.megabytes / (X.nbytes / 2**20)
        for trees in [chosen.trees] if F != 10**4 else [chosen.trees * m for m in (1, 2, 4)]:
            growing = grow(table, y, trees)
            print(f"{F:13,} {trees:6} {ranking:8.3f} s {growing:8.3f} s {share:10.2f}", flush=True)
            rows.append(
                {
                    "n_features": F,
                    "trees": trees,
                    "ranking_seconds": round(ranking, 4),
                    "growing_seconds": round(growing, 4),
                    "memory_over_input": round(share, 3),
                }
            )
        del table, X
    Path(chosen.out).parent.mkdir(parents=True, exist_ok=True)
    with writing(chosen.out) as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
