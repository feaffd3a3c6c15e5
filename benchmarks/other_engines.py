"""The same forest grown by nullforest and by other packages: one small adapter each.

Every adapter takes (X, y, trees, candidates) and returns the seconds on the clock and the seconds
of processor time, summed over threads, that one forest took.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

Seconds = tuple[float, float]
THREADS = 2


def timed(work: Callable[[], object]) -> Seconds:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def nullforest(X, y, trees, candidates, **settings) -> Seconds:
    """The whole of nf.grow: ranking and growing."""
    import nullforest as nf

    chosen = {"keep_trees": False, "oob": False, "probes": 0, "max_depth": None} | settings
    chosen["n_jobs"] = THREADS
    return timed(lambda: nf.grow(X, y, trees=trees, candidates=candidates, **chosen))


def nullforest_predicting(X, y, trees, candidates) -> Seconds:
    """With the trees kept and out-of-bag predictions, as scikit-learn keeps its trees."""
    return nullforest(X, y, trees, candidates, keep_trees=True, oob=True)


def nullforest_bootstrap(X, y, trees, candidates) -> Seconds:
    """Half of the samples drawn with replacement: scikit-learn's only way to draw a part."""
    return nullforest(X, y, trees, candidates, replace=True)


def scikit_learn(X, y, trees, candidates) -> Seconds:
    """RandomForest: draws S/2 samples with replacement, so its trees are a fifth smaller."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    kind = RandomForestRegressor if y.dtype.kind == "f" else RandomForestClassifier
    forest = kind(
        trees, max_features=candidates, max_samples=len(y) // 2, n_jobs=THREADS, random_state=0
    )
    return timed(lambda: forest.fit(X, y))


RANGER = """
suppressMessages(library(ranger))
a <- commandArgs(TRUE); S <- as.integer(a[2]); F <- as.integer(a[3])
con <- file(a[1], "rb"); x <- matrix(readBin(con, "double", S * F), S, F)
y <- readBin(con, "double", S); close(con)
colnames(x) <- paste0("x", seq_len(F)); y <- factor(y)
t <- system.time(ranger(x = x, y = y, num.trees = as.integer(a[4]), mtry = as.integer(a[5]),
  num.threads = as.integer(a[6]), replace = FALSE, sample.fraction = 0.5, min.node.size = 1,
  oob.error = FALSE, write.forest = FALSE, verbose = FALSE))
cat(t[["elapsed"]], t[["user.self"]] + t[["sys.self"]])
"""


def has_ranger() -> bool:
    if shutil.which("Rscript") is None:
        return False
    return subprocess.run(["Rscript", "-e", "library(ranger)"], capture_output=True).returncode == 0


def ranger(X, y, trees, candidates) -> Seconds:
    """R's ranger, timed inside R, the reading of the data left out."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.bin"
        with path.open("wb") as file:
            file.write(np.asfortranarray(X, dtype=float).tobytes(order="F"))
            file.write(np.asarray(y, dtype=float).tobytes())
        arguments = [path, *X.shape, trees, candidates, THREADS]
        done = subprocess.run(
            ["Rscript", "-e", RANGER, *map(str, arguments)],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "OMP_NUM_THREADS": str(THREADS)},
        )
    wall, cpu = done.stdout.split()[-2:]
    return float(wall), float(cpu)


def peak_megabytes() -> float:
    """Largest memory that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
