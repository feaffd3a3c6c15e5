"""A small piece of all kernels, to be run under valgrind: `python memcheck.py _native.so`."""

import importlib.util
import itertools
import os
import sys

import numpy as np


def main(library: str) -> None:
    """Grow small forests with the kernel of this file alone: the library imports slowly."""
    spec = importlib.util.spec_from_file_location("_native", library)
    _native = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(_native)

    rng = np.random.default_rng(0)
    # Valgrind does not know AVX-512.
    for isa, S, missing in itertools.product(("portable", "avx2"), (37, 300, 1100), (False, True)):
        os.environ["NULLFOREST_ISA"] = isa
        X = rng.normal(size=(S, 12))
        X[:, ::3] = np.round(X[:, ::3])
        if missing:
            X[rng.random(X.shape) < 0.05] = np.nan
        table = _native.RankTable(X, 1)
        strata = np.zeros(12, np.int64)
        for criterion, way in itertools.product(
            ("gini", "entropy", "variance"), ("plain", "bootstrap", "weights")
        ):
            if way == "weights" and S == 37:
                continue
            replace = way == "bootstrap"
            weight = rng.random(S) + 0.5 if way == "weights" else None
            n_classes = {"gini": 2, "entropy": 3, "variance": 0}[criterion]
            y = rng.normal(size=(S, 1)) if criterion == "variance" else np.arange(S) % n_classes
            target = (criterion, y, n_classes, weight)
            found = _native.association_of_rankings(table, strata, [False], *target, 1, 0, 4, 1)
            assert np.isfinite(found).all()
            rates = (2**16, 2**15)
            rankings, weights = np.arange(16, dtype=np.uint32), 1.0 + found.astype(float)
            probes = _native.Probes(
                table, strata, [16], [missing], 1, *rates, [0 if missing else 4], rankings, weights
            )
            settings = {
                "trees": 1,
                "candidates": 5,
                "pool": 12,
                "samples": S // 2,
                "replace": replace,
                "min_leaf": 3 if replace else 1,
                "min_split": 2,
                "max_depth": 2**32 - 1,
                "min_gain": 0.0,
                "seed": 1,
                "first_tree": 0,
                "keep_trees": True,
                "oob": True,
                "listed": False,
            }
            edges = [0.0, 0.1, 0.5, 1.0]
            forest = _native.grow(table, *target, settings, probes, edges, 1, 0.0, {}, None)
            trees = forest["trees"]
            assert np.isfinite(_native.predict(trees, X, S, 1)).all()
            _native.permuted_errors(trees, X, S, y, n_classes > 0, settings, 1)
    print("done")


if __name__ == "__main__":
    main(sys.argv[1])
