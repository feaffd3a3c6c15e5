"""Settings of a forest: checked once as they were given, and with all numbers filled in."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, fields
from numbers import Integral
from typing import Any, Literal

from nullforest._util.checks import MOST_SIZE, real_number, whole_number
from nullforest._util.errors import InputError, refused
from nullforest._util.words import Sentence, Setting

#: One bit less than other sizes, to spare for sums.
MOST_TREES = 2**31 - 1
MOST_SEED = 2**64 - 1
#: The kernel's sums are exact up to so many draws from the samples.
MOST_DRAWS = 2**22
#: Settings that decide the shape of the trees, apart from their numbers and random streams.
SHAPE = (
    *("criterion", "pool", "samples", "replace", "min_leaf", "min_split", "max_depth"),
    "min_gain",
)
#: Depth of the trees, and largest number of candidates, by default (`docs/power.md`).
DEPTH, MOST_CANDIDATES = 3, 20
#: The same with blocks, whose many shadows would leave most nodes without a feature to compare.
MOST_BLOCK_CANDIDATES = 60
#: Samples of a leaf with survival times, by default: at most so many, and this share of a tree's.
#: Log-rank scores are skewed, and splits off a few long survivors hide others (`docs/survival.md`).
SURVIVAL_LEAF, SURVIVAL_LEAF_SHARE = 10, 0.1
DRAWS = ("node", "tree")


def _whole(
    default: Any,
    help: str,
    least: int,
    most: int = MOST_SIZE,
    *,
    optional: bool = False,
    auto: bool = False,
    shown: str = "",
) -> Any:
    """A whole number between bounds; None where `optional`, the word "auto" where `auto`."""
    metadata = {"help": help, "least": least, "most": most, "optional": optional, "auto": auto}
    return field(default=default, metadata=metadata | {"shown": shown})


@dataclass(frozen=True)
class ForestSettings:
    """Everything that decides the trees of a forest, apart from the data and their weights.

    The fields are those of :func:`nullforest.grow`; their help is that of the command line. Values
    are checked when the object is made, which is once for a run. None and "auto" stand for what
    the data decide; :meth:`resolved` fills it in.

    Examples
    --------
    >>> settings = ForestSettings(trees=50, samples=0.5).resolved((100, 2000), "gini")
    >>> settings.candidates, settings.samples, settings.probes
    (20, 50, 2000)
    """

    trees: int | Literal["auto"] = _whole(
        "auto",
        "Number of trees; auto: until another seed is expected to select the same features.",
        1,
        MOST_TREES,
        auto=True,
    )
    candidates: int | None = _whole(
        None, "Features compared at each node.", 1, optional=True, shown="by the data"
    )
    draw: Literal["node", "tree"] = field(
        default="node",
        metadata={"help": "Draw candidate features at each node, or once per tree."},
    )
    pool: int | None = _whole(
        None, "Features that a tree can use.", 1, optional=True, shown="all of them"
    )
    samples: float = field(default=0.5, metadata={"help": "Share of the samples each tree sees."})
    replace: bool = field(default=False, metadata={"help": "Draw samples with replacement."})
    min_leaf: int | None = _whole(
        None, "Fewest samples in a leaf.", 1, optional=True, shown="by the target"
    )
    min_split: int = _whole(2, "Fewest samples in a node that may be split.", 2)
    max_depth: int | None = _whole(
        DEPTH, "Most splits between root and leaf; none for no limit.", 1, optional=True
    )
    min_gain: float = field(default=0.0, metadata={"help": "Least decrease of impurity."})
    probes: int | Literal["auto"] = _whole(
        "auto", "Virtual probes; 0 for none.", 0, MOST_TREES, auto=True
    )
    shadows: int | Literal["auto"] = _whole(
        "auto",
        "Permuted copies of each feature that compete with it; auto: with trees=auto and fewer "
        "than 500 features, or with blocks.",
        0,
        MOST_TREES,
        auto=True,
    )
    probe_seed: int | None = _whole(
        None, "Seed of probes and shadows.", 0, MOST_SEED, optional=True, shown="0"
    )
    seed: int = _whole(0, "The same seed gives the same result.", 0, MOST_SEED)
    first_tree: int = _whole(
        0,
        "Number of the first tree: machines that grow different trees of one seed can add their "
        "tallies with nullforest merge.",
        0,
        MOST_TREES,
    )

    def __post_init__(self) -> None:
        for setting in fields(self):
            rule, value = setting.metadata, getattr(self, setting.name)
            if "least" not in rule or (value is None and rule["optional"]):
                continue
            if not (rule["auto"] and isinstance(value, str) and value == "auto"):
                alternative = ' or "auto"' if rule["auto"] else ""
                bounds = rule["least"], rule["most"]
                value = whole_number(setting.name, value, *bounds, alternative)
                object.__setattr__(self, setting.name, value)
        if self.trees != "auto" and self.first_tree + self.trees > MOST_TREES:
            raise InputError(
                f"first_tree = {self.first_tree} and trees = {self.trees} add to more than "
                f"{MOST_TREES}; grow fewer trees, or use another seed.",
                setting="first_tree",
            )
        if not (isinstance(self.draw, str) and self.draw in DRAWS):
            raise refused("draw", self.draw, f"is unknown; use one of {', '.join(DRAWS)}.")
        replace: Any = self.replace  # numpy's booleans and integers, too
        if not (isinstance(replace, bool) or type(replace).__name__ in ("bool", "bool_")):
            raise refused("replace", replace, "must be True or False.")
        object.__setattr__(self, "replace", bool(replace))
        samples: Any = self.samples
        if isinstance(samples, Integral):
            samples = whole_number("samples", samples, 1, MOST_DRAWS)
        elif not (samples := real_number("samples", samples, 1.0)):
            raise refused("samples", 0.0, "must be a share above 0 and up to 1.0.")
        object.__setattr__(self, "samples", samples)
        object.__setattr__(self, "min_gain", real_number("min_gain", self.min_gain, 1e300))

    def resolved(
        self,
        shape: tuple[int, int],
        criterion: str,
        *,
        n_strata: int = 1,
        shadows: int = 0,
        blocks: bool = False,
    ) -> TreeSettings:
        """The settings of the trees, with a number for everything that the data decide.

        Parameters
        ----------
        shape : (int, int)
            Samples, and columns that compete: features that vary and their shadows.
        criterion : str
            That of the target.
        n_strata : int
            Strata of the features, each of which needs probes of its own.
        shadows : int
            Copies of each feature.
        blocks : bool
            Whether there are blocks.
        """
        S, F = shape
        most = MOST_BLOCK_CANDIDATES if blocks and shadows else MOST_CANDIDATES
        C = default_candidates(F, most) if self.candidates is None else self.candidates
        if C > F:
            bounds = f"must lie between 1 and the {F} features of X that vary."
            raise refused("candidates", C, bounds)
        if self.draw == "tree" and self.pool not in (None, C):
            raise InputError(
                Sentence(
                    Setting("draw", "'tree'"), " compares the whole pool; omit pool, or use 'node'."
                ),
                setting="pool",
            )
        P = self.pool or (C if self.draw == "tree" else F)
        if not C <= P <= F:
            raise refused("pool", P, f"must lie between candidates = {C} and the {F} features.")
        samples = n_drawn(self.samples, S)
        if samples > S and not self.replace:
            raise refused("samples", samples, f"must lie between 1 and {S}.")
        probes = self.probes
        if isinstance(probes, str):
            from nullforest.forest.null_column_budget import default_number

            probes = 0 if shadows else default_number(S, F, C, n_strata)
        return TreeSettings(
            candidates=C,
            draw=self.draw,
            pool=P,
            samples=samples,
            replace=self.replace,
            criterion=criterion,
            min_leaf=self.min_leaf or default_leaf(samples, criterion),
            min_split=self.min_split,
            max_depth=self.max_depth,
            min_gain=self.min_gain,
            probes=probes,
            shadows=shadows,
            probe_seed=self.probe_seed or 0,
            seed=self.seed,
            first_tree=self.first_tree,
        )

    @property
    def leaves_shadows_open(self) -> bool:
        """Whether the number of shadows is left to the number of features."""
        left = (self.trees, self.draw, self.pool, self.probes)
        return left == ("auto", "node", None, "auto")

    def check_extends(self, earlier: TreeSettings, n_samples: int) -> None:
        """Refuse settings that are neither defaults nor those of an earlier forest."""
        for setting in fields(self):
            value = getattr(self, setting.name)
            if setting.name == "trees" or value == setting.default:
                continue
            grown_with = getattr(earlier, setting.name)
            if (n_drawn(value, n_samples) if setting.name == "samples" else value) != grown_with:
                raise InputError(
                    f"The forest to extend was grown with {setting.name} = {grown_with}, not "
                    f"{value}; omit {setting.name}, or grow a new forest.",
                    setting=setting.name,
                )


@dataclass(frozen=True)
class TreeSettings:
    """The settings of the trees of a forest, under the names of the kernel; all are numbers.

    Made by :meth:`ForestSettings.resolved`; `samples` is a number of samples, and `max_depth` is
    None for no limit.
    """

    candidates: int
    draw: Literal["node", "tree"]
    pool: int
    samples: int
    replace: bool
    criterion: str
    min_leaf: int
    min_split: int
    max_depth: int | None
    min_gain: float
    probes: int
    shadows: int
    probe_seed: int
    seed: int
    first_tree: int

    def of_kernel(self, trees: int, **how: Any) -> dict[str, Any]:
        """The settings of so many trees as the kernel takes them."""
        depth = MOST_SIZE if self.max_depth is None else self.max_depth
        kernel = {"max_depth": depth, "trees": trees, "listed": False}
        return asdict(self) | kernel | how

    @property
    def shape(self) -> dict[str, Any]:
        """The settings that tallies must share to be added."""
        return {name: getattr(self, name) for name in SHAPE}


def default_candidates(n_features: int, most: int = MOST_CANDIDATES) -> int:
    """√F, at most 20 or as given.

    With few candidates a node without a strong one among them is left to weak features, which are
    then found too; `docs/power.md` compares numbers of candidates and depths.
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


def n_drawn(samples: float, n_samples: int) -> int:
    """Number of samples of a tree, from a share of them or a number."""
    return int(max(1, round(samples * n_samples)) if isinstance(samples, float) else samples)
