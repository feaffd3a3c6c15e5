"""The answer of a command: the run on its data set, what repeats it, and the page about it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

from nullforest.cli.options import Growing
from nullforest.cli.resume import Resumable
from nullforest.cli.screen import Screen
from nullforest.data.dataset import Dataset
from nullforest.forest.settings import ForestSettings, TreeSettings
from nullforest.run.forest import Forest
from nullforest.run.run import Run
from nullforest.run.schedule import Question
from nullforest.selection.selection import Selection

#: Settings of the trees that a repeated run must be given where they are not those by default.
_TOLD = ("samples", "replace", "min_leaf", "max_depth", "shadows", "first_tree")


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
    # Values on disk are copied by columns only where out-of-bag errors are wanted.
    data = replace(data, n_jobs=jobs, keep_values=oob)
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
        return run.answer()


def words_of(settings: ForestSettings, trees: TreeSettings, n_trees: int) -> list[str]:
    """The options that grow the same forest again, with numbers for what the data decided."""
    words = ["--trees", str(n_trees), "--candidates", str(trees.candidates), "--draw", trees.draw]
    for setting in fields(settings):
        value = getattr(settings, setting.name)
        if setting.name in ("min_leaf", "shadows"):
            value = getattr(trees, setting.name)
        if setting.name in _TOLD and value != setting.default and (value or value is None):
            words += ["--set", f"{setting.name}={str(value).lower()}"]
    return [*words, "--seed", str(settings.seed)]


def page_of(
    forest: Forest,
    selection: Selection,
    data: Dataset,
    growing: Growing,
    source: str,
    command: Sequence[str],
    link: str | None = None,
) -> str:
    """The page of a run."""
    from nullforest.report.maps import drawings_of
    from nullforest.report.render import render
    from nullforest.report.summary import summarize

    settings, target = forest.settings, data.target
    drawn = "with replacement" if settings.replace else "without replacement"
    share = growing.settings.samples
    facts: dict[str, Any] = {"data": source, "target": target.name, "task": target.task}
    if data.block_name is not None:
        facts["blocks"] = data.block_name
    if data.covariate_names:
        facts["adjusted for"] = ", ".join(data.covariate_names)
    facts |= {
        "samples per tree": f"{share:g} of all, {drawn}",
        "fewest samples in a leaf": settings.min_leaf,
        "deepest level": "no limit" if settings.max_depth is None else settings.max_depth,
        "seed": settings.seed,
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
    return render(summary)
