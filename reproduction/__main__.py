"""The experiments of the paper, run again: `python -m reproduction`, or `make reproduction`."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from nullforest._util.errors import InputError
from nullforest._util.progress import Report, progress_bar, silent
from nullforest.cli import options
from nullforest.cli.endings import ends_cleanly
from nullforest.cli.screen import Screen
from nullforest.run.backends import connected
from reproduction import NAMES, reproduce
from reproduction.claims import ENOUGH_RUNS, held
from reproduction.experiment import Experiment
from reproduction.publishing import PAGE, publish

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
@ends_cleanly
def main(
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
    ] = Path("runs/reproduction"),
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
    published: Annotated[
        bool,
        typer.Option(
            "--publish", help="Also write docs/reproduction.md and studies/results/reproduction."
        ),
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same results.")] = 0,
    quiet: options.Quiet = False,
) -> None:
    """Rerun the experiments of the paper and set our numbers beside the printed ones.

    Interrupted work resumes when the same command is given again.

    Example: python -m reproduction --quick --out runs/quick
    """
    if maps is not None and not maps.exists():
        raise InputError(f"There is no file {maps}; check the name.")

    def progress(experiment: Experiment) -> Report:
        bars.close()  # the bar of the experiment before
        report = bars.enter_context(
            progress_bar(experiment.name, silent if quiet else None, log=True)
        )
        return lambda done, total: report(100 * done / total if total else 100, 100)

    with connected(cluster), ExitStack() as bars:
        results = reproduce(
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
    for name, one in results.finished.items():
        screen.say(f"{name}: {held(one.claims, one.runs)}")
    if min(one.runs for one in results.finished.values()) < ENOUGH_RUNS:
        screen.say(f"Give --runs {ENOUGH_RUNS} or more to test the claims.")
    written = [out / "index.html", out / "reproduction.md"]
    if published:
        publish(out)
        written.append(PAGE)
    screen.say_written(written)


if __name__ == "__main__":
    app(prog_name="python -m reproduction")
