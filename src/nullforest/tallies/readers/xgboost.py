"""Tallies of XGBoost's random forests (XGBRFClassifier, XGBRFRegressor, num_parallel_tree).

colsample_bytree is the pool of a tree; colsample_bylevel and colsample_bynode together are the
candidates of a node. All are rounded down. The nodes of one level share the candidates of their
level, which here count as drawn at each node. Bags are drawn without replacement. Each node keeps
its hessian, which is in proportion to its samples since all predictions start at one constant. For
classes the variance of y in a node follows from its weight, −G/(H+λ); for numbers it is that
expected under the null. Of equally good candidates the lowest column is split.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import softmax

from nullforest._util.errors import InputError
from nullforest.tallies.nodes import (
    MANY_TINY,
    TINY,
    Floats,
    expected_variances,
    needs_samples,
    node_couplings,
    tally_of_nodes,
)
from nullforest.tallies.tally import Tally

#: First release whose models hold the start of the predictions as it is read here.
OLDEST = (3, 2, 0)
#: Losses of two and of several classes.
_LOGISTIC = ("binary:logistic", "binary:logitraw", "reg:logistic")
_SOFTMAX = ("multi:softprob", "multi:softmax")
#: Settings with which the weight of a node is not −G/(H+λ).
_SHRINKING = ("alpha", "max_delta_step")
_BY_LEVEL = (
    "Nodes of one level of a tree share their candidates (colsample_bylevel), which the null model "
    "takes for drawn at each node; use colsample_bynode instead."
)
_TINY_NODES = (
    f"Many nodes of these trees hold fewer than {TINY} samples, where most candidates are equally "
    "good and the lowest column is split, so that p-values are too small; train with "
    "min_child_weight=5."
)


def read(model: Any, n_samples: int | None) -> Tally:
    """Take the tally of a fitted XGBoost model: a Booster, or an estimator that holds one."""
    booster = model
    if hasattr(model, "get_booster"):
        if not model.__sklearn_is_fitted__():
            raise InputError(
                f"This {type(model).__name__} is not fitted yet; call fit(X, y) first."
            )
        booster = model.get_booster()
    if not hasattr(booster, "save_raw"):
        raise InputError(f"A {type(model).__name__} of XGBoost is no model; give a Booster.")
    if getattr(model, "feature_weights", None) is not None:
        raise InputError("With feature_weights null features have unequal chances; train without.")
    saved = json.loads(bytes(booster.save_raw("json")))
    config = json.loads(booster.save_config())["learner"]["gradient_booster"]
    return read_saved(saved, n_samples, config.get("tree_train_param", {}))


def read_saved(
    saved: dict[str, Any], n_samples: int | None, config: dict[str, str] | None = None
) -> Tally:
    """Take the tally of a model as in `Booster.save_model("model.json")`.

    The settings `config` with which columns and samples were drawn are not in that file; without
    them the candidates are unknown.
    """
    if tuple(saved["version"]) < OLDEST:
        raise InputError(
            f"This is a model of XGBoost {'.'.join(map(str, saved['version']))}, which starts its "
            "predictions elsewhere; install xgboost>=3.2, load it there and save it, or train anew."
        )
    learner = saved["learner"]
    booster = learner["gradient_booster"]
    if booster["name"] != "gbtree":
        raise InputError(
            f"This XGBoost model is a {booster['name']}, not a random forest; train "
            "XGBRFClassifier or XGBRFRegressor, or use nf.grow(X, y)."
        )
    model = booster["model"]
    classes = max(int(learner["learner_model_param"].get("num_class", 0)), 1)
    targets = max(int(learner["learner_model_param"].get("num_target", 1)), 1)
    n_parallel = int(model["gbtree_model_param"]["num_parallel_tree"])
    trees = model["trees"]
    if len(trees) != n_parallel * classes * targets or n_parallel < 2:
        raise InputError(
            "This XGBoost model is boosted: each tree corrects the ones before it, so that the "
            "selection counts have no known null distribution. Train XGBRFClassifier or "
            "XGBRFRegressor (num_parallel_tree=500, one round), or use nf.grow(X, y)."
        )
    if int(trees[0]["tree_param"].get("size_leaf_vector", 1)) > 1:
        raise InputError("Trees with several outputs are not read; use one_output_per_tree.")
    if config is not None and config.get("interaction_constraints"):
        raise InputError("With interaction_constraints null features have unequal chances.")
    F = int(learner["learner_model_param"]["num_feature"])
    sampling = {} if config is None else config
    pool = _part(F, sampling.get("colsample_bytree"))
    level = _part(pool, sampling.get("colsample_bylevel"))
    candidates = None if config is None else _part(level, sampling.get("colsample_bynode"))
    split = [np.array(tree["left_children"]) >= 0 for tree in trees]
    starts = _starts(learner)
    bag = float(sampling.get("subsample", 0 if config is None else 1))
    roots = np.array([tree["sum_hessian"][0] for tree in trees], float)
    roots /= [starts[k].hessian for k in model["tree_info"]]
    stored = round(float(roots.mean())) if bag == 1 and starts[0].has_hessian else None
    n_samples = needs_samples(n_samples, stored)
    # A file does not tell the bags, which are then taken for whole.
    samples = n_samples * (bag or 1.0) / roots.mean()
    exact = not any(float(sampling.get(name, 0)) for name in _SHRINKING) and config is not None
    deviance, tiny = [], []
    for tree, k in zip(trees, model["tree_info"], strict=True):
        weight = samples * np.array(tree["sum_hessian"], float) / starts[k].hessian
        if starts[k].p is not None and exact:
            variance = _variance(tree, starts[k], float(sampling.get("lambda", 1)))
        else:
            left, right = (np.array(tree[f"{side}_children"]) for side in ("left", "right"))
            variance = expected_variances(left, right, weight, candidates or F)
        deviance.append(weight * variance)
        tiny.append(weight < TINY if starts[k].p is None else np.zeros(len(weight), bool))
    deviances = np.concatenate([d[s] for d, s in zip(deviance, split, strict=True)])
    feature = [np.array(t["split_indices"])[s] for t, s in zip(trees, split, strict=True)]
    cut = [np.array(t["split_conditions"], float)[s] for t, s in zip(trees, split, strict=True)]
    names = learner.get("feature_names") or None
    return tally_of_nodes(
        np.concatenate(feature).astype(np.int64),
        n_features=F,
        nodes_per_tree=np.array([int(s.sum()) for s in split]),
        pool_per_tree=np.full(len(trees), pool),
        candidates=candidates,
        n_samples=n_samples,
        coupling=node_couplings(deviances, deviances, n_samples),
        cut=np.concatenate(cut),
        feature_names=None if names is None else np.array(names, str),
        column_orders=1,
        notes=[
            *([_BY_LEVEL] if level < pool else []),
            *(
                [_TINY_NODES]
                if np.concatenate(tiny)[np.concatenate(split)].mean() > MANY_TINY
                else []
            ),
        ],
        source="XGBoost random forest",
    )


def _as_list(number: str) -> str:
    """A number, or numbers in brackets, as a list in JSON."""
    return number if number.startswith("[") else f"[{number}]"


def _part(of: int, share: str | None) -> int:
    """Features drawn of so many, as XGBoost rounds: down, in single precision."""
    return of if share is None else max(1, int(np.float32(share) * np.float32(of)))


@dataclass(frozen=True)
class _Start:
    """Constant start of the trees of one class.

    Attributes
    ----------
    hessian : float
        Of one sample; 1 where it is not known.
    p : float or None
        Probability of the class; None for numbers.
    """

    hessian: float = 1.0
    p: float | None = None
    has_hessian: bool = False


def _starts(learner: dict[str, Any]) -> list[_Start]:
    """Start of each class, or of the one target."""
    loss = learner["objective"]["name"]
    base = np.array(json.loads(_as_list(learner["learner_model_param"]["base_score"])), float)
    classes = max(int(learner["learner_model_param"].get("num_class", 0)), 1)
    if loss in _LOGISTIC and 0 < base[0] < 1:
        return [_Start(base[0] * (1 - base[0]), base[0], True)]
    if loss in _SOFTMAX and classes > 1:
        p = softmax(np.broadcast_to(base, classes))
        return [_Start(2 * q * (1 - q), q, True) for q in p]  # XGBoost's hessian has a factor 2
    return [_Start(has_hessian=loss == "reg:squarederror")] * classes


def _variance(tree: dict[str, Any], start: _Start, penalty: float) -> Floats:
    """Variance of a class in each node, relative to that of the whole sample.

    The weight of a node is −G/(H+λ), G = n (p₀−ȳ).
    """
    assert start.p is not None
    hessian = np.array(tree["sum_hessian"], float)
    n = np.maximum(hessian / start.hessian, 1e-12)
    mean = start.p + np.array(tree["base_weights"], float) * (hessian + penalty) / n
    mean = np.clip(mean, 0.0, 1.0)
    return np.asarray(np.maximum(mean * (1 - mean), 1e-12) / (start.p * (1 - start.p)))
