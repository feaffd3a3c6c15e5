"""Forests grown in blocks of trees, on threads or by the workers of a cluster.

A random stream belongs to a seed and a tree number, so a block is the same wherever it is grown. A
worker returns a list of the features that its trees selected, node by node, instead of sums over
all features. Added in the order of the trees, these lists give every sum of the forest to the last
bit, floating point included, and a list is far smaller than the sums where there are many features.
"""

from __future__ import annotations

import math
from contextlib import closing
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nullforest import _native
from nullforest._util.progress import Report
from nullforest.data.rank_table import RankTable
from nullforest.data.targets import Target
from nullforest.forest.forest import Trees
from nullforest.forest.settings import ForestSettings, resolved_number
from nullforest.forest.virtual_probes import make_probes
from nullforest.tallies.tally import COUPLING_EDGES, N_COUPLING_BINS

if TYPE_CHECKING:
    from nullforest.run.backends import Backend


Sums = dict[str, NDArray[Any]]
#: Settings of the trees; whether they are kept; whether they predict out of bag.
Task = tuple[ForestSettings, bool, bool]

#: A block is this part of a worker's share of the remaining trees, so that blocks become smaller
#: and all workers end at about the same time; within these bounds, since each block costs some
#: milliseconds of transfer, and is lost when its worker dies.
PART, FEWEST, MOST = 1 / 2, 8, 1000
#: A worker's share of the trees has at most this many blocks of the smallest size.
MOST_PIECES = 8
#: Largest block with a limit of time: blocks not finished by then are lost.
FEW = 32


def kept_probes(
    table: RankTable, target: Target, settings: ForestSettings, threads: int = 1
) -> _native.Probes | None:
    """The probes of a forest; a table keeps its last ones, which all blocks share."""
    same = replace(settings, trees=1, first_tree=0)
    kept = table.__dict__.get("_kept_probes")
    if kept is None or kept[0] != same or kept[1] is not target:
        kept = table.__dict__["_kept_probes"] = (
            same,
            target,
            make_probes(table, same, target, threads),
        )
    found: _native.Probes | None = kept[2]
    return found


def native_forest(
    table: RankTable,
    target: Target,
    task: Task,
    sums: Sums,
    progress: Report | None = None,
    max_seconds: float | None = None,
    threads: int = 1,
    *,
    listed: bool = False,
) -> dict[str, Any]:
    """The sums of a forest grown on threads of this process."""
    settings, keep_trees, oob = task
    return _native.grow(
        table.native,
        target.kernel_criterion,
        target.values,
        target.n_classes,
        target.weight,
        settings.native(keep_trees=keep_trees, oob=oob, listed=listed),
        kept_probes(table, target, settings, threads),
        COUPLING_EDGES.tolist(),
        threads,
        0.0 if max_seconds is None else max(max_seconds, 1e-9),  # 0 is no limit
        sums,
        progress,
    )


