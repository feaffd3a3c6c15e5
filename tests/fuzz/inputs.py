"""Hostile and plausible inputs of the library, each with a label that names it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import anndata
import numpy as np
import pandas as pd
import polars
import scipy.sparse

Rng = np.random.Generator
Labelled = tuple[Any, str]

#: Values that no number should be, and numbers that no setting should have.
HOSTILE = [
    *(0, -1, 2**31, 2**32, 2**32 + 1, 2**63, 2**64, 2**64 + 1, 10**400),
    *(0.0, -0.5, 1e10, 1e308, math.nan, math.inf, -math.inf, np.float32(0.5), np.int8(-3)),
    *("", "a", "2", "ü\x1b[31m\n", b"x", None, True, np.True_, 1 + 2j),
    *([], [1, 2], (), {}, {"a": 1}, set(), object(), len, np.array([1, 2]), np.array(3)),
]

NAMES = [
    "gene",
    "",
    " ",
    "a b",
    "a,b",
    'q"uote',
    "ü",
    "\x1b[31mred",
    "line\nbreak",
    "\x00",
    "x" * 300,
]


def pick(rng: Rng, values: Sequence[Any]) -> Any:
    """One of some values, as it is: numpy would turn it into an array."""
    return values[int(rng.integers(len(values)))]


def label(value: Any) -> str:
    """A short text for a value."""
    text = repr(value)
    return text if len(text) < 60 else f"{text[:40]}… ({type(value).__name__})"


def numbers(rng: Rng) -> tuple[np.ndarray, str]:
    """A matrix of numbers, mostly small and mostly sound."""
    S, F = pick(rng, [2, 3, 5, *[20, 60] * 5]), pick(rng, [1, 2, 3, 8, 8, 8, 40, 40])
    X = rng.normal(size=(S, F))
    kind = pick(rng, ["normal"] * 12 + ["ties", "constant", "huge", "tiny", "missing", "infinite"])
    match kind:
        case "ties":
            X = rng.poisson(0.7, size=(S, F)).astype(float)
        case "constant":
            X[:, rng.random(F) < 0.7] = 3.0
        case "huge":
            X *= 1e307
        case "tiny":
            X *= 1e-310
        case "missing":
            X[rng.random((S, F)) < pick(rng, [0.05, 0.5, 1.0])] = np.nan
        case "infinite":
            X[rng.random((S, F)) < 0.05] = pick(rng, [np.inf, -np.inf])
    return X, f"{S} × {F} {kind}"


def names(rng: Rng, n: int) -> list[str]:
    """Names of columns; now and then two are equal."""
    if rng.random() < 0.6:
        return [f"f{i}" for i in range(n)]
    return [pick(rng, NAMES) + (str(i) if rng.random() < 0.97 else "") for i in range(n)]


def _frame(X: np.ndarray, rng: Rng) -> pd.DataFrame:
    frame = pd.DataFrame(X, columns=names(rng, X.shape[1]))
    column: Any = None
    odd = ["text", "dates", "nullable", "gaps", "category", "bool", "levels", "numbers"]
    match pick(rng, [*["plain"] * 8, *odd]):
        case "text":
            column = [pick(rng, ["a", "b", "1", ""]) for _ in range(len(X))]
        case "dates":
            column = pd.date_range("2020-01-01", periods=len(X))
        case "nullable":
            column = pd.array([None, *[1] * (len(X) - 1)], dtype="Int64")
        case "gaps":
            column = pd.Series([pd.NA, None, *rng.normal(size=len(X))][: len(X)], dtype=object)
        case "category":
            column = pd.Categorical([pick(rng, ["a", "b"]) for _ in range(len(X))])
        case "bool":
            column = rng.random(len(X)) < 0.5
        case "levels":
            frame.columns = pd.MultiIndex.from_tuples([("a", i) for i in range(X.shape[1])])
        case "numbers":
            frame.columns = range(X.shape[1])
    if column is not None:
        frame["odd"] = column
    if rng.random() < 0.2:
        frame.index = pd.Index(rng.permutation(len(X)))
    return frame


def _subset(X: np.ndarray, rng: Rng) -> Any:
    form = pick(rng, [scipy.sparse.csr_matrix, scipy.sparse.csc_matrix, np.array])
    return anndata.AnnData(form(np.hstack([X, X])))[:, : X.shape[1]]


CONTAINERS: dict[str, Callable[[np.ndarray, Rng], Any]] = {
    "array": lambda X, rng: X,
    "float32": lambda X, rng: X.astype(np.float32),
    "float16": lambda X, rng: X.astype(np.float16),
    "long double": lambda X, rng: X.astype(np.longdouble),
    "big-endian": lambda X, rng: X.astype(">f8"),
    "int8": lambda X, rng: np.nan_to_num(X, posinf=0, neginf=0).clip(-9, 9).astype(np.int8),
    "uint64": lambda X, rng: np.full(X.shape, 2**64 - 1, np.uint64) - (X > 0).astype(np.uint64),
    "bool": lambda X, rng: X > 0,
    "Fortran order": lambda X, rng: np.asfortranarray(X),
    "strided": lambda X, rng: np.repeat(X, 2, axis=1)[:, ::2],
    "backwards": lambda X, rng: X[::-1, ::-1],
    "read-only": lambda X, rng: np.broadcast_to(X, X.shape),
    "objects": lambda X, rng: X.astype(object),
    "objects with gaps": lambda X, rng: np.where(X > 1, pick(rng, [None, pd.NA, pd.NaT]), X),
    "list": lambda X, rng: X.tolist(),
    "text": lambda X, rng: X.astype(str),
    "words": lambda X, rng: np.full(X.shape, "a"),
    "masked": lambda X, rng: np.ma.masked_array(X, rng.random(X.shape) < 0.1),
    "complex": lambda X, rng: X + 1j,
    "dates": lambda X, rng: np.zeros(X.shape, "datetime64[s]"),
    "records": lambda X, rng: np.zeros(len(X), [("a", float), ("b", int)]),
    "one axis": lambda X, rng: X[:, 0],
    "three axes": lambda X, rng: X[None],
    "no samples": lambda X, rng: X[:0],
    "no features": lambda X, rng: X[:, :0],
    "ragged": lambda X, rng: [[1.0], [1.0, 2.0]],
    "nothing": lambda X, rng: pick(rng, HOSTILE),
    "frame": _frame,
    "polars": lambda X, rng: polars.DataFrame(X),
    "csr": lambda X, rng: scipy.sparse.csr_matrix(np.nan_to_num(X)),
    "csc": lambda X, rng: scipy.sparse.csc_array(X),
    "coo": lambda X, rng: scipy.sparse.coo_matrix(X.round()),
    "sparse complex": lambda X, rng: scipy.sparse.csr_matrix(X * 1j),
    "sparse, one axis": lambda X, rng: scipy.sparse.coo_array(X[:, 0]),
    "AnnData": _subset,
}


def matrix(rng: Rng) -> tuple[Any, np.ndarray, str]:
    """X in some container, the numbers in it, and a label."""
    X, about = numbers(rng)
    plain = rng.random() < 0.75
    kind = pick(rng, ["array", "array", "float32", "csc", "frame"] if plain else list(CONTAINERS))
    with np.errstate(all="ignore"):
        return CONTAINERS[kind](X, rng), X, f"{kind} {about}"


def target(rng: Rng, X: np.ndarray) -> Labelled:
    """A target for the rows of X, and a label."""
    S = len(X)
    signal = np.nan_to_num(X[:, 0], posinf=1, neginf=-1)
    signal = np.sign(signal) + 0.3 * rng.normal(size=S)
    kind = pick(rng, ["bool"] * 60 + ["numbers"] * 40 + list(_TARGETS))
    y = {"bool": lambda: signal > 0, "numbers": lambda: signal}.get(kind) or (
        lambda: _TARGETS[kind](signal, rng)
    )
    return y(), f"y = {kind}"


_TARGETS: dict[str, Callable[[np.ndarray, Rng], Any]] = {
    "whole numbers": lambda s, rng: s.round().astype(int),
    "text": lambda s, rng: np.where(s > 0, "ill", "well"),
    "objects": lambda s, rng: np.where(s > 0, "ill", "well").astype(object),
    "different types": lambda s, rng: np.array(["a", 1] * len(s), object)[: len(s)],
    "list": lambda s, rng: (s > 0).tolist(),
    "series": lambda s, rng: pd.Series(s > 0, index=rng.permutation(len(s))),
    "category": lambda s, rng: pd.Series(pd.Categorical(s > 0)),
    "nullable": lambda s, rng: pd.array([None, *[1] * (len(s) - 1)], dtype="Int64"),
    "dates": lambda s, rng: np.zeros(len(s), "datetime64[s]"),
    "one class": lambda s, rng: np.zeros(len(s), int),
    "all different": lambda s, rng: np.array([f"s{i}" for i in range(len(s))]),
    "missing": lambda s, rng: np.where(s > 0.5, np.nan, s),
    "none": lambda s, rng: np.where(s > 0.5, None, s > 0),
    "infinite": lambda s, rng: np.where(s > 0.5, np.inf, s),
    "huge": lambda s, rng: s * pick(rng, [1e100, 1e200, 1e307]),
    "tiny": lambda s, rng: s * 1e-200,
    "complex": lambda s, rng: s + 1j,
    "masked": lambda s, rng: np.ma.masked_array(s > 0, s > 0.9),
    "too short": lambda s, rng: s[:-1] > 0,
    "too long": lambda s, rng: np.append(s, 1.0),
    "column": lambda s, rng: (s > 0)[:, None],
    "several outputs": lambda s, rng: np.stack([s, -s, s**2], axis=1),
    "three axes": lambda s, rng: s[:, None, None],
    "distances": lambda s, rng: np.abs(s[:, None] - s),
    "nothing": lambda s, rng: pick(rng, HOSTILE),
}

_SIZES = [1, 2, 3, 10, 2**31 - 1, 2**32 - 1]
#: Plausible values of each setting of `grow`; hostile ones are added to them.
SETTINGS: dict[str, list[Any]] = {
    "candidates": [1, 2, 3, 8],
    "draw": ["node", "tree"],
    "pool": [1, 2, 3, 8],
    "samples": [0.5, 1.0, 0.01, 1, 2, 5, 20, 2**22, 2**22 + 1],
    "replace": [True, False],
    "criterion": ["auto", "gini", "entropy", "variance", "neighbourhood"],
    "min_leaf": _SIZES,
    "min_split": _SIZES,
    "max_depth": _SIZES,
    "min_gain": [0.0, 0.1, 1.0, 1e300, 5e-324],
    "class_weight": ["balanced", {False: 1, True: 3}],
    "probes": ["auto", 0, 1, 7, 100],
    "probe_seed": [0, 5, 2**64 - 1],
    "seed": [0, 1, 2**32, 2**64 - 1],
    "n_jobs": [1, 2, -1, -100, 100_000],
    "keep_trees": [True, False],
    "oob": [True, False],
    "first_tree": [0, 1, 10**6, 2**31 - 1],
    "max_seconds": [0.0, 1e-9, 0.01, 1e10, 1e300],
    "distance": [lambda y: 1.0 - np.eye(np.size(y))],
    "progress": [lambda done, total: None],
    "backend": ["threads"],
}
#: Values that only fit some data, or none.
_ODD_SETTINGS: dict[str, list[Any]] = {
    "feature_names": [["a", "b"], ["a"] * 8, [f"f{i}" for i in range(8)], "abcdefgh", 5],
    "distance": [lambda y: None, lambda y: y, lambda y: np.full((np.size(y),) * 2, np.nan)],
    "class_weight": [{0: 1e300}, {False: -1}, {"ill": 2}, {False: 0, True: 0}],
    "draw": ["none"],
    "criterion": ["mse", "Gini"],
    "backend": ["nobody"],
}
#: Settings for which a hostile value is a plausible one of another meaning.
_NO_HOSTILE = {"keep_trees", "oob"}


def settings(rng: Rng, S: int) -> dict[str, Any]:
    """Some settings of `grow`, most of them plausible."""
    chosen: dict[str, Any] = {"trees": pick(rng, [1, 2, 5, 20])}
    for name in rng.permutation(list(SETTINGS))[: rng.integers(0, 5)].tolist():
        hostile = rng.random() < 0.1 and name not in _NO_HOSTILE
        chosen[name] = pick(rng, HOSTILE if hostile else SETTINGS[name])
    if rng.random() < 0.05:
        name = pick(rng, list(_ODD_SETTINGS))
        chosen[name] = pick(rng, _ODD_SETTINGS[name])
    if rng.random() < 0.03:  # not a huge number of trees, which would be grown
        chosen["trees"] = pick(rng, [v for v in HOSTILE if v is not None])
    if rng.random() < 0.1:
        chosen["sample_weight"] = sample_weight(rng, S)
    return chosen


def sample_weight(rng: Rng, S: int) -> Any:
    """Weights of the samples."""
    weight = rng.exponential(size=S)
    if rng.random() < 0.3:
        return pick(rng, HOSTILE)
    scale = pick(rng, [1.0, 0.0, -1.0, 1e154, 1e-300, 1e300, np.nan, np.inf])
    return pick(rng, [weight * scale, weight[:-1], np.stack([weight] * 2), weight.tolist()])
