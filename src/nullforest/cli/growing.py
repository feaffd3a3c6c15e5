"""Which forest does the command grow? Settings from the options, and the tally that comes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from nullforest.errors import InputError
from nullforest.tallies import Tally

if TYPE_CHECKING:
    from nullforest.io import Table


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


def grow_tally(
    table: Table, settings: ForestSettings, progress: Callable[[int, int], None]
) -> Tally:
    """Grow a forest on a table and take its tally."""
    S, F = table.X.shape
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
    from sklearn.ensemble import BaggingClassifier, BaggingRegressor
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    import nullforest as nf

    classes = table.task == "classification"
    trees = settings.trees or max(100, F // 10)
    candidates = settings.candidates or max(1, F // 20)
    tree = (DecisionTreeClassifier if classes else DecisionTreeRegressor)(
        max_features=candidates if settings.draw == "node" else None,
        min_samples_leaf=settings.min_leaf,
        max_depth=settings.max_depth,
    )
    total = None
    for first in range(0, trees, 50):
        bag = (BaggingClassifier if classes else BaggingRegressor)(
            tree,
            n_estimators=min(50, trees - first),
            max_samples=settings.samples,
            bootstrap=settings.replace,
            max_features=1.0 if settings.draw == "node" else candidates,
            random_state=settings.seed * 1_000_003 + first,
            n_jobs=settings.jobs,
        ).fit(table.X, table.y)
        part = nf.tally(bag, n_samples=S, feature_names=table.feature_names)
        total = part if total is None else total + part
        progress(min(first + 50, trees), trees)
    assert total is not None
    return total
