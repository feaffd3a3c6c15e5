"""Importances of features: the measures of the literature beside the selection frequency.

For T trees with nodes n, f* the feature that splits a node and G its gain:

selection frequency   Σ_t Σ_n 1[f = f*]
Gini importance       Σ_t Σ_n 1[f = f*] G, as a share of all (Breiman 2001)
corrected Gini        Gini importance minus that of a shuffled copy of the feature, which the
                      nodes could have selected as well (actual impurity reduction; Nembrini,
                      König and Wright 2018)
permutation           mean over trees of the increase of the out-of-bag error when the feature is
                      shuffled (Breiman 2001)
minimal depth         mean over trees of the depth of the first split on the feature; of the
                      deepest leaf where the tree has none (Ishwaran et al. 2010)
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from nullforest._util.errors import InputError, check_known
from nullforest._util.randomness import COPIES, forest_seed, stream
from nullforest.data.dataset import Dataset
from nullforest.data.rank_table import RankTable
from nullforest.evaluation.relabelling import dataset_of, without_blocks
from nullforest.features.interactions import levels_of
from nullforest.forest.settings import paper_settings
from nullforest.nulls.distribution import Floats
from nullforest.run.forest import Forest
from nullforest.run.growing import grow
from nullforest.run.permutation import permuted_errors
from nullforest.tallies.tally import Tally

Measure = Literal["frequency", "gini", "corrected_gini", "permutation", "minimal_depth"]
#: The measures and what tables call them.
MEASURES: dict[Measure, str] = {
    "frequency": "selection frequency",
    "gini": "Gini importance",
    "corrected_gini": "corrected Gini importance",
    "permutation": "permutation importance",
    "minimal_depth": "minimal depth",
}
#: The measures that can be tested.
Statistic = Literal["frequency", "gini", "corrected_gini", "permutation"]
STATISTICS: tuple[Statistic, ...] = ("frequency", "gini", "corrected_gini", "permutation")


def importance(forest: Forest, X: Any, measure: Measure, *, n_jobs: int = -1) -> Floats:
    """One measure of a grown forest.

    Parameters
    ----------
    forest : Forest
        "permutation" and "minimal_depth" need trees: `keep_trees=True`.
    X : array-like or RankTable, (S, F)
        The data it was grown on.
    measure : {"frequency", "gini", "permutation", "minimal_depth"}
        Small is important in "minimal_depth", large in all others. For "corrected_gini", which
        needs a forest of its own, see :func:`corrected_gini`.
    n_jobs : int
        Threads.

    Examples
    --------
    >>> import numpy as np, nullforest as nf
    >>> X = np.random.default_rng(0).normal(size=(60, 9))
    >>> forest = nf.grow(X, X[:, 2] > 0, trees=50)
    >>> int(nf.baselines.importance(forest, X, "permutation").argmax())
    2
    """
    check_known("importance", measure, [name for name in MEASURES if name != "corrected_gini"])
    if measure == "frequency":
        return forest.tally.counts.astype(np.float64)
    if measure == "gini":
        return forest.gini_importance
    if measure == "permutation":
        return permuted_errors(forest, X, n_jobs=n_jobs)[0]
    return _minimal_depth(forest)


def _minimal_depth(forest: Forest) -> Floats:
    """Mean over trees of the depth of the first split on each feature (the root has depth 0)."""
    if forest.trees is None:
        raise InputError("The trees were not kept; grow with keep_trees=True to measure depths.")
    T, F = forest.n_trees, forest.tally.n_features
    deepest = np.zeros(T, np.int64)
    places, depths = [], []  # (tree, feature) of every split, the upper ones first
    for depth, (tree, node, _) in enumerate(levels_of(forest.trees)):
        deepest[tree] = depth
        feature = forest.trees.arrays["feature"][node]
        split = feature >= 0
        places.append(tree[split] * F + feature[split])
        depths.append(np.full(split.sum(), depth))
    place, first = np.unique(np.concatenate(places), return_index=True)
    saved = deepest[place // F] - np.concatenate(depths)[first]
    return np.asarray((deepest.sum() - np.bincount(place % F, saved, F)) / T)


def corrected_gini(
    X: Any, y: Any = None, *, seed: int = 0, n_jobs: int = -1, **settings: Any
) -> Floats:
    """Gini importance minus that of the feature's shuffled copy (Nembrini et al. 2018).

    A node draws its candidates from the features and their copies. The expectation is zero for a
    null feature, whatever its number of levels.

    Parameters
    ----------
    X, y, seed, n_jobs, **settings
        As :func:`nullforest.grow` takes them; the seed is that of the shuffling, too.

    Examples
    --------
    >>> import numpy as np, nullforest as nf
    >>> X = np.random.default_rng(0).normal(size=(60, 40))
    >>> corrected = nf.baselines.corrected_gini(X, X[:, 3] > 0, trees=100)
    >>> int(corrected.argmax()), bool((corrected < 0).any())
    (3, True)
    """
    data = dataset_of(X, y, settings, n_jobs=n_jobs)
    measured = MeasuredForests(data, "corrected_gini", seed=seed, n_jobs=n_jobs, **settings)
    return measured.values(measured.grown(seed))


class MeasuredForests:
    """The forests of which a test measures one statistic: their data, settings and reading.

    Forests for the corrected Gini importance grow on the features and, beside them, on copies with
    their samples shuffled. One permutation serves all copies, so that they are correlated with
    each other as the features are, and independent of the label; `seed` is that of the shuffling.
    Where `settings` leave them open, the forests have the proportions of the paper.
    """

    def __init__(
        self, data: Dataset, statistic: Statistic, *, seed: int, n_jobs: int, **settings: Any
    ) -> None:
        check_known("test of", statistic, STATISTICS)
        self.statistic, self.data = statistic, data
        self.names, self.n_features = data.table.feature_names, data.table.shape[1]
        if statistic == "corrected_gini":
            matrix = data.table.matrix
            order = stream(seed, COPIES).permutation(len(matrix))
            doubled = np.asfortranarray(np.hstack([matrix, matrix[order]]))
            self.data = Dataset(RankTable(doubled, n_jobs=n_jobs), data.target)
        # The tally of features with copies leaves out the nodes of the copies.
        keep_trees = statistic in ("permutation", "corrected_gini")
        self.settings = paper_settings(self.data.table.shape[1]) | settings
        self.settings |= {"n_jobs": n_jobs, "probes": 0, "oob": False, "keep_trees": keep_trees}

    def grown(self, seed: int, **changes: Any) -> Forest:
        """The forest on the labels as they are."""
        return grow(without_blocks(self.data), seed=seed, **self.settings | changes)

    def values(self, forest: Forest) -> Floats:
        """The statistic of each feature."""
        if self.statistic != "corrected_gini":
            return importance(
                forest, self.data.table, self.statistic, n_jobs=self.settings["n_jobs"]
            )
        share = forest.sums["importance"] / forest.n_trees
        return np.asarray(share[: self.n_features] - share[self.n_features :])

    def tally(self, forest: Forest) -> Tally:
        """The tally of the features themselves."""
        if self.statistic != "corrected_gini":
            return forest.tally
        F = self.n_features
        return Tally(
            counts=forest.tally.counts[:F],
            nodes_per_tree=nodes_below(forest, F),
            pool_per_tree=np.full(forest.n_trees, F),
            candidates=None,
            n_samples=forest.tally.n_samples,
            feature_names=self.names,
            source="nullforest, with shuffled copies of the features",
            lineage=forest.tally.lineage,
            fingerprint=forest.tally.fingerprint,
        )


def nodes_below(forest: Forest, n_features: int) -> NDArray[np.int64]:
    """Nodes of each tree that split on one of the first `n_features` features."""
    if forest.trees is None:
        raise InputError("The trees were not kept; grow with keep_trees=True to count their nodes.")
    feature, offsets = forest.trees.arrays["feature"], forest.trees.offsets
    so_far = np.concatenate([[0], np.cumsum((feature >= 0) & (feature < n_features))])
    return np.asarray(so_far[offsets[1:]] - so_far[offsets[:-1]])


def importances(
    X: Any,
    y: Any = None,
    which: Sequence[Measure] = tuple(MEASURES),
    *,
    seed: int = 0,
    n_jobs: int = -1,
    **settings: Any,
) -> pd.DataFrame:
    """All measures of one forest, a column each.

    Parameters
    ----------
    X, y, seed, n_jobs, **settings
        As :func:`nullforest.grow` takes them.
    which : sequence of str
        Measures: "frequency", "gini", "corrected_gini", "permutation", "minimal_depth".
        "corrected_gini" needs a second forest, grown with the same settings on the features and
        their shuffled copies; all others share one.

    Returns
    -------
    DataFrame
        One row per feature, by its name.

    Examples
    --------
    >>> import numpy as np, nullforest as nf
    >>> X = np.random.default_rng(0).normal(size=(60, 30))
    >>> frame = nf.baselines.importances(X, X[:, 3] > 0, ["frequency", "gini"], trees=50)
    >>> frame.idxmax().tolist()
    ['x3', 'x3']
    """
    for measure in list[str](which) or [""]:
        check_known("importance", measure, MEASURES)
    data = without_blocks(dataset_of(X, y, settings, n_jobs=n_jobs))
    F = data.table.shape[1]
    settings = {**paper_settings(F), "probes": 0, "keep_trees": True, **settings}
    forest = grow(data, seed=seed, n_jobs=n_jobs, **settings)
    copies_seed = forest_seed(seed, COPIES)
    columns = {
        measure: corrected_gini(data, seed=copies_seed, n_jobs=n_jobs, **settings)
        if measure == "corrected_gini"
        else importance(forest, data.table, measure, n_jobs=n_jobs)
        for measure in which
    }
    return pd.DataFrame(columns, index=pd.Index(forest.tally.names, name="feature"))


def rank_agreement(table: pd.DataFrame, top: int = 20) -> pd.DataFrame:
    """Agreement of the measures on the ranking (the paper's Remark 1).

    Parameters
    ----------
    table : DataFrame
        Measures in columns, as :func:`importances` gives them. Small is important in
        "minimal_depth", large in all others.
    top : int
        Features at the top of each ranking that are compared.

    Returns
    -------
    DataFrame
        For every pair of measures: Spearman's and Kendall's rank correlation over all features,
        and the share of the `top` first features of one that are among those of the other.

    Examples
    --------
    >>> import pandas as pd, nullforest as nf
    >>> table = pd.DataFrame({"gini": [3.0, 2.0, 1.0], "minimal_depth": [0.0, 1.0, 2.0]})
    >>> float(nf.baselines.rank_agreement(table, top=1)["spearman"].iloc[0])
    1.0
    """
    if not 1 <= top <= len(table):
        raise InputError(f"top = {top} must lie between 1 and the {len(table)} features.")
    oriented = {
        str(name): -values.to_numpy() if name == "minimal_depth" else values.to_numpy()
        for name, values in table.items()
    }
    leading = {n: set(np.argsort(-v, kind="stable")[:top].tolist()) for n, v in oriented.items()}
    return pd.DataFrame(
        [
            {
                "measure": a,
                "other": b,
                "spearman": stats.spearmanr(oriented[a], oriented[b]).statistic,
                "kendall": stats.kendalltau(oriented[a], oriented[b]).statistic,
                "top_shared": len(leading[a] & leading[b]) / top,
            }
            for a, b in combinations(oriented, 2)
        ]
    )
