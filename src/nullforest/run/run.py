"""The run: grow a block of trees, add its tally, test, stop or go on.

A run owns how the question of a data set is answered: the settings of the trees, when to stop
(a number of trees, time, or a settled selection), the error rate and the null model, who grows the
trees (threads or a cluster), and who looks on (progress, trajectory, checkpoint).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from nullforest._util.checks import NO_LIMIT, n_threads, real_number, whole_number
from nullforest._util.errors import InputError
from nullforest._util.progress import Report, part_of, silent
from nullforest._util.words import Sentence, Setting
from nullforest.data.dataset import Dataset
from nullforest.forest.grower import Grower
from nullforest.forest.null_column_budget import LEAST_COPIES, default_copies
from nullforest.forest.settings import MOST_TREES, ForestSettings
from nullforest.run import backends
from nullforest.run.forest import Forest
from nullforest.run.schedule import FixedNumber, Question, Schedule, State, UntilSettled
from nullforest.selection.selection import Selection

if TYPE_CHECKING:
    from nullforest.run.forest_checkpoint import ForestCheckpoint

#: Null models for which a forest may have shadows.
_WITH_SHADOWS = ("auto", "shadows")
#: Trees of the first step of a cluster that keeps its forest; later ones go by the clock.
_FIRST_STEP = 100


@dataclass(frozen=True, eq=False)
class Run:
    """How the question of a data set is answered.

    Attributes
    ----------
    data : Dataset
    settings : ForestSettings
        Of the trees, as they were given.
    question : Question or None
        Error rate and null model; None where a forest of a given size need not be tested.
    max_trees, max_seconds : int or None, float or None
        Largest number of trees where the forest grows until its selection has settled; time.
    keep_trees : bool or None
        Keep the trees to predict with; where None, if their number is given.
    oob : bool
        Compute out-of-bag predictions.
    more : Forest or None
        A forest that is extended.
    n_jobs, backend
        Threads of this process, or a cluster.
    progress : callable or None
        Told (trees done, trees in all).
    watched : bool
        Test at the points of a trajectory, which the selection then has.
    checkpoint : ForestCheckpoint or None
        Folder that keeps the forest while it grows.
    """

    data: Dataset
    settings: ForestSettings
    question: Question | None = None
    max_trees: int | None = None
    max_seconds: float | None = None
    keep_trees: bool | None = None
    oob: bool = True
    more: Forest | None = None
    n_jobs: int = -1
    backend: Any = None
    progress: Report | None = None
    watched: bool = False
    checkpoint: ForestCheckpoint | None = None

    def __post_init__(self) -> None:
        check_run(self.n_jobs, self.max_seconds, self.progress)
        if not (self.more is None or isinstance(self.more, Forest)):
            raise InputError(f"more = {self.more!r:.60} must be a forest grown by nullforest.grow.")
        if self.max_trees is not None:
            whole_number("max_trees", self.max_trees, 1, MOST_TREES)
            if self.settings.trees != "auto":
                raise InputError(
                    Sentence(
                        Setting("max_trees"), " is for ", Setting("trees", "auto"), "; omit one."
                    ),
                    setting="max_trees",
                )

    def states(self) -> Iterator[State]:
        """The forest at each point at which it is looked at; the last one is the answer."""
        seconds = math.inf if self.max_seconds is None else float(self.max_seconds)
        deadline = monotonic() + seconds if seconds <= NO_LIMIT else math.inf
        schedule, forest, early = self.schedule, self.more, False
        if self.checkpoint is not None and forest is None and not self.watched:
            forest = self.checkpoint.latest
            if forest is not None and schedule.most:
                self.checkpoint.refuse_fewer(schedule.most)
        if schedule.pilot > (0 if forest is None else forest.n_trees):
            forest = self._grown(forest, schedule.pilot, deadline, None)
            early = forest.stopped_early
        for trees in schedule.points(forest):
            if forest is None or (trees > forest.n_trees and not early):
                forest = self._grown(forest, trees, deadline, self.progress)
                early = forest.stopped_early
            state = schedule.judge(forest, trees, early, self.progress)
            if state is not None:
                yield state
                if state.ends:
                    return

    def forest(self) -> Forest:
        """The forest, grown to its end."""
        for state in self.states():
            last = state
        return last.forest

    def answer(self) -> tuple[Forest, Selection]:
        """The forest, and its selection with all that the data set says of the features."""
        start, observer = perf_counter(), None
        if self.watched:
            from nullforest.run.trajectories import TrajectoryObserver

            observer = TrajectoryObserver()
        for state in self.states():
            if observer is not None:
                observer.see(state)
        assert state.selection is not None
        notes = state.selection.notes
        if self.checkpoint is not None and self.checkpoint.note:
            notes = (*notes, self.checkpoint.note)
        selection = replace(
            state.selection,
            notes=notes,
            columns=self.data.columns,
            annotations=self.data.annotations,
            effects=self.data.effects(silent if self.progress is silent else None),
            trajectory=None if observer is None else observer.trajectory(state),
            seconds=round(perf_counter() - start, 3),
        )
        return state.forest, selection

    @cached_property
    def schedule(self) -> Schedule:
        """When the forest is tested, and when it ends."""
        trees = self.settings.trees
        if isinstance(trees, str):
            question = Question() if self.question is None else self.question
            return UntilSettled(question, self.max_trees, watched=self.watched)
        before = 0 if self.more is None else self.more.n_trees
        return FixedNumber(self.question, before + trees, watched=self.watched)

    def _grown(
        self, forest: Forest | None, trees: int, deadline: float, progress: Report | None
    ) -> Forest:
        """The forest with so many trees in all, or with those finished by the deadline."""
        folder = self.checkpoint
        cluster = backends.find(self.backend)
        if folder is not None:
            forest = folder.nearest(trees, forest)
        step = _FIRST_STEP
        while forest is None or forest.n_trees < trees:
            done, start = (0 if forest is None else forest.n_trees), monotonic()
            limit, number = deadline - start, trees - done
            if folder is not None:  # until it is time to save
                limit = min(limit, folder.interval)
                if cluster is not None:
                    # A cluster cannot stop within its blocks without losing them, so that it is
                    # given as many trees as it should finish in the time.
                    limit, number = math.inf, min(number, step)
            tell = None
            if progress is not None:
                tell = part_of(progress, done, self.schedule.most or trees)
            # No time at all would grow no tree.
            forest = self._extended(
                forest, number, None if limit == math.inf else max(limit, 1e-3), tell, cluster
            )
            if folder is not None:
                seconds = monotonic() - start
                step = max(1, min(int(number * folder.interval / max(seconds, 1e-9)), 4 * number))
                folder.save(forest, is_point=self.watched and forest.n_trees >= trees)
            if forest.n_trees < trees and (folder is None or monotonic() >= deadline):
                return replace(forest, stopped_early=True, note="")
        return replace(forest, stopped_early=False, note="")

    def _extended(
        self,
        forest: Forest | None,
        trees: int,
        limit: float | None,
        progress: Report | None,
        cluster: backends.Backend | None,
    ) -> Forest:
        """The forest with a further block of trees."""
        start, grower = perf_counter(), self.grower
        done, sums = (0, {}) if forest is None else (forest.n_trees, forest.sums)
        first = grower.settings.first_tree + done
        if cluster is None:
            raw = grower.block(first, trees, sums, progress=progress, max_seconds=limit)
        else:
            from nullforest.run.workers import grown_by_workers

            raw = grown_by_workers(cluster, grower, first, trees, sums, progress, limit)
        block = Forest.of_sums(raw, grower, self.data, first)
        block = replace(block, seconds=perf_counter() - start)
        return block if forest is None else forest.followed_by(block)

    @cached_property
    def grower(self) -> Grower:
        """What all trees of the forest share."""
        data, settings, target = self.data, self.settings, self.data.target
        table, earlier = data.table, self.more
        if earlier is None and self.checkpoint is not None:
            earlier = self.checkpoint.latest
        if not table.n_varying:
            raise InputError(
                "Every feature has the same value in all samples, so that no split is possible; "
                "check that rows are samples and columns are features."
            )
        if earlier is None:
            copies = self._copies()
            keep_trees = self.keep_trees
            if keep_trees is None:
                keep_trees = settings.trees != "auto" and not copies
            if copies:
                table = data.with_shadows(copies, settings.probe_seed or 0)
            tree_settings = settings.resolved(
                (data.n_samples, table.n_varying),
                target.criterion,
                n_strata=sum(data.table.strata.evaluable),
                shadows=copies,
                blocks=target.blocks is not None,
            )
            # The order of categories knows the samples out of bag.
            oob = self.oob and not (copies and data.table.categories is not None)
            oob = oob and (tree_settings.replace or tree_settings.samples < data.n_samples)
            oob = oob and target.criterion != "neighbourhood"
        else:
            if self.more is not None:
                _check_same_data(self.more, data)
                settings.check_extends(self.more.settings, data.n_samples)
            tree_settings = earlier.settings
            if tree_settings.shadows:
                table = data.with_shadows(tree_settings.shadows, tree_settings.probe_seed)
            keep_trees, oob = earlier.trees is not None, "oob_sum" in earlier.sums
        if data.table.values is None and (keep_trees or oob):
            raise InputError(
                "The values of X were not kept with the table, so that trees have no thresholds; "
                "grow with keep_trees=False and oob=False, or build the table with "
                "keep_values=True."
            )
        return Grower(table, target, tree_settings, keep_trees, oob, n_threads(self.n_jobs))

    def _copies(self) -> int:
        """Number of shadows of each feature."""
        settings, table = self.settings, self.data.table
        blocks, categories = self.data.target.blocks, table.categories
        null = "auto" if self.question is None else self.question.null
        if categories is not None and null not in _WITH_SHADOWS:
            raise InputError(
                Sentence(
                    "Categories are tested against shadows, not with ",
                    Setting("null", null),
                    "; omit it, or encode them as numbers.",
                ),
                setting="null",
            )
        needed = "blocks" if blocks is not None else "categories" if categories is not None else ""
        copies = 0
        if settings.shadows != "auto":
            copies = int(settings.shadows)
            if needed and copies == 0:
                raise InputError(f"{needed} need shadows; omit shadows = 0, or the {needed}.")
        elif needed:
            copies = max(default_copies(table, blocks=blocks is not None), LEAST_COPIES)
        elif settings.leaves_shadows_open and not self.keep_trees and null in _WITH_SHADOWS:
            if (settings.candidates or 0) > table.n_varying:  # refused, with shadows or without
                shape = table.shape[0], table.n_varying
                settings.resolved(shape, self.data.target.criterion)
            least = LEAST_COPIES if null == "shadows" else 0
            copies = default_copies(table, blocks=False) or least
        if copies and self.keep_trees:
            table.numeric()
            raise InputError(
                "The trees of a forest with shadows cannot predict new samples, which have no "
                "shadows; omit keep_trees, or grow with shadows=0."
            )
        if copies and settings.probes not in ("auto", 0):
            raise InputError("A forest has probes or shadows; omit one of the two.")
        return copies


def check_run(n_jobs: int | None, max_seconds: float | None, progress: Report | None) -> None:
    """Refuse threads, time and progress that cannot be used."""
    if n_jobs is not None:
        n_threads(n_jobs)
    if max_seconds is not None:
        real_number("max_seconds", max_seconds, math.inf)
    if not (progress is None or callable(progress)):
        raise InputError(f"progress = {progress!r:.60} must be a function.")


def _check_same_data(more: Forest, data: Dataset) -> None:
    """Refuse data other than those of the forest to extend, before any tree is grown."""
    tally, table, target = more.tally, data.table, data.target
    same = table.shape == (tally.n_samples, tally.n_features)
    if not (same and (tally.fingerprint or "").startswith(table.fingerprint)):
        raise InputError(
            f"The forest to extend was grown on different data ({tally.n_samples} samples × "
            f"{tally.n_features} features); give the same X."
        )
    names, earlier = table.feature_names, tally.feature_names
    if names is not None and earlier is not None and not np.array_equal(names, earlier):
        raise InputError("The forest to extend names its features differently; give the same X.")
    if target.criterion != more.target.criterion:
        raise InputError(
            f"The forest to extend was grown with criterion = {more.target.criterion}, not "
            f"{target.criterion}; omit criterion, or grow a new forest.",
            setting="criterion",
        )
    for what, arrays in {
        "on a different y; give the same y": (target.values, more.target.values),
        "with other blocks; give the same blocks": (target.blocks, more.target.blocks),
        "with other weights; give the same sample_weight and class_weight": (
            target.weight,
            more.target.weight,
        ),
    }.items():
        one, other = (np.asarray(array) for array in arrays)
        if not np.array_equal(one, other):  # None equals None only
            raise InputError(f"The forest to extend was grown {what}.")
