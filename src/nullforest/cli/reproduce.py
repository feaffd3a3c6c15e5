"""Does the paper reproduce? `nullforest reproduce`."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nullforest.cli import options
from nullforest.cli.endings import ends_cleanly

if TYPE_CHECKING:
    from nullforest.evaluation.paper.experiment import Experiment

#: Names of the experiments, written out so that --help need not import them.
NAMES = ("low_dimensional", "high_dimensional", "control", "power", "comparison", "cortical")
#: Seconds between two lines of progress where there is no terminal to draw a bar on.
_PATIENCE = 30.0


@ends_cleanly
def reproduce(
    experiments: Annotated[
        list[str] | None,
        typer.Argument(
            help=f"What to rerun: {', '.join(NAMES)}; all of it if nothing is named.",
            metavar="[EXPERIMENT]...",
            show_default=False,
        ),
    ] = None,
    runs: Annotated[
        int | None,
        typer.Option(min=2, help="Runs per setting.", show_default="the paper's number"),
    ] = None,
    jobs: Annotated[
        int, typer.Option(help="Cores to use; -1 for all. No effect on the results.")
    ] = -1,
    cluster: options.Cluster = None,
    out: Annotated[
        Path, typer.Option(help="Folder for the results; finished runs there are used again.")
    ] = Path("reproduction"),
    quick: Annotated[
        bool, typer.Option("--quick", help="Smaller settings and fewer runs: minutes in all.")
    ] = False,
    finished: Annotated[
        bool, typer.Option("--finished", help="Compute nothing; show what is finished so far.")
    ] = False,
    maps: Annotated[
        Path | None,
        typer.Option(
            help="Maps of cortical thickness whose covariance is taken: .npz, .gii, .mgh, "
            ".dscalar.nii, or .txt that lists such files.",
            show_default="smooth fields on fsaverage5",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same results.")] = 0,
    quiet: options.Quiet = False,
) -> None:
    """Rerun the experiments of the paper and set our numbers beside the printed ones.

    Interrupted work goes on where it ended when the same command is given again.

    Example: nullforest reproduce --quick --out reproduction
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    from nullforest._util.errors import InputError
    from nullforest.cli.screen import Screen
    from nullforest.compute import connected
    from nullforest.evaluation.paper import reproduce as run

    if maps is not None and not maps.exists():
        raise InputError(f"There is no file {maps}; check the name.")
    console = Console(stderr=True, quiet=quiet, highlight=False)
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(elapsed_when_finished=True),
        console=console,
        disable=quiet or not console.is_terminal,
    )

    def progress(experiment: Experiment) -> Callable[[float, float], object]:
        task = bar.add_task(experiment.name, total=None)
        lines = _Lines(experiment.name)

        def report(done: float, total: float) -> None:
            bar.update(task, completed=done, total=total)
            if not (quiet or console.is_terminal):
                lines.tell(done, total)

        return report

    with connected(cluster), bar:
        done = run(
            tuple(experiments or ()),
            out=out,
            size="quick" if quick else "full",
            runs=runs,
            seed=seed,
            jobs=jobs,
            maps=None if maps is None else str(maps),
            finished_only=finished,
            progress=progress,
        )
    screen = Screen(quiet=quiet)
    for name, claims in done.claims.items():
        held = sum(claim.holds for claim in claims)
        screen.say(f"{name}: {held} of {len(claims)} claims hold")
    screen.say_written([out / "index.html", out / "reproduction.md"])


class _Lines:
    """Progress as lines of text, for a log."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.began: tuple[float, float] | None = None
        self.told = 0.0

    def tell(self, done: float, total: float) -> None:
        now = time.monotonic()
        if self.began is None:
            self.began = (now, done)
        started, before = self.began
        if now - self.told < _PATIENCE and done < total:
            return
        self.told = now
        left = ""
        if done > before and done < total:
            seconds = (now - started) * (total - done) / (done - before)
            left = f", about {_span(seconds)} left"
        typer.echo(f"{self.name}: {done / total if total else 1.0:.0%}{left}", err=True)


def _span(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s"
