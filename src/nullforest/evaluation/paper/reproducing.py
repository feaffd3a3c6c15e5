"""How is the paper reproduced, from settings to page? Run, tabulate, draw, judge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from nullforest import __version__
from nullforest._util.errors import InputError
from nullforest._util.files import writing
from nullforest.evaluation.paper import (
    comparison_tables,
    control,
    cortical_thickness,
    high_dimensional,
    low_dimensional,
    power,
)
from nullforest.evaluation.paper.agreement import all_compared
from nullforest.evaluation.paper.experiment import Claim, Experiment, Results, Size
from nullforest.evaluation.paper.figures import png
from nullforest.evaluation.paper.page import Section, render_page
from nullforest.evaluation.paper.running import Report, finished_results, run_cells
from nullforest.evaluation.paper.store import Store
from nullforest.evaluation.paper.verdict import Facts, verdict

NAMES = ("low_dimensional", "high_dimensional", "control", "power", "comparison", "cortical")


@dataclass
class Reproduction:
    """Finished experiments.

    Attributes
    ----------
    tables : dict of str to DataFrame
    claims : dict of str to list of Claim
    images : dict of str to bytes
        The figures, as PNG.
    """

    seed: int
    maps: str
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    claims: dict[str, list[Claim]] = field(default_factory=dict)
    images: dict[str, bytes] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    runs: dict[str, int] = field(default_factory=dict)
    minutes: dict[str, float] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)  # of a cell: experiments share some

    def facts(self) -> Facts:
        """What was run."""
        hours = sum(self.seconds.values()) / 3600
        return Facts(self.seed, __version__, self.runs, hours, self.maps)

    def add(self, experiment: Experiment, results: Results, runs: int) -> None:
        """Tabulate, draw and judge one experiment."""
        name = experiment.name
        table = experiment.table(results)
        self.tables[name] = table
        self.claims[name] = experiment.claims(table)
        self.images[name] = png(experiment.figure(table, results))
        self.titles[name] = experiment.title
        self.runs[name] = runs
        taken = {
            cell.key(self.seed): sum(record["seconds"] for record in records)
            for cell, records in results
        }
        self.minutes[name] = sum(taken.values()) / 60
        self.seconds |= taken

    def write(self, folder: Path) -> list[Path]:
        """Write tables, figures, the page and the verdict; each file appears whole."""
        written = []

        def put(name: str, content: str | bytes) -> None:
            with writing(folder / name, binary=isinstance(content, bytes)) as file:
                file.write(content)
            written.append(folder / name)

        for name, table in self.tables.items():
            stamped = table.assign(seed=self.seed, version=__version__)
            put(f"{name}.csv", stamped.to_csv(index=False, float_format="%.6g"))
            put(f"{name}.md", _markdown(self.titles[name], stamped))
            put(f"{name}.png", self.images[name])
        if (
            "comparison" in self.tables
            and not (cells := all_compared(self.tables["comparison"])).empty
        ):
            stamped = cells.assign(seed=self.seed, version=__version__)
            put("comparison_cells.csv", stamped.to_csv(index=False, float_format="%.6g"))
        facts = self.facts()
        put("reproduction.md", verdict(self.tables, self.claims, self.titles, facts))
        words = (
            f"Version {facts.version}, seed {facts.seed}, cortical maps: {facts.maps}; "
            f"{facts.hours:.2f} hours of one processor core."
        )
        put("index.html", render_page([self._section(name) for name in self.tables], words))
        return written

    def _section(self, name: str) -> Section:
        note = f"{self.runs[name]} runs per setting, {self.minutes[name]:.1f} minutes of a core."
        return Section(name, self.titles[name], self.images[name], self.claims[name], note)


def experiments(names: Sequence[str] = (), maps: str | None = None) -> list[Experiment]:
    """The experiments of these names, in the paper's order; all where none is named.

    Examples
    --------
    >>> [experiment.name for experiment in experiments(["power", "control"])]
    ['control', 'power']
    """
    made = {
        "low_dimensional": low_dimensional.EXPERIMENT,
        "high_dimensional": high_dimensional.EXPERIMENT,
        "control": control.EXPERIMENT,
        "power": power.EXPERIMENT,
        "comparison": comparison_tables.EXPERIMENT,
        "cortical": cortical_thickness.experiment(maps),
    }
    unknown = [name for name in names if name not in made]
    if unknown:
        raise InputError(f"There is no experiment {unknown[0]!r}; choose from {', '.join(NAMES)}.")
    return [made[name] for name in NAMES if not names or name in names]


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

    Finished runs are kept in `out`/runs, by parameters and seed: interrupted work goes on where it
    ended.

    Parameters
    ----------
    names : sequence of str
        Experiments; all where none is named.
    out : path
        Folder for the results.
    size : {"full", "quick", "tiny"}
        The paper's sizes; smaller ones to see it work; the smallest for tests.
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
        Called with each experiment as it begins; gives what is told of its progress.

    Returns
    -------
    Reproduction

    Examples
    --------
    >>> import tempfile
    >>> from nullforest.evaluation.paper import reproduce
    >>> done = reproduce(["control"], out=tempfile.mkdtemp(), size="tiny", jobs=1)
    >>> done.tables["control"].columns[:5].tolist()
    ['strategy', 'n_samples', 'n_features', 'relevant_share', 'null']
    """
    if runs is not None and runs < 2:
        raise InputError(f"runs = {runs} tells nothing of the spread; give at least 2.")
    chosen = experiments(names, maps)
    folder = Path(out)
    store = Store(folder / "runs", seed)
    done = Reproduction(seed, "embedded" if maps is None else Path(maps).name)
    for experiment in chosen:
        wanted = experiment.runs[size] if runs is None else runs
        cells = experiment.cells(size)
        if not finished_only:
            report = None if progress is None else progress(experiment)
            run_cells(cells, wanted, store, jobs=jobs, report=report)
        results = finished_results(cells, wanted, store)
        if results:
            done.add(experiment, results, wanted)
    if not done.tables:
        raise InputError(f"No setting is finished in {folder}; run without asking for that.")
    done.write(folder)
    return done


def _markdown(title: str, table: pd.DataFrame) -> str:
    lines = [f"# {title}", "", "| " + " | ".join(table.columns) + " |"]
    lines.append("|" + "---|" * len(table.columns))
    for row in table.itertuples(index=False):
        shown = [f"{value:.4g}" if isinstance(value, float) else str(value) for value in row]
        lines.append("| " + " | ".join(shown) + " |")
    return "\n".join(lines) + "\n"
