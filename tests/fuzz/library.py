"""Calls of the library on hostile arguments: grow, select, tally, ForestSelector, pickles."""

from __future__ import annotations

import json
import pickle
import traceback
from functools import cache
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import ensemble, tree
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

import nullforest as nf
from fuzz.damage import damaged
from fuzz.inputs import HOSTILE, Rng, label, matrix, names, pick, settings, target
from fuzz.outcomes import REFUSED, RESULT, Say, check, check_selection


def grow(rng: Rng, folder: Path, say: Say) -> str:
    """`nf.grow` on any X, y and settings; sometimes extended, pickled or repeated."""
    X, values, about = matrix(rng)
    y, about_y = target(rng, values)
    given = settings(rng, len(values))
    if rng.random() < 0.03:
        given["more"] = pick(rng, [*HOSTILE, small_forest(0), small_forest(1)])
    way = pick(rng, ["grow", "grow", "grow", "twice", "more", "RankTable", "predict", "many"])
    shown = ", ".join(f"{name}={label(value)}" for name, value in given.items())
    say(f"{way}: X = {about}, {about_y}; {shown}")
    if way == "RankTable":
        X = nf.RankTable(X, folder=folder / "table" if rng.random() < 0.5 else None)
    if way == "many":
        given = {k: v for k, v in given.items() if k not in ("more", "max_seconds")}
        forests = nf.grow_many(X, [y, y], **given)
        check(forests[0].tally == forests[1].tally, "equal targets gave different forests")
        return RESULT
    forest = nf.grow(X, y, **given)
    _check_forest(forest, given)
    if way == "twice" and not forest.stopped_early:
        again = nf.grow(X, y, **(given | {"n_jobs": 2}))
        check(again.stopped_early or again.tally == forest.tally, "the same seed, another tally")
    elif way == "more" and not forest.stopped_early:
        longer = nf.grow(X, y, **(given | {"more": forest}))
        check(longer.n_trees <= 2 * forest.n_trees, "more trees than were to be added")
    elif way == "predict" and forest.trees is not None:
        if forest.target.criterion == "neighbourhood":
            check(len(forest.apply(X)) == len(values), "apply gave other rows")
        else:
            check(len(forest.predict(X)) == len(values), "predict gave other rows")
    return RESULT


def _check_forest(forest: Any, given: dict[str, Any]) -> None:
    tally = forest.tally
    check(tally.counts.sum() == tally.n_nodes, "counts and nodes differ")
    for name in (
        "min_leaf",
        "min_split",
        "max_depth",
        "seed",
        "first_tree",
        "probes",
        "candidates",
    ):
        value = given.get(name)
        if isinstance(value, int | np.integer) and "more" not in given:
            check(getattr(forest.settings, name) == value, f"{name} = {value} was changed")
    if forest.trees is None or forest.settings.replace or len(forest.trees) > 50:
        return
    for one in forest.trees:
        inner = one.feature >= 0
        if inner.any():
            children = np.concatenate([one.left[inner], one.right[inner]])
            least = int(one.n_samples[children].min())
            check(least >= forest.settings.min_leaf, f"a leaf of {least} samples")


