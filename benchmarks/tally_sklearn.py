"""Time to read a scikit-learn forest of 500 trees.

Run: python benchmarks/tally_sklearn.py
"""

from __future__ import annotations

from time import perf_counter

import numpy as np
from sklearn.ensemble import RandomForestClassifier

import nullforest as nf


def main() -> None:
    rng = np.random.default_rng(0)
    for S, F in [(250, 5_000), (500, 100_000)]:
        X, y = rng.normal(size=(S, F)).astype(np.float32), rng.integers(2, size=S)
        start = perf_counter()
        forest = RandomForestClassifier(500, max_features="sqrt", n_jobs=2).fit(X, y)
        fitted = perf_counter()
        times = []
        for _ in range(5):
            begin = perf_counter()
            nf.tally(forest)
            times.append(perf_counter() - begin)
        print(
            f"{S} x {F}, 500 trees: tally {min(times):.3f} s, "
            f"{(fitted - start) / min(times):.0f} times less than the fit"
        )


if __name__ == "__main__":
    main()
