"""`nullforest merge` and `nullforest test`: forests that were grown elsewhere, from their files."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nullforest.cli import options
from nullforest.cli.endings import BAD_INPUT, ends_cleanly

if TYPE_CHECKING:
    from nullforest.cli.outputs import Outputs
    from nullforest.cli.screen import Screen
    from nullforest.tallies.tally import Tally


@ends_cleanly
def merge(
    tallies: Annotated[
        list[Path],
        typer.Argument(
            help="Tallies of forests on the same data, written by nullforest select --tally.",
            show_default=False,
        ),
    ],
    tally: Annotated[
        Path | None, typer.Option("--tally", help="File for the sum.", show_default=False)
    ] = None,
    alpha: options.Alpha = 0.05,
    error: options.ErrorOption = "fdr",
    null: options.NullOption = "auto",
    table: options.TableOut = None,
    json: options.JsonOut = None,
    report: options.ReportOut = None,
    link: options.Link = None,
    annotations: options.AnnotationsIn = None,
    force: options.Force = False,
    quiet: options.Quiet = False,
) -> None:
    """Add the tallies of forests grown on different machines, and select by the sum.

    Refuses forests on different data, with different settings, or with trees in common: give
    machines different seeds, or different trees of one seed (--set first_tree=N).

    Example: nullforest merge a.tally b.tally --tally sum.tally --table features.csv
    """
    from nullforest.cli.outputs import Outputs
    from nullforest.cli.screen import Screen

    options.check_level(alpha)
    outputs = Outputs(table=table, json=json, tally=tally, report=report)
    outputs.check(force=force, never=tallies if annotations is None else [*tallies, annotations])
    screen = Screen(quiet=quiet)

    from nullforest.tallies.file_format import merge as add

    with screen.waiting("Adding tallies"):
        total = add(tallies)
    head = f"{len(tallies)} tallies add to"
    facts = {"tallies": ", ".join(path.name for path in tallies)}
    command = ["merge", *map(str, tallies)]
    how = (alpha, error, null)
    _select(total, how, screen, outputs, head, facts, command, link, annotations)


@ends_cleanly
def forest_in_file(
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
    command = ["test", str(forest)]
    command += ["--n-samples", str(n_samples)] if n_samples is not None else []
    command += ["--candidates", str(candidates)] if candidates is not None else []
    how = (alpha, error, null)
    _select(taken, how, screen, outputs, f"{taken.source}:", {"forest": forest.name}, command)


def _select(
    tally: Tally,
    how: tuple[float, options.ErrorName, options.NullName],
    screen: Screen,
    outputs: Outputs,
    head: str,
    facts: dict[str, str],
    command: list[str],
    link: str | None = None,
    annotations: Path | None = None,
) -> None:
    """Select the features of a tally, write the files and show the result."""
    from nullforest.cli.outputs import writers_of
    from nullforest.data.annotations import matched, read_annotations
    from nullforest.report.render import check_link
    from nullforest.selection.selection import select  # scipy takes a second to import

    alpha, error, null = how
    columns = None
    if annotations is not None:
        columns = matched(read_annotations(annotations), tally.names, str(annotations))
    if link is not None:
        check_link(link, () if columns is None else columns)
    with screen.waiting("Selecting features"):
        selection = select(tally, alpha, error, null)
        # A tally does not know where in a file its features came from.
        selection = replace(
            selection,
            columns=None,
            notes=options.in_shell(selection.notes),
            annotations=columns,
        )

    def page() -> str:
        from nullforest.report import render, summarize

        words = ["nullforest", *command, "--alpha", f"{alpha:g}", "--error", error, "--null", null]
        summary = summarize(selection, facts, command=shlex.join(words), link=link)
        summary["warnings"] = options.in_shell(summary["warnings"])
        return render(summary)

    written, well = outputs.write(writers_of(selection, page))
    screen.say(f"{head} {tally.n_trees} trees with {tally.n_nodes} nodes")
    screen.show(selection)
    screen.say_written(written)
    raise typer.Exit(0 if well else BAD_INPUT)
