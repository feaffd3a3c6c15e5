"""`nullforest test`: a forest that another program grew, tested from its file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from nullforest.cli import options
from nullforest.cli.endings import BAD_INPUT, ends_cleanly


@ends_cleanly
def given_forest(
    forest: Annotated[
        Path,
        typer.Argument(
            help="Forest of R written by r/nullforest.R, model of LightGBM (text) or XGBoost "
            "(JSON), folder of a model of Spark, or tally.",
            show_default=False,
        ),
    ],
    n_samples: Annotated[
        int | None,
        typer.Option(
            min=1, help="Samples that it was trained on.", show_default="as the file tells"
        ),
    ] = None,
    candidates: Annotated[
        int | None,
        typer.Option(
            min=1, help="Features compared at each node.", show_default="as the file tells"
        ),
    ] = None,
    alpha: options.Alpha = 0.05,
    error: options.ErrorOption = "fdr",
    null: options.NullOption = "auto",
    table: options.TableOut = None,
    json: options.JsonOut = None,
    report: options.ReportOut = None,
    tally: options.TallyOut = None,
    force: options.Force = False,
    quiet: options.Quiet = False,
) -> None:
    """Select the features of a forest that another program grew.

    Example: nullforest test forest.json.gz --table features.csv --report report.html
    """
    from nullforest.cli.outputs import Outputs
    from nullforest.cli.screen import Screen

    options.check_level(alpha)
    outputs = Outputs(table=table, json=json, tally=tally, report=report)
    outputs.check(force=force, never=[forest])
    screen = Screen(quiet=quiet)
    from nullforest.tallies.readers import tally as take_tally

    with screen.waiting(f"Reading {forest.name}"):
        taken = take_tally(forest, n_samples=n_samples, candidates=candidates)
    from nullforest.selection.selection import select  # scipy takes a second to import

    with screen.waiting("Selecting features"):
        # A forest does not know where in a file its features came from.
        selection = replace(select(taken, alpha, error, null), columns=None)

    def page() -> str:
        import shlex

        from nullforest.report import render_html

        command = ["nullforest", "test", str(forest), "--alpha", f"{alpha:g}", "--error", error]
        command += ["--null", null]
        if n_samples is not None:
            command += ["--n-samples", str(n_samples)]
        if candidates is not None:
            command += ["--candidates", str(candidates)]
        return render_html(selection, {"forest": forest.name}, command=shlex.join(command))

    written, well = outputs.write(selection, page)
    screen.say(f"{taken.source}: {taken.n_trees} trees with {taken.n_nodes} nodes")
    screen.show(selection)
    screen.say_written(written)
    raise typer.Exit(0 if well else BAD_INPUT)
