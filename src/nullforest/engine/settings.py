"""How large is the forest, and what does each tree and node draw? Defaults and checks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from nullforest._util.errors import InputError
from nullforest.engine.probes.sampling import ProbePlan


@dataclass(frozen=True)
class Plan:
    """The settings of a forest, checked and in numbers; what the engine takes."""

    trees: int
    candidates: int
    pool: int
    n_drawn: int
    replace: bool
    min_leaf: int
    min_split: int
    max_depth: int | None
    min_gain: float
    seed: int
    first_tree: int
    probes: ProbePlan | None = None

    def shape(self) -> dict[str, Any]:
        """What decides the shape of the trees, apart from their numbers and their seed."""
        names = ("pool", "n_drawn", "replace", "min_leaf", "min_split", "max_depth", "min_gain")
        return {name: getattr(self, name) for name in names}

    def native(self, *, keep_trees: bool, oob: bool, listed: bool = False) -> dict[str, Any]:
        """The settings under the names of the engine."""
        return {
            "n_trees": self.trees,
            "candidates": self.candidates,
            "pool": self.pool,
            "n_drawn": self.n_drawn,
            "replace": self.replace,
            "min_leaf": self.min_leaf,
            "min_split": self.min_split,
            "max_depth": 2**32 - 1 if self.max_depth is None else self.max_depth,
            "min_gain": self.min_gain,
            "seed": self.seed,
            "first_tree": self.first_tree,
            "keep_trees": keep_trees,
            "oob": oob,
            "listed": listed,
        }


def default_candidates(n_features: int) -> int:
    """F/20, between √F and 1 000.

    Examples
    --------
    >>> default_candidates(10), default_candidates(5000), default_candidates(10**6)
    (4, 250, 1000)
    """
    least = math.ceil(math.sqrt(n_features))
    return min(n_features, max(least, min(1000, n_features // 20)))


def default_trees(n_features: int) -> int:
    """F/10, between 1 000 and 10 000.

    Examples
    --------
    >>> default_trees(500), default_trees(50_000), default_trees(10**6)
    (1000, 5000, 10000)
    """
    return min(10_000, max(1000, n_features // 10))


def make_plan(
    n_samples: int,
    n_features: int,
    *,
    trees: int | None,
    candidates: int | None,
    draw: Literal["node", "tree"],
    pool: int | None,
    samples: float,
    replace: bool,
    min_leaf: int,
    min_split: int,
    max_depth: int | None,
    min_gain: float,
    seed: int,
    first_tree: int,
) -> Plan:
    """Fill in what was left open and refuse what cannot be."""
    F = n_features
    if draw not in ("node", "tree"):
        raise InputError(
            f"draw = {draw!r} is not known; use 'node' (new candidates at every node) or 'tree' "
            "(one set of features per tree)."
        )
    C = default_candidates(F) if candidates is None else _whole("candidates", candidates)
    if not 1 <= C <= F:
        raise InputError(f"candidates = {C} must lie between 1 and the {F} features of X.")
    if draw == "tree":
        if pool not in (None, C):
            raise InputError("draw='tree' compares the whole pool; leave pool out, or use 'node'.")
        pool = C
    P = F if pool is None else _whole("pool", pool)
    if not C <= P <= F:
        raise InputError(f"pool = {P} must lie between candidates = {C} and the {F} features.")
    T = default_trees(F) if trees is None else _whole("trees", trees)
    if not 1 <= T < 2**31 or not 0 <= _whole("first_tree", first_tree) < 2**31:
        raise InputError(f"trees = {T} must be at least 1, and first_tree at least 0.")
    for name, value, least in [
        ("min_leaf", min_leaf, 1),
        ("min_split", min_split, 2),
        ("max_depth", 1 if max_depth is None else max_depth, 1),
    ]:
        if _whole(name, value) < least:
            raise InputError(f"{name} = {value} must be at least {least}.")
    if not min_gain >= 0.0:
        raise InputError(f"min_gain = {min_gain} must not be negative.")
    return Plan(
        trees=T,
        candidates=C,
        pool=P,
        n_drawn=_n_drawn(samples, n_samples, replace),
        replace=bool(replace),
        min_leaf=int(min_leaf),
        min_split=int(min_split),
        max_depth=None if max_depth is None else int(max_depth),
        min_gain=float(min_gain),
        seed=whole_seed("seed", seed),
        first_tree=int(first_tree),
    )


def whole_seed(name: str, seed: Any) -> int:
    """The seed as a whole number of 64 bits."""
    if not 0 <= _whole(name, seed) < 2**64:
        raise InputError(f"{name} = {seed} must lie between 0 and 2⁶⁴ - 1.")
    return int(seed)


def _n_drawn(samples: Any, n_samples: int, replace: bool) -> int:
    if isinstance(samples, bool | str) or not hasattr(samples, "__float__"):
        raise InputError(f"samples = {samples!r} must be a ratio up to 1.0 or a whole number.")
    if isinstance(samples, int) or hasattr(samples, "__index__"):
        drawn = int(samples)
        most = 2**22 if replace else n_samples  # exact arithmetic ends at 2²² draws
        if not 1 <= drawn <= most:
            raise InputError(f"samples = {drawn} must lie between 1 and {most}.")
        return drawn
    if not 0.0 < samples <= 1.0:
        raise InputError(f"samples = {samples} must be a ratio above 0 and up to 1.0.")
    return max(1, round(float(samples) * n_samples))


def _whole(name: str, value: Any) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise InputError(f"{name} = {value!r} must be a whole number.")
    return int(value)