@cache
def small_forest(number: int) -> Any:
    """One of a few small forests, grown once per process."""
    rng = np.random.default_rng(number)
    X = rng.normal(size=(40, 12)) if number % 2 else rng.poisson(0.8, size=(30, 9)).astype(float)
    y = [X[:, 1] > 0.5, X[:, 1] + 0.1 * rng.normal(size=len(X))][number // 2 % 2]
    named = [f"gene {i}" for i in range(X.shape[1])] if number % 3 else None
    trees = [1, 2, 8, 40][number // 2 % 4]
    draw, candidates = [("node", None), ("tree", 3), ("tree", 1)][number % 3]
    return nf.grow(
        X, y, trees=trees, seed=number, feature_names=named, draw=draw, candidates=candidates
    )


ALPHAS = [0.05, 0.05, 0.5, 0.999, 1e-6, 1e-300, 5e-324]
ERRORS = ["fdr", "fpr", "fdr_by", "fwer"]
NULLS = ["auto", "auto", "probes", "bagged", "paper"]


def _tally_of_numbers(rng: Rng) -> tuple[Any, str]:
    """A tally from bare counts: mostly sound, of all sizes."""
    F, T = pick(rng, [1, 1, 2, 3, 10, 200]), pick(rng, [1, 2, 5, 50])
    scale = pick(rng, [0, 1, 5, 50, 10**4, 10**9, 2**61])
    nodes = rng.integers(0, scale + 1, size=T, dtype=np.int64)
    nodes = nodes // (T if scale == 2**61 else 1)
    total, counts = int(nodes.sum()), np.zeros(F, np.int64)
    if total < 10**12:
        counts = rng.multinomial(total, rng.dirichlet(np.full(F, pick(rng, [0.1, 1.0, 50.0]))))
    else:
        counts[0] = total
    given: dict[str, Any] = {"nodes_per_tree": nodes, "n_samples": pick(rng, [2, 10, 100, 10**9])}
    if rng.random() < 0.5:
        given["pool_per_tree"] = pick(rng, [1, F, rng.integers(1, F + 1, size=T)])
    if rng.random() < 0.5:
        given["candidates"] = int(rng.integers(1, F + 1))
    if rng.random() < 0.3:
        given["feature_names"] = names(rng, F)
    if rng.random() < 0.15:
        name = pick(rng, [*given, "counts"])
        bad = pick(rng, [*HOSTILE, nodes[:-1], -nodes, nodes + 0.5, nodes.astype(str), [nodes]])
        given[name] = bad
    counts = given.pop("counts", counts)
    about = ", ".join(f"{name}={label(value)}" for name, value in given.items())
    return (counts, given), f"from_counts({label(counts)}, {about})"


def select(rng: Rng, folder: Path, say: Say) -> str:
    """`nf.select` and `nf.null` on grown, made and impossible tallies."""
    kind = pick(rng, ["numbers"] * 5 + ["forest"] * 3 + ["sum", "anything"])
    alpha = pick(rng, ALPHAS if rng.random() < 0.93 else HOSTILE)
    error = pick(rng, ERRORS if rng.random() < 0.97 else HOSTILE)
    null = pick(rng, NULLS if rng.random() < 0.97 else HOSTILE)
    ending = f"alpha={label(alpha)}, error={label(error)}, null={label(null)}"
    tally: Any
    if kind == "numbers":
        (counts, given), about = _tally_of_numbers(rng)
        say(f"{about}; {ending}")
        tally = nf.Tally.from_counts(counts, **given)
    elif kind == "anything":
        tally = pick(rng, [*HOSTILE, matrix(rng)[0]])
        say(f"select({label(tally)}); {ending}")
    else:
        number = int(rng.integers(16))
        say(f"small_forest({number}), {kind}; {ending}")
        forest = small_forest(number)
        tally = pick(rng, [forest, forest.tally])
        if kind == "sum":
            tally = forest.tally + small_forest(int(rng.integers(16))).tally
    selection = nf.select(tally, alpha, error, null)
    check_selection(selection)
    way = pick(rng, ["dict", "csv", "json", "null", "null", "markdown", "html"])
    if way == "html" and rng.random() < 0.8:
        way = "csv"
    match way:
        case "dict":
            json.dumps(selection.to_dict(), allow_nan=False)
            repr(selection)
        case "csv":
            selection.to_csv(folder / "table.csv")
        case "json":
            selection.to_json(folder / "selection.json")
            json.loads((folder / "selection.json").read_text("utf-8"))
        case "markdown":
            selection.to_markdown()
        case "html":
            selection.to_html(folder / "report.html")
        case "null":
            _check_null(selection, rng)
    return RESULT


def _check_null(selection: Any, rng: Rng) -> None:
    null = selection.null
    largest = min(int(selection.counts.max()) + 2, 10**6)
    k = np.unique(rng.integers(-1, largest + 1, size=20))
    tails = np.asarray(null.sf(k))
    check(np.all((tails >= 0) & (tails <= 1)), "tails outside [0, 1]")
    check(np.all(np.diff(tails) <= 1e-12), "tails that rise")
    check(np.all(np.asarray(null.pmf(k)) >= 0), "negative probabilities")
    level = pick(rng, [0.3, 0.01, 1e-8])
    threshold = null.threshold(level)
    check(float(null.sf(threshold)) <= level * (1 + 1e-9), "a threshold above its level")


def tally(rng: Rng, folder: Path, say: Say) -> str:
    """`nf.tally` on forests of scikit-learn, fitted or not, and on anything else."""
    X, values, about = matrix(rng)
    X = np.nan_to_num(values, posinf=9, neginf=-9)
    y = target(rng, values)[0] if rng.random() < 0.2 else X[:, 0] > np.median(X[:, 0])
    forest = _foreign(rng)
    fit = hasattr(forest, "fit") and rng.random() < 0.9
    given: dict[str, Any] = {}
    for name, plausible in [
        ("n_samples", [None, len(X), 5]),
        ("feature_names", [None, names(rng, X.shape[1]), ["a"]]),
        ("X", [None, X, X[:, :1], X[:1]]),
    ]:
        if rng.random() < 0.3:
            given[name] = pick(rng, plausible if rng.random() < 0.7 else HOSTILE)
    shown = ", ".join(f"{name}={label(value)}" for name, value in given.items())
    say(f"tally of {label(forest)} on {about}{'' if fit else ', not fitted'}; {shown}")
    if fit:
        try:
            forest.fit(X, y)
        except Exception:  # scikit-learn's own refusal
            return REFUSED
    found = nf.tally(forest, **given)
    check(found.counts.sum() == found.n_nodes, "counts and nodes differ")
    if rng.random() < 0.5:
        check_selection(nf.select(found, null=pick(rng, ["auto", "bagged", "paper"])))
    return RESULT


def _foreign(rng: Rng) -> Any:
    few: dict[str, Any] = {"n_estimators": int(rng.integers(1, 6)), "random_state": 0}
    shape = pick(rng, [{}, {"max_depth": 1}, {"max_leaf_nodes": 2}, {"min_samples_leaf": 3}])
    features = pick(rng, [{}, {"max_features": 1}, {"max_features": None}])
    stump = tree.DecisionTreeClassifier(**shape)
    return pick(
        rng,
        [
            ensemble.RandomForestClassifier(**few, **shape, **features),
            ensemble.RandomForestClassifier(**few, bootstrap=False, **features),
            ensemble.RandomForestClassifier(**few, max_samples=0.5),
            ensemble.RandomForestRegressor(**few, **shape),
            ensemble.RandomForestClassifier(**few, criterion="entropy", class_weight="balanced"),
            ensemble.ExtraTreesClassifier(**few),
            ensemble.BaggingClassifier(stump, **few),
            ensemble.BaggingClassifier(stump, **few, max_features=0.5),
            ensemble.GradientBoostingClassifier(**few),
            ensemble.HistGradientBoostingClassifier(max_iter=2),
            ensemble.IsolationForest(**few),
            stump,
            make_pipeline(stump),
            make_pipeline(ensemble.RandomForestClassifier(**few)),
            nf.ForestClassifier(n_estimators=3),
            small_forest(int(rng.integers(16))),
            pick(rng, HOSTILE),
        ],
    )


_SELECTOR: dict[str, list[Any]] = {
    "alpha": ALPHAS,
    "error": ERRORS,
    "null": NULLS,
    "prefit": [True, False, False, False],
    "min_features": [None, 0, 0, 0, 1, 3, 100],
    "random_state": [0, None, np.random.RandomState(0)],
    "n_jobs": [1, None],
    "max_depth": [None, 1, 5],
    "samples": [0.5, 1.0, 5],
    "class_weight": [None, "balanced"],
    "min_leaf": [1, 5],
}
_WRAPPER: dict[str, list[Any]] = {
    "min_features": [None, 0, 1, 3, 100],
    "random_state": [0, None],
    "keep": [1, 2, "groups", "features"],
    "max_steps": [None, 1, 2],
    "max_layers": [1, 2],
    "spending": ["same", "halving"],
    "patience": [1, 2],
    "pairs": [1, 2],
    "threshold": [0.6, 1.0],
    "groups": [None, [0, 1] * 4, {"a": ["f0", "f1"]}],
    "alpha": ALPHAS,
}
_ESTIMATOR: dict[str, list[Any]] = {
    "max_features": ["sqrt", "log2", None, 1, 0.5, 10**6],
    "max_samples": [None, 0.5, 3, 1.0],
    "max_depth": [None, 1, 2**32],
    "min_samples_leaf": [1, 0.2, 5],
    "bootstrap": [True, False],
    "oob_score": [True, False],
    "draw": ["node", "tree"],
    "pool": [None, 2, 0.5],
    "probes": [0, 20],
    "random_state": [0, None],
    "n_jobs": [1, None],
}


def selector(rng: Rng, folder: Path, say: Say) -> str:
    """`ForestSelector`, its wrappers and the forests of scikit-learn's interface."""
    X, values, about = matrix(rng)
    y, about_y = target(rng, values)
    forests, wrappers = (
        [nf.ForestClassifier, nf.ForestRegressor],
        [
            nf.wrappers.BackwardElimination,
            nf.wrappers.ForwardSelection,
            nf.wrappers.KnockOut,
            nf.wrappers.GroupSelector,
            nf.wrappers.StabilitySelection,
        ],
    )
    made = pick(rng, [*[nf.ForestSelector] * 8, *forests * 2, *wrappers])
    selects = made not in forests
    if made in wrappers:
        few = nf.ForestSelector(trees=5, alpha=pick(rng, ALPHAS), error=pick(rng, ERRORS))
        given = {"selector": few, "progress": False}
        given |= {"pairs": 2} if made is nf.wrappers.StabilitySelection else {}
        known = {k: v for k, v in _WRAPPER.items() if k in signature(made).parameters}
    else:
        known = _SELECTOR if selects else _ESTIMATOR
        given = {"trees" if selects else "n_estimators": pick(rng, [1, 5, 30])}
        given |= {"min_features": 0} if selects else {}
    for name in rng.permutation(list(known))[: rng.integers(0, 5)].tolist():
        given[name] = pick(rng, known[name] if rng.random() < 0.92 else HOSTILE)
    if made is nf.ForestSelector and rng.random() < 0.2:
        given["estimator"] = _foreign(rng)
    shown = ", ".join(f"{name}={label(value)}" for name, value in given.items())
    say(f"{made.__name__}({shown}).fit(X = {about}, {about_y})")
    try:
        fitted = made(**given).fit(X, y)
        if selects:
            kept = fitted.transform(X)
            check(kept.shape == (len(values), fitted.get_support().sum()), "other columns")
            fitted.get_feature_names_out()
        else:
            check(len(fitted.predict(X)) == len(values), "other rows")
    except nf.InputError:
        raise
    except (ValueError, TypeError, NotFittedError, AttributeError) as error:
        # Estimators refuse what scikit-learn's own validation refuses, in its words, and so do
        # the forests of scikit-learn inside a selector.
        files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
        if "sklearn" in next(f for f in reversed(files) if "sklearn" in f or "nullforest" in f):
            return REFUSED
        raise
    return RESULT


def pickles(rng: Rng, folder: Path, say: Say) -> str:
    """Damaged pickles of forests: unpickling may raise anything, using what it gives may not."""
    number = int(rng.integers(16))
    forest = small_forest(number)
    content, what = damaged(pickle.dumps(forest, protocol=pick(rng, [2, 4, 5])), rng)
    say(f"pickle of small_forest({number}), {what}")
    try:
        found = pickle.loads(content)
    except Exception:  # pickle's own errors are of all types
        return REFUSED
    if not isinstance(found, nf.Forest):
        return REFUSED
    X = np.random.default_rng(0).normal(size=(7, forest.tally.n_features))
    for use in (
        lambda: found.predict(X),
        lambda: found.apply(X),
        lambda: found.oob_score,
        lambda: nf.select(found),
    ):
        try:
            use()
        except Exception:  # a pickle is trusted; what it holds need not fit together
            continue
    return RESULT
