"""The answer of a command: the run on its data set, what repeats it, and the page about it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nullforest.cli.options import in_shell
from nullforest.cli.screen import Screen
from nullforest.data.dataset import Dataset
from nullforest.forest.settings import ForestSettings
from nullforest.run.forest import Forest
from nullforest.run.run import Run
from nullforest.run.schedule import Question
from nullforest.selection.selection import Selection

if TYPE_CHECKING:
    from nullforest.cli.resume import Resumable


def answer(
    data: Dataset,
    settings: ForestSettings,
    question: Question,
    screen: Screen,
    *,
    jobs: int = -1,
    max_trees: int | None = None,
    max_seconds: float | None = None,
    watched: bool = False,
    resumable: Resumable | None = None,
) -> tuple[Forest, Selection]:
    """Grow a forest on a data set and select its features.

    A forest that is `watched`, for the report, is the same; features are selected while it grows
    too. One that is `resumable` is kept in a folder meanwhile.
    """
    oob = watched or resumable is not None
    checkpoint = None if resumable is None else resumable.begin(data, settings, oob=oob)
    with screen.progress("Growing trees") as progress:
        run = Run(
            data,
            settings,
            question,
            max_trees=max_trees,
            max_seconds=max_seconds,
            keep_trees=False,
            oob=oob,
            n_jobs=jobs,
            progress=progress,
            watched=watched,
            checkpoint=checkpoint,
        )
        forest, selection = run.answer()
    return forest, replace(selection, notes=in_shell(selection.notes))


def page_of(
    forest: Forest,
    selection: Selection,
    data: Dataset,
    settings: ForestSettings,
    source: str,
    command: Sequence[str],
    link: str | None = None,
) -> str:
    """The page of a run, whose trees each saw a share of the samples."""
    from nullforest.report import render, summarize
    from nullforest.report.maps import drawings_of

    grown, target = forest.settings, data.target
    drawn = "with replacement" if grown.replace else "without replacement"
    share = f"{settings.samples:g}{' of all' if isinstance(settings.samples, float) else ''}"
    facts: dict[str, Any] = {"data": source, "target": target.name, "task": target.task}
    if data.block_name is not None:
        facts["blocks"] = data.block_name
    if data.covariate_names:
        facts["adjusted for"] = ", ".join(data.covariate_names)
    facts |= {
        "samples per tree": f"{share}, {drawn}",
        "fewest samples in a leaf": grown.min_leaf,
        "deepest level": "no limit" if grown.max_depth is None else grown.max_depth,
        "seed": grown.seed,
    }
    summary = summarize(
        selection,
        facts,
        command=shlex.join(command),
        X=data.values,
        y=target,
        link=link,
    )
    summary["drawings"] = drawings_of(selection, data.geometry)
    summary["warnings"] = in_shell(summary["warnings"])
    return render(summary)
