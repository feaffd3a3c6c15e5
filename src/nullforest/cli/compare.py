"""`nullforest compare`: published tests beside ours on the same data."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from nullforest._util.errors import InputError
from nullforest.cli import options
from nullforest.cli.endings import BAD_INPUT, ends_cleanly
from nullforest.forest.settings import ForestSettings

_OF_TREES = ("candidates", "draw", "samples", "replace", "min_leaf", "seed")
_TREES: Any = options.group_of(ForestSettings, "The forest", _OF_TREES)


@dataclass(frozen=True)
class PublishedGrowing(_TREES):  # type: ignore[misc]  # made above
    """How the forests of published tests are grown: by default in the proportions of the paper."""

    trees: Annotated[
        int | None,
        typer.Option(min=1, help="Number of trees.", show_default="F/10, 1 000 to 10 000"),
    ] = None
    max_depth: Annotated[
        int, typer.Option(min=0, help="Most splits between root and leaf; 0 for no limit.")
    ] = 0


@ends_cleanly
@options.grouped
def compare(
    *,
    data: options.Data,
    target: options.Target = None,
    methods: Annotated[
        str, typer.Option(help="Methods, separated by commas; 'all' for every one.")
    ] = "paper,bagged,probes,altmann,janitza,boruta",
    relevant: Annotated[
        str | None,
        typer.Option(
            help="Features known to be relevant: names separated by commas, or a file with one "
            "name per line. Adds FPR, FNR, FDR and power.",
            show_default=False,
        ),
    ] = None,
    permutations: Annotated[
        int, typer.Option(min=1, help="Permutations of the permutation tests.")
    ] = 250,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of Boruta.")] = 100,
    reading: options.Reading,
    alpha: options.Alpha = 0.05,
    error: options.ErrorOption = "fdr",
    growing: PublishedGrowing,
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
    from nullforest.cli.outputs import Outputs
    from nullforest.cli.screen import Screen

    options.check_level(alpha)
    outputs = Outputs(table=table, json=json)
    outputs.check(force=force, never=[data])
    screen = Screen(quiet=quiet)
    if reading.blocks or reading.adjust:
        raise InputError("The tests are compared without blocks and covariates; leave them out.")
    read = reading.read(data, target, screen)
    truth = None if relevant is None else _columns(relevant, read.names.tolist())
    # The libraries that are slow to import, after everything that can be wrong with the options.
    from nullforest.evaluation.baselines.comparison import METHODS
    from nullforest.evaluation.baselines.comparison import compare as run_all
    from nullforest.run.backends import connected

    named = [m.strip() for m in methods.split(",") if m.strip()]
    published: dict[str, Any] = vars(growing) | {"max_depth": growing.max_depth or None}
    with connected(cluster), screen.progress("Comparing") as progress:
        result = run_all(
            read,
            methods=list(METHODS) if named == ["all"] else named,
            alpha=alpha,
            error=error,
            relevant=truth,
            permutations=permutations,
            rounds=rounds,
            progress=progress,
            n_jobs=jobs,
            **published,
        )
    written, well = outputs.write({"table": result.to_csv, "json": result.to_json})
    names = list(result.answers)
    screen.say(f"{result.names.size} features, {error} {alpha:g}")
    screen.show_frame(result.table.reset_index())
    screen.say("Features selected by both of two methods")
    shared = result.shared.rename(index=lambda name: f"{names.index(name) + 1} {name}")
    shared.columns = [str(i + 1) for i in range(len(names))]
    screen.show_frame(shared.rename_axis("").reset_index())
    for method, answer in result.answers.items():
        for note in answer.notes:
            screen.say(f"note: {method}: {note}", "yellow")
    screen.say_written(written)
    raise typer.Exit(0 if well else BAD_INPUT)


def _columns(relevant: str, names: list[str]) -> list[int]:
    """Column numbers of the features that are named, in the option itself or in a file."""
    try:
        words = Path(relevant).read_text("utf-8").splitlines()
    except UnicodeDecodeError:
        raise InputError(f"--relevant {relevant} is not text in UTF-8; save it as UTF-8.") from None
    except (OSError, ValueError):  # no file, then, but names
        words = relevant.split(",")
    named = [name.strip() for name in words if name.strip()]
    place = {name: i for i, name in enumerate(names)}
    unknown = [name for name in named if name not in place]
    if unknown:
        raise InputError(f"--relevant names {unknown[0]!r}, which is no feature of the table.")
    return [place[name] for name in named]
