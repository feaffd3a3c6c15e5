"""What does the user see? Progress on standard error, the answer on standard output."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table as ScreenTable
from rich.text import Text

if TYPE_CHECKING:
    import pandas as pd

    from nullforest.selection.selection import Selection

#: Told (trees or other pieces done, in all); a piece under way may count in part.
Report = Callable[[float, int], None]
#: Rows of the table on the screen; the rest is in --table.
ROWS = 20


class Screen:
    """The two streams of a terminal.

    Parameters
    ----------
    quiet : bool
        Show nothing; errors go elsewhere and are always shown.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self._out = Console(quiet=quiet, highlight=False)
        self._err = Console(quiet=quiet, highlight=False, stderr=True)

    @contextmanager
    def waiting(self, what: str) -> Iterator[None]:
        """Show that something is under way whose length is not known."""
        if not self._err.is_terminal:
            yield
            return
        with self._err.status(Text(f"{what} …")):
            yield

    @contextmanager
    def progress(self, what: str) -> Iterator[Report]:
        """Show how far a number of trees has come."""
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        )
        with Progress(
            *columns,
            console=self._err,
            transient=True,
            disable=not self._err.is_terminal,
        ) as bar:
            task = bar.add_task(what, total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)

    def say(self, sentence: str, style: str = "bold") -> None:
        """Print one line of the answer."""
        # A terminal breaks lines between words; a file or a pipe gets each sentence whole.
        self._out.print(Text(sentence, style=style), soft_wrap=not self._out.is_terminal)

    def say_written(self, paths: Iterable[Path]) -> None:
        """Tell where files went."""
        for path in paths:
            self._out.print(Text.assemble("wrote ", (str(path), "cyan")), soft_wrap=True)

    def show_frame(self, frame: pd.DataFrame) -> None:
        """Print a table of results, numbers to three digits."""
        shown = ScreenTable(header_style="bold", row_styles=["", "dim"])
        for i, name in enumerate(frame.columns):
            shown.add_column(str(name), justify="left" if i == 0 else "right")
        for row in frame.itertuples(index=False):
            shown.add_row(*(Text(_cell(value)) for value in row))
        self._out.print(shown)

    def show(self, selection: Selection) -> None:
        """Print the answer: headline, table or explanation, notes."""
        self.say(selection.headline(), "bold green" if selection.n_selected else "bold yellow")
        if selection.n_selected:
            self._out.print(_table(selection))
            more = selection.n_selected - ROWS
            if more > 0:
                self.say(f"... and {more} more; --table writes them all.", "dim")
        else:
            self.say(selection.explanation(), "")
        for note in selection.notes:
            self.say(f"note: {note}", "yellow")


def _cell(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _table(selection: Selection) -> ScreenTable:
    shown = ScreenTable(header_style="bold", row_styles=["", "dim"])
    shown.add_column("feature", overflow="fold", style="cyan")
    for name in ("count", "expected", "p", "q"):
        shown.add_column(name, justify="right", no_wrap=True)
    rows = selection.table
    for row in rows[rows["selected"]].head(ROWS).itertuples(index=False):
        shown.add_row(
            Text(str(row.feature)),
            str(row.count),
            f"{row.expected_count:.3g}",
            f"{row.p_value:.2g}",
            f"{row.q_value:.2g}",
        )
    return shown
