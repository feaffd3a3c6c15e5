"""`nullforest demo`: genes that tell a patient's sex, in embedded data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nullforest._util.errors import InputError
from nullforest.cli import options
from nullforest.cli.endings import BAD_INPUT, ends_cleanly

#: Where the report's names lead: what is known of the gene.
GENES = "https://www.ncbi.nlm.nih.gov/gene/?term={symbol}"


@ends_cleanly
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the report and tables.")] = Path("demo"),
    seed: options.Seed = 0,
    jobs: options.Jobs = -1,
    force: options.Force = False,
) -> None:
    """Find the genes that tell a patient's sex, in the embedded leukaemia data.

    16 of the 12 625 features (microarray probe sets) are known to be relevant: those of genes on
    the Y chromosome, and XIST.
    """
    from nullforest.cli.outputs import Outputs, writers_of

    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"The folder {out} cannot be made ({error.strerror}); give another name."
        ) from None
    outputs = Outputs(
        table=out / "table.csv", json=out / "selection.json", report=out / "report.html"
    )
    outputs.check(force=force)
    from pandas import DataFrame

    from nullforest.cli.answer import answer, page_of
    from nullforest.cli.screen import Screen
    from nullforest.data.dataset import Dataset
    from nullforest.datasets import load_leukemia_sex
    from nullforest.forest.settings import ForestSettings
    from nullforest.run.schedule import Question

    settings = ForestSettings(seed=seed)
    screen = Screen()
    with screen.waiting("Reading the embedded leukaemia data"):
        leukemia = load_leukemia_sex()
        data = Dataset.of(
            leukemia.data,
            leukemia.target,
            feature_names=leukemia.feature_names,
            annotations=DataFrame({"symbol": leukemia.gene_symbols}),
            name="sex",
            n_jobs=jobs,
        )
    forest, selection = answer(data, settings, Question(), screen, jobs=jobs, watched=True)
    command = ["nullforest", "demo", "--seed", str(seed)]
    source = "the embedded leukaemia data"
    writers = writers_of(
        selection, lambda: page_of(forest, selection, data, settings, source, command, GENES)
    )
    written, well = outputs.write(writers)
    screen.show(selection)
    hits = int((selection.support & leukemia.known).sum())
    screen.say(f"found {hits} of the {leukemia.known.sum()} known probe sets")
    screen.say_written(written)
    raise typer.Exit(0 if well else BAD_INPUT)
