"""Time and peak memory of forests on data larger than memory.

Data are simulated on disk, a block of columns at a time, and the table of ranks is built on disk.
Each work runs in a process of its own, so that its peak is its own. Writes
benchmarks/results/large.csv.

    python benchmarks/large.py [--works wide] [--threads 2] [--folder DIR]
"""

from __future__ import annotations

import argparse
import csv
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import nullforest as nf

#: S, F, trees, candidates, draw.
WORKS = {
    "wide": (500, 1_000_000, 200, 1000, "node"),
    "wide, longer": (500, 1_000_000, 2000, 1000, "node"),
    "wide, pools": (500, 1_000_000, 200, 1000, "tree"),
    "wider": (1000, 1_000_000, 50, 1000, "node"),
    "tall": (100_000, 10_000, 4, 100, "node"),
}
SEED = 0
RESULTS = Path(__file__).parent / "results" / "large.csv"


def simulate(path: Path, S: int, F: int) -> np.ndarray:
    """Write noise with ten columns that matter, rows after rows; return the labels."""
    rng = np.random.default_rng(SEED)
    y = rng.permutation(np.arange(S) % 2)
    rows = max(1, 2**25 // F)
    with path.open("wb") as file:
        for begin in range(0, S, rows):
            block = rng.standard_normal((min(rows, S - begin), F), dtype=np.float32)
            block[:, :10] += y[begin : begin + rows, None]
            file.write(block.data)
    return y


def measure(name: str, threads: int, folder: Path) -> dict[str, object]:
    """Build the table and grow the forest; called in a process of its own."""
    S, F, trees, candidates, draw = WORKS[name]
    X = np.memmap(folder / "X.f32", np.float32, "r", shape=(S, F))
    y = np.load(folder / "y.npy")
    wall, cpu = time.perf_counter(), time.process_time()
    table = nf.RankTable(X, folder=folder / "ranks", n_jobs=threads, keep_values=False)
    ranked = time.perf_counter() - wall, time.process_time() - cpu
    wall, cpu = time.perf_counter(), time.process_time()
    forest = nf.grow(
        table,
        y,
        trees=trees,
        max_depth=None,
        candidates=candidates,
        draw=draw,
        seed=SEED,
        n_jobs=threads,
        keep_trees=False,
        oob=False,
    )
    grown = time.perf_counter() - wall, time.process_time() - cpu
    wall, cpu = time.perf_counter(), time.process_time()
    selection = nf.select(forest.tally, alpha=0.05, error="fdr", null="bagged")
    tested = time.perf_counter() - wall, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {
        "work": name,
        "samples": S,
        "features": F,
        "trees": trees,
        "candidates": candidates,
        "draw": draw,
        "nodes": forest.tally.n_nodes,
        "threads": threads,
        "rank_seconds": round(ranked[0], 1),
        "rank_cpu_seconds": round(ranked[1], 1),
        "grow_seconds": round(grown[0], 1),
        "grow_cpu_seconds": round(grown[1], 1),
        "test_seconds": round(tested[0], 1),
        "test_cpu_seconds": round(tested[1], 1),
        "peak_resident_gib": round(peak, 2),
        "table_gib": round(table.nbytes / 2**30, 2),
        "data_gib": round(X.nbytes / 2**30, 2),
        "selected": selection.n_selected,
        "seed": SEED,
        "version": nf.__version__,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--works", default=";".join(WORKS))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--folder", type=Path, help="where the data are simulated")
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside is not None:
        print(json.dumps(measure(given.works, given.threads, given.inside)))
        return
    rows = list(csv.DictReader(RESULTS.open())) if RESULTS.exists() else []
    for name in given.works.split(";"):
        with tempfile.TemporaryDirectory(dir=given.folder) as place:
            y = simulate(Path(place) / "X.f32", *WORKS[name][:2])
            np.save(Path(place) / "y.npy", y)
            words = [__file__, "--works", name, "--threads", given.threads, "--inside", place]
            done = subprocess.run(
                [sys.executable, *map(str, words)], check=True, stdout=subprocess.PIPE, text=True
            )
        row = json.loads(done.stdout.splitlines()[-1])
        print(row, flush=True)
        rows = [r for r in rows if r["work"] != name] + [row]
        order = list(WORKS)
        rows.sort(key=lambda r: order.index(r["work"]))
        with RESULTS.open("w", newline="") as file:
            writer = csv.DictWriter(file, fieldnames=list(row), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
