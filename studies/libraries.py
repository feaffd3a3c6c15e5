"""Forests of other libraries on null data: which null model `auto` takes, and its rate.

python -m studies.libraries [--only LIBRARY ...] [--data-sets N] [--page FILE]

Every library grows a forest on normal features that are independent of the target; the tally is
read from the fitted model and tested. Finished pieces are kept in studies/results, so that an
interrupted study resumes where it stopped.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

import nullforest as nf
from studies.calibration.null_data import randomised_pvalues
from studies.records import Records, with_progress

SAMPLES, FEATURES, TREES = 150, 500, 250
ALPHAS = (0.05, 0.01, 0.001)
DATA_SETS = 20
#: No constant was set on data sets with these seeds. That of ranger's survival forests was set
#: anew, on others (61 000 to 61 010), after a first run had shown rates below the level; its rows
#: are on fresh data sets.
FIRST_SEED, FRESH_SEED = 60_000, 64_000
#: Forests on shuffled columns whose tallies are added.
SHUFFLES = 25

Array = NDArray[Any]
Grow = Callable[[Array, Any, int], nf.Tally]


def two_classes(rng: np.random.Generator, S: int) -> Array:
    """Two classes of equal size."""
    return rng.permutation(np.arange(S) % 2)


def unequal_classes(rng: np.random.Generator, S: int) -> Array:
    """One sample in five is of the rare class."""
    return rng.permutation((np.arange(S) % 5 == 0).astype(int))


def numbers(rng: np.random.Generator, S: int) -> Array:
    """Normal numbers."""
    return rng.normal(size=S)


def survival(rng: np.random.Generator, S: int) -> Array:
    """Exponential times, of which 30 % are censored."""
    return np.column_stack([rng.exponential(size=S), rng.random(S) >= 0.3])


@dataclass(frozen=True)
class Library:
    """A library and a setting of its forest.

    Attributes
    ----------
    name, setting : str
        As the page prints them.
    grow : callable
        (X, y, seed) to the tally.
    y : callable
        Draws the target.
    first_seed : int
        Seed of the first data set.
    """

    name: str
    setting: str
    grow: Grow
    y: Callable[[np.random.Generator, int], Array] = field(default=two_classes)
    first_seed: int = FIRST_SEED


def _sklearn(kind: str, **settings: Any) -> Grow:
    def grow(X: Array, y: Array, seed: int) -> nf.Tally:
        from sklearn import ensemble

        forest = getattr(ensemble, kind)(TREES, random_state=seed, max_features="sqrt", **settings)
        return nf.tally(forest.fit(X, y))

    return grow


def _quantile(min_samples_leaf: int) -> Grow:
    def grow(X: Array, y: Array, seed: int) -> nf.Tally:
        from quantile_forest import RandomForestQuantileRegressor

        settings = {"max_features": "sqrt", "min_samples_leaf": min_samples_leaf}
        forest = RandomForestQuantileRegressor(TREES, random_state=seed, **settings)
        return nf.tally(forest.fit(X, y))

    return grow


def _balanced(**settings: Any) -> Grow:
    def grow(X: Array, y: Array, seed: int) -> nf.Tally:
        from imblearn.ensemble import BalancedRandomForestClassifier

        return nf.tally(
            BalancedRandomForestClassifier(TREES, random_state=seed, **settings).fit(X, y),
            n_samples=len(X),
        )

    return grow


def _survival(kind: str) -> Grow:
    def grow(X: Array, y: Array, seed: int) -> nf.Tally:
        from sksurv import ensemble
        from sksurv.util import Surv

        forest = getattr(ensemble, kind)(TREES, random_state=seed, low_memory=True)
        return nf.tally(forest.fit(X, Surv.from_arrays(y[:, 1] > 0, y[:, 0])))

    return grow


def _shuffled(
    train: Callable[[Array, Array, int, int], Any], shuffles: int
) -> Callable[[Array, Array, int], nf.Tally]:
    """Forests on shuffled columns, TREES trees in all; none shuffled where `shuffles` is 0."""

    def grow(X: Array, y: Array, seed: int) -> nf.Tally:
        if not shuffles:
            return nf.tally(train(X, y, TREES, seed), n_samples=len(X))
        rng, parts = np.random.default_rng(seed), []
        for number in range(shuffles):
            order = rng.permutation(X.shape[1])
            model = train(X[:, order], y, TREES // shuffles, seed + number)
            parts.append(nf.tally(model, n_samples=len(X), columns=order))
        return reduce(add, parts)

    return grow


def _lightgbm(kind: str, shuffles: int, **settings: Any) -> Grow:
    def train(X: Array, y: Array, trees: int, seed: int) -> Any:
        import lightgbm

        common = {"subsample": 0.632, "subsample_freq": 1, "min_child_samples": 5, "verbose": -1}
        model = getattr(lightgbm, kind)(
            boosting_type="rf", n_estimators=trees, random_state=seed, n_jobs=1, **common | settings
        )
        return model.fit(X, y)

    return _shuffled(train, shuffles)


def _xgboost(kind: str, shuffles: int, **settings: Any) -> Grow:
    def train(X: Array, y: Array, trees: int, seed: int) -> Any:
        import xgboost

        model = getattr(xgboost, kind)(
            n_estimators=trees, subsample=0.632, random_state=seed, n_jobs=1, **settings
        )
        return model.fit(X, y)

    return _shuffled(train, shuffles)


#: A session without pages and bars; compiling its queries takes longer than running them.
_SPARK = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.codegen.wholeStage": "false",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}


def _spark(kind: str) -> Grow:
    """A forest of Spark ML in a local session, which stays open until the study ends."""

    def grow(X: Array, y: Array, seed: int) -> nf.Tally:
        from pyspark.ml import classification, regression
        from pyspark.ml.linalg import Vectors
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[1]")
        for name, value in _SPARK.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        rows = [(Vectors.dense(row), float(label)) for row, label in zip(X, y, strict=True)]
        frame = session.createDataFrame(rows, ["features", "label"]).coalesce(1).cache()
        trainer = getattr(classification if "Class" in kind else regression, kind)
        forest = trainer(numTrees=TREES, featureSubsetStrategy="sqrt", seed=seed)
        tally = nf.tally(forest.fit(frame), n_samples=len(X))
        frame.unpersist()
        return tally

    return grow


def _in_r(call: str) -> Grow:
    """A forest of R, from `x`, `y`, `seed` and `trees`, written by r/nullforest.R."""

    def grow(X: Array, y: Array, seed: int) -> nf.Tally:
        source = Path(__file__).parents[1] / "r" / "nullforest.R"
        with tempfile.TemporaryDirectory() as folder:
            np.asarray(X, "<f8").T.tofile(f"{folder}/x.bin")  # R is column-major
            np.asarray(y, "<f8").T.tofile(f"{folder}/y.bin")
            script = f"""
            source("{source}")
            x <- as.data.frame(matrix(readBin("{folder}/x.bin", "double", {X.size}), {len(X)}))
            y <- readBin("{folder}/y.bin", "double", {y.size})
            if (all(y %in% 0:1)) y <- factor(y)
            if (length(y) > nrow(x)) y <- matrix(y, nrow(x))
            trees <- {TREES}; seed <- {seed}; set.seed(seed)
            forest <- {call}
            write_forest(forest, x, if (is.matrix(y)) NULL else y, "{folder}/forest.json.gz")
            """
            done = subprocess.run(
                ["Rscript", "--vanilla", "-e", script], capture_output=True, text=True, check=False
            )
            if done.returncode:
                raise RuntimeError(done.stderr)
            return nf.tally(f"{folder}/forest.json.gz")

    return grow


_RANGER = "ranger::ranger(x = x, y = y, num.trees = trees, seed = seed, num.threads = 1"
_COX = (
    "ranger::ranger(dependent.variable.name = 'time', status.variable.name = 'event', data = "
    "cbind(x, time = y[, 1], event = y[, 2]), num.trees = trees, seed = seed, num.threads = 1, "
    "keep.inbag = TRUE)"
)
_RF = "randomForest::randomForest(x, y, ntree = trees, keep.inbag = TRUE"
_NODE = {"feature_fraction_bynode": 0.04}
_XNODE = {"colsample_bynode": 0.04}
LIBRARIES = (
    Library("scikit-learn", "RandomForestClassifier", _sklearn("RandomForestClassifier")),
    Library("scikit-learn", "RandomForestRegressor", _sklearn("RandomForestRegressor"), numbers),
    Library("quantile-forest", "RandomForestQuantileRegressor", _quantile(1), numbers),
    Library("quantile-forest", "the same, min_samples_leaf=5", _quantile(5), numbers),
    Library("imbalanced-learn", "BalancedRandomForest, 80/20", _balanced(), unequal_classes),
    Library(
        "imbalanced-learn",
        "the same, bootstrap=True, replacement=False",
        _balanced(bootstrap=True, replacement=False, sampling_strategy="auto"),
        unequal_classes,
    ),
    Library(
        "scikit-survival",
        "RandomSurvivalForest, 30 % censored",
        _survival("RandomSurvivalForest"),
        survival,
    ),
    Library(
        "scikit-survival",
        "ExtraSurvivalTrees, 30 % censored",
        _survival("ExtraSurvivalTrees"),
        survival,
    ),
    Library("ranger", "classes, bootstrap", _in_r(_RANGER + ", keep.inbag = TRUE)")),
    Library(
        "ranger",
        "classes, 63.2 % without replacement",
        _in_r(_RANGER + ", keep.inbag = TRUE, replace = FALSE)"),
    ),
    Library("ranger", "classes, without keep.inbag", _in_r(_RANGER + ")")),
    Library("ranger", "numbers", _in_r(_RANGER + ", keep.inbag = TRUE)"), numbers),
    Library("ranger", "survival, 30 % censored", _in_r(_COX), survival, FRESH_SEED),
    Library("ranger", 'splitrule = "extratrees"', _in_r(_RANGER + ', splitrule = "extratrees")')),
    Library("randomForest", "classes", _in_r(_RF + ")")),
    Library("randomForest", "numbers, mtry = √F", _in_r(_RF + ", mtry = 22)"), numbers),
    Library("LightGBM", "classes, columns in order", _lightgbm("LGBMClassifier", 0, **_NODE)),
    Library("LightGBM", "classes, columns shuffled once", _lightgbm("LGBMClassifier", 1, **_NODE)),
    Library(
        "LightGBM",
        f"classes, {SHUFFLES} shuffled forests",
        _lightgbm("LGBMClassifier", SHUFFLES, **_NODE),
    ),
    Library(
        "LightGBM",
        f"classes, feature_fraction .3, {SHUFFLES} shuffled",
        _lightgbm("LGBMClassifier", SHUFFLES, feature_fraction=0.3, feature_fraction_bynode=0.1),
    ),
    Library(
        "LightGBM",
        f"numbers, {SHUFFLES} shuffled forests",
        _lightgbm("LGBMRegressor", SHUFFLES, **_NODE),
        numbers,
    ),
    Library("XGBoost", "classes, columns in order", _xgboost("XGBRFClassifier", 0, **_XNODE)),
    Library("XGBoost", "classes, columns shuffled once", _xgboost("XGBRFClassifier", 1, **_XNODE)),
    Library(
        "XGBoost",
        f"classes, {SHUFFLES} shuffled forests",
        _xgboost("XGBRFClassifier", SHUFFLES, **_XNODE),
    ),
    Library(
        "XGBoost",
        f"classes, colsample_bytree .3, {SHUFFLES} shuffled",
        _xgboost("XGBRFClassifier", SHUFFLES, colsample_bytree=0.3, colsample_bynode=0.1),
    ),
    Library(
        "XGBoost",
        f"classes, colsample_bylevel .04, {SHUFFLES} shuffled",
        _xgboost("XGBRFClassifier", SHUFFLES, colsample_bylevel=0.04, colsample_bynode=1),
    ),
    Library(
        "XGBoost",
        f"numbers, {SHUFFLES} shuffled forests",
        _xgboost("XGBRFRegressor", SHUFFLES, **_XNODE),
        numbers,
    ),
    Library(
        "XGBoost",
        f"the same, min_child_weight=5, {SHUFFLES} shuffled",
        _xgboost("XGBRFRegressor", SHUFFLES, min_child_weight=5, **_XNODE),
        numbers,
    ),
    Library("Spark ML", "RandomForestClassifier", _spark("RandomForestClassifier")),
    Library("Spark ML", "RandomForestRegressor", _spark("RandomForestRegressor"), numbers),
)


def run(libraries: list[str], data_sets: int) -> None:
    """Grow and test every forest that is not in the results yet."""
    records = Records("libraries", ("library", "setting", "seed"))
    done = records.done()
    pieces = [
        (library, library.first_seed + number)
        for number in range(data_sets)
        for library in LIBRARIES
        if library.name in libraries
        and (library.name, library.setting, str(library.first_seed + number)) not in done
    ]
    for library, seed in with_progress(pieces, "forests of other libraries"):
        rng = np.random.default_rng([seed, 20])
        X, y = rng.normal(size=(SAMPLES, FEATURES)), library.y(rng, SAMPLES)
        start = perf_counter()
        tally = library.grow(X, y, seed)
        seconds = perf_counter() - start
        null = nf.null(tally)
        pvalues = randomised_pvalues(null, tally.counts, rng)
        selection = nf.select(tally, null=null)
        row = {
            "library": library.name,
            "setting": library.setting,
            "seed": seed,
            "null": null.kind,
            "draw": tally.draw,
            "candidates": tally.candidates,
            "nodes": tally.n_nodes,
            **{f"at {alpha:g}": int(np.sum(pvalues <= alpha)) for alpha in ALPHAS},
            "features": FEATURES,
            "selected": selection.n_selected,
            "trend": int("with the column number" in " ".join(selection.notes)),
            "seconds": round(seconds, 2),
        }
        records.add([row])


def main() -> None:
    """Run what is not finished, then write the page."""
    names = list(dict.fromkeys(library.name for library in LIBRARIES))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", choices=names, default=names)
    parser.add_argument("--data-sets", type=int, default=DATA_SETS)
    parser.add_argument("--page", type=Path, help="write the tables into this page")
    arguments = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the libraries, about names of columns
        run(arguments.only, arguments.data_sets)
    if arguments.page:
        from studies.libraries_page import with_tables

        arguments.page.write_text(with_tables(arguments.page.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
