"""Forests that survive a kill: kept in a checkpoint while they grow.

The folder holds tallies: `latest.tally`, replaced every so often while the forest grows, and one
for every point of the trajectory that a report shows. Each holds the sums of exactly the trees that
its lineage names, so that a kill at any moment loses only the trees grown since, and none is
counted twice.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, astuple
from pathlib import Path
from typing import Any, Literal, Self

from nullforest import __version__
from nullforest._util.errors import InputError
from nullforest._util.files import as_path
from nullforest._util.progress import Report, part_of
from nullforest.data.rank_table import RankTable
from nullforest.data.sample_columns import columns_about_samples
from nullforest.data.targets import as_target
from nullforest.forest.forest import Forest
from nullforest.forest.settings import ForestSettings, check_no_limit, time_limit
from nullforest.run import backends as compute
from nullforest.run.checkpoints import Checkpoint, DamagedError, digest
from nullforest.run.growing import grow
from nullforest.run.settling import Settling, last, settle
from nullforest.run.shadow_forest import settling_copies
from nullforest.selection.selection import Selection
from nullforest.tallies.file_format import from_arrays, to_arrays

KIND = "forest"
#: Seconds between two savings.
SAVE_EVERY = 30.0
#: Settings that cannot change a tree, or that the number of trees alone depends on.
_IDLE = (
    *("trees", "max_trees", "max_seconds", "keep_trees"),
    *("n_jobs", "backend", "progress", "feature_names"),
)
#: Settings of the target, which is compared as a whole: a function has no identity of its own.
_OF_TARGET = ("criterion", "distance", "sample_weight", "class_weight", "blocks", "adjust")
_LATEST, _KEPT = "latest.tally", re.compile(r"trees-(\d{9,})\.tally")


def resume(
    X: Any,
    y: Any,
    folder: Any,
    *,
    trees: int | Literal["auto"] = "auto",
    max_trees: int | None = None,
    save_every: float = SAVE_EVERY,
    n_jobs: int = -1,
    feature_names: Any = None,
    progress: Report | None = None,
    **settings: Any,
) -> Forest:
    """Grow a forest that is kept in a folder: begin it, or resume where it stopped.

    The forest equals that of one uninterrupted :func:`nullforest.grow` to the last bit. Its trees
    are not kept, only their tally and their out-of-bag predictions.

    Parameters
    ----------
    X, y
        The data; see :func:`nullforest.grow`.
    folder : path
        Where the forest is kept; made where it is missing. A forest on other data or with other
        settings is refused.
    trees : int or "auto"
        Trees in all. A later call may give more.
    max_trees : int, optional
        With trees="auto": largest number of trees; see :func:`nullforest.grow`.
    save_every : float
        Seconds between two savings.
    n_jobs, feature_names, progress
        See :func:`nullforest.grow`.
    **settings
        All other settings of :func:`nullforest.grow`.

    Returns
    -------
    Forest

    Examples
    --------
    >>> import numpy as np, nullforest as nf, tempfile
    >>> X = np.random.default_rng(0).normal(size=(60, 50))
    >>> folder = tempfile.mkdtemp()
    >>> part = nf.resume(X, X[:, 3] > 0, folder, trees=40)
    >>> whole = nf.resume(X, X[:, 3] > 0, folder, trees=100)
    >>> whole.tally == nf.grow(X, X[:, 3] > 0, trees=100).tally
    True
    """
    about = [settings.pop("blocks", None), settings.pop("adjust", None)]
    X, settings["blocks"], settings["adjust"] = columns_about_samples(X, *about)
    table = RankTable.of(X, n_jobs, feature_names)
    number = ForestSettings(trees=trees).trees
    if number != "auto":
        check_no_limit(max_trees)
    with ForestCheckpoint(folder, table, y, settings, save_every=save_every) as kept:
        if number == "auto":
            rule = Settling(max_trees=max_trees)
            return last(kept.settling(rule, n_jobs=n_jobs, progress=progress))[0]
        return kept.grown(number, n_jobs=n_jobs, progress=progress)


class ForestCheckpoint(Checkpoint):
    """A forest that is kept in a folder while it grows; one process at a time may grow it.

    Parameters
    ----------
    folder : path
        Made where it is missing.
    table, y
        The data.
    settings : mapping
        Settings of :func:`nullforest.grow`, apart from the number of trees. The time of
        `max_seconds` begins now.
    save_every : float
        Seconds between two savings.
    """

    def __init__(
        self,
        folder: Any,
        table: RankTable,
        y: Any,
        settings: Mapping[str, Any],
        *,
        save_every: float = SAVE_EVERY,
    ) -> None:
        self.table, self.y = table, y
        self.settings = {name: v for name, v in settings.items() if name not in _IDLE}
        self.target = as_target(
            y,
            table.shape[0],
            values=lambda: table.matrix,
            **{name: v for name, v in self.settings.items() if name in _OF_TARGET},
        )
        known = ForestSettings.__dataclass_fields__
        given = ForestSettings(**{n: v for n, v in self.settings.items() if n in known})
        identity = {
            "version of nullforest": __version__,
            "features": digest(table.fingerprint),
            "feature names": digest(table.feature_names),
            "target": digest(astuple(self.target)),
            **{n: v for n, v in asdict(given).items() if n not in (*_IDLE, *_OF_TARGET)},
            "min_leaf": given.leaf_of(table.shape[0], self.target.criterion),
            "oob": self.settings.get("oob", True),
        }
        super().__init__(folder, KIND, identity, every=save_every)
        self.folder: Path = as_path(folder)
        self.note = ""
        self.latest: Forest | None = None
        limit = time_limit(settings.get("max_seconds"))
        self._deadline = math.inf if limit is None else time.monotonic() + limit
        self._at_once = 100  # trees of the first step on a cluster; later ones go by the clock

    def __enter__(self) -> Self:
        super().__enter__()
        try:
            self.latest = self._restored(_LATEST)
        except BaseException:
            self.__exit__()
            raise
        return self

    def grown(
        self,
        trees: int,
        *,
        more: Forest | None = None,
        keep: bool = False,
        n_jobs: int = -1,
        progress: Report | None = None,
    ) -> Forest:
        """Grow the forest to so many trees, from the nearest state that was kept.

        Parameters
        ----------
        trees : int
            Trees in all.
        more : Forest, optional
            An earlier state that is in memory.
        keep : bool
            Keep this state for good, beside the later ones.
        n_jobs, progress
            See :func:`nullforest.grow`.
        """
        if self.latest is not None and self.latest.n_trees > trees and not keep:
            raise InputError(
                f"{self.folder} holds {self.latest.n_trees} trees, more than trees = "
                f"{trees}; give at least {self.latest.n_trees}, or another folder."
            )
        forest = self._nearest(trees, more)
        backend = compute.find()
        while forest is None or forest.n_trees < trees:
            done, start = 0 if forest is None else forest.n_trees, time.monotonic()
            # No time at all would grow no tree.
            interval = max(min(self.interval, self._deadline - start), 1e-3)
            # A cluster cannot stop within its blocks without losing them, so that it is given as
            # many trees as it should finish in the time.
            step = trees - done if backend is None else min(trees - done, self._at_once)
            forest = grow(
                self.table,
                self.y,
                trees=step,
                more=forest,
                max_seconds=interval if backend is None else None,
                n_jobs=n_jobs,
                keep_trees=False,
                progress=part_of(progress, done, trees),
                **self.settings,
            )
            taken = time.monotonic() - start
            self._at_once = max(1, min(int(step * interval / taken), 4 * step))
            is_last = self.latest is None or forest.n_trees > self.latest.n_trees
            if is_last and (forest.n_trees < trees or not keep):
                self._keep(forest, _LATEST)
                self.latest = forest
            if forest.n_trees < trees and time.monotonic() >= self._deadline:
                forest.stopped_early = True
                forest.note = f"Stopped by max_seconds after {forest.n_trees} of {trees} trees."
                return forest
        if keep and not (self.folder / (name := f"trees-{trees:09d}.tally")).exists():
            self._keep(forest, name)
        return forest

    def settling(
        self,
        rule: Settling,
        *,
        before: int = 0,
        n_jobs: int = -1,
        progress: Report | None = None,
    ) -> Iterator[tuple[Forest, Selection]]:
        """Grow the forest until its selection has settled; yield both at each test.

        Parameters
        ----------
        rule : Settling
            Error rate and null model of the selection, and the largest number of trees.
        before : int
            Tests before the first at which the forest may end; their states are kept for good.
        n_jobs, progress
            See :func:`nullforest.grow`.
        """
        if self.latest is None:
            self.settings["shadows"] = settling_copies(self.table, rule, self.settings)

        def grown(trees: int, forest: Forest | None, tell: Report | None) -> Forest:
            keep = before > 0
            return self.grown(trees, more=forest, keep=keep, n_jobs=n_jobs, progress=tell)

        return settle(rule, grown, None if before else self.latest, progress, before)

    def _nearest(self, trees: int, more: Forest | None) -> Forest | None:
        """The state with the most trees, but no more than `trees`."""
        states = [f for f in (more, self.latest) if f is not None and f.n_trees <= trees]
        best = max(states, key=lambda state: state.n_trees, default=None)
        names = [path.name for path in self.folder.iterdir()]
        for found in sorted(filter(None, map(_KEPT.fullmatch, names)), key=lambda m: -int(m[1])):
            if (0 if best is None else best.n_trees) < int(found[1]) <= trees:
                state = self._restored(found[0])
                if state is not None:
                    return state
        return best

    def _keep(self, forest: Forest, name: str) -> None:
        arrays = {f"sum_{what}": values for what, values in forest.sums.items()}
        self.write(name, asdict(forest.settings), to_arrays(forest.tally) | arrays)

    def _restored(self, name: str) -> Forest | None:
        try:
            part = self.read(name)
        except DamagedError as error:  # a disk that failed, not a kill
            self.note = f"{error} Its trees were grown again."
            return None
        if part is None:
            return None
        arrays = part.arrays
        return Forest(
            tally=from_arrays(arrays, self.folder / name),
            trees=None,
            classes=self.target.classes,
            settings=ForestSettings(**part.content),
            seconds=0.0,
            stopped_early=False,
            note="",
            target=self.target,
            sums={what[4:]: arrays[what] for what in arrays if what.startswith("sum_")},
        )