def blocks_of(trees: int, workers: int, most: int = MOST) -> list[tuple[int, int]]:
    """First tree and length of each block: large ones first.

    Examples
    --------
    >>> blocks_of(1000, 2)[:4], blocks_of(1000, 2)[-2:], len(blocks_of(1000, 2))
    ([(0, 250), (250, 188), (438, 141), (579, 106)], [(888, 62), (950, 50)], 9)
    """
    blocks, first = [], 0
    fewest = max(FEWEST, trees // (MOST_PIECES * workers))
    while first < trees:
        share = math.ceil(PART * (trees - first) / workers)
        size = min(max(share, fewest), most, trees - first)
        blocks.append((first, size))
        first += size
    return blocks


def grow_block(table: RankTable, target: Target, task: Task) -> dict[str, Any]:
    """The features selected by one block of trees, node by node: the task of a worker."""
    return native_forest(table, target, task, {}, listed=True)


def shared_forest(
    backend: Backend,
    table: RankTable,
    target: Target,
    task: Task,
    sums: Sums,
    progress: Report | None,
    max_seconds: float | None,
) -> dict[str, Any]:
    """The sums of a forest grown by the workers of a cluster: the same to the last bit."""
    settings, keep_trees, oob = task
    trees = resolved_number(settings.trees)
    deadline = None if max_seconds is None else monotonic() + max_seconds
    blocks = blocks_of(trees, backend.workers(), MOST if deadline is None else FEW)
    tasks: list[Task] = [
        (replace(settings, first_tree=settings.first_tree + first, trees=n), keep_trees, oob)
        for first, n in blocks
    ]
    light = table if keep_trees or oob else table.without_values()
    total = _Sums(table, target, keep_trees, oob, sums)
    waiting: dict[int, dict[str, Any]] = {}
    turn = 0
    if progress is not None:
        progress(0, trees)
    with closing(backend.run(grow_block, (light, target), tasks, deadline=deadline)) as finished:
        for number, block in finished:
            waiting[number] = block
            kept_probes(table, target, settings)  # needed by the tally; made while others work
            while turn in waiting:  # floating point is added in the order of the trees
                total.add(waiting.pop(turn))
                turn += 1
            if progress is not None:
                early = sum(len(block["nodes_per_tree"]) for block in waiting.values())
                progress(total.n_trees + early, trees)
    if turn == 0:  # out of time, but no forest is empty
        total.add(grow_block(table, target, (replace(settings, trees=1), keep_trees, oob)))
    return total.raw(stopped_early=total.n_trees < trees)


class _Sums:
    """The sums of a forest while its blocks arrive, in the order of the trees."""

    def __init__(
        self, table: RankTable, target: Target, keep_trees: bool, oob: bool, earlier: Sums
    ) -> None:
        S, F = table.shape
        self.n_trees = 0
        self.nodes_per_tree: list[NDArray[np.int64]] = []
        self.trees: list[Trees] | None = [] if keep_trees else None
        self.sums: dict[str, Any] = {
            "counts": np.zeros(F, np.int64),
            "couplings": np.zeros((F, N_COUPLING_BINS), np.int32),
            "importance": np.zeros(F),
        }
        if oob:
            n_values = target.n_classes or target.values.shape[1]
            self.sums["oob_sum"] = np.zeros((S, n_values))
            self.sums["oob_trees"] = np.zeros(S, np.int64)
        self.sums |= {name: values.copy() for name, values in earlier.items()}

    def add(self, block: dict[str, Any]) -> None:
        """Add the next trees. `np.add.at` adds one entry after the other, as the kernel does."""
        sums, feature = self.sums, block["feature"].astype(np.int64)
        bins = feature * N_COUPLING_BINS + block["coupling_bin"]
        np.add.at(sums["counts"], feature, 1)
        np.add.at(sums["couplings"].reshape(-1), bins, 1)
        np.add.at(sums["importance"], feature, block["listed_importance"])
        self.nodes_per_tree.append(block["nodes_per_tree"])
        self.n_trees += len(block["nodes_per_tree"])
        for name in ("probe_wins", "probe_couplings"):
            if name in block:
                sums[name] = sums.get(name, 0) + block[name]
        if self.trees is not None:
            self.trees.append(Trees(block["trees"]))
        if "oob_sum" in sums:
            sample, width = block["oob_sample"].astype(np.int64), sums["oob_sum"].shape[1]
            places = (sample[:, None] * width + np.arange(width)).reshape(-1)
            np.add.at(sums["oob_trees"], sample, 1)
            np.add.at(sums["oob_sum"].reshape(-1), places, block["oob_value"])
        sums["outcome_fingerprint"] = block["outcome_fingerprint"]

    def raw(self, *, stopped_early: bool) -> dict[str, Any]:
        """The sums under the names of the kernel."""
        return self.sums | {
            "n_trees": self.n_trees,
            "stopped_early": stopped_early,
            "nodes_per_tree": np.concatenate(self.nodes_per_tree),
            "trees": None if self.trees is None else Trees.joined(self.trees).arrays,
        }
