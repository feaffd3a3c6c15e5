"""How do many machines grow one forest? Each grows blocks of trees; the blocks add to the whole.

A random stream belongs to a seed and a tree number, so a block is the same wherever it is grown. A
worker does not send sums over all features but a list of what its trees chose, one node after the
other. Added in the order of the trees these give every sum of the forest to the last bit, floating
point included, and a list is far smaller than the sums where there are many features.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nullforest.engine import _native
from nullforest.engine.data.rank_table import RankTable
from nullforest.engine.data.targets import Target
from nullforest.engine.forest import Trees
from nullforest.engine.probes.sampling import make_probes
from nullforest.engine.settings import Plan
from nullforest.tallies.tally import COUPLING_EDGES, N_COUPLING_BINS

if TYPE_CHECKING:
    from nullforest.compute import Backend

#: A block is this part of a worker's share of the trees that are left, so that blocks grow smaller
#: and all workers end at about the same time; and within these bounds, since each costs some
#: milliseconds on the way, and is lost when its worker dies.
PART, FEWEST, MOST = 1 / 2, 8, 1000
#: The smallest block is that part of a worker's trees.
MOST_PIECES = 8
#: With a limit of time, blocks as small as this: those not finished by then are lost.
FEW = 32


def kept_probes(table: RankTable, target: Target, plan: Plan) -> _native.Probes | None:
    """The probes of a forest; a table keeps its last ones, since all blocks ask the same."""
    if plan.probes is None:
        return None
    least = math.ceil(plan.min_leaf * table.shape[0] / plan.n_drawn)
    kept = table.__dict__.get("_kept_probes")
    if kept is None or kept[0] != (plan.probes, least) or kept[1] is not target:
        probes = make_probes(table, plan.probes, target, least)
        kept = table.__dict__["_kept_probes"] = ((plan.probes, least), target, probes)
    found: _native.Probes | None = kept[2]
    return found


def native_forest(
    table: RankTable,
    target: Target,
    plan: Plan,
    keep_trees: bool,
    oob: bool,
    threads: int,
    sums: dict[str, NDArray[Any]],
    progress: Callable[[int, int], object] | None,
    max_seconds: float | None,
    *,
    listed: bool = False,
) -> dict[str, Any]:
    """What the engine finds, on threads of this process."""
    return _native.grow(
        table.native,
        target.criterion,
        target.values,
        target.n_classes,
        target.weight,
        plan.native(keep_trees=keep_trees, oob=oob, listed=listed),
        kept_probes(table, target, plan),
        COUPLING_EDGES.tolist(),
        threads,
        0.0 if max_seconds is None else max(float(max_seconds), 1e-9),
        sums,
        progress,
    )


def blocks_of(trees: int, workers: int, most: int = MOST) -> list[tuple[int, int]]:
    """Where each block of trees begins and how long it is: large ones first.

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


Task = tuple[Plan, bool, bool]


def grow_block(table: RankTable, target: Target, task: Task) -> dict[str, Any]:
    """What one block of trees chose; this is what a worker does."""
    plan, keep_trees, oob = task
    return native_forest(table, target, plan, keep_trees, oob, 1, {}, None, None, listed=True)


