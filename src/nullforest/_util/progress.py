"""How far has it come? A bar on the terminal for whatever takes more than two seconds."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

#: Told (pieces done, pieces in all); a piece under way may count in part.
Report = Callable[[float, int], object]
#: Work that ends sooner needs no bar.
PATIENCE = 2.0


@contextmanager
def progress_bar(what: str, report: Report | None = None) -> Iterator[Report]:
    """Yield what to tell the progress to: `report` if given, else a bar on standard error.

    The bar is drawn on a terminal only, and only once the work has taken two seconds.

    Examples
    --------
    >>> from nullforest._util.progress import progress_bar
    >>> with progress_bar("Counting") as progress:
    ...     for i in range(3):
    ...         _ = progress(i + 1, 3)
    """
    if report is not None:
        yield report
        return
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console  # takes a while to import, and most work is short
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    start = monotonic()
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:.0f}/{task.total}"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task(what, total=None)

    def tell(done: float, total: int) -> None:
        if monotonic() - start > PATIENCE:
            bar.start()
            bar.update(task, completed=done, total=total)

    try:
        yield tell
    finally:
        bar.stop()
