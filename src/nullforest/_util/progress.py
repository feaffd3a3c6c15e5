"""The progress bar: drawn on a terminal for whatever takes more than two seconds."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

#: Told (pieces done, pieces in all); a piece under way may count in part.
Report = Callable[[float, float], object]
#: Seconds: work that ends sooner needs no bar.
PATIENCE = 2.0
#: Seconds between two lines of a log.
LOG_EVERY = 30.0


def silent(done: float, total: float) -> None:
    """Show nothing."""


def describe(report: Report | None, state: str) -> None:
    """Show a few words on the state of the work beside its bar, where there is one."""
    show = getattr(report, "describe", None)
    if show is not None:
        show(state)


def part_of(report: Report | None, done: float, total: float) -> Report | None:
    """The report of a part of the work that begins when `done` of `total` pieces are finished."""
    return None if report is None else lambda now, _: report(done + now, total)


def step_of(report: Report, step: int, steps: int) -> Report:
    """`report`, for one of several equal steps of the work."""
    return lambda done, total: report(step + done / total, steps)


@contextmanager
def progress_bar(what: str, report: Report | None = None, *, log: bool = False) -> Iterator[Report]:
    """Yield what to tell the progress to: `report` if given, else a bar on standard error.

    Parameters
    ----------
    what : str
        Name of the work.
    report : callable, optional
        Told instead; :func:`silent` for no progress at all.
    log : bool
        Where there is no terminal, print a line every half minute.
    """
    if report is not None:
        yield report
    elif not sys.stderr.isatty():
        yield _logged(what) if log else silent
    else:
        with _drawn(what) as tell:
            yield tell


@contextmanager
def _drawn(what: str) -> Iterator[Report]:
    from rich.console import Console  # takes a while to import, and most work is short
    from rich.progress import (
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    start = monotonic()
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:.0f}/{task.total}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task(what, total=None)

    class Bar:
        def __call__(self, done: float, total: float) -> None:
            if monotonic() - start > PATIENCE:
                bar.start()
                bar.update(task, completed=done, total=total)

        def describe(self, state: str) -> None:
            bar.update(task, description=f"{what} ({state})")

    try:
        yield Bar()
    finally:
        bar.stop()


def _logged(what: str) -> Report:
    started = told = monotonic()
    before: float | None = None

    def tell(done: float, total: float) -> None:
        nonlocal told, before
        now = monotonic()
        before = done if before is None else before
        if now - told < LOG_EVERY and done < total:
            return
        told = now
        left = (now - started) * (total - done) / (done - before) if done > before else 0.0
        time = f", about {left / 60:.0f} min left" if left else ""
        print(f"{what}: {done / max(total, 1):.0%}{time}", file=sys.stderr, flush=True)

    return tell
