"""Does the error rate hold on these data? `nullforest audit`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nullforest.cli import options
from nullforest.cli.endings import BAD_INPUT, ends_cleanly


@ends_cleanly
def audit(
    data: Annotated[Path, typer.Argument(help="Table of samples.", show_default=False)],
    target: Annotated[
        str, typer.Option("--target", "-t", help="Column to predict.", show_default=False)
    ],
    nulls: Annotated[
        str, typer.Option(help="Nulls to audit, with commas between.")
    ] = "paper,bagged,probes",
    alphas: Annotated[str, typer.Option(help="Levels, with commas between.")] = "0.05,0.01,0.001",
    permutations: Annotated[int, typer.Option(min=2, help="Forests on permuted labels.")] = 20,
    blocks: Annotated[
        str | None,
        typer.Option(
            help="Column of blocks (persons, sites): labels are permuted within a block only.",
            show_default=False,
        ),
    ] = None,
    max_seconds: Annotated[
        float | None, typer.Option(min=0, help="Stop after this time.", show_default="no limit")
    ] = None,
    ids: Annotated[
        str | None, typer.Option(help="Column that names the samples.", show_default=False)
    ] = None,
    drop: Annotated[
        list[str] | None, typer.Option(help="Column to leave out; may be given again.")
    ] = None,
    task: Annotated[
        options.TaskName, typer.Option(help="What the target is; by its type if not said.")
    ] = "auto",
    trees: options.Trees = None,
    candidates: options.Candidates = None,
    draw: options.Draw = "node",
    samples: options.Samples = 0.5,
    replace: options.Replace = False,
    min_leaf: options.MinLeaf = 1,
    max_depth: options.MaxDepth = None,
    seed: options.Seed = 0,
    jobs: options.Jobs = -1,
    cluster: options.Cluster = None,
    table: options.TableOut = None,
    json: options.JsonOut = None,
    plot: options.PlotOut = None,
    force: options.Force = False,
    quiet: options.Quiet = False,
) -> None:
    """Measure the false positive rate really reached, on the same data with permuted labels.

    Example: nullforest audit patients.csv --target ill --plot qq.png
    """
    from nullforest.cli.forest_options import ForestSettings, grow_arguments
    from nullforest.cli.outputs import Outputs, write_each
    from nullforest.cli.screen import Screen
    from nullforest.compute import connected
    from nullforest.evaluation.audit import audit as run_audit
    from nullforest.io import read_table

    outputs = Outputs(table=table, json=json, plot=plot)
    outputs.check(force=force, never=[data])
    levels = _levels(alphas)
    settings = ForestSettings(
        trees, candidates, draw, samples, replace, min_leaf, max_depth, seed, jobs
    )
    screen = Screen(quiet=quiet)
    with screen.waiting(f"Reading {data.name}"):
        left_out = [*(drop or ()), *([ids] if blocks and ids else ())]
        read = read_table(data, target, ids=blocks or ids, drop=left_out, task=task)
    with connected(cluster), screen.progress("Auditing") as progress:
        result = run_audit(
            read.X,
            read.y,
            nulls=[name.strip() for name in nulls.split(",")],  # type: ignore[misc]  # checked there
            alphas=levels,
            permutations=permutations,
            blocks=read.sample_ids if blocks else None,
            max_seconds=max_seconds,
            progress=progress,
            **grow_arguments(read, settings),
        )
    written, well = write_each(
        outputs, {"table": result.to_csv, "json": result.to_json, "plot": result.plot}
    )
    screen.say(result.verdict())
    screen.show_frame(result.table)
    for note in (*read.notes, *result.notes):
        screen.say(f"note: {note}", "yellow")
    screen.say_written(written)
    if not well:
        raise typer.Exit(BAD_INPUT)


def _levels(alphas: str) -> list[float]:
    from nullforest._util.errors import InputError

    try:
        return [float(part) for part in alphas.split(",")]
    except ValueError:
        raise InputError(
            f"--alphas {alphas} are no numbers; give levels such as 0.05,0.01."
        ) from None
