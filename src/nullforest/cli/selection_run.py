"""From a table to a selection: grow, tally, judge; what `select` and `demo` have in common."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nullforest.cli.forest_options import ForestSettings, grow_arguments
from nullforest.engine import RankTable, grow
from nullforest.engine.settings import default_trees
from nullforest.engine.watching import watch
from nullforest.selection.selection import Selection, select

if TYPE_CHECKING:
    from nullforest.cli.resume import Resumable
    from nullforest.cli.screen import Screen
    from nullforest.io import Table
    from nullforest.nulls import Kind
    from nullforest.selection.error_rates import ErrorRate


def select_features(
    table: Table,
    settings: ForestSettings,
    alpha: float,
    error: ErrorRate,
    null: Kind,
    screen: Screen,
    *,
    watched: bool = False,
    resumable: Resumable | None = None,
) -> Selection:
    """Grow a forest on a table and select its features, with the notes of both.

    A forest that is `watched`, for the report, is the same; it is looked at while it grows. One
    that is `resumable` is kept in a folder meanwhile.
    """
    start = time.perf_counter()
    arguments = grow_arguments(table, settings)
    if resumable is not None:
        selection = _resumed(table, arguments, alpha, error, null, screen, watched, resumable)
        return _noted(selection, table, start)
    with screen.progress("Growing trees") as progress:
        if watched:
            selection = watch(table.X, table.y, alpha, error, null, progress=progress, **arguments)
        else:
            forest = grow(table.X, table.y, oob=False, progress=progress, **arguments)
    if not watched:
        with screen.waiting("Judging the counts"):
            selection = select(forest.tally, alpha, error, null)
    return _noted(selection, table, start)


def _resumed(
    table: Table,
    arguments: dict[str, Any],
    alpha: float,
    error: ErrorRate,
    null: Kind,
    screen: Screen,
    watched: bool,
    resumable: Resumable,
) -> Selection:
    """The same selection, of a forest that is kept in a folder while it grows."""
    ranked = RankTable(
        table.X, n_jobs=arguments["n_jobs"], feature_names=arguments["feature_names"]
    )
    trees = arguments["trees"] or default_trees(ranked.shape[1])
    with (
        resumable.run(ranked, table.y, arguments) as run,
        screen.progress("Growing trees") as progress,
    ):
        if watched:
            selection = watch(
                ranked, table.y, alpha, error, null, trees=trees, run=run, progress=progress
            )
        else:
            forest = run.grown(trees, n_jobs=arguments["n_jobs"], progress=progress)
            selection = select(forest.tally, alpha, error, null)
    return replace(selection, notes=(*selection.notes, *([run.note] if run.note else [])))


def _noted(selection: Selection, table: Table, start: float) -> Selection:
    return replace(
        selection,
        notes=(*table.notes, *selection.notes),
        seconds=round(time.perf_counter() - start, 3),
    )
