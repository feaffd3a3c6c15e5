"""`nullforest select`: the features of a table that a random forest selects."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from nullforest._util.errors import InputError
from nullforest.cli import options
from nullforest.cli.endings import BAD_INPUT, ends_cleanly


@ends_cleanly
@options.grouped
def select(
    *,
    data: Annotated[
        list[Path] | None, typer.Argument(help=options.DATA_HELP, show_default=False)
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="Column to predict.", show_default=False)
    ] = None,
    reading: options.BlockReading,
    alpha: options.Alpha = 0.05,
    error: options.ErrorOption = "fdr",
    null: options.NullOption = "auto",
    groups: options.GroupsIn = None,
    growing: options.Growing,
    max_trees: options.MaxTrees = None,
    max_seconds: options.MaxSeconds = None,
    first_tree: options.FirstTree = 0,
    bins: options.Bins = "auto",
    jobs: options.Jobs = -1,
    cluster: options.Cluster = None,
    resume: options.Resume = None,
    save_every: options.SaveEvery = 30.0,
    table: options.TableOut = None,
    json: options.JsonOut = None,
    report: options.ReportOut = None,
    tally: options.TallyOut = None,
    plot: options.SelectionPlotOut = None,
    h5ad: options.H5adOut = None,
    maps: options.MapsOut = None,
    clusters: options.ClustersOut = None,
    group_table: options.GroupTableOut = None,
    features_in_report: options.FeaturesInReport = 200,
    link: options.Link = None,
    annotations: options.AnnotationsIn = None,
    force: options.Force = False,
    quiet: options.Quiet = False,
) -> None:
    """Select the features that a random forest selects more often than expected under the null.

    Example: nullforest select patients.csv --target ill --report out.html

    Survival times: nullforest select patients.csv --time days --event died

    With --resume FOLDER a run survives a kill: the same command, or nullforest select --resume
    FOLDER alone, resumes it.
    """
    given = dict(locals())  # the options, before anything else has a name
    given |= vars(given.pop("reading")) | vars(given.pop("growing"))
    from nullforest.cli.matrix_outputs import (
        check_outputs,
        groups_of,
        matrix_outputs,
        tested_groups,
        with_clusters,
    )
    from nullforest.cli.outputs import Outputs
    from nullforest.cli.screen import Screen

    if not data or not reading.has_target(target):
        if resume is None or data or reading.has_target(target):
            raise InputError(
                "Missing the table or --target; give both, as in nullforest select patients.csv "
                "--target ill."
            )
        from nullforest.cli.resume import recalled

        now = {"resume": resume, "save_every": save_every, "jobs": jobs, "cluster": cluster}
        select(**(given | recalled(resume) | now | {"force": force, "quiet": quiet}))
        return
    options.check_level(alpha)
    outputs = Outputs(
        table=table,
        json=json,
        report=report,
        tally=tally,
        plot=plot,
        h5ad=h5ad,
        maps=maps,
        clusters=clusters,
        group_table=group_table,
    )
    resumable = None
    if resume is not None:
        from nullforest.cli.resume import Resumable

        resumable = Resumable(resume, given, outputs, save_every)
    inputs = data if annotations is None else [*data, annotations]
    outputs.check(force=force, never=inputs, ours=() if resumable is None else resumable.ours)
    screen = Screen(quiet=quiet)
    read = reading.read(data, target, screen)
    check_outputs(outputs, data, read)
    from nullforest.cli.annotating import annotated

    read = annotated(read, annotations, link)
    read, members = groups_of(groups, read, outputs)
    # The libraries that are slow to import, after everything that can be wrong with the options.
    from nullforest.cli.forest_run import options_of, page_of, select_features
    from nullforest.run.backends import connected

    settings, most_bins = growing.settings(first_tree), options.bins_of(bins)
    with connected(cluster), resumable or nullcontext():
        selection = select_features(
            read,
            settings,
            alpha,
            error,
            null,
            screen,
            jobs=jobs,
            max_trees=max_trees,
            max_seconds=max_seconds,
            watched=report is not None,
            resumable=resumable,
            bins=most_bins,
        )
        selection, found_clusters = with_clusters(read, selection)
        found_groups = tested_groups(members, read, selection)
        command = ["nullforest", "select", *map(str, data), *reading.target_words(target)]
        command += ["--ids", reading.ids] if reading.ids else []
        command += ["--blocks", reading.blocks] if reading.blocks else []
        command += [word for name in reading.adjust or () for word in ("--adjust", name)]
        command += [word for name in reading.drop or () for word in ("--drop", name)]
        command += ["--transpose"] if reading.transpose else []
        command += ["--decimal", reading.decimal] if reading.decimal else []
        command += reading.matrix_words() + (["--groups", groups] if groups else [])
        command += ["--task", read.task] if read.task != "survival" else []
        command += ["--alpha", f"{alpha:g}", "--error", error, "--null", null]
        command += options_of(settings, selection.tally)
        command += ["--bins", bins] if bins != "auto" else []
        # Files first: a closed terminal must not cost the work of hours.
        written, well = (resumable or outputs).write(
            selection,
            lambda: page_of(
                selection,
                read,
                settings,
                data[0].name,
                command,
                reading.blocks,
                reading.adjust or (),
                features=features_in_report,
                link=link,
                bins=most_bins,
            ),
            matrix_outputs(data[0], read, selection, found_groups, reading.layer),
        )
    screen.show(selection)
    screen.show_parts(found_clusters, found_groups)
    screen.say_written(written)
    raise typer.Exit(0 if well else BAD_INPUT)
