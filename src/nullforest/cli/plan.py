"""`nullforest plan`: trees and candidates for a study to come."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from nullforest.cli import options
from nullforest.cli.endings import ends_cleanly

_study = partial(typer.Option, rich_help_panel="The study")
#: Columns of the table that --table and --json have, but not the terminal.
_IN_FILES = ["level", "next_level", "finest_alpha"]


@ends_cleanly
def plan(
    n_samples: Annotated[int, _study(min=4, help="Samples.")],
    n_features: Annotated[int, _study(min=2, help="Features.")],
    n_relevant: Annotated[int, _study(min=1, help="Relevant features.")],
    relevance: Annotated[float, _study(help="Their correlation with the label.")] = 0.5,
    runs: Annotated[int, _study(min=1, help="Data sets to simulate.")] = 5,
    alpha: options.Alpha = 0.05,
    error: options.ErrorOption = "fdr",
    null: options.NullOption = "auto",
    trees: Annotated[
        list[int] | None,
        typer.Option(help="Number of trees to try; may be given again.", show_default="by F"),
    ] = None,
    candidates: Annotated[
        list[int] | None,
        typer.Option(help="Candidates per node to try; may be given again.", show_default="by F"),
    ] = None,
    draw: options.Draw = "node",
    samples: float = 0.5,
    seed: options.Seed = 0,
    jobs: options.Jobs = -1,
    cluster: options.Cluster = None,
    table: Annotated[Path | None, typer.Option("--table", help="The table, as CSV.")] = None,
    json: Annotated[Path | None, typer.Option("--json", help="The answer, as JSON.")] = None,
    force: options.Force = False,
    quiet: options.Quiet = False,
) -> None:
    """Find the trees and candidates that give power.

    Example: nullforest plan --n-samples 150 --n-features 5000 --n-relevant 50 --relevance 0.5
    """
    import json as as_json

    from nullforest._util.files import writing
    from nullforest.cli.outputs import Outputs
    from nullforest.cli.screen import Screen

    options.check_level(alpha)
    Outputs(table=table, json=json).check(force=force)
    screen = Screen(quiet=quiet)
    from nullforest.evaluation.planning import plan as make_plan
    from nullforest.run.backends import connected

    with connected(cluster):
        study = make_plan(
            n_samples,
            n_features,
            n_relevant,
            relevance,
            alpha=alpha,
            error=error,
            null=null,
            trees=trees,
            candidates=candidates,
            draw=draw,
            samples=samples,
            runs=runs,
            seed=seed,
            n_jobs=jobs,
            progress=not quiet,
        )
    if table is not None:
        with writing(table) as file:
            study.table.to_csv(file, index=False)
    if json is not None:
        with writing(json) as file:
            rows = as_json.loads(study.table.to_json(orient="records", double_precision=15))
            best = {name: getattr(study, name) for name in ("trees", "candidates", "power")}
            answer = {"headline": study.headline(), **best, **study.settings, "table": rows}
            as_json.dump(answer, file, indent=2)
            file.write("\n")
    screen.say(study.headline())
    screen.show_frame(study.table.drop(columns=_IN_FILES))
    screen.say_written(path for path in (table, json) if path is not None)
