"""The terminal: progress on standard error, the result on standard output."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as ScreenTable
from rich.text import Text

from nullforest._util.progress import Report, progress_bar, silent
from nullforest._util.words import printable

if TYPE_CHECKING:
    import pandas as pd

    from nullforest.features.groups import GroupSelection
    from nullforest.selection.selection import Selection

#: Rows of the printed table; the rest is in --table.
ROWS = 20


class Screen:
    """The two streams of a terminal; where `quiet`, nothing but errors is shown."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._out = Console(quiet=quiet, highlight=False)
        self._err = Console(quiet=quiet, highlight=False, stderr=True)

    def waiting(self, what: str) -> AbstractContextManager[object]:
        """Show that something is under way whose length is not known."""
        return self._err.status(Text(f"{what} …")) if self._err.is_terminal else nullcontext()

    def progress(self, what: str) -> AbstractContextManager[Report]:
        """Show how far a number of trees has come."""
        return progress_bar(what, silent if self._err.quiet else None)

    def say(self, sentence: str, style: str = "bold") -> None:
        """Print one line of the result."""
        # A terminal breaks lines between words; a file or a pipe gets each sentence whole.
        words = Text(printable(sentence), style=style)
        self._out.print(words, soft_wrap=not self._out.is_terminal)

    def say_written(self, paths: Iterable[Path]) -> None:
        """Tell where files went."""
        for path in paths:
            self._out.print(Text.assemble("wrote ", (printable(path), "cyan")), soft_wrap=True)

    def show_frame(self, frame: pd.DataFrame) -> None:
        """Print a table of results, numbers to three digits; standard errors are left to files."""
        frame = frame[[name for name in frame if not str(name).endswith("_se")]]
        shown = _table(*(str(name).replace("_", " ") for name in frame))
        for row in frame.itertuples(index=False):
            cells = (f"{v:.3g}" if isinstance(v, float) else printable(v) for v in row)
            shown.add_row(*map(Text, cells))
        self._out.print(shown)

    def show_parts(self, clusters: pd.DataFrame | None, groups: GroupSelection | None) -> None:
        """Print the clusters and the groups of the selected features, where there are any."""
        if clusters is not None:
            self.say(f"{len(clusters)} clusters of selected features")
            self.show_frame(clusters.head(ROWS))
        if groups is not None:
            self.say(f"{groups.n_selected} of {len(groups.names)} groups selected")
            shown = groups.table[groups.table["selected"]].drop(columns="selected")
            if len(shown):
                self.show_frame(shown.head(ROWS))

    def show(self, selection: Selection) -> None:
        """Print the result: headline, table or explanation, expected errors, notes."""
        from nullforest.selection.selection import printed

        self.say(selection.headline(), "bold green" if selection.n_selected else "bold yellow")
        if selection.n_selected:
            effects = selection.effects
            heads = {} if effects is None else effects.heads
            notes = selection.annotations
            symbol = ["symbol"] if notes is not None and "symbol" in notes else []
            shown = _table("feature", *symbol, "count", "expected", "p", "q", *heads.values())
            rows = selection.table
            for row in rows[rows["selected"]].head(ROWS).to_dict("records"):
                name, *numbers = printed(row, heads)
                cells = [*(row[column] or "" for column in symbol), *numbers]
                texts = (Text(printable(words)) for words in cells)
                shown.add_row(Text(printable(name), style="cyan"), *texts)
            self._out.print(shown)
        more = selection.n_selected - ROWS
        if more > 0:
            self.say(f"... and {more} more; --table writes them all.", "dim")
        self.say(selection.expected_errors() or selection.explanation(), "")
        if agreement := selection.expected_agreement():
            self.say(agreement, "")
        for note in selection.notes:
            self.say(f"note: {note}", "yellow")


def _table(*names: str) -> ScreenTable:
    """A table without rules between its columns, so that it fits 80 of them."""
    shown = ScreenTable(header_style="bold", row_styles=["", "dim"], box=SIMPLE_HEAD)
    shown.padding = (0, 1, 0, 0)
    for i, name in enumerate(names):
        shown.add_column(name, justify="right" if i else "left", overflow="fold")
    return shown
