"""Which forest does the command grow? Settings from the options, and how a reader repeats it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from nullforest._util.errors import InputError

if TYPE_CHECKING:
    from nullforest.io import Table
    from nullforest.tallies.tally import Tally


@dataclass(frozen=True)
class ForestSettings:
    """How a forest is grown; None where the data decide."""

    trees: int | None = None
    candidates: int | None = None
    draw: Literal["node", "tree"] = "node"
    samples: float = 0.5
    replace: bool = False
    min_leaf: int = 1
    max_depth: int | None = None
    seed: int = 0
    jobs: int = -1
    first_tree: int = 0

    def run_of(self, table: Table, data: str) -> dict[str, Any]:
        """What a reader needs to know to repeat the run."""
        return {
            "data": data,
            "target": table.target,
            "task": table.task,
            "samples per tree": f"{self.samples:g} of all, "
            + ("with replacement" if self.replace else "without replacement"),
            "fewest samples in a leaf": self.min_leaf,
            "deepest level": "no limit" if self.max_depth is None else self.max_depth,
            "seed": self.seed,
        }

    def options(self, tally: Tally) -> list[str]:
        """The options that grow the same forest again, what the data decided included."""
        words = ["--trees", tally.n_trees, "--candidates", tally.candidates, "--draw", self.draw]
        words += ["--samples", f"{self.samples:g}", "--min-leaf", self.min_leaf]
        if self.replace:
            words.append("--replace")
        if self.max_depth is not None:
            words += ["--max-depth", self.max_depth]
        if self.first_tree:
            words += ["--first-tree", self.first_tree]
        return [str(word) for word in [*words, "--seed", self.seed]]


def grow_arguments(table: Table, settings: ForestSettings) -> dict[str, Any]:
    """The settings as :func:`nullforest.grow` takes them; refuse what does not fit the table."""
    F = table.X.shape[1]
    if settings.candidates is not None and settings.candidates > F:
        raise InputError(
            f"--candidates {settings.candidates} is more than the {F} features of the table; "
            f"give at most {F}."
        )
    if not 0.0 < settings.samples <= 1.0:
        raise InputError(
            f"--samples {settings.samples:g} is no share of the samples; give a number above 0 "
            "and up to 1."
        )
    arguments = {
        "criterion": "gini" if table.task == "classification" else "variance",
        "trees": settings.trees,
        "candidates": settings.candidates,
        "draw": settings.draw,
        "samples": settings.samples,
        "replace": settings.replace,
        "min_leaf": settings.min_leaf,
        "max_depth": settings.max_depth,
        "seed": settings.seed,
        "n_jobs": settings.jobs,
        "keep_trees": False,
        "feature_names": table.feature_names,
    }
    return arguments | ({"first_tree": settings.first_tree} if settings.first_tree else {})
