"""What do forests grown on several machines say together? `nullforest merge`."""

from __future__ import annotations

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
            help="Tallies of forests on the same data: files of --tally or Tally.save().",
            show_default=False,
        ),
    ],
    tally: Annotated[
        Path | None, typer.Option("--tally", help="File for the sum.", show_default=False)
    ] = None,
    alpha: options.Alpha = 0.05,
    error: options.ErrorOption = "fpr",
    null: options.NullOption = "auto",
    table: options.TableOut = None,
    json: options.JsonOut = None,
    force: options.Force = False,
    quiet: options.Quiet = False,
) -> None:
    """Add the tallies of forests grown on different machines, and select by the sum.

    Refuses forests on different data, with different settings, or with trees in common: give
    machines different seeds, or different trees of one seed (--first-tree).

    Example: nullforest merge a.tally b.tally --tally sum.tally --error fdr --table features.csv
    """
    from nullforest.cli.outputs import Outputs
    from nullforest.cli.screen import Screen
    from nullforest.nulls.distribution import check_alpha
    from nullforest.selection.selection import select
    from nullforest.tallies.file_format import merge as add

    check_alpha(alpha)
    outputs = Outputs(table=table, json=json, tally=tally)
    outputs.check(force=force, never=tallies)
    screen = Screen(quiet=quiet)
    with screen.waiting("Adding tallies"):
        total = add(tallies)
        selection = select(total, alpha, error, null)
    written, well = outputs.write(selection, lambda: "")
    screen.say(f"{len(tallies)} tallies add to {total.n_trees} trees with {total.n_nodes} nodes")
    screen.show(selection)
    screen.say_written(written)
    if not well:
        raise typer.Exit(BAD_INPUT)
