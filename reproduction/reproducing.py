"""Reproduction of the paper, from settings to page: run, tabulate, draw, check the claims."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from nullforest import __version__
from nullforest._util.errors import InputError, check_known
from nullforest._util.files import writing
from nullforest._util.progress import Report, silent
from reproduction import (
    comparison_tables,
    control,
    cortical_thickness,
    high_dimensional,
    low_dimensional,
    power,
)
from reproduction.experiment import Experiment, Finished, Size
from reproduction.figures import png
from reproduction.page import render_page
from reproduction.printed_rates import compared
from reproduction.running import finished_results, run_cells
from reproduction.store import Store
from reproduction.verdict import Facts, markdown, verdict

EXPERIMENTS = (
    low_dimensional.EXPERIMENT,
    high_dimensional.EXPERIMENT,
    control.EXPERIMENT,
    power.EXPERIMENT,
    comparison_tables.EXPERIMENT,
    cortical_thickness.EXPERIMENT,
)
NAMES = tuple(experiment.name for experiment in EXPERIMENTS)


@dataclass(frozen=True)
class Reproduction:
    """Finished experiments, by name, and what was run."""

    finished: dict[str, Finished]
    facts: Facts

    def write(self, folder: Path) -> None:
        """Write tables, figures, the page and the verdict; each file appears whole."""

        def put(name: str, content: str | bytes) -> None:
            with writing(folder / name, binary=isinstance(content, bytes)) as file:
                file.write(content)

        def put_csv(name: str, table: pd.DataFrame) -> pd.DataFrame:
            stamped = table.assign(seed=self.facts.seed, version=self.facts.version)
            put(f"{name}.csv", stamped.to_csv(index=False, float_format="%.6g"))
            return stamped

        for name, one in self.finished.items():
            stamped = put_csv(name, one.table)
            shown = markdown(stamped.columns, stamped.itertuples(index=False), ".4g")
            put(f"{name}.md", f"# {one.title}\n\n{shown}\n")
            put(f"{name}.png", one.image)
            if name == "comparison" and len(numbers := compared(one.table)):
                put_csv("comparison_cells", numbers)
        put("facts.json", json.dumps(asdict(self.facts), indent=2) + "\n")
        put("reproduction.md", verdict(self.finished, self.facts))
        put("index.html", render_page(self.finished.values(), self.facts))


def experiments(names: Sequence[str] = ()) -> list[Experiment]:
    """The experiments of these names, in the paper's order; all where none is named.

    Examples
    --------
    >>> [experiment.name for experiment in experiments(["power", "control"])]
    ['control', 'power']
    """
    for name in names:
        check_known("experiment", name, NAMES)
    return [experiment for experiment in EXPERIMENTS if not names or experiment.name in names]


def reproduce(
    names: Sequence[str] = (),
    *,
    out: Any,
    size: Size = "full",
    runs: int | None = None,
    seed: int = 0,
    jobs: int = -1,
    maps: str | None = None,
    finished_only: bool = False,
    progress: Callable[[Experiment], Report] | None = None,
) -> Reproduction:
    """Rerun experiments of the paper and write tables, figures, a page and the verdict.

    Finished runs are kept in `out`/runs, by parameters and seed: interrupted work resumes.

    Parameters
    ----------
    names : sequence of str
        Experiments; all where none is named.
    out : path
        Folder for the results.
    size : {"full", "quick", "tiny"}
        The paper's sizes; smaller ones to try it; the smallest for tests.
    runs : int, optional
        Runs per setting; the paper's number where not given.
    seed : int
    jobs : int
        Processes; -1 for all cores.
    maps : path, optional
        File of cortical maps; smooth fields on fsaverage5 where not given.
    finished_only : bool
        Compute nothing; use the settings all of whose runs are finished.
    progress : callable, optional
        Called with each experiment as it begins; returns what receives its progress.

    Returns
    -------
    Reproduction

    Examples
    --------
    >>> import tempfile
    >>> from reproduction import reproduce
    >>> reproduction = reproduce(["control"], out=tempfile.mkdtemp(), size="tiny", jobs=1)
    >>> reproduction.finished["control"].table.columns[:5].tolist()
    ['strategy', 'n_samples', 'n_features', 'relevant_share', 'null']
    """
    if runs is not None and runs < 2:
        raise InputError(f"runs = {runs} gives no standard deviation; give at least 2.")
    folder = Path(out)
    store = Store(folder / "runs", seed)
    finished: dict[str, Finished] = {}
    seconds: dict[str, float] = {}  # of each cell, since experiments share some
    for experiment in experiments(names):
        n_runs = experiment.runs[size] if runs is None else runs
        cells = experiment.cells(size, maps)
        if not finished_only:
            report = silent if progress is None else progress(experiment)
            run_cells(cells, n_runs, store, jobs=jobs, report=report)
        results = finished_results(cells, n_runs, store)
        if results:
            cell_seconds = {
                c.key(seed): sum(r["seconds"] for r in records) for c, records in results
            }
            seconds |= cell_seconds
            table = experiment.table(results)
            image = png(experiment.figure(table, results))
            finished[experiment.name] = experiment.finished(
                table, n_runs, image, minutes=sum(cell_seconds.values()) / 60
            )
    if not finished:
        raise InputError(
            f"No setting is finished in {folder}; compute some first, without --finished."
        )
    source = "simulated smooth fields" if maps is None else Path(maps).name
    runs_of = {name: one.runs for name, one in finished.items()}
    facts = Facts(seed, __version__, runs_of, sum(seconds.values()) / 3600, source)
    reproduction = Reproduction(finished, facts)
    reproduction.write(folder)
    return reproduction
