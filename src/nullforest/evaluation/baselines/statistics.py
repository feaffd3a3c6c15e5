"""The importances that can be tested: how their forests are grown and read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from nullforest._util.errors import check_known
from nullforest.data.rank_table import RankTable
from nullforest.evaluation import importances
from nullforest.run.forest import Forest
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
    read: Callable[[Forest], importances.Floats]
    tally: Callable[[Forest], Tally]


def instrument(X: Any, statistic: Statistic, *, seed: int, n_jobs: int) -> Instrument:
    """Prepare to measure a statistic of many forests on the same X."""
    check_known("test of", statistic, STATISTICS)
    table = RankTable.of(X, n_jobs).numeric()
    settings: dict[str, Any] = {"keep_trees": False, "oob": False, "probes": 0}
    if statistic == "corrected_gini":
        names = table.feature_names
        return Instrument(
            importances.MEASURES[statistic],
            RankTable(importances.with_shuffled_copies(table, seed), n_jobs=n_jobs),
            settings | {"keep_trees": True},  # the tally leaves out the nodes of copies
            importances.corrected_from,
            lambda forest: importances.without_copies(forest, names),
        )
    return Instrument(
        importances.MEASURES[statistic],
        table,
        settings | {"keep_trees": statistic == "permutation"},
        lambda forest: importances.measure(forest, table, statistic, n_jobs=n_jobs),
        lambda forest: forest.tally,
    )
