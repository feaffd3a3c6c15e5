"""One block of trees, grown by the kernel; and the sums of blocks that a cluster grew.

A random stream belongs to a seed and a tree number, so a block is the same wherever it is grown. A
worker returns a list of the features that its trees selected, node by node, instead of sums over
all features. Added in the order of the trees, these lists give every sum of the forest to the last
bit, floating point included, and a list is far smaller than the sums where there are many features.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nullforest import _native
from nullforest._util.progress import Report
from nullforest.data.rank_table import RankTable
from nullforest.data.targets import Target
from nullforest.forest.couplings import COUPLING_EDGES, N_COUPLING_BINS
from nullforest.forest.settings import TreeSettings
from nullforest.forest.trees import Trees
from nullforest.forest.virtual_probes import make_probes

Sums = dict[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Grower:
    """Grows any trees of one forest: its ranks, target and settings, and its virtual probes.

    Attributes
    ----------
    table : RankTable
        The columns that compete for nodes, shadows included.
    target : Target
    settings : TreeSettings
    keep_trees, oob : bool
        Whether trees are kept, and whether they predict out of bag.
    threads : int
        Threads of this process.
    """

    table: RankTable
    target: Target
    settings: TreeSettings
    keep_trees: bool
    oob: bool
    threads: int = 1

    @cached_property
    def probes(self) -> _native.Probes | None:
        """The virtual probes, which all blocks share."""
        return make_probes(self.table, self.settings, self.target, self.threads)

    def block(
        self,
        first_tree: int,
        trees: int,
        sums: Sums | None = None,
        *,
        progress: Report | None = None,
        max_seconds: float | None = None,
        listed: bool = False,
    ) -> dict[str, Any]:
        """Grow some trees on threads of this process.

        Parameters
        ----------
        first_tree, trees : int
            Number of the first tree, and how many.
        sums : dict, optional
            Sums of the trees before, which those of these trees are added to.
        progress : callable, optional
            Told (trees done, trees in all).
        max_seconds : float, optional
            End with the trees finished by then, at least one.
        listed : bool
            List the selected features node by node instead of summing over features.

        Returns
        -------
        dict
            The sums under the names of the kernel.
        """
        settings = self.settings.of_kernel(
            trees,
            first_tree=first_tree,
            keep_trees=self.keep_trees,
            oob=self.oob,
            listed=listed,
        )
        return _native.grow(
            self.table.native,
            self.target.kernel_criterion,
            self.target.values,
            self.target.n_classes,
            self.target.weight,
            settings,
            self.probes,
            COUPLING_EDGES.tolist(),
            self.threads,
            0.0 if max_seconds is None else max(max_seconds, 1e-9),  # 0 is no limit
            sums or {},
            progress,
        )

    @property
    def shared(self) -> tuple[RankTable, Target, tuple[TreeSettings, bool, bool]]:
        """What a worker needs; values of X only where trees or predictions need them."""
        light = self.keep_trees or self.oob
        table = self.table if light else self.table.without_values()
        return table, self.target, (self.settings, self.keep_trees, self.oob)


@lru_cache(maxsize=1)
def _grower(
    table: RankTable, target: Target, how: tuple[TreeSettings, bool, bool]
) -> Grower:  # a worker keeps its last one, with the probes
    return Grower(table, target, *how)


def grow_listed(
    table: RankTable,
    target: Target,
    how: tuple[TreeSettings, bool, bool],
    block: tuple[int, int],
) -> dict[str, Any]:
    """The features selected by one block of trees, node by node: the task of a worker."""
    return _grower(table, target, how).block(*block, listed=True)


class ListedSums:
    """The sums of a forest while its listed blocks arrive, in the order of the trees."""

    def __init__(self, grower: Grower, earlier: Sums | None) -> None:
        S, F = grower.table.shape
        self.n_trees = 0
        self.nodes_per_tree: list[NDArray[np.int64]] = []
        self.trees: list[Trees] | None = [] if grower.keep_trees else None
        self.sums: dict[str, Any] = {
            "counts": np.zeros(F, np.int64),
            "couplings": np.zeros((F, N_COUPLING_BINS), np.int32),
            "importance": np.zeros(F),
        }
        if grower.oob:
            n_values = grower.target.n_classes or grower.target.values.shape[1]
            self.sums["oob_sum"] = np.zeros((S, n_values))
            self.sums["oob_trees"] = np.zeros(S, np.int64)
        self.sums |= {name: values.copy() for name, values in (earlier or {}).items()}

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
