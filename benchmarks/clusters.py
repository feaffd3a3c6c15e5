"""Overhead of workers: two of a cluster against two threads of one process.

Work C (500 × 10 242, 1 024 trees, 512 candidates) as a whole call of `nf.grow`, ranking included,
on a Dask scheduler with two worker processes, on Ray and on joblib's processes, each with one
thread per worker. All take turns; the best of several counts, by the clock and by the processor
time of all processes together, which depends less on what else the machine is doing. Every forest
is compared with that of the threads to the last bit. Writes benchmarks/results/clusters.csv.

    python benchmarks/clusters.py [--repeats 15]
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import joblib
import numpy as np
import psutil

import nullforest as nf
from nullforest.data.targets import as_target
from nullforest.forest.grower import Grower, ListedSums
from nullforest.forest.settings import ForestSettings

S, F, TREES, CANDIDATES = 500, 10_242, 1_024, 512
WORKERS, SEED = 2, 0
LIGHT = {"keep_trees": False, "oob": False, "probes": 0}
SETTINGS = {
    "tally": LIGHT,
    "tally and probes": {"keep_trees": False, "oob": False},
    "trees kept and out-of-bag": {"probes": 0},
}
RESULTS = Path(__file__).parent / "results" / "clusters.csv"


@contextmanager
def dask_cluster() -> Iterator[object]:
    """A client of a scheduler and two workers, each a process of its own."""
    from distributed import Client

    with tempfile.TemporaryDirectory() as folder:
        where = ["--scheduler-file", f"{folder}/scheduler.json", "--no-dashboard"]
        quiet = {"cwd": folder, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        dask = [sys.executable, "-m", "dask"]
        worker = [*dask, "worker", *where, "--nthreads", "1", "--memory-limit", "0"]
        started = [subprocess.Popen([*dask, "scheduler", *where, "--port", "0"], **quiet)]
        started += [subprocess.Popen(worker, **quiet) for _ in range(WORKERS)]
        try:
            with Client(scheduler_file=f"{folder}/scheduler.json", timeout=120) as client:
                client.wait_for_workers(WORKERS)
                yield client
        finally:
            for process in started:
                process.terminate()
            for process in started:
                process.wait()


@contextmanager
def ray_instance() -> Iterator[object]:
    import ray

    ray.init(num_cpus=WORKERS, include_dashboard=False, log_to_driver=False, logging_level="error")
    try:
        yield ray
    finally:
        ray.shutdown()


def processor_time() -> float:
    """Seconds of this process and all that it started: workers, schedulers, object stores."""
    me = psutil.Process()
    total = 0.0
    for process in [me, *me.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):
            used = process.cpu_times()
            total += used.user + used.system
    return total


def timed(
    backend: object, X: np.ndarray, y: np.ndarray, settings: dict
) -> tuple[float, float, nf.Forest]:
    cpu, start = processor_time(), time.perf_counter()
    forest = nf.grow(
        X,
        y,
        trees=TREES,
        max_depth=None,
        candidates=CANDIDATES,
        seed=SEED,
        n_jobs=WORKERS,
        backend=backend,
        **settings,
    )
    seconds = time.perf_counter() - start
    time.sleep(0.05)  # what is left to tidy up belongs to it
    return seconds, processor_time() - cpu, forest


def adding_rate(X: np.ndarray, y: np.ndarray) -> float:
    """Nodes a second that one client can add up: the bound on how many workers it can serve."""
    table = nf.RankTable(X)
    target = as_target(y, S)
    settings = ForestSettings(
        trees=TREES, candidates=CANDIDATES, max_depth=None, probes=0, seed=SEED
    )
    settings = settings.resolved(table.shape, target.criterion)
    grower = Grower(table, target, settings, keep_trees=False, oob=False)
    block = grower.block(0, TREES, listed=True)
    best = np.inf
    for _ in range(5):
        sums = ListedSums(grower, None)
        start = time.perf_counter()
        sums.add(block)
        best = min(best, time.perf_counter() - start)
    return len(block["feature"]) / best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=15)
    repeats = parser.parse_args().repeats
    rng = np.random.default_rng(SEED)
    X = rng.normal(size=(S, F)).astype(np.float32)
    y = rng.permutation(np.arange(S) % 2)
    rows = []
    with ExitStack() as stack:
        stack.enter_context(joblib.parallel_config("loky", n_jobs=WORKERS))
        engines = {
            "threads": "threads",
            "Dask": stack.enter_context(dask_cluster()),
            "Ray": stack.enter_context(ray_instance()),
            "joblib": "joblib",
        }
        for name, settings in SETTINGS.items():
            best, least = dict.fromkeys(engines, np.inf), dict.fromkeys(engines, np.inf)
            for _ in range(repeats):
                forests = {}
                for who, engine in engines.items():
                    seconds, cpu, forests[who] = timed(engine, X, y, settings)
                    best[who], least[who] = min(best[who], seconds), min(least[who], cpu)
                for who, forest in forests.items():
                    assert forest.tally == forests["threads"].tally, who
                    for key, values in forests["threads"].sums.items():
                        np.testing.assert_array_equal(forest.sums[key], values)
            for who in engines:
                overhead = best[who] / best["threads"] - 1
                rows.append(
                    {
                        "work": "C",
                        "result": name,
                        "engine": who,
                        "workers": WORKERS,
                        "seconds": round(best[who], 3),
                        "overhead": round(overhead, 3),
                        "cpu_seconds": round(least[who], 3),
                        "cpu_overhead": round(least[who] / least["threads"] - 1, 3),
                        "nodes_per_second_added": "",
                        "repeats": repeats,
                        "seed": SEED,
                        "version": nf.__version__,
                    }
                )
                print(
                    f"{name}: {who} {best[who]:.3f} s, overhead {overhead:+.0%}; processor time "
                    f"{least[who]:.3f} s, {least[who] / least['threads'] - 1:+.0%}",
                    flush=True,
                )
    rate = adding_rate(X, y)
    print(f"one client adds {rate:.3g} nodes a second")
    rows.append(dict.fromkeys(rows[0], "") | {
        "work": "C", "result": "tally", "engine": "client, adding blocks",
        "nodes_per_second_added": round(rate), "seed": SEED, "version": nf.__version__,
    })  # fmt: skip
    with RESULTS.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
