"""Does it work on real data? `nullforest demo`: genes that tell a patient's sex."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nullforest.cli import options
from nullforest.cli.endings import BAD_INPUT, ends_cleanly


@ends_cleanly
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the report and tables.")] = Path("demo"),
    trees: options.Trees = None,
    candidates: options.Candidates = None,
    seed: options.Seed = 0,
    jobs: options.Jobs = -1,
    force: options.Force = False,
) -> None:
    """Find the genes that tell a patient's sex, in the embedded leukaemia data.

    16 of the 12 625 probes are known to be relevant: those of genes on the Y chromosome, and XIST.
    """
    from nullforest.cli.forest_options import ForestSettings
    from nullforest.cli.outputs import Outputs, make_folder
    from nullforest.cli.report_options import page_of
    from nullforest.cli.screen import Screen
    from nullforest.cli.selection_run import select_features
    from nullforest.datasets import load_leukemia_sex
    from nullforest.io import Table

    make_folder(out)
    outputs = Outputs(
        table=out / "table.csv", json=out / "selection.json", report=out / "report.html"
    )
    outputs.check(force=force)
    settings = ForestSettings(trees=trees, candidates=candidates, seed=seed, jobs=jobs)
    screen = Screen()
    with screen.waiting("Reading the embedded leukaemia data"):
        leukemia = load_leukemia_sex()
    table = Table(
        X=leukemia.data,
        y=leukemia.target,
        feature_names=leukemia.feature_names,
        target="sex",
        task="classification",
    )
    selection = select_features(table, settings, 0.05, "fdr", "auto", screen, watched=True)
    tally = selection.tally
    command = ["nullforest", "demo", "--trees", str(tally.n_trees)]
    command += ["--candidates", str(tally.candidates), "--seed", str(seed)]
    data = "the embedded leukaemia data"
    written, well = outputs.write(selection, page_of(selection, table, settings, data, command))
    screen.show(selection)
    found, known = int((selection.support & leukemia.known).sum()), int(leukemia.known.sum())
    screen.say(f"found {found} of the {known} known probes")
    screen.say_written(written)
    if not well:
        raise typer.Exit(BAD_INPUT)
