"""The commands of `nullforest`, each one function of its own module."""

from __future__ import annotations

from typing import Annotated

import typer

from nullforest import __version__
from nullforest.cli.audit import audit
from nullforest.cli.compare import compare
from nullforest.cli.demo import demo
from nullforest.cli.plan import plan
from nullforest.cli.select import select
from nullforest.cli.simulate import simulate
from nullforest.cli.tallies import forest_in_file, merge

app = typer.Typer(
    name="nullforest",
    help="Which features does a random forest select more often than expected under the null? "
    "Feature selection with a controlled error rate.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (select, forest_in_file, merge, compare, audit, demo, plan, simulate):
    app.command("test" if command is forest_in_file else None)(command)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"nullforest {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass
