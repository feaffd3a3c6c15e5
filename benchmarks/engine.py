"""Time of a forest against scikit-learn and ranger.

Runs the works A to E and A's shape with numbers and with three classes, our engine and the others
in turn, keeps the best time of each and prints ratios: by the clock, and by processor time, which
depends less on what else the machine is doing. Writes benchmarks/results/engine.csv.

    python benchmarks/engine.py [--works "A;B"] [--repeats 3] [--other-share 1]
"""

from __future__ import annotations

import argparse
import csv
import functools
import time
from pathlib import Path

import numpy as np

import nullforest as nf
import other_engines as engines
from nullforest._util.files import writing
from nullforest.engine import RankTable, _native

#: S, F, trees, candidates, kind of y; floor and aim against scikit-learn, floor against ranger.
WORKS = {
    "A": (250, 5_000, 500, 250, 2, 40, 130, 20),
    "B": (100, 10_000, 1_000, 500, 2, 60, 220, None),
    "C": (500, 10_242, 1_024, 512, 2, 30, 110, None),
    "D": (5_000, 1_000, 200, 32, 2, 7, 14, None),
    "E": (100_000, 100, 50, 10, 2, 3, 6, None),
    "A, numbers": (250, 5_000, 500, 250, 0, 5, 5, None),
    "A, 3 classes": (250, 5_000, 500, 250, 3, 5, 5, None),
}
OURS = {
    "nullforest": engines.nullforest,
    "nullforest, trees kept and out-of-bag": engines.nullforest_predicting,
    "nullforest, bootstrap": engines.nullforest_bootstrap,
}


def data(S: int, F: int, kind: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(S + F)
    X = rng.normal(size=(S, F)).astype(np.float32)
    return X, rng.normal(size=S) if kind == 0 else rng.permutation(np.arange(S) % kind)


def run(name: str, repeats: int, with_ranger: bool, share: float) -> list[dict[str, object]]:
    S, F, trees, candidates, kind, floor, aim, ranger_floor = WORKS[name]
    X, y = data(S, F, kind)
    others = {"scikit-learn": engines.scikit_learn}
    if with_ranger and ranger_floor is not None:
        others["ranger"] = engines.ranger
    times: dict[str, list[engines.Seconds]] = {who: [] for who in OURS | others}
    engines.nullforest(X[:50], y[:50], 2, min(candidates, F))  # first touch of the library
    for _ in range(repeats):
        for who, adapter in OURS.items():
            times[who].append(adapter(X, y, trees, candidates))
        for who, adapter in others.items():
            # ranger spends much before its first tree, which scaling up would multiply
            part = trees if who == "ranger" else max(1, round(trees * share))
            wall, cpu = adapter(X, y, part, candidates)
            times[who].append((wall * trees / part, cpu * trees / part))
    best = {who: tuple(min(t[i] for t in ts) for i in (0, 1)) for who, ts in times.items()}
    rows = []
    for who in others:
        for mine in OURS:
            wall, cpu = (best[who][i] / best[mine][i] for i in (0, 1))
            needed = floor if who == "scikit-learn" else ranger_floor
            rows.append(
                {
                    "work": name,
                    "engine": mine,
                    "other": who,
                    "seconds": round(best[mine][0], 4),
                    "other_seconds": round(best[who][0], 3),
                    "ratio": round(wall, 1),
                    "processor_ratio": round(cpu, 1),
                    "floor": needed,
                    "aim": aim if who == "scikit-learn" else "",
                }
            )
            print(
                f"{name:13} {mine:38} {best[mine][0]:8.3f} s   {who:12} {best[who][0]:8.2f} s   "
                f"{wall:6.1f}x by the clock, {cpu:6.1f}x by processor (floor {needed})",
                flush=True,
            )
    return rows


def permutations(count: int, probes: str | int) -> dict[str, object]:
    """Label permutations of A: one call, X ranked once, against one forest at a time."""
    S, F, trees, candidates, *_ = WORKS["A"]
    X, y = data(S, F, 2)
    rng = np.random.default_rng(1)
    labels = [rng.permutation(y) for _ in range(count)]
    table = RankTable(X, n_jobs=engines.THREADS)
    settings = {"trees": trees, "candidates": candidates, "n_jobs": engines.THREADS}
    settings["probes"] = probes
    name = f"{count} label permutations of A, {'with' if probes else 'without'} probes"

    def singly(some: list) -> list[tuple[float, float]]:
        grow = functools.partial(nf.grow, table, keep_trees=False, oob=False, **settings)
        return [engines.timed(functools.partial(grow, label)) for label in some]

    # A tenth of the same labels one by one, half before and half after.
    single = singly(labels[::20])
    start, cpu = time.perf_counter(), time.process_time()
    nf.grow_many(X, labels, **settings)
    wall, cpu = time.perf_counter() - start, time.process_time() - cpu
    single += singly(labels[10::20])
    one_wall, one = (float(np.mean(times)) for times in zip(*single, strict=True))
    print(
        f"{name}: {wall:.1f} s, {cpu / one:.0f} forests' worth of "
        f"processor time (at most {count * 1.04:.0f}); the paper reports 22 hours."
    )
    return {
        "work": name,
        "engine": "nullforest.grow_many",
        "other": "one forest on permuted labels",
        "seconds": round(wall, 3),
        "other_seconds": round(one_wall, 4),
        "ratio": round(wall / one_wall, 1),
        "processor_ratio": round(cpu / one, 1),
        "floor": f"at most {count * 1.04:.0f}",
        "aim": "",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--works", default=";".join(WORKS), help="names, separated by ;")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--other-share",
        type=float,
        default=1.0,
        help="scikit-learn grows this share of the trees, scaled up: quick, but flatters us",
    )
    parser.add_argument("--permutations", type=int, default=250, help="0 for none")
    parser.add_argument("--out", default=str(Path(__file__).parent / "results" / "engine.csv"))
    chosen = parser.parse_args()
    print(f"instruction set: {_native.isa()}, {engines.THREADS} threads")
    with_ranger = engines.has_ranger()
    rows = []
    for name in filter(None, chosen.works.split(";")):
        rows += run(name, chosen.repeats, with_ranger, chosen.other_share)
    if chosen.permutations:
        rows += [permutations(chosen.permutations, probes) for probes in (0, "auto")]
    Path(chosen.out).parent.mkdir(parents=True, exist_ok=True)
    with writing(chosen.out) as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
