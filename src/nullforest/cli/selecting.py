"""From a table to a selection: grow, tally, judge; what `select` and `demo` have in common."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from nullforest.cli.growing import ForestSettings, grow_tally
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
) -> Selection:
    """Grow a forest on a table and select its features, with the notes of both."""
    start = time.perf_counter()
    with screen.progress("Growing trees") as progress:
        tally = grow_tally(table, settings, progress)
    with screen.waiting("Judging the counts"):
        selection = select(tally, alpha, error, null)
    return replace(
        selection,
        notes=(*table.notes, *selection.notes),
        seconds=round(time.perf_counter() - start, 3),
    )