def shared_forest(
    backend: Backend,
    table: RankTable,
    target: Target,
    plan: Plan,
    keep_trees: bool,
    oob: bool,
    sums: dict[str, NDArray[Any]],
    progress: Callable[[int, int], object] | None,
    max_seconds: float | None,
) -> dict[str, Any]:
    """What the engine finds, grown by the workers of a cluster: the same to the last bit."""
    deadline = None if max_seconds is None else monotonic() + max_seconds
    blocks = blocks_of(plan.trees, backend.workers(), MOST if deadline is None else FEW)
    tasks: list[Task] = [
        (replace(plan, first_tree=plan.first_tree + first, trees=n), keep_trees, oob)
        for first, n in blocks
    ]
    light = table if keep_trees or oob else table.without_values()
    total = _Sums(table, target, keep_trees, oob, sums)
    waiting: dict[int, dict[str, Any]] = {}
    turn = 0
    if progress is not None:
        progress(0, plan.trees)
    with closing(backend.run(grow_block, (light, target), tasks, deadline=deadline)) as finished:
        for number, block in finished:
            waiting[number] = block
            kept_probes(table, target, plan)  # the tally names them; made while others grow trees
            while turn in waiting:  # floating point is added in the order of the trees
                total.add(waiting.pop(turn))
                turn += 1
            if progress is not None:
                early = sum(len(block["nodes_per_tree"]) for block in waiting.values())
                progress(total.n_trees + early, plan.trees)
    if turn == 0:  # the clock ran out: whatever it says, no forest is empty
        plan_of_first = replace(plan, trees=1)
        total.add(grow_block(table, target, (plan_of_first, keep_trees, oob)))
    return total.raw(stopped_early=total.n_trees < plan.trees)


class _Sums:
    """The sums of a forest while its blocks come in, in the order of the trees."""

    def __init__(
        self,
        table: RankTable,
        target: Target,
        keep_trees: bool,
        oob: bool,
        earlier: dict[str, NDArray[Any]],
    ) -> None:
        S, F = table.shape
        self.n_trees = 0
        self.counts = np.zeros(F, np.int64)
        self.couplings = np.zeros((F, N_COUPLING_BINS), np.int32)
        self.importance = earlier["importance"].copy() if earlier else np.zeros(F)
        self.nodes_per_tree: list[NDArray[np.int64]] = []
        self.last: dict[str, Any] = {}
        self.probes: dict[str, NDArray[np.int64]] = {}
        self.trees: list[Trees] | None = [] if keep_trees else None
        self.oob: dict[str, NDArray[Any]] = {}
        if oob:
            n_values = target.n_classes or target.values.shape[1]
            self.oob = {
                "oob_sum": earlier["oob_sum"].copy() if earlier else np.zeros((S, n_values)),
                "oob_trees": earlier["oob_trees"].copy() if earlier else np.zeros(S, np.int64),
            }

    def add(self, block: dict[str, Any]) -> None:
        """Add the next trees. `np.add.at` adds one entry after the other, as the engine does."""
        feature = block["feature"].astype(np.int64)
        np.add.at(self.counts, feature, 1)
        np.add.at(self.couplings.reshape(-1), feature * N_COUPLING_BINS + block["coupling_bin"], 1)
        np.add.at(self.importance, feature, block["listed_importance"])
        self.nodes_per_tree.append(block["nodes_per_tree"])
        self.n_trees += len(block["nodes_per_tree"])
        for name in ("probe_wins", "probe_couplings"):
            if name in block:
                self.probes[name] = self.probes.get(name, 0) + block[name]
        if self.trees is not None:
            self.trees.append(Trees(block["trees"]))
        if self.oob:
            sample = block["oob_sample"].astype(np.int64)
            np.add.at(self.oob["oob_trees"], sample, 1)
            width = self.oob["oob_sum"].shape[1]
            places = (sample[:, None] * width + np.arange(width)).reshape(-1)
            np.add.at(self.oob["oob_sum"].reshape(-1), places, block["oob_value"])
        self.last = block

    def raw(self, *, stopped_early: bool) -> dict[str, Any]:
        """The sums under the names of the engine."""
        kept = {} if self.trees is None else {"trees": Trees.joined(self.trees).arrays}
        return {
            "n_trees": self.n_trees,
            "stopped_early": stopped_early,
            "counts": self.counts,
            "couplings": self.couplings,
            "importance": self.importance,
            "nodes_per_tree": np.concatenate(self.nodes_per_tree),
            "outcome_fingerprint": self.last["outcome_fingerprint"],
            **self.probes,
            **self.oob,
            **kept,
        }
