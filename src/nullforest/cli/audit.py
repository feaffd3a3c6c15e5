"""`nullforest audit`: the false positive rate reached on these data."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated

import typer

from nullforest._util.errors import InputError
from nullforest.cli import options
from nullforest.cli.endings import BAD_INPUT, ends_cleanly


@dataclass(frozen=True)
class BlockedReading(options.Reading):
    """How the table is read, with blocks within which labels are permuted."""

    blocks: Annotated[
        str | None,
        typer.Option(
            help="Column of blocks (persons, sites): labels are permuted within a block only.",
            show_default=False,
        ),
    ] = None


@ends_cleanly
@options.grouped
def audit(
    *,
    data: options.Data,
    target: options.Target = None,
    nulls: Annotated[
        str, typer.Option(help="Null models to audit, separated by commas; or shadows.")
    ] = "paper,bagged,probes",
    alphas: Annotated[str, typer.Option(help="Levels, separated by commas.")] = "0.05,0.01,0.001",
    permutations: Annotated[int, typer.Option(min=2, help="Forests on permuted labels.")] = 20,
    max_seconds: Annotated[
        float | None, typer.Option(min=0, help="Stop after this time.", show_default="no limit")
    ] = None,
    reading: BlockedReading,
    growing: options.Growing,
    jobs: options.Jobs = -1,
    cluster: options.Cluster = None,
    table: options.TableOut = None,
    json: options.JsonOut = None,
    plot: options.PlotOut = None,
    force: options.Force = False,
    quiet: options.Quiet = False,
) -> None:
    """Measure the false positive rate that is reached on the same data with permuted labels.

    Example: nullforest audit patients.csv --target ill --plot qq.png
    """
    from nullforest.cli.outputs import Outputs
    from nullforest.cli.screen import Screen

    outputs = Outputs(table=table, json=json, plot=plot)
    outputs.check(force=force, never=[data])
    levels = _levels(alphas)
    screen = Screen(quiet=quiet)
    read = reading.read(data, target, screen)
    # The libraries that are slow to import, after everything that can be wrong with the options.
    from nullforest.evaluation.auditing import audit as run_audit
    from nullforest.run.backends import connected

    with connected(cluster), screen.progress("Auditing") as progress:
        result = run_audit(
            read,
            nulls=[name.strip() for name in nulls.split(",")],  # type: ignore[misc]  # checked there
            alphas=levels,
            permutations=permutations,
            max_seconds=max_seconds,
            progress=progress,
            n_jobs=jobs,
            **asdict(growing.settings),
        )
    written, well = outputs.write(
        {"table": result.to_csv, "json": result.to_json, "plot": result.plot}
    )
    screen.say(result.verdict())
    screen.show_frame(result.table)
    for note in (*read.notes, *result.notes):
        screen.say(f"note: {note}", "yellow")
    screen.say_written(written)
    raise typer.Exit(0 if well else BAD_INPUT)


def _levels(alphas: str) -> list[float]:
    try:
        return [float(part) for part in alphas.split(",")]
    except ValueError:
        raise InputError(
            f"--alphas {alphas} is no list of numbers; give levels such as 0.05,0.01."
        ) from None
