"""`nullforest select`: the features of a table that a random forest selects."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
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
    target: options.Target = None,
    reading: options.Reading,
    alpha: options.Alpha = 0.05,
    error: options.ErrorOption = "fdr",
    null: options.NullOption = "auto",
    groups: options.GroupsIn = None,
    growing: options.Growing,
    max_trees: options.MaxTrees = None,
    max_seconds: options.MaxSeconds = None,
    jobs: options.Jobs = -1,
    cluster: options.Cluster = None,
    resume: options.Resume = None,
    table: options.TableOut = None,
    json: options.JsonOut = None,
    report: options.ReportOut = None,
    tally: options.TallyOut = None,
    plot: options.SelectionPlotOut = None,
    h5ad: options.H5adOut = None,
    maps: options.MapsOut = None,
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
    chosen = dict(locals())  # the options, before anything else has a name
    chosen |= vars(chosen.pop("reading")) | vars(chosen.pop("growing"))
    from nullforest.cli.outputs import Outputs, writers_of
    from nullforest.cli.screen import Screen

    if not data or not reading.has_target(target):
        if resume is None or data or reading.has_target(target):
            raise InputError(
                "Missing the table or --target; give both, as in nullforest select patients.csv "
                "--target ill."
            )
        from nullforest.cli.resume import recalled

        now = {"resume": resume, "jobs": jobs, "cluster": cluster, "force": force, "quiet": quiet}
        select(**(chosen | recalled(resume) | now))
        return
    options.check_level(alpha)
    settings = growing.settings
    outputs = Outputs(
        table=table,
        json=json,
        report=report,
        tally=tally,
        plot=plot,
        h5ad=h5ad,
        maps=maps,
        group_table=None if groups is None or table is None else table.with_suffix(".groups.csv"),
    )
    resumable = None
    if resume is not None:
        from nullforest.cli.resume import Resumable

        resumable = Resumable(resume, chosen, outputs, **growing.others("save_every"))
    inputs = [path for path in (*data, annotations) if path is not None]
    outputs.check(force=force, never=inputs, ours=() if resumable is None else resumable.ours)
    screen = Screen(quiet=quiet)
    asked = reading.read(
        data, target, screen, annotations=annotations, **growing.others("bins", "class_weight")
    )
    if link is not None:
        from nullforest.report.render import check_link

        check_link(link, () if asked.annotations is None else asked.annotations)
    # The libraries that are slow to import, after everything that can be wrong with the options.
    from nullforest.cli.answer import answer, page_of
    from nullforest.cli.matrix_outputs import MatrixResults
    from nullforest.run.backends import connected
    from nullforest.run.schedule import Question

    # Values on disk are copied by columns only where out-of-bag errors are wanted.
    asked = replace(asked, n_jobs=jobs, keep_values=report is not None or resume is not None)
    results = MatrixResults(data, asked, outputs, groups, reading.layer)
    with connected(cluster), resumable or nullcontext():
        forest, selection = answer(
            results.data,
            settings,
            Question(alpha, error, null),
            screen,
            jobs=jobs,
            max_trees=max_trees,
            max_seconds=max_seconds,
            watched=report is not None,
            resumable=resumable,
        )
        selection = results.of(selection)
        command = ["nullforest", "select", *map(str, data), *reading.words(target)]
        command += ["--groups", groups] if groups else []
        command += ["--alpha", f"{alpha:g}", "--error", error, "--null", null]
        command += growing.words(forest.settings, forest.n_trees)
        # Files first: a closed terminal must not cost the work of hours.
        writers = writers_of(
            selection,
            lambda: page_of(forest, selection, results.data, settings, data[0].name, command, link),
        )
        written, well = (resumable or outputs).write(writers | results.writers(selection))
    screen.show(selection)
    screen.show_parts(results.clusters, results.groups)
    screen.say_written(written)
    raise typer.Exit(0 if well else BAD_INPUT)
