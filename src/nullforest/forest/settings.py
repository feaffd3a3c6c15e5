"""Settings of a forest: one object from the command to the kernel, and all checks of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from operator import index
from typing import Any, Literal

import numpy as np

from nullforest._util.errors import InputError
from nullforest.forest.probe_budget import default_number

#: The kernel keeps sizes in 32 bits; numbers of trees leave one bit to spare for sums.
MOST_SIZE, MOST_TREES = 2**32 - 1, 2**31 - 1
#: The kernel's sums are exact up to so many draws from the samples.
MOST_DRAWS = 2**22
#: A longer limit of time, about three years, is none; clocks count 10¹⁸ nanoseconds.
NO_LIMIT = 1e8
#: Settings that decide the shape of the trees, apart from their numbers and random streams.
SHAPE = (
    "criterion",
    "pool",
    "samples",
    "replace",
    "min_leaf",
    "min_split",
    "max_depth",
    "min_gain",
)
#: Settings that may be None.
OPTIONAL = ("candidates", "pool", "min_leaf", "max_depth", "probe_seed")
#: Depth of the trees, and largest number of candidates, by default (`docs/power.md`).
DEPTH, MOST_CANDIDATES = 3, 20
#: The same with blocks, whose many shadows would leave most nodes without a feature to compare.
MOST_BLOCK_CANDIDATES = 60
#: Samples of a leaf with survival times, by default: at most so many, and this share of a tree's.
#: Log-rank scores are skewed, and splits off a few long survivors hide others (`docs/survival.md`).
SURVIVAL_LEAF, SURVIVAL_LEAF_SHARE = 10, 0.1
DRAWS = ("node", "tree")
CRITERIA = ("auto", "gini", "entropy", "variance", "logrank", "neighbourhood")


@dataclass(frozen=True)
class ForestSettings:
    """Everything that decides the trees of a forest, apart from the data and their weights.

    The fields are those of :func:`nullforest.grow` and have the names by which the kernel knows
    them. Values are checked when the object is made. None and "auto" stand for what the data
    decide; :meth:`resolved` fills it in.

    Examples
    --------
    >>> settings = ForestSettings(trees=50, samples=0.5).resolved((100, 2000), "gini")
    >>> settings.candidates, settings.samples, settings.probes
    (20, 50, 2000)
    """

    trees: int | Literal["auto"] = "auto"
    candidates: int | None = None
    draw: Literal["node", "tree"] = "node"
    pool: int | None = None
    samples: float = 0.5
    replace: bool = False
    criterion: str = "auto"
    min_leaf: int | None = None
    min_split: int = 2
    max_depth: int | None = DEPTH
    min_gain: float = 0.0
    probes: int | Literal["auto"] = "auto"
    shadows: int | Literal["auto"] = "auto"
    probe_seed: int | None = None
    seed: int = 0
    first_tree: int = 0

    def __post_init__(self) -> None:
        for name, least, most in [
            ("candidates", 1, MOST_SIZE),
            ("pool", 1, MOST_SIZE),
            ("min_leaf", 1, MOST_SIZE),
            ("min_split", 2, MOST_SIZE),
            ("max_depth", 1, MOST_SIZE),
            ("probe_seed", 0, 2**64 - 1),
            ("seed", 0, 2**64 - 1),
            ("first_tree", 0, MOST_TREES),
        ]:
            value = getattr(self, name)
            if value is not None or name not in OPTIONAL:
                self._set(name, whole_number(name, value, least, most))
        for name, least in [("trees", 1), ("probes", 0), ("shadows", 0)]:
            if not (isinstance(value := getattr(self, name), str) and value == "auto"):
                self._set(name, whole_number(name, value, least, MOST_TREES, ' or "auto"'))
        if self.trees != "auto" and self.first_tree + self.trees > MOST_TREES:
            raise InputError(
                f"first_tree = {self.first_tree} and trees = {self.trees} add to more than "
                f"{MOST_TREES}; grow fewer trees, or use another seed."
            )
        for name, known in [("draw", DRAWS), ("criterion", CRITERIA)]:
            if not (isinstance(word := getattr(self, name), str) and word in known):
                raise InputError(f"{name} = {word!r} is unknown; use one of {', '.join(known)}.")
        if not isinstance(self.replace, bool | np.bool_):
            raise InputError(f"replace = {self.replace!r} must be True or False.")
        self._set("replace", bool(self.replace))
        self._set("samples", _share_or_number(self.samples))
        self._set("min_gain", real_number("min_gain", self.min_gain, 1e300))

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def resolved(
        self,
        shape: tuple[int, int],
        criterion: str,
        n_strata: Callable[[], int] = lambda: 1,
        shadows: int = 0,
    ) -> ForestSettings:
        """The same settings with a number for everything that the data decide.

        `n_strata` is called where the number of probes depends on the strata of the features.
        `shadows` is the number of copies, whose columns are counted in `shape`.
        """
        S, F = shape
        C = default_candidates(F) if self.candidates is None else self.candidates
        if C > F:
            raise InputError(f"candidates = {C} must lie between 1 and the {F} features of X.")
        if self.draw == "tree" and self.pool not in (None, C):
            raise InputError("draw='tree' compares the whole pool; omit pool, or use 'node'.")
        P = self.pool or (C if self.draw == "tree" else F)
        if not C <= P <= F:
            raise InputError(f"pool = {P} must lie between candidates = {C} and the {F} features.")
        samples = _n_drawn(self.samples, S)
        if samples > S and not self.replace:
            raise InputError(f"samples = {samples} must lie between 1 and {S}.")
        probes = self.probes
        if isinstance(probes, str) and shadows:
            probes = 0
        elif isinstance(probes, str):
            probes = default_number(S, F, C, n_strata())
        return replace(
            self,
            candidates=C,
            pool=P,
            samples=samples,
            min_leaf=self.leaf_of(S, criterion),
            criterion=criterion,
            probes=probes,
            shadows=shadows,
            probe_seed=0 if self.probe_seed is None else self.probe_seed,
        )

    def leaf_of(self, n_samples: int, criterion: str) -> int:
        """Fewest samples in a leaf, as given or by the target."""
        return self.min_leaf or default_leaf(_n_drawn(self.samples, n_samples), criterion)

    def extending(self, earlier: ForestSettings, n_trees: int, n_samples: int) -> ForestSettings:
        """The settings of the trees that follow the `n_trees` of an earlier forest.

        Settings that are not left at their defaults must be those of the earlier forest.
        """
        for field in fields(self):
            mine, theirs = getattr(self, field.name), getattr(earlier, field.name)
            if field.name == "trees" or mine == field.default:
                continue
            if (_n_drawn(mine, n_samples) if field.name == "samples" else mine) != theirs:
                raise InputError(
                    f"The forest to extend was grown with {field.name} = {theirs}, not {mine}; "
                    f"omit {field.name}, or grow a new forest."
                )
        first = earlier.first_tree + n_trees
        return replace(earlier, trees=self.trees, first_tree=first)

    def shape(self) -> dict[str, Any]:
        """The settings that tallies must share to be added."""
        return {name: getattr(self, name) for name in SHAPE}

    def native(self, *, keep_trees: bool, oob: bool, listed: bool = False) -> dict[str, Any]:
        """The settings as the kernel takes them."""
        return asdict(self) | {
            "max_depth": MOST_SIZE if self.max_depth is None else self.max_depth,
            "keep_trees": keep_trees,
            "oob": oob,
            "listed": listed,
        }


def resolved_number(value: int | str | None) -> int:
    """A setting that :meth:`ForestSettings.resolved` has filled in."""
    assert isinstance(value, int)
    return value


def default_candidates(n_features: int, most: int = MOST_CANDIDATES) -> int:
    """√F, at most 20 or as given.

    With few candidates a node without a strong one among them is left to weak features, which are
    then found too; `docs/power.md` compares numbers of candidates and depths.

    Examples
    --------
    >>> default_candidates(10), default_candidates(100), default_candidates(10**6)
    (4, 10, 20)
    """
    return min(most, math.ceil(math.sqrt(n_features)))


def default_leaf(samples: int, criterion: str) -> int:
    """Fewest samples in a leaf by default: 1; with survival times a tenth of a tree's, up to 10.

    Examples
    --------
    >>> default_leaf(50, "gini"), default_leaf(50, "logrank"), default_leaf(500, "logrank")
    (1, 5, 10)
    """
    if criterion != "logrank":
        return 1
    return max(1, min(SURVIVAL_LEAF, int(samples * SURVIVAL_LEAF_SHARE)))


def paper_settings(n_features: int) -> dict[str, Any]:
    """Settings in the proportions of the paper, for published tests that grow many forests.

    Full trees, F/10 of them (1 000 to 10 000), and F/20 candidates (√F to 1 000).

    Examples
    --------
    >>> paper_settings(5000)
    {'trees': 1000, 'candidates': 250, 'max_depth': None}
    """
    F = n_features
    candidates = min(F, max(math.ceil(math.sqrt(F)), min(1000, F // 20)))
    return {"trees": min(10_000, max(1000, F // 10)), "candidates": candidates, "max_depth": None}


def n_threads(n_jobs: int | None) -> int:
    """Threads meant by `n_jobs`: -1 is all cores that this process may use, None is one."""
    if n_jobs is None:
        return 1
    number = whole_number("n_jobs", n_jobs, -MOST_TREES, MOST_TREES)
    if number == 0:
        raise InputError("n_jobs = 0 must be a number of threads, or -1 for all cores.")
    if number > 0:
        return number
    from joblib import cpu_count  # it respects affinity and cgroup quotas; slow to import

    return max(1, int(cpu_count()) + 1 + number)


def check_no_limit(max_trees: int | None) -> None:
    """Refuse a largest number of trees where the number itself is given."""
    if max_trees is not None:
        raise InputError('max_trees is for trees="auto"; omit one of the two.')


def time_limit(max_seconds: float | None) -> float | None:
    """The limit of time in seconds; None for none."""
    if max_seconds is None:
        return None
    seconds = real_number("max_seconds", max_seconds, math.inf)
    return None if seconds > NO_LIMIT else seconds


def whole_number(name: str, value: Any, least: int, most: int, alternative: str = "") -> int:
    """A setting as a whole number between two bounds."""
    try:
        number = index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool):
        raise InputError(f"{name} = {value!r} must be a whole number{alternative}.")
    if not least <= number <= most:
        raise InputError(f"{name} = {number} must lie between {least} and {most}.")
    return number


def real_number(name: str, value: Any, most: float) -> float:
    """A setting as a number from 0 to `most`."""
    try:
        number = float("a" if isinstance(value, bool | str) else value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} = {value!r} must be a number.") from None
    if not 0.0 <= number <= most:  # NaN neither
        raise InputError(f"{name} = {number} must lie between 0 and {most:g}.")
    return number


def _share_or_number(samples: Any) -> float:
    if isinstance(samples, int | np.integer):
        return whole_number("samples", samples, 1, MOST_DRAWS)
    share = real_number("samples", samples, 1.0)
    if share == 0.0:
        raise InputError("samples = 0.0 must be a share above 0 and up to 1.0.")
    return share


def _n_drawn(samples: float, n_samples: int) -> int:
    return max(1, round(samples * n_samples)) if isinstance(samples, float) else samples
