"""Time of a forest against scikit-learn, scikit-learn-intelex and ranger.

Grows the forests of works.py, our engine and the others in turn, keeps the best time of each and
prints ratios: by the clock, and by processor time, which depends less on what else the machine is
doing. Others that are not installed are left out. Writes benchmarks/results/engine.csv, where the
rows of works that were not timed stay.

    python benchmarks/engine.py [--works "A;B"] [--repeats 3] [--other-share 1]
"""

from __future__ import annotations

import argparse
import csv
import functools
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import nullforest as nf
import other_engines as engines
import works
from nullforest import _native
from nullforest._util.files import writing
from nullforest.data.rank_table import RankTable
from works import WORKS

Adapter = Callable[[np.ndarray, np.ndarray, int, int], engines.Seconds]

OURS: dict[str, Adapter] = {
    works.PLAIN: engines.nullforest,
    works.PROBES: functools.partial(engines.nullforest, probes="auto"),
    works.KEPT: functools.partial(engines.nullforest, keep_trees=True, oob=True),
    works.BOOTSTRAP: functools.partial(engines.nullforest, replace=True),
}
OTHERS: dict[str, tuple[Adapter, Callable[[], bool]]] = {
    works.SKLEARN: (engines.scikit_learn, lambda: True),
    works.INTELEX: (engines.scikit_learn_intelex, engines.has_intelex),
    works.RANGER: (engines.ranger, engines.has_ranger),
}


def data(S: int, F: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(S + F)
    X = rng.normal(size=(S, F)).astype(np.float32)
    return X, rng.permutation(np.arange(S) % classes) if classes else rng.normal(size=S)


def run(
    name: str, repeats: int, others: dict[str, Adapter], share: float
) -> list[dict[str, object]]:
    work = WORKS[name]
    X, y = data(work.samples, work.features, work.classes)
    trees, candidates = work.trees, work.candidates
    others = {who: adapter for who, adapter in others.items() if who in work.others}
    times: dict[str, list[engines.Seconds]] = {who: [] for who in (*work.ways, *others)}
    for way in work.ways:  # the first call in a process loads libraries
        OURS[way](X[:50], y[:50], 2, candidates)
    for _ in range(repeats):
        for way in work.ways:
            times[way].append(OURS[way](X, y, trees, candidates))
        for who, adapter in others.items():
            # ranger spends much before its first tree, which scaling up would multiply
            part = trees if who == works.RANGER else max(1, round(trees * share))
            wall, cpu = adapter(X, y, part, candidates)
            times[who].append((wall * trees / part, cpu * trees / part))
    best = {who: tuple(min(t[i] for t in ts) for i in (0, 1)) for who, ts in times.items()}
    rows = []
    for who in others:
        for way in work.ways:
            wall, cpu = (best[who][i] / best[way][i] for i in (0, 1))
            floor = work.floor(way, who)
            rows.append(
                {
                    "work": name,
                    "engine": way,
                    "other": who,
                    "seconds": round(best[way][0], 4),
                    "other_seconds": round(best[who][0], 3),
                    "ratio": round(wall, 1),
                    "processor_ratio": round(cpu, 1),
                    "floor": floor,
                    "samples": work.samples,
                    "features": work.features,
                    "trees": trees,
                    "candidates": candidates,
                }
            )
            print(
                f"{name:28} {way:38} {best[way][0]:8.3f} s   {who:20} {best[who][0]:8.2f} s   "
                f"{wall:6.1f}x by the clock, {cpu:6.1f}x by processor"
                + (f" (floor {floor:g})" if floor else ""),
                flush=True,
            )
    return rows


def permutations(count: int, probes: str | int) -> dict[str, object]:
    """Label permutations of A: one call, X ranked once, against one forest at a time."""
    S, F, trees, candidates = works.A
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
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--works", default=";".join(WORKS), help="names, separated by ;")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--other-share",
        type=float,
        default=1.0,
        help="the others but ranger grow this share of the trees, scaled up: flatters us",
    )
    parser.add_argument("--permutations", type=int, default=250, help="0 for none")
    parser.add_argument("--out", default=str(Path(__file__).parent / "results" / "engine.csv"))
    chosen = parser.parse_args()
    print(f"instruction set: {_native.isa()}, {engines.THREADS} threads")
    others = {who: adapter for who, (adapter, installed) in OTHERS.items() if installed()}
    rows = []
    for name in filter(None, chosen.works.split(";")):
        rows += run(name, chosen.repeats, others, chosen.other_share)
    if chosen.permutations:
        rows += [permutations(chosen.permutations, probes) for probes in (0, "auto")]
    Path(chosen.out).parent.mkdir(parents=True, exist_ok=True)
    kept = others_than(rows, Path(chosen.out))
    order = {name: place for place, name in enumerate(WORKS)}
    with writing(chosen.out) as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(sorted(kept + rows, key=lambda row: order.get(row["work"], len(order))))


def others_than(rows: list[dict[str, object]], path: Path) -> list[dict[str, object]]:
    """The rows of a file on works that were not timed now."""
    if not path.exists():
        return []
    now = {row["work"] for row in rows}
    with path.open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["work"] not in now]


if __name__ == "__main__":
    main()
