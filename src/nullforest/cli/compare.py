"""Do other tests agree? `nullforest compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nullforest.cli import options
from nullforest.cli.endings import BAD_INPUT, ends_cleanly


@ends_cleanly
def compare(
    data: Annotated[Path, typer.Argument(help="Table of samples.", show_default=False)],
    target: Annotated[
        str, typer.Option("--target", "-t", help="Column to predict.", show_default=False)
    ],
    methods: Annotated[
        str, typer.Option(help="Methods, with commas between; 'all' for every one.")
    ] = "paper,bagged,probes,altmann,janitza,boruta",
    relevant: Annotated[
        str | None,
        typer.Option(
            help="Features known to matter: names with commas between, or a file with one name "
            "per line. Adds FPR, FNR, FDR and power.",
            show_default=False,
        ),
    ] = None,
    permutations: Annotated[
        int, typer.Option(min=1, help="Permutations of the permutation tests.")
    ] = 250,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of Boruta.")] = 100,
    ids: Annotated[
        str | None, typer.Option(help="Column that names the samples.", show_default=False)
    ] = None,
    drop: Annotated[
        list[str] | None, typer.Option(help="Column to leave out; may be given again.")
    ] = None,
    task: Annotated[
        options.TaskName, typer.Option(help="What the target is; by its type if not said.")
    ] = "auto",
    alpha: options.Alpha = 0.05,
    error: options.ErrorOption = "fpr",
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
    force: options.Force = False,
    quiet: options.Quiet = False,
) -> None:
    """Run the published tests beside ours, on the same data with the same forests.

    Example: nullforest compare patients.csv --target ill --methods paper,bagged,altmann
    """
    from nullforest.cli.forest_options import ForestSettings, grow_arguments
    from nullforest.cli.outputs import Outputs, write_each
    from nullforest.cli.screen import Screen
    from nullforest.compute import connected
    from nullforest.engine import RankTable
    from nullforest.evaluation.comparison import METHODS
    from nullforest.evaluation.comparison import compare as run_all
    from nullforest.io import read_table
    from nullforest.nulls.distribution import check_alpha

    check_alpha(alpha)
    outputs = Outputs(table=table, json=json)
    outputs.check(force=force, never=[data])
    asked = [m.strip() for m in methods.split(",") if m.strip()]
    chosen = list(METHODS) if asked == ["all"] else asked
    settings = ForestSettings(
        trees, candidates, draw, samples, replace, min_leaf, max_depth, seed, jobs
    )
    screen = Screen(quiet=quiet)
    with screen.waiting(f"Reading {data.name}"):
        read = read_table(data, target, ids=ids, drop=drop or (), task=task)
    truth = None if relevant is None else _columns(relevant, read.feature_names.tolist())
    with connected(cluster), screen.progress("Comparing") as progress:
        result = run_all(
            RankTable(read.X, n_jobs=jobs, feature_names=read.feature_names),
            read.y,
            chosen,
            alpha=alpha,
            error=error,
            relevant=truth,
            permutations=permutations,
            rounds=rounds,
            progress=progress,
            **grow_arguments(read, settings),
        )
    written, well = write_each(outputs, {"table": result.to_csv, "json": result.to_json})
    screen.say(f"{result.names.size} features, {error} {alpha:g}")
    screen.show_frame(result.table.reset_index())
    screen.say("Selected by both")
    screen.show_frame(result.shared.rename_axis("").reset_index())
    for method, why in result.skipped.items():
        screen.say(f"note: {method} was left out: {why}.", "yellow")
    for method, answer in result.answers.items():
        for note in answer.notes:
            screen.say(f"note: {method}: {note}", "yellow")
    screen.say_written(written)
    if not well:
        raise typer.Exit(BAD_INPUT)


def _columns(relevant: str, names: list[str]) -> list[int]:
    """Column numbers of the features that are named, in the option itself or in a file."""
    from nullforest._util.errors import InputError

    path = Path(relevant)
    given = path.read_text().splitlines() if path.is_file() else relevant.split(",")
    wanted = [name.strip() for name in given if name.strip()]
    place = {name: i for i, name in enumerate(names)}
    unknown = [name for name in wanted if name not in place]
    if unknown:
        raise InputError(f"--relevant names {unknown[0]!r}, which is no feature of the table.")
    return [place[name] for name in wanted]
