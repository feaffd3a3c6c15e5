"""The forest of a command: its features, the options that repeat it, and the page about it."""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, Literal

from nullforest._util.column_store import ColumnStore
from nullforest.cli.options import ErrorName, Growing, NullName
from nullforest.cli.resume import Resumable
from nullforest.cli.screen import Screen
from nullforest.cli.wording import all_in_shell
from nullforest.data.effect_sizes import effect_sizes
from nullforest.data.rank_table import RankTable
from nullforest.data.readers import Table
from nullforest.data.targets import as_target
from nullforest.forest.forest import Forest
from nullforest.forest.settings import DEPTH, ForestSettings, check_no_limit
from nullforest.run.growing import grow, grow_settling
from nullforest.run.settling import Settling, last
from nullforest.run.watching import watch
from nullforest.selection.selection import Selection, select
from nullforest.tallies.tally import Tally

CRITERION_OF = {"classification": "gini", "regression": "variance", "survival": "logrank"}


def grow_arguments(table: Table, settings: ForestSettings, jobs: int) -> dict[str, Any]:
    """The settings as :func:`nullforest.grow` takes them."""
    arguments = {field.name: getattr(settings, field.name) for field in fields(Growing)}
    if settings.first_tree:
        arguments["first_tree"] = settings.first_tree
    if table.blocks is not None:
        arguments["blocks"] = table.blocks
    if table.adjust is not None:
        arguments["adjust"] = table.adjust
    return arguments | {
        "criterion": CRITERION_OF[table.task],
        "n_jobs": jobs,
        "keep_trees": False,
        "feature_names": table.feature_names,
    }


def select_features(
    table: Table,
    settings: ForestSettings,
    alpha: float,
    error: ErrorName,
    null: NullName,
    screen: Screen,
    *,
    jobs: int = -1,
    max_trees: int | None = None,
    max_seconds: float | None = None,
    watched: bool = False,
    resumable: Resumable | None = None,
    bins: int | Literal["auto"] | None = "auto",
) -> Selection:
    """Grow a forest on a table and select its features, with the notes of both.

    A forest that is `watched`, for the report, is the same; features are selected while it grows
    too. One that is `resumable` is kept in a folder meanwhile.
    """

    def chosen(forest: Forest) -> Selection:
        selection = select(forest.tally, alpha, error, null)
        ends = [forest.note] if forest.note else []
        return replace(selection, notes=(*selection.notes, *ends))

    start = time.perf_counter()
    arguments = grow_arguments(table, settings, jobs)
    names, categories = table.feature_names, table.categories
    # Values on disk are copied by columns only where out-of-bag errors are wanted.
    keep_values = watched or resumable is not None or not isinstance(table.X, ColumnStore)
    ranked = RankTable(
        table.X,
        keep_values=keep_values,
        n_jobs=jobs,
        feature_names=names,
        categories=categories,
        bins=bins,
    )
    limits = {"max_seconds": max_seconds}
    kept = None if resumable is None else resumable.begin(ranked, table.y, arguments | limits)
    with screen.progress("Growing trees") as progress:
        trees = arguments.pop("trees")
        if trees != "auto":
            check_no_limit(max_trees)
        rule = Settling(alpha, error, null, max_trees)
        if watched:
            arguments |= {"trees": trees, "max_trees": max_trees, "checkpoint": kept}
            arguments |= {"progress": progress, **limits}
            selection = watch(ranked, table.y, alpha, error, null, **arguments)
        elif kept is None:
            arguments |= {"oob": False, "progress": progress, **limits}
            if trees == "auto":
                selection = last(grow_settling(ranked, table.y, rule, **arguments))[1]
            else:
                selection = chosen(grow(ranked, table.y, trees=trees, **arguments))
        elif trees == "auto":
            selection = last(kept.settling(rule, n_jobs=jobs, progress=progress))[1]
        else:
            selection = chosen(kept.grown(trees, n_jobs=jobs, progress=progress))
    if selection.effects is None:
        with screen.progress("Describing features") as progress:
            values = table.X if ranked.values is None else ranked
            effects = effect_sizes(values, table.y, arguments["criterion"], progress)
            selection = replace(selection, effects=effects)
    kept_note = [kept.note] if kept is not None and kept.note else []
    return replace(
        selection,
        notes=all_in_shell((*table.notes, *selection.notes, *kept_note)),
        seconds=round(time.perf_counter() - start, 3),
        columns=table.columns,
        annotations=table.annotations,
    )


def options_of(settings: ForestSettings, tally: Tally) -> list[str]:
    """The options that grow the same forest again, with numbers for what the data decided."""
    words = ["--trees", tally.n_trees, "--candidates", tally.candidates, "--draw", settings.draw]
    words += ["--samples", f"{settings.samples:g}", "--min-leaf", fewest_in_leaf(tally)]
    if settings.replace:
        words.append("--replace")
    if settings.max_depth != DEPTH:
        words += ["--max-depth", settings.max_depth or 0]
    if tally.shadows is not None:
        words += ["--shadows", len(tally.shadows)]
    if settings.first_tree:
        words += ["--first-tree", settings.first_tree]
    return [str(word) for word in [*words, "--seed", settings.seed]]


def fewest_in_leaf(tally: Tally) -> int:
    """Fewest samples in a leaf of a forest that was grown here."""
    return int((tally.settings or {})["min_leaf"])


def page_of(
    selection: Selection,
    table: Table,
    settings: ForestSettings,
    data: str,
    command: list[str],
    blocks: str | None = None,
    adjust: Sequence[str] = (),
    *,
    features: int | None = None,
    link: str | None = None,
    bins: int | Literal["auto"] | None = "auto",
) -> str:
    """The page of a run."""
    from nullforest.report import render, summarize
    from nullforest.report.maps import drawings_of

    drawn = "with replacement" if settings.replace else "without replacement"
    facts = {
        "data": data,
        "target": table.target,
        "task": table.task,
        **({} if blocks is None else {"blocks": blocks}),
        **({"adjusted for": ", ".join(adjust)} if adjust else {}),
        "samples per tree": f"{settings.samples:g} of all, {drawn}",
        "fewest samples in a leaf": fewest_in_leaf(selection.tally),
        "deepest level": "no limit" if settings.max_depth is None else settings.max_depth,
        "seed": settings.seed,
    }
    X = table.X
    if table.categories is not None or bins != "auto":
        names = table.feature_names
        X = RankTable(X, feature_names=names, categories=table.categories, bins=bins)
    about: dict[str, Any] = {"blocks": table.blocks, "adjust": table.adjust}
    about["criterion"] = CRITERION_OF[table.task]
    summary = summarize(
        selection,
        facts,
        command=shlex.join(command),
        X=X,
        y=as_target(table.y, len(table.y), **about),
        features=features,
        link=link,
    )
    summary["warnings"] = list(all_in_shell(summary["warnings"]))
    summary["drawings"] = drawings_of(selection, table.geometry)
    return render(summary)
