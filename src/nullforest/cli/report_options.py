"""What does the page of a run say? The selection, the data it came from, and how to repeat it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nullforest.cli.forest_options import ForestSettings
    from nullforest.io import Table
    from nullforest.selection.selection import Selection


def page_of(
    selection: Selection,
    table: Table,
    settings: ForestSettings,
    data: str,
    command: Iterable[str],
) -> Callable[[], str]:
    """A function that makes the page, to be called when all else is safe on disk."""

    def page() -> str:
        from nullforest.report import render, summarize

        summary = summarize(
            selection,
            settings.run_of(table, data),
            command=shlex.join(command),
            X=table.X,
            labels=table.y if table.task == "classification" else None,
        )
        return render(summary)

    return page
