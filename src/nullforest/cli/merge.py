"""`nullforest merge`: forests grown on several machines, tested together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from nullforest.cli import options
from nullforest.cli.endings import BAD_INPUT, ends_cleanly


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
    machines different seeds, or different trees of one seed (--first-tree).

    Example: nullforest merge a.tally b.tally --tally sum.tally --table features.csv
    """
    from nullforest.cli.outputs import Outputs
    from nullforest.cli.screen import Screen
    from nullforest.cli.wording import all_in_shell
    from nullforest.tallies.file_format import merge as add

    options.check_level(alpha)
    outputs = Outputs(table=table, json=json, tally=tally, report=report)
    inputs = tallies if annotations is None else [*tallies, annotations]
    outputs.check(force=force, never=inputs)
    screen = Screen(quiet=quiet)
    with screen.waiting("Adding tallies"):
        total = add(tallies)
    from nullforest.data.annotations import matched, read_annotations
    from nullforest.report.links import check_link
    from nullforest.selection.selection import select  # scipy takes a second to import

    about = None
    if annotations is not None:
        about = matched(read_annotations(annotations), total.names, str(annotations))
    if link is not None:
        check_link(link, () if about is None else about)

    with screen.waiting("Selecting features"):
        # A tally does not know where in a file its features came from.
        selection = replace(select(total, alpha, error, null), columns=None)
        notes = all_in_shell(selection.notes)
        selection = replace(selection, notes=notes, annotations=about)

    def page() -> str:
        import shlex

        from nullforest.report import render_html

        command = ["nullforest", "merge", *map(str, tallies)]
        command += ["--alpha", f"{alpha:g}", "--error", error, "--null", null]
        names = ", ".join(path.name for path in tallies)
        return render_html(selection, {"tallies": names}, command=shlex.join(command), link=link)

    written, well = outputs.write(selection, page)
    screen.say(f"{len(tallies)} tallies add to {total.n_trees} trees with {total.n_nodes} nodes")
    screen.show(selection)
    screen.say_written(written)
    raise typer.Exit(0 if well else BAD_INPUT)
