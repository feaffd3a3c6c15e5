"""Which features of a table matter? `nullforest select`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nullforest.cli import options
from nullforest.cli.endings import BAD_INPUT, ends_cleanly


@ends_cleanly
def select(
    data: Annotated[
        Path | None,
        typer.Argument(
            help="Table of samples: CSV or TSV (also .gz, .bz2, .xz, .zst), Parquet, NPZ, NPY.",
            show_default=False,
        ),
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="Column to predict.", show_default=False)
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
    alpha: options.Alpha = 0.05,
    error: options.ErrorOption = "fpr",
    null: options.NullOption = "auto",
    trees: options.Trees = None,
    candidates: options.Candidates = None,
    draw: options.Draw = "node",
    samples: options.Samples = 0.5,
    replace: options.Replace = False,
    min_leaf: options.MinLeaf = 1,
    max_depth: options.MaxDepth = None,
    seed: options.Seed = 0,
    first_tree: options.FirstTree = 0,
    jobs: options.Jobs = -1,
    cluster: options.Cluster = None,
    resume: options.Resume = None,
    save_every: options.SaveEvery = 30.0,
    table: options.TableOut = None,
    json: options.JsonOut = None,
    report: options.ReportOut = None,
    tally: options.TallyOut = None,
    force: options.Force = False,
    quiet: options.Quiet = False,
) -> None:
    """Select the features that a random forest uses more often than chance explains.

    Example: nullforest select patients.csv --target ill --error fdr --report out.html

    With --resume FOLDER a run survives a kill: the same command, or nullforest select --resume
    FOLDER alone, goes on where it ended.
    """
    asked = dict(locals())  # the options as they were given, before anything else has a name
    from nullforest._util.errors import InputError
    from nullforest.cli.forest_options import ForestSettings
    from nullforest.cli.outputs import Outputs
    from nullforest.cli.report_options import page_of
    from nullforest.cli.resume import Resumable, recalled
    from nullforest.cli.screen import Screen
    from nullforest.cli.selection_run import select_features
    from nullforest.compute import connected
    from nullforest.io import read_table
    from nullforest.nulls.distribution import check_alpha

    if data is None or target is None:
        if resume is None or data is not None or target is not None:
            raise InputError(
                "Missing the table or --target; give both, as in nullforest select patients.csv "
                "--target ill."
            )
        now = {"resume": resume, "save_every": save_every, "jobs": jobs, "cluster": cluster}
        select(**(asked | recalled(resume) | now | {"force": force, "quiet": quiet}))
        return
    check_alpha(alpha)
    outputs = Outputs(table=table, json=json, report=report, tally=tally)
    resumable = None if resume is None else Resumable(resume, asked, save_every)
    outputs.check(force=force, never=[data], ours=() if resumable is None else resumable.ours())
    settings = ForestSettings(
        trees=trees,
        candidates=candidates,
        draw=draw,
        samples=samples,
        replace=replace,
        min_leaf=min_leaf,
        max_depth=max_depth,
        seed=seed,
        first_tree=first_tree,
        jobs=jobs,
    )
    screen = Screen(quiet=quiet)
    with screen.waiting(f"Reading {data.name}"):
        read = read_table(data, target, ids=ids, drop=drop or (), task=task)
    with connected(cluster):
        selection = select_features(
            read,
            settings,
            alpha,
            error,
            null,
            screen,
            watched=report is not None,
            resumable=resumable,
        )
    columns = [
        *(["--ids", ids] if ids else []),
        *(word for d in drop or () for word in ("--drop", d)),
    ]
    command = ["nullforest", "select", str(data), "--target", target, *columns, "--task", read.task]
    command += ["--alpha", f"{alpha:g}", "--error", error, "--null", null]
    command += settings.options(selection.tally)
    # Files first: a closed terminal must not cost the work of hours.
    written, well = outputs.write(selection, page_of(selection, read, settings, data.name, command))
    if resumable is not None and well:
        resumable.finish()
    screen.show(selection)
    screen.say_written(written)
    if not well:
        raise typer.Exit(BAD_INPUT)
