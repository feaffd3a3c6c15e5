"""Computation of all settings over the cores; interrupted work resumes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nullforest._util.checks import n_threads
from nullforest._util.progress import Report, silent
from nullforest.run import backends
from nullforest.run.backends.joblib import JoblibBackend
from reproduction.computing import compute
from reproduction.experiment import Results
from reproduction.store import Cell, Record, Store

Task = tuple[Cell, int]


def work(cell: Cell) -> float:
    """Roughly how long a run of a cell takes, in any unit; it serves to tell the time left.

    Examples
    --------
    >>> small = Cell("one_forest", {"n_samples": 100, "trees": 50, "candidates": 25})
    >>> large = Cell("one_forest", {"n_samples": 250, "trees": 500, "candidates": 250})
    >>> work(large) > work(small)
    True
    """
    p = cell.parameters
    if "trees_share" in p:  # maps: some ten thousand vertices
        trees, candidates = 1e4 * p["trees_share"], 1e4 * p["candidates_share"]
    else:
        trees, candidates = p["trees"], p["candidates"]
    # Splits on the way down a tree, by its stop rule; each costs one pass over the samples.
    depth = p.get("max_depth") or 20
    nodes = min(2.0**depth - 1, p["n_samples"] / (8 + 2 * p.get("min_leaf", 1)))
    forest = trees * candidates * p["n_samples"] * max(nodes, 1.0)
    testing = 6e7 * (p["trees"] // p["block"] if "block" in p else 1)  # as long as such a forest
    return float(testing + forest * (1 + p.get("permutations", 0)))


def unfinished(cells: Sequence[Cell], runs: int, store: Store) -> list[Task]:
    """Runs that are still to be computed, each once, in the order of the cells."""
    tasks: dict[str, Task] = {}
    for cell in cells:
        finished = store.runs(cell)
        for run in range(runs):
            if run not in finished:
                tasks.setdefault(f"{cell.key(store.seed)} {run}", (cell, run))
    return list(tasks.values())


def run_cells(
    cells: Sequence[Cell], runs: int, store: Store, *, jobs: int = -1, report: Report = silent
) -> None:
    """Compute what is not in the store yet; every finished run is kept at once.

    Parameters
    ----------
    cells : sequence of Cell
    runs : int
        Runs of each cell.
    store : Store
        Where finished runs are kept.
    jobs : int
        Processes; -1 for all cores. The results do not depend on it.
    report : callable, optional
        Told how much of the work is done, in units of `work`, the finished part included.
    """
    with store.checkpoint:
        tasks = unfinished(cells, runs, store)
        total = sum(runs * work(cell) for cell in {c.key(store.seed): c for c in cells}.values())
        finished_work = total - sum(work(cell) for cell, _ in tasks)
        report(finished_work, total)
        for cell, run, record in _computed(tasks, store.seed, n_threads(jobs)):
            store.add(cell, run, record)
            finished_work += work(cell)
            report(finished_work, total)


def _computed(tasks: list[Task], seed: int, jobs: int) -> Iterator[tuple[Cell, int, Record]]:
    backend = backends.find() or (JoblibBackend(jobs) if min(jobs, len(tasks)) > 1 else None)
    if backend is None:
        yield from (_computed_run(seed, task) for task in tasks)
    else:
        yield from (result for _, result in backend.run(_computed_run, (seed,), tasks))


def _computed_run(seed: int, task: Task) -> tuple[Cell, int, Record]:
    cell, run = task
    return cell, run, compute(cell, seed, run)


def finished_results(cells: Sequence[Cell], runs: int, store: Store) -> Results:
    """Cells all of whose runs are finished, with their records in order."""
    results = []
    for cell in cells:
        records = store.runs(cell)
        if all(run in records for run in range(runs)):
            results.append((cell, [records[run] for run in range(runs)]))
    return results
