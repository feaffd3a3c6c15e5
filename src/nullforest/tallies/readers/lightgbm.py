"""Tallies of LightGBM's random forests (boosting="rf"), from the text of the model.

feature_fraction is the pool of a tree, feature_fraction_bynode the candidates of a node; both are
rounded, to one feature at least. Bags are drawn without replacement. The sizes of nodes are kept.
The variance of y in a node is known for classes, from the mean that the node predicts: at the
constant start p₀ of a forest, a node predicts log-odds + (ȳ−p₀) / (p₀(1−p₀)). For numeric targets
it is that expected under the null. Of equally good candidates the lowest column is split, and the
random numbers with which columns are drawn favour some columns over others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from nullforest._util.errors import InputError
from nullforest.tallies.nodes import (
    Floats,
    expected_variances,
    needs_samples,
    node_couplings,
    tally_of_nodes,
)
from nullforest.tallies.tally import Tally

#: Settings with which null features do not have equal chances.
_UNEQUAL = (
    "interaction_constraints",
    "feature_contri",
    "forcedsplits_filename",
    "cegb_penalty_feature_lazy",
    "cegb_penalty_feature_coupled",
)


def read(model: Any, n_samples: int | None) -> Tally:
    """Take the tally of a fitted LightGBM model: a Booster, or an estimator that holds one."""
    booster = getattr(model, "_Booster", model)
    if booster is None:
        raise InputError(f"This {type(model).__name__} is not fitted yet; call fit(X, y) first.")
    if not hasattr(booster, "model_to_string"):
        raise InputError(f"A {type(model).__name__} of LightGBM is no model; give a Booster.")
    data = getattr(booster, "train_set", None)
    if n_samples is None and data is not None and data._handle is not None:
        n_samples = int(data.num_data())
    return read_text(booster.model_to_string(num_iteration=-1), n_samples)


def read_text(text: str, n_samples: int | None) -> Tally:
    """Take the tally of a model as text, as `Booster.save_model` writes it."""
    head, *blocks = text.partition("\nend of trees")[0].split("\nTree=")
    header = _fields(head)
    settings = dict(
        line.strip("[]").split(": ", 1) for line in text.splitlines() if line.startswith("[")
    )
    if "average_output" not in header:
        raise InputError(
            "This LightGBM model is boosted: each tree corrects the ones before it, so that the "
            'selection counts have no known null distribution. Train with boosting="rf", or use '
            "nf.grow(X, y)."
        )
    for name in _UNEQUAL:
        if settings.get(name):
            raise InputError(f"With {name}, null features have unequal chances; train without it.")
    if settings.get("data_sample_strategy") == "goss":
        raise InputError("GOSS draws samples by their gradients; train with bagging_fraction.")
    trees = [_fields(block) for block in blocks]
    names = header["feature_names"].split(" ")
    F = len(names)
    split = [tree for tree in trees if "split_feature" in tree]
    if not split:
        raise InputError("No tree of this LightGBM model has a split, so that nothing is counted.")
    bag = float(settings.get("bagging_fraction", 1)) if settings.get("bagging_freq") != "0" else 1.0
    roots = np.array([_numbers(tree, "internal_count")[0] for tree in split])
    n_samples = needs_samples(n_samples, int(roots[0]) if bag == 1 else None)
    constant = [name for name in header["feature_infos"].split(" ") if name == "none"]
    n_varying = F - len(constant)
    pool = _part(n_varying, float(settings.get("feature_fraction", 1)))
    candidates = _part(pool, float(settings.get("feature_fraction_bynode", 1)))
    per_iteration = int(header["num_tree_per_iteration"])
    starts = [_start(trees[k::per_iteration], header) for k in range(per_iteration)]
    deviance = np.concatenate(
        [
            _numbers(tree, "internal_count")
            * _variance(tree, starts[i % per_iteration], candidates)
            for i, tree in enumerate(trees)
            if "split_feature" in tree
        ]
    )
    feature = np.concatenate([_numbers(tree, "split_feature") for tree in split]).astype(np.int64)
    nodes = [int(tree["num_leaves"]) - 1 for tree in trees]
    plain = all(name == f"Column_{i}" for i, name in enumerate(names))
    return tally_of_nodes(
        feature,
        n_features=F,
        nodes_per_tree=np.array(nodes),
        pool_per_tree=np.full(len(nodes), pool if pool < n_varying else F),
        candidates=candidates,
        n_samples=n_samples,
        coupling=node_couplings(deviance, deviance, n_samples),
        cut=np.concatenate([_numbers(tree, "threshold") for tree in split]),
        feature_names=None if plain else np.array(names, str),
        splitter="random" if settings.get("extra_trees") == "1" else "best",
        column_orders=1,
        source="LightGBM random forest",
    )


def _fields(block: str) -> dict[str, str]:
    """Lines `name=value`, and those of a name alone."""
    lines = (line.partition("=") for line in block.splitlines())
    return {name: value for name, _, value in lines if name}


def _numbers(tree: dict[str, str], name: str) -> Floats:
    return np.array(tree[name].split(" "), float)


def _part(of: int, fraction: float) -> int:
    """Features drawn of so many, as LightGBM rounds."""
    return of if fraction >= 1 else max(int(of * fraction + 0.5), 1)


@dataclass(frozen=True)
class _Start:
    """Constant start of the trees of one class: p₀, its log-odds, and the hessian of a sample."""

    p: float
    log_odds: float
    hessian: float


def _start(trees: list[dict[str, str]], header: dict[str, str]) -> _Start | None:
    """The constant start of the trees of one class; None where it is not known.

    A node of n samples has the hessian n h, h = c p₀(1−p₀) with c = K/(K−1) for softmax and 1 for
    the logistic loss. Of the two p₀ that fit, that which the roots predict is taken.
    """
    trees = [tree for tree in trees if "split_feature" in tree]
    objective, *options = header.get("objective", "").split(" ")
    if objective not in ("binary", "multiclass", "multiclassova") or not trees:
        return None
    softmax = objective == "multiclass"
    K = int(header["num_class"])
    factor = K / (K - 1) if softmax else 1.0
    if not softmax and "sigmoid:1" not in options:
        return None
    count = np.array([_numbers(tree, "internal_count")[0] for tree in trees])
    hessian = np.array([_numbers(tree, "internal_weight")[0] for tree in trees]) / count
    product = float(hessian.mean()) / factor
    if not 0 < product < 0.2501 or np.ptp(hessian) > 1e-3 * hessian.max():
        return None  # samples with weights
    predicted = np.mean([_numbers(tree, "internal_value")[0] for tree in trees])
    predicted = np.exp(predicted) if softmax else expit(predicted)
    half = np.sqrt(max(0.25 - product, 0.0))
    p = min((0.5 - half, 0.5 + half), key=lambda value: abs(value - predicted))
    return _Start(p, float(np.log(p) if softmax else np.log(p / (1 - p))), product * factor)


def _variance(tree: dict[str, str], start: _Start | None, candidates: int) -> Floats:
    """Variance of y in each internal node of a tree, relative to that of the whole sample."""
    if start is None:
        # Leaves have negative numbers and are not listed; node 0, the root, is no child.
        left, right = (_numbers(tree, f"{side}_child").astype(int) for side in ("left", "right"))
        n = np.append(_numbers(tree, "internal_count"), 1.0)
        ends = [np.append(np.where(side < 0, len(n) - 1, side), -1) for side in (left, right)]
        return expected_variances(ends[0], ends[1], n, candidates)[:-1]
    step = _numbers(tree, "internal_value") - start.log_odds
    mean = np.clip(start.p + step * start.hessian, 0.0, 1.0)
    return np.asarray(np.maximum(mean * (1 - mean), 1e-12) / (start.p * (1 - start.p)))
