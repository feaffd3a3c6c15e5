"""Where the splits of some features lie: the forest's trees grown again, with their thresholds.

A forest that is tested keeps no trees. The same seed gives the same trees, so they are grown once
more without probes, which never split; that takes a part of the time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nullforest._util.checks import n_threads
from nullforest.data.rank_table import RankTable
from nullforest.data.shadowed_table import permuted_rows
from nullforest.data.targets import Target
from nullforest.forest.grower import Grower
from nullforest.forest.settings import TreeSettings
from nullforest.tallies.tally import Tally

#: Nodes that are kept at a time: about 100 MB.
MOST_NODES = 2_000_000
#: Values that are ranked once more, where their ranks are not at hand.
MOST_VALUES = 2**28
#: Bytes of a table with its shadows, as a matrix.
MOST_BYTES = 2**28
#: Seconds for the trees.
MOST_SECONDS = 20.0


@dataclass(frozen=True, eq=False)
class SplitPoints:
    """Thresholds at which features were split.

    Attributes
    ----------
    trees : int
        Number of trees that were grown again: the first ones of the forest.
    thresholds : list of (n,) float
        The thresholds of each feature, one for each of its nodes.
    """

    trees: int
    thresholds: list[NDArray[np.float64]]


def split_points(
    tally: Tally, X: Any, target: Target, features: NDArray[np.int64], n_jobs: int = -1
) -> SplitPoints | None:
    """Grow the first trees of a forest again, and list the thresholds of some features.

    Parameters
    ----------
    tally : Tally
        Of a forest that was grown by nullforest.
    X : RankTable or array-like
        The data that it was grown on.
    target : Target
        Its target.
    features : (k,) int
        Numbers of the features.
    n_jobs : int
        Threads.

    Returns
    -------
    SplitPoints or None
        None where the trees are not those of the tally: another library's, a sum of forests, or
        grown with other weights; and where X is too large to be ranked once more.
    """
    shape = tally.settings
    if tally.source != "nullforest" or shape is None or tally.candidates is None:
        return None
    if len(tally.lineage) != 1 or target.criterion != shape["criterion"]:
        return None
    if not isinstance(X, RankTable) and tally.n_samples * tally.n_features > MOST_VALUES:
        return None
    table = RankTable.of(X, n_jobs)
    same = table.shape == (tally.n_samples, tally.n_features)
    if not same or table.values is None or table.categories is not None:
        return None
    copies = 0 if tally.shadows is None else len(tally.shadows)
    if copies:
        wide = _with_shadows(table, copies, target)
        if wide is None:
            return None
        table = RankTable(wide, n_jobs=n_jobs, bins=table.bins or "auto")
    seed, first, grown = tally.lineage[0]
    trees = max(1, min(grown, int(grown * MOST_NODES / max(tally.n_nodes, 1))))
    settings = TreeSettings(
        candidates=tally.candidates,
        draw="tree" if tally.draw == "tree" else "node",
        probes=0,
        shadows=0,
        probe_seed=0,
        seed=seed,
        first_tree=first,
        **shape,
    )
    grower = Grower(table, target, settings, True, False, n_threads(n_jobs))
    raw = grower.block(first, trees, max_seconds=MOST_SECONDS)
    counts = raw["counts"][: tally.n_features]
    whole = int(raw["n_trees"]) == grown
    if (counts > tally.counts).any() or (whole and (counts != tally.counts).any()):
        return None
    feature, threshold = raw["trees"]["feature"], raw["trees"]["threshold"]
    used = np.isin(feature, features)
    feature, threshold = feature[used], threshold[used]
    return SplitPoints(int(raw["n_trees"]), [threshold[feature == f] for f in features])


def _with_shadows(table: RankTable, copies: int, target: Target) -> NDArray[Any] | None:
    """The table beside its shadows as one matrix; None where it is too large."""
    X = table.matrix
    if X.nbytes * (copies + 1) > MOST_BYTES:
        return None
    rows = permuted_rows(table.shape[0], copies, 0, target.blocks)
    return np.asfortranarray(np.hstack([X, *(X[each] for each in rows)]))
