"""How far has it come? A bar on the terminal, once the work has lasted two seconds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

#: Shorter work needs no bar.
PATIENCE = 2.0

#: Told how many steps are done, and of how many (None where nobody knows).
Report = Callable[[int, int | None], None]


@contextmanager
def steps_shown(what: str, *, wanted: bool) -> Iterator[Report]:
    """Give a function that shows the number of finished steps on standard error.

    Nothing is shown where standard error is no terminal, in the first two seconds, or where it is
    not wanted.

    Examples
    --------
    >>> with steps_shown("half-samples", wanted=True) as report:
    ...     report(1, 2)
    """
    from rich.console import Console  # only when some wrapper runs

    console = Console(stderr=True)
    if not (wanted and console.is_terminal):
        yield lambda done, total: None
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    times = (TimeElapsedColumn(), TimeRemainingColumn())
    bar = Progress(*columns, *times, console=console, transient=True)
    task = bar.add_task(what, total=None)
    start, shown = monotonic(), False

    def report(done: int, total: int | None) -> None:
        nonlocal shown
        bar.update(task, completed=done, total=total)
        if not shown and monotonic() - start > PATIENCE:
            bar.start()
            shown = True

    try:
        yield report
    finally:
        if shown:
            bar.stop()
