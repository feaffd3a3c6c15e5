"""Time to the default answer, beside ranger's Janitza test and boruta_py, in one run.

    python benchmarks/answer.py [--data FOLDER] [--repeats 3] [--limit 21] [--untimed]

FOLDER holds golub.npz, singh.npz, alon.npz, khan.npz, riboflavin.npz and madelon.npz (X, y). Two
threads each. nullforest: ranking, forest and selection with the defaults, the median of several
seeds. Janitza's test: 5 000 trees and ranger's other defaults, timed within R, where the data are
in memory. boruta_py: 1 000 trees and 100 rounds, its defaults, on scikit-learn's forest, once; with
a limit it is stopped after so many times nullforest's time, and its time is a lower bound. Untimed,
only boruta_py runs, to its end: what it selects is kept, its time is not (other work may go on).
"""

from __future__ import annotations

import argparse
import math
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd

import nullforest as nf
from nullforest.selection.error_rates import decide
from studies.packages import PACKAGES, PackageTask
from studies.power import REAL, SIMULATED, available, load, univariate
from time_limit import stopped_after

THREADS = 2
RESULTS = Path(__file__).parent / "results" / "answer.csv"


def data_sets(folder: Path | None) -> dict[str, tuple[Any, Any]]:
    """Real data, and the paper's generator with weak and strong features."""
    found = {name: load(name, folder)[:2] for name in available(REAL, folder)}
    for share, relevance in SIMULATED:
        name = f"generator, {share:.0%}" + (f", ρ = {relevance:g}" if share else "")
        found[name] = nf.simulate.independent(100, 2000, round(2000 * share), relevance)[:2]
    return found


def ours(X: Any, y: Any, repeats: int) -> tuple[int, float]:
    """Features selected and seconds, the medians over several seeds."""
    found = []
    for seed in range(repeats):
        start = perf_counter()
        selection = nf.select(nf.grow(X, y, seed=seed, n_jobs=THREADS, oob=False))
        found.append((selection.n_selected, perf_counter() - start))
    number, seconds = np.median(found, axis=0)
    return int(number), float(seconds)


def other(name: str, X: Any, y: Any) -> tuple[int, float]:
    """Features selected and seconds of a test in another package."""
    trees, F = (1000 if name == "boruta_py" else 5000), X.shape[1]
    task = PackageTask(
        X=np.asarray(X, float),
        y=np.asarray(y),
        classes=len(np.unique(y)) <= 20,
        trees=trees,
        candidates=math.isqrt(F),
        samples=X.shape[0],
        replace=True,
        permutations=0,
        rounds=100,
        alpha=0.05,
        seed=1,
        n_jobs=THREADS,
    )
    start = perf_counter()
    result = PACKAGES[name].run(task)
    seconds = perf_counter() - start if result.seconds is None else result.seconds
    support = result.support
    if support is None:
        support = decide(np.nan_to_num(result.pvalues, nan=1.0), 0.05, "fdr").support
    return int(support.sum()), seconds


def keep(found: list[tuple[str, str, int, float]]) -> None:
    """Put the rows of one data set into the results, in place of earlier ones."""
    rows = pd.DataFrame(found, columns=["data", "test", "selected", "seconds"]).round(3)
    rows["version"] = nf.__version__
    if RESULTS.exists():
        rows = pd.concat([pd.read_csv(RESULTS), rows]).drop_duplicates(
            ["data", "test"], keep="last"
        )
    rows.to_csv(RESULTS, index=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder of the NPZ files")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--without", nargs="*", default=[], help="tests to leave out")
    parser.add_argument("--only", nargs="*", help="data sets; all where not given")
    parser.add_argument("--limit", type=float, help="stop boruta_py after so many times our time")
    parser.add_argument("--untimed", action="store_true", help="what boruta_py selects, no times")
    arguments = parser.parse_args()
    if arguments.untimed:
        for data, (X, y) in data_sets(arguments.data).items():
            if not arguments.only or data in arguments.only:
                keep([(data, "boruta_py", other("boruta_py", X, y)[0], math.nan)])
        return
    names = [n for n in ("ranger_janitza", "boruta_py") if n not in arguments.without]
    header = " | ".join(f"{n} | ÷ nullforest" for n in names)
    print(f"| data | samples × features | nullforest | {header} |")
    print("|---|---|---|" + "---|---|" * len(names), flush=True)
    for data, (X, y) in data_sets(arguments.data).items():
        if arguments.only and data not in arguments.only:
            continue
        nf.select(nf.grow(X[:, :50], y, trees=100))  # the first call in a process loads libraries
        found = {"nullforest": ours(X, y, arguments.repeats)}
        for name in [n for n in names if not PACKAGES[n].missing()]:
            if arguments.limit and name == "boruta_py":
                most = arguments.limit * found["nullforest"][1]
                ended, seconds = stopped_after(most, partial(other, name, X, y))
                found[name if ended else f"{name}, stopped"] = ended or (0, seconds)
            else:
                found[name] = other(name, X, y)
        start = perf_counter()
        number = int(decide(univariate(X, y), 0.05, "fdr").support.sum())
        found["univariate"] = number, perf_counter() - start
        keep([(data, test, *numbers) for test, numbers in found.items()])
        base = found["nullforest"][1]
        cells = [
            f"{found[n][1]:.1f} s | {found[n][1] / base:.1f}" if n in found else "– | –"
            for n in names
        ]
        shape = f"{X.shape[0]} × {X.shape[1]}"
        print(f"| {data} | {shape} | {base:.2f} s | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
