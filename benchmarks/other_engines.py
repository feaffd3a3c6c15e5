"""The same forest grown by nullforest and by other packages: one small adapter each.

Every adapter takes (X, y, trees, candidates) and returns the seconds on the clock and the seconds
of processor time, summed over threads, that one forest took.
"""

from __future__ import annotations

import importlib.util
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


def _forest(kinds, y, trees, candidates):
    """As many samples with replacement as half of the sample: the trees are a fifth smaller."""
    kind = kinds.RandomForestRegressor if y.dtype.kind == "f" else kinds.RandomForestClassifier
    return kind(
        trees, max_features=candidates, max_samples=len(y) // 2, n_jobs=THREADS, random_state=0
    )


def scikit_learn(X, y, trees, candidates) -> Seconds:
    """RandomForest, which can draw a part of the samples with replacement only."""
    from sklearn import ensemble

    forest = _forest(ensemble, y, trees, candidates)
    return timed(lambda: forest.fit(X, y))


def has_intelex() -> bool:
    return importlib.util.find_spec("sklearnex") is not None


def scikit_learn_intelex(X, y, trees, candidates) -> Seconds:
    """Intel's RandomForest (the extra `benchmark`): histograms of at most 256 bins, by default."""
    from sklearnex import ensemble

    forest = _forest(ensemble, y, trees, candidates)
    return timed(lambda: forest.fit(X, y))


RANGER = """
suppressMessages(library(ranger))
a <- commandArgs(TRUE); S <- as.integer(a[2]); F <- as.integer(a[3])
con <- file(a[1], "rb"); x <- matrix(readBin(con, "double", S * F), S, F)
y <- readBin(con, "double", S); close(con)
colnames(x) <- paste0("x", seq_len(F)); if (a[7] == "classes") y <- factor(y)
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
        target = "numbers" if y.dtype.kind == "f" else "classes"
        arguments = [path, *X.shape, trees, candidates, THREADS, target]
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
