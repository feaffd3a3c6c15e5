"""How many trees are enough? `nullforest plan`, before the study or after a forest."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from nullforest.cli import options
from nullforest.cli.endings import ends_cleanly

_STUDY = "The study"


@ends_cleanly
def plan(
    n_samples: Annotated[
        int | None, typer.Option(min=4, help="Samples.", rich_help_panel=_STUDY)
    ] = None,
    n_features: Annotated[
        int | None, typer.Option(min=2, help="Features.", rich_help_panel=_STUDY)
    ] = None,
    n_relevant: Annotated[
        int | None,
        typer.Option(min=1, help="Features that matter.", rich_help_panel=_STUDY),
    ] = None,
    relevance: Annotated[
        float,
        typer.Option(help="Their correlation with the label.", rich_help_panel=_STUDY),
    ] = 0.5,
    runs: Annotated[
        int, typer.Option(min=1, help="Data sets to simulate.", rich_help_panel=_STUDY)
    ] = 5,
    forest: Annotated[
        Path | None,
        typer.Option(
            "--forest",
            help="Instead: the tally of a finished forest (select --tally). Would more trees "
            "change its decision?",
            show_default=False,
        ),
    ] = None,
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
    samples: options.Samples = 0.5,
    seed: options.Seed = 0,
    jobs: options.Jobs = -1,
    cluster: options.Cluster = None,
    table: Annotated[Path | None, typer.Option("--table", help="The table, as CSV.")] = None,
    json: Annotated[Path | None, typer.Option("--json", help="The answer, as JSON.")] = None,
    force: options.Force = False,
    quiet: options.Quiet = False,
) -> None:
    """Tell how many trees and candidates give which power, or whether a forest is large enough.

    Example: nullforest plan --n-samples 150 --n-features 5000 --n-relevant 50 --relevance 0.5
    """
    from nullforest._util.errors import InputError
    from nullforest.cli.outputs import Outputs
    from nullforest.cli.screen import Screen

    outputs = Outputs(table=table, json=json)
    outputs.check(force=force, never=[] if forest is None else [forest])
    screen = Screen(quiet=quiet)
    answer: dict[str, Any]
    if forest is not None:
        from nullforest.selection.forecast import more_trees
        from nullforest.tallies.tally import Tally

        with screen.waiting("Drawing larger forests"):
            outlook = more_trees(Tally.load(forest), alpha, error, null, seed=seed)
        answer = {"headline": outlook.headline(), "selected_now": outlook.selection.n_selected}
        frame = outlook.table
    elif n_samples is None or n_features is None or n_relevant is None:
        raise InputError(
            "Say how large the study is (--n-samples, --n-features and --n-relevant), or give "
            "the tally of a finished forest (--forest)."
        )
    else:
        from nullforest.compute import connected
        from nullforest.evaluation.planning import plan as make_plan

        with connected(cluster):
            found = make_plan(
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
        answer = {
            "headline": found.headline(),
            "trees": found.trees,
            "candidates": found.candidates,
            "power": found.power,
            **found.settings,
        }
        frame = found.table
    _write(answer, frame, table, json)
    screen.say(answer["headline"])
    screen.say(_shown(frame), "")
    screen.say_written(path for path in (table, json) if path is not None)


def _write(answer: dict[str, Any], frame: Any, table: Path | None, json: Path | None) -> None:
    import json as as_json

    from nullforest._util.files import writing

    if table is not None:
        with writing(table) as file:
            frame.to_csv(file, index=False)
    if json is not None:
        rows = as_json.loads(frame.to_json(orient="records", double_precision=15))
        with writing(json) as file:
            as_json.dump({**answer, "table": rows}, file, indent=2)
            file.write("\n")


def _shown(frame: Any) -> str:
    text: str = frame.to_string(index=False, float_format=lambda value: f"{value:.3g}")
    return text
