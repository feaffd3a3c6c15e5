"""Time to the answer on small tables, beside boruta_py and one fit of scikit-learn's forest.

    python benchmarks/tables.py [--only NAME ...] [--without boruta_py] [--limit 21]

Two threads each. nullforest: ranking, forest with shadows and selection with the defaults, the
median of three seeds. scikit-learn: one forest with as many trees as nullforest grew, its other
settings the defaults; scikit-learn-intelex the same, patched, where it is installed (256 bins).
boruta_py: its defaults on scikit-learn's forest of depth 5, as its documentation advises, once.
With a limit the others are stopped after so many times nullforest's time, so that their time is a
lower bound; the number selected is empty then.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

import nullforest as nf
from time_limit import stopped_after

THREADS = 2
RESULTS = Path(__file__).parent / "results" / "tables.csv"


def _made(S: int, F: int) -> Callable[[], tuple[Any, Any]]:
    return lambda: datasets.make_classification(S, F, n_informative=F // 4, random_state=0)


TABLES: dict[str, Callable[[], tuple[Any, Any]]] = {
    "diabetes": lambda: datasets.load_diabetes(return_X_y=True),
    "breast cancer": lambda: datasets.load_breast_cancer(return_X_y=True),
    "1000 × 20": _made(1000, 20),
    "5000 × 50": _made(5000, 50),
    "20000 × 30": _made(20_000, 30),
}


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What the work returns, and its seconds."""
    start = perf_counter()
    found = work()
    return found, perf_counter() - start


def ours(X: Any, y: Any) -> tuple[int, int, float]:
    """Trees, features selected and seconds; the medians of three seeds."""
    found = []
    for seed in range(3):
        forest, seconds = timed(lambda seed=seed: nf.grow(X, y, seed=seed, n_jobs=THREADS))
        selection, more = timed(lambda forest=forest: nf.select(forest))
        found.append((forest.n_trees, selection.n_selected, seconds + more))
    trees, selected, seconds = np.median(found, axis=0)
    return int(trees), int(selected), float(seconds)


def forest_of(y: Any, **settings: Any) -> Any:
    """scikit-learn's forest for the target."""
    kind = RandomForestClassifier if len(np.unique(y)) <= 20 else RandomForestRegressor
    return kind(n_jobs=THREADS, random_state=0, **settings)


def one_fit(X: Any, y: Any, trees: int) -> int:
    """One fit of scikit-learn's forest, which selects nothing."""
    forest_of(y, n_estimators=trees).fit(X, y)
    return 0


def intelex(X: Any, y: Any, trees: int) -> int:
    """One fit of the patched forest."""
    from sklearnex import ensemble

    name = type(forest_of(y)).__name__
    getattr(ensemble, name)(trees, n_jobs=THREADS, random_state=0).fit(X, y)
    return 0


def boruta(X: Any, y: Any, _trees: int) -> int:
    """Features that boruta_py confirms."""
    from boruta import BorutaPy

    test = BorutaPy(forest_of(y, max_depth=5), n_estimators="auto", random_state=0)
    return int(test.fit(X, y).support_.sum())


OTHERS = {"scikit-learn": one_fit, "scikit-learn-intelex": intelex, "boruta_py": boruta}


def main() -> None:
    """Print the table, and keep its rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=list(TABLES))
    parser.add_argument("--without", nargs="*", default=[])
    parser.add_argument("--limit", type=float, help="stop others after so many times our time")
    arguments = parser.parse_args()
    others = [name for name in OTHERS if name not in arguments.without]
    if importlib.util.find_spec("sklearnex") is None and "scikit-learn-intelex" in others:
        others.remove("scikit-learn-intelex")
    rows = []
    for name in arguments.only:
        X, y = TABLES[name]()
        # The first call in a process loads libraries.
        nf.select(nf.grow(X[:, :5], y, max_trees=100))
        trees, selected, seconds = ours(X, y)
        row: dict[str, Any] = {"table": name, "trees": trees, "selected": selected}
        row["nullforest"] = seconds
        limit = (arguments.limit or math.inf) * seconds
        for other in others:
            work = partial(OTHERS[other], X, y, trees)
            row[f"{other} selected"], row[other] = stopped_after(limit, work)
        rows.append({k: round(v, 3) if isinstance(v, float) else v for k, v in row.items()})
        print(rows[-1], flush=True)
    table = pd.DataFrame(rows)
    if RESULTS.exists():
        old = pd.read_csv(RESULTS)
        kept = old[~old["table"].isin(table["table"])].to_dict("records")
        table = pd.DataFrame([*kept, *rows])
    table["version"] = nf.__version__
    table.to_csv(RESULTS, index=False)


if __name__ == "__main__":
    main()
