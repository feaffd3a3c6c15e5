"""Tallies of Spark ML's random forests, from a fitted or a saved model.

featureSubsetStrategy is the number of candidates of a node. A bag has Poisson multiplicities of
mean subsamplingRate (bootstrap=True), so that a drawn sample has that many further copies on
average, or is drawn without replacement. Each node keeps its class counts, or its sums of y and
y². Lacking are the number of samples, where trees are bagged; the names of the features; and, with
pruneTree=True, the default for classes, splits into two leaves with the same prediction.
"""

from __future__ import annotations

import json
import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import InputError, optional, reason_of
from nullforest.tallies.nodes import (
    Floats,
    needs_samples,
    node_couplings,
    repeated_squares,
    tally_of_nodes,
)
from nullforest.tallies.tally import Tally

_NUMBERS = (
    "For forests of Spark that predict numbers, false positive rates of 1.3 times a level of .05 "
    "and of 3 times a level of .001 were measured (docs/libraries.md); nf.grow(X, y) has virtual "
    "probes, which hold the level."
)
_MODELS = ("RandomForestClassificationModel", "RandomForestRegressionModel")


def read(model: Any, n_samples: int | None) -> Tally:
    """Take the tally of a fitted model, which is saved to a temporary folder for it."""
    if type(model).__name__ == "PipelineModel" and model.stages:
        model = model.stages[-1]
    _check(type(model).__name__)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        try:
            model.write().save(path.as_uri())
            return read_folder(path, n_samples)
        except InputError:
            raise
        except Exception as error:  # of the cluster: its workers write to their own disks
            raise InputError(
                f"Spark could not save the model to this machine ({reason_of(error)}); save it "
                "where this machine can read it, and give the path of that folder."
            ) from None


def read_folder(path: Path, n_samples: int | None) -> Tally:
    """Take the tally of a model that Spark saved."""
    text = next((path / "metadata").glob("part-*"), None)
    if text is None or not (path / "data").is_dir():
        raise InputError(
            f"{path} is a folder, but not that of a whole model of Spark; save it again."
        )
    metadata = json.loads(text.read_text("utf-8"))
    _check(metadata["class"].rpartition(".")[2])
    settings = metadata["defaultParamMap"] | metadata["paramMap"]
    F, classes = int(metadata["numFeatures"]), int(metadata.get("numClasses", 0))
    parquet = optional("pyarrow.parquet", "parquet", "Reading a model of Spark")
    table = parquet.read_table(path / "data").flatten().flatten()
    columns = {name.rpartition(".")[2]: table[name].to_numpy() for name in table.column_names}
    order = np.lexsort((columns["id"], columns["treeID"]))
    columns = {name: values[order] for name, values in columns.items()}
    weight, variance = _moments(np.stack(columns["impurityStats"]), classes)
    roots = columns["id"] == 0
    rate = float(settings["subsamplingRate"])
    replace = bool(settings.get("bootstrap", True))
    whole = rate == 1 and not replace
    n_samples = needs_samples(n_samples, int(weight[roots][0]) if whole else None)
    split = columns["leftChild"] >= 0
    deviance = (weight * variance)[split]
    squares = repeated_squares(weight, rate if replace else 0.0)[split] * variance[split]
    bag = float(weight[roots].mean())
    # Bags are less varied than the whole sample, on average by (n−1)/n.
    total = n_samples * float(variance[roots].mean()) * (1 if whole else bag / max(bag - 1, 1))
    trees = columns["treeID"]
    return tally_of_nodes(
        columns["featureIndex"][split].astype(np.int64),
        n_features=F,
        nodes_per_tree=np.bincount(trees[split], minlength=int(trees.max()) + 1),
        candidates=_candidates(
            str(settings["featureSubsetStrategy"]), F, classes, int(roots.sum())
        ),
        n_samples=n_samples,
        coupling=node_couplings(deviance, squares, total),
        cut=np.array([cut[0] for cut in columns["leftCategoriesOrThreshold"][split]], float),
        notes=[] if classes else [_NUMBERS],
        source=f"Spark {metadata['class'].rpartition('.')[2]}",
    )


def _check(name: str) -> None:
    if name not in _MODELS:
        boosted = " Boosted trees correct each other." if name.startswith("GBT") else ""
        raise InputError(
            f"nullforest cannot take the tally of a {name} of Spark: only trees grown "
            f"independently of each other have a known null distribution.{boosted} Fit a "
            "RandomForestClassifier or RandomForestRegressor."
        )


def _moments(stats: NDArray[np.float64], classes: int) -> tuple[Floats, Floats]:
    """Weight of each node and variance of y in it, one-hot for classes."""
    if classes:
        weight = stats.sum(axis=1)
        share = stats / weight[:, None]
        return weight, np.asarray(1 - (share**2).sum(axis=1))
    weight, mean = stats[:, 0], stats[:, 1] / stats[:, 0]
    return weight, np.maximum(stats[:, 2] / weight - mean**2, 0.0)


def _candidates(strategy: str, F: int, classes: int, n_trees: int) -> int:
    """Features compared at a node, as Spark rounds: up."""
    if strategy == "auto":
        strategy = "all" if n_trees == 1 else "sqrt" if classes else "onethird"
    numbers = {
        "all": F,
        "sqrt": math.ceil(math.sqrt(F)),
        "log2": max(1, math.ceil(math.log2(F))),
        "onethird": math.ceil(F / 3),
    }
    if strategy in numbers:
        return numbers[strategy]
    number = float(strategy)
    return min(int(number), F) if strategy.isdigit() else math.ceil(number * F)
