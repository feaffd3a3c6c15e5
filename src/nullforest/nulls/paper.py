r"""The paper's null model: every node is an independent draw.

Tree t draws a pool of F_t of the F features and has K_t internal nodes. A null feature in the
pool wins each node with probability 1/F_t (Konukoglu & Ganz, Proposition 1), so

    n_f = Σ_t B_t · Bin(K_t, 1/F_t),   B_t ~ Bernoulli(F_t / F).

F_t = F is their Strategy I, where n_f ~ Bin(Σ K_t, 1/F) exactly; F_t < F is Strategy II, whose
sum over integer partitions is replaced by its generating function. A group of g features has
h ~ Hypergeometric(F, g, F_t) of its members in the pool and wins a node with probability h/F_t.
The mean is known, there is no overdispersion, and the tail is exact: nothing is estimated.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from nullforest._util.errors import InputError
from nullforest._util.words import Sentence, Setting
from nullforest.nulls.distribution import Floats, Ints, NullDistribution, check_alpha
from nullforest.nulls.tilted_sums import TAIL_SHARE, LatticeTable, TreeSum
from nullforest.tallies.tally import Tally


class PaperNull(NullDistribution):
    """The paper's null distribution for a forest of given trees, pools and features.

    Parameters
    ----------
    nodes_per_tree, pool_per_tree : array-like of int, (T,)
        Internal nodes of each tree, and how many features it could use.
    n_features : int
        Number of features F.
    group_size : int
        Number of features that are counted together; 1 for single features.

    Examples
    --------
    >>> from nullforest.nulls.paper import PaperNull
    >>> null = PaperNull([50] * 100, [1000] * 100, n_features=1000)  # Strategy I
    >>> null.threshold(0.05), round(float(null.sf(9)), 4)
    (9, 0.0318)
    >>> pools = PaperNull([50] * 100, [100] * 100, n_features=1000)  # Strategy II
    >>> pools.threshold(0.05), round(float(pools.sf(9)), 4)
    (10, 0.0607)
    """

    kind = "paper"

    def __init__(
        self,
        nodes_per_tree: ArrayLike,
        pool_per_tree: ArrayLike,
        n_features: int,
        group_size: int = 1,
    ) -> None:
        if not 1 <= group_size <= n_features:
            raise InputError(
                f"A group of {group_size} among {n_features} features is not possible; "
                "group sizes lie between 1 and the number of features."
            )
        nodes = np.asarray(nodes_per_tree, np.int64)
        total = float(nodes.sum(dtype=float))
        # Counts are doubles here, and classes of trees have one code of 64 bits.
        if total > 2.0**53 or total * n_features > 2.0**62:
            raise InputError(
                f"{total:.3g} nodes over {n_features} features are too many for the paper's null "
                "model; test the tally of fewer trees."
            )
        pools = np.broadcast_to(np.asarray(pool_per_tree, np.int64), nodes.shape)
        self.n_features = n_features
        self.group_size = group_size
        self._nodes, self._pools = nodes, pools
        self.largest = int(nodes.sum())
        self._values: LatticeTable | None = None

    def group(self, size: int) -> PaperNull:
        """Null distribution of the summed count of `size` features.

        Examples
        --------
        >>> from nullforest.nulls.paper import PaperNull
        >>> null = PaperNull([50] * 100, [1000] * 100, n_features=1000)
        >>> null.mean, null.group(20).mean
        (5.0, 100.0)
        """
        return PaperNull(self._nodes, self._pools, self.n_features, size)

    def scaled(self, factor: float) -> PaperNull:
        """Null distribution for `factor` times as many such trees."""
        trees = np.arange(round(factor * len(self._nodes))) % len(self._nodes)
        return PaperNull(self._nodes[trees], self._pools[trees], self.n_features, self.group_size)

    @property
    def mean(self) -> float:
        """Expected count: every node is won by some feature, each equally likely."""
        return self.largest * self.group_size / self.n_features

    @property
    def variance(self) -> float:
        """Variance of the count."""
        return self._table().total.tilted(0.0).deviation ** 2

    def _table(self, deviations: float = 0.0) -> LatticeTable:
        if self._values is None:
            total = _tree_sum(self._nodes, self._pools, self.n_features, self.group_size)
            self._values = LatticeTable(total, deviations)
        return self._values

    def pmf(self, k: ArrayLike) -> Floats:
        """P(n = k)."""
        k, table = np.asarray(k, float), self._table()
        table.reach(k, tail=False)
        return table.pmf(k)

    def sf(self, k: ArrayLike) -> Floats:
        """P(n > k)."""
        k, table = np.asarray(k, float), self._table()
        table.reach(k, tail=True)
        return table.sf(k)

    def threshold(self, alpha: float) -> int:
        """Smallest κ with P(n > κ) ≤ alpha."""
        check_alpha(alpha)
        if self.largest == 0:
            return 0
        # One window a little above the normal guess usually holds the threshold and all of the
        # tail beyond it that matters.
        table = self._table(float(-special.ndtri(alpha)) + 1.5)
        table.extend(table.low, 0, np.log(alpha) - TAIL_SHARE)
        while table.low > 0 and float(table.sf(np.array(table.low))) <= alpha:
            table.extend(table.low - 1, 0, np.log(alpha) - TAIL_SHARE)
        k = np.arange(max(table.low, table.first - 1), table.last + 1)  # others are impossible
        return int(k[np.argmax(table.sf(k) <= alpha)])


def _tree_sum(nodes: Ints, pools: Ints, F: int, size: int) -> TreeSum:
    """Merge equal trees and list, for each class, how many group members its pool may hold."""
    # Trees that may use every feature are binomials of one probability: they are one long tree.
    whole = pools == F
    if whole.any():
        one = int(nodes[whole].sum())
        nodes, pools = np.append(nodes[~whole], one), np.append(pools[~whole], F)
    classes, trees = np.unique(nodes * (F + 1) + pools, return_counts=True)
    nodes, pools = np.divmod(classes, F + 1)
    order = np.lexsort((trees, nodes))
    nodes, pools = nodes[order], pools[order]
    sizes, place = np.unique(pools, return_inverse=True)
    members, log_chance = _members_in_pool(F, size, sizes)
    winning = members > 0
    wins = np.where(winning, members / sizes[:, None], 0.0)
    log_rest = np.logaddexp.reduce(np.where(winning, -np.inf, log_chance), axis=1)
    log_weights = np.where(winning, log_chance, -np.inf)
    # Numbers of members this unlikely in every pool cannot change a tail of 1e-200.
    likely = np.any(log_weights > -750, axis=0)
    log_weights, wins = log_weights[:, likely], np.minimum(wins[:, likely], 1.0)
    return TreeSum(
        trees=trees[order].astype(float),
        nodes=nodes.astype(float),
        pool=place,
        log_weights=log_weights,
        wins=wins,
        log_rest=log_rest,
    )


def _members_in_pool(F: int, size: int, pools: Ints) -> tuple[Ints, Floats]:
    """How many of a group's members a pool may hold, and the log of each number's probability.

    The hypergeometric probabilities come from their ratios, P(h+1) / P(h), and are normalised:
    gamma functions of F would leave errors that 10⁵ trees multiply.
    """
    low = np.maximum(0, size - (F - pools))
    high = np.minimum(size, pools)
    members = low[:, None] + np.arange(int((high - low).max()) + 1)
    h, pool = members[:, :-1].astype(float), pools[:, None]
    possible = h < high[:, None]
    ratio = (size - h) * (pool - h) / ((h + 1) * (F - size - pool + h + 1))
    steps = np.where(possible, np.log(np.where(possible, ratio, 1.0)), -np.inf)
    log_chance = np.concatenate([np.zeros((len(pools), 1)), np.cumsum(steps, axis=1)], axis=1)
    return members, log_chance - np.logaddexp.reduce(log_chance, axis=1, keepdims=True)


def from_tally(tally: Tally, *, best: bool) -> PaperNull:
    """The paper's null distribution of a tally, with a note on its assumption.

    The note advises what every interface offers: the null model "auto", or, where the paper's is
    the `best` one for this tally, a forest that has others.
    """
    null = PaperNull(tally.nodes_per_tree, tally.pool_per_tree, tally.n_varying)
    null.varying = tally.varying if tally.n_constant else None
    candidates = "" if tally.candidates is None else f" and {tally.candidates} candidates"
    size = f"{tally.n_trees} tree{'s' if tally.n_trees > 1 else ''}{candidates}"
    remedy = Sentence("The default (", Setting("null", "auto"), ") accounts for it.")
    if best:
        remedy = Sentence(
            f"A forest grown by nullforest, with {size}, has a null model that accounts for it."
        )
    null.notes = (
        Sentence(
            "The paper's null model takes the nodes as independent, but all trees share one "
            "sample: its false positive rate grows with the number of trees. ",
            remedy,
        ),
    )
    return null
