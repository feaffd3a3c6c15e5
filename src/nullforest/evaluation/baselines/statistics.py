"""The importances that can be tested: how their forests are grown and read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from nullforest._util.errors import InputError
from nullforest.engine import Forest, RankTable
from nullforest.evaluation.importances import (
    MEASURES,
    Floats,
    corrected_from,
    measure,
    with_shuffled_copies,
    without_copies,
)
from nullforest.tallies.tally import Tally

Statistic = Literal["frequency", "gini", "corrected_gini", "permutation"]
STATISTICS: tuple[Statistic, ...] = ("frequency", "gini", "corrected_gini", "permutation")


@dataclass(frozen=True)
class Instrument:
    """How a statistic is measured.

    Attributes
    ----------
    name : str
        Name in tables.
    table : RankTable
        What its forests are grown on; sorted once.
    settings : dict
        Settings of its forests.
    read : callable
        Forest → (F,) statistics.
    tally : callable
        Forest → Tally of the features of X.
    """

    name: str
    table: RankTable
    settings: dict[str, Any]
    read: Callable[[Forest], Floats]
    tally: Callable[[Forest], Tally]


def instrument(X: Any, statistic: str, *, seed: int, n_jobs: int) -> Instrument:
    """Prepare to measure a statistic of many forests on the same X."""
    if statistic not in STATISTICS:
        raise InputError(
            f"There is no test of {statistic!r}; choose one of {', '.join(STATISTICS)}."
        )
    table = X if isinstance(X, RankTable) else RankTable(X, n_jobs=n_jobs)
    settings: dict[str, Any] = {"keep_trees": False, "oob": False, "probes": 0}
    if statistic == "corrected_gini":
        names = table.feature_names
        return Instrument(
            MEASURES[statistic],
            RankTable(with_shuffled_copies(table, seed), n_jobs=n_jobs),
            settings | {"keep_trees": True},  # the tally leaves out the nodes of copies
            corrected_from,
            lambda forest: without_copies(forest, names),
        )
    return Instrument(
        MEASURES[statistic],
        table,
        settings | {"keep_trees": statistic == "permutation"},
        lambda forest: measure(forest, table, statistic, n_jobs=n_jobs),
        lambda forest: forest.tally,
    )
