"""From a table to a selection: grow, tally, judge; what `select` and `demo` have in common."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from nullforest.cli.growing import ForestSettings, grow_arguments
from nullforest.engine import grow
from nullforest.growth import watch
from nullforest.selection import Selection, select

if TYPE_CHECKING:
    from nullforest.cli.screen import Screen
    from nullforest.decisions import ErrorRate
    from nullforest.io import Table
    from nullforest.nulls import Kind


def select_features(
    table: Table,
    settings: ForestSettings,
    alpha: float,
    error: ErrorRate,
    null: Kind,
    screen: Screen,
    *,
    watched: bool = False,
) -> Selection:
    """Grow a forest on a table and select its features, with the notes of both.

    A forest that is `watched`, for the report, is the same; it is looked at while it grows.
    """
    start = time.perf_counter()
    arguments = grow_arguments(table, settings)
    with screen.progress("Growing trees") as progress:
        if watched:
            selection = watch(table.X, table.y, alpha, error, null, progress=progress, **arguments)
        else:
            forest = grow(table.X, table.y, oob=False, progress=progress, **arguments)
    if not watched:
        with screen.waiting("Judging the counts"):
            selection = select(forest.tally, alpha, error, null)
    return replace(
        selection,
        notes=(*table.notes, *selection.notes),
        seconds=round(time.perf_counter() - start, 3),
    )
