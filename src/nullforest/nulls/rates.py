"""Rates at which null features are selected, given the nodes and trees of a forest.

A null feature with latent contrasts z is selected at the rate g(z) = Σ_i E[H | z, r_i] · c, the
mean over the nodes i that null features won (see `contrasts`), relative to the mean null feature. A
tree that uses a feature gains little from it below, so the rate saturates within a tree: with K_t
nodes for null features and a pool of F_t features,

    s(z) = Σ_t (F_t/F) · (1 − exp(−K_t g(z)/F_t)),   scaled to mean 1.

This covers both strategies and mixtures: F_t is the pool of tree t, F without pools.

A *saturated* tree has more than half as many nodes for null features as its pool has features, and
selects the same feature several times. There, only the nodes on the path to a node matter: below a
node that the feature won, it wins as any other feature does; elsewhere by its sample association,

    s(z) = Σ_i 1 + (g_i(z) − 1) · exp(−Λ_i(z)),   Λ_i(z) = Σ_j (r_j/r_0) g_j(z)/F_t over r_j > r_i,

since a node of coupling r_j lies above a smaller node of its tree with probability r_j/r_0, r_0 the
coupling of the root, and is won by the feature with probability g_j/F_t.

A tree that draws its features once offers a feature all of its nodes or none. Over T trees with a
share p of the features in each pool, a feature is in J ~ Bin(T, p) pools. Given its rate s and J,
its count is Bin(J·K, μ₀ s/(T p K)), K the mean number of nodes per tree, so its expected count is
μ₀ s J/(T p). Without pools p = 1 and J = T.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.stats import binom

from nullforest._util.search import bisect
from nullforest.nulls import constants
from nullforest.nulls.binomial_mixture import merge_rates
from nullforest.nulls.contrasts import COUPLINGS, TABLE_COUPLINGS, latent_grid, win_table
from nullforest.nulls.distribution import Floats, Ints
from nullforest.tallies.tally import Tally

# Numerical constants.
_MOST_CLASSES = 64  # of trees with similar K_t/F_t; more change the rates by less than 1e-4
_LEAST = 1e-3  # mean rate of the other features; only two of them can be so unequal
_CURVE = 256  # points of the saturation curve: to 1e-7 with steps of a tenth
_NEVER = 1e-16  # numbers of pools with a smaller probability are left out
_CELL = 0.3  # in the square root of the expected count, which counts resolve to about a half
FACTORS = (0.02, 50.0)  # bounds of a factor on the couplings: from hardly any to all of them 1


def saturation(tally: Tally) -> float:
    """Nodes of a tree ÷ features in its pool, averaged over the trees."""
    return float((tally.nodes_per_tree / tally.pool_per_tree).mean())


@dataclass(frozen=True)
class TreeLoads:
    """The trees of a forest, as far as they determine the rates of null features.

    Attributes
    ----------
    load, pools : (U,)
        Nodes ÷ pool, K_t/F_t, of classes of similar trees, and the sum of their pools F_t.
    candidates : int
        Features compared at a node, never more than the pool holds.
    n_nodes, n_trees : int
        Nodes of the forest (at least one) and its trees.
    nodes_per_tree, saturation : float
        Mean number of nodes of a tree, and mean of nodes ÷ pool.
    pool_share : float
        Mean share of the features in a tree's pool.
    """

    load: Floats
    pools: Floats
    candidates: int
    n_nodes: int
    n_trees: int
    nodes_per_tree: float
    saturation: float
    pool_share: float

    @classmethod
    def of(cls, tally: Tally) -> TreeLoads:
        """The trees of a tally with known candidates."""
        assert tally.candidates is not None
        pool = tally.pool_per_tree.astype(float)
        load = tally.nodes_per_tree / pool
        at_node = np.minimum(tally.candidates, tally.pool_per_tree)
        if at_node.min() == at_node.max():
            candidates = int(at_node[0])
        else:  # pools smaller than the candidates: the mean on the scale on which tails change
            nodes = tally.nodes_per_tree + 1e-9  # defined for trees without a split, too
            candidates = round(float(np.exp(np.average(np.log(at_node), weights=nodes))))
        if pool.min() == pool.max():  # classes by the number of nodes, which need no sorting
            group = tally.nodes_per_tree
            classes = int(np.count_nonzero(np.bincount(group)))
        else:
            values, group = np.unique(load, return_inverse=True)
            classes = len(values)
        if classes > _MOST_CLASSES:
            edges = np.quantile(load, np.linspace(0, 1, _MOST_CLASSES + 1)[1:-1])
            group = np.searchsorted(edges, load)
        pools = np.bincount(group, pool).astype(float)
        total = np.bincount(group, pool * load).astype(float)
        used = pools > 0
        return cls(
            load=total[used] / pools[used],
            pools=pools[used],
            candidates=candidates,
            n_nodes=max(tally.n_nodes, 1),
            n_trees=tally.n_trees,
            nodes_per_tree=float(tally.nodes_per_tree.mean()),
            saturation=saturation(tally),
            pool_share=float(tally.pool_per_tree.mean()) / tally.n_features,
        )

    def saturate(self, rates: Floats, node_share: float) -> Floats:
        """Rate s of each relative rate g, where null features win `node_share` of the nodes."""
        if rates.size > 4 * _CURVE:  # a smooth curve: many are interpolated on the log scale
            logs = np.log(np.maximum(rates, 1e-12 * max(rates.max(), 1e-12)))
            points = np.linspace(logs.min(), logs.max(), _CURVE)
            curve = np.log(np.maximum(self.saturate(np.exp(points), node_share), 1e-300))
            return np.asarray(np.exp(CubicSpline(points, curve)(logs)))
        result = np.zeros_like(rates)
        for load, pools in zip(self.load * node_share, self.pools, strict=True):
            result -= pools * np.expm1(-load * rates)
        return result

    def components(
        self, rates: Floats, weights: Floats, largest_mean: float
    ) -> tuple[Floats, Floats, Floats]:
        """Binomial components of the counts of features with these rates.

        Parameters
        ----------
        rates, weights : (N,)
            Rates in units of the mean, and their probabilities.
        largest_mean : float
            The largest expected count at which the result will be used.

        Returns
        -------
        trials, chances, weights : (I,)
            A chance is to be multiplied by the expected count of a null feature.
        """
        if self.pool_share == 1:
            return np.full(len(rates), float(self.n_nodes)), rates / self.n_nodes, weights
        number = np.arange(self.n_trees + 1)
        probability = binom.pmf(number, self.n_trees, self.pool_share)
        used = probability > _NEVER
        member, membership = merge_rates(
            number[used] / (self.n_trees * self.pool_share),
            probability[used],
            largest_mean * float(rates.max()),
        )
        product = np.outer(member, rates).ravel()
        both = np.outer(membership, weights).ravel()
        own = np.tile(rates, len(member))
        merged, mass = merge_rates(product, both, largest_mean)
        # A component's chance is the mean rate of those that were merged into it.
        cells = np.floor(np.sqrt(largest_mean * product) / _CELL).astype(np.int64)
        total = np.bincount(cells, both * product)
        used = total > 0
        mean_rate = np.bincount(cells, both * product * own)[used] / total[used]
        centre = np.bincount(cells, both * product**2)[used] / total[used]
        chance = np.interp(merged, centre, mean_rate) / (self.pool_share * self.n_nodes)
        trials = np.ceil(merged / chance)
        return trials, merged / np.maximum(trials, 1.0), mass


def coupling_weights(histogram: Ints, factor: float = 1.0) -> Floats:
    """Share of nodes at each row of the table, the couplings multiplied by `factor`.

    A coupling between two rows is divided between them, linearly in log r.
    """
    share = histogram / histogram.sum()
    where = np.interp(
        np.log(COUPLINGS * factor), np.log(TABLE_COUPLINGS), np.arange(len(TABLE_COUPLINGS))
    )
    lower = np.minimum(where.astype(int), len(TABLE_COUPLINGS) - 2)
    part = where - lower
    rows = np.zeros(len(TABLE_COUPLINGS))
    np.add.at(rows, lower, share * (1 - part))
    np.add.at(rows, lower + 1, share * part)
    return rows


def relative_to_mean(rates: Floats, weights: Floats, n_features: int) -> tuple[Floats, Floats]:
    """Rates of few features relative to the mean of all F, which share the nodes.

    A feature of rate s wins in proportion to s over the mean (s + (F−1) m)/F, m the mean of the
    others: 1 on average, with variance Var s/(F−1). Two values of m, one standard deviation either
    way, stand for its distribution.

    Examples
    --------
    >>> relative_to_mean(np.array([0.5, 1.5]), np.array([0.5, 0.5]), 2)[0].tolist()
    [1.0, 1.5, 0.5, 1.0]
    """
    deviation = np.sqrt(weights @ (rates - 1) ** 2 / (n_features - 1))
    others = np.repeat([max(1 - deviation, _LEAST), 1 + deviation], len(rates))
    own = np.tile(rates, 2)
    mean = (own + (n_features - 1) * others) / n_features
    return own / mean, np.tile(weights / 2, 2)


@dataclass(frozen=True)
class RateModel:
    """Distribution of the rates of null features, relative to their mean.

    Attributes
    ----------
    histogram : (B,) int
        Couplings of the nodes that null features won, in the bins of `COUPLING_EDGES`.
    trees : TreeLoads
        The trees of the forest.
    node_share : float
        Share of the nodes that null features won.
    contrasts : int
        Latent contrasts of a feature, m.
    factor : float
        Factor on the couplings.
    """

    histogram: Ints
    trees: TreeLoads
    node_share: float
    contrasts: int = field(default_factory=lambda: constants.CONTRASTS)
    factor: float = 1.0

    def _on_grid(self) -> Floats:
        """s(z) on the latent grid, up to a constant factor."""
        table = win_table(self.trees.candidates, self.contrasts)
        if self.trees.saturation * self.node_share > constants.SATURATED:
            return self._on_paths(table)
        rates = np.tensordot(coupling_weights(self.histogram, self.factor), table, axes=1)
        return self.trees.saturate(rates, self.node_share)

    def _on_paths(self, table: Floats) -> Floats:
        """s(z) in saturated trees, from the win table on every coupling and point of the grid."""
        pool = self.trees.nodes_per_tree / self.trees.saturation
        nodes = coupling_weights(self.histogram, self.factor * constants.SATURATED_COUPLING)
        nodes = nodes[::-1] * self.node_share * self.trees.nodes_per_tree  # the largest first
        used = nodes > 0
        nodes, wins = nodes[used], table[::-1][used]
        coupling = TABLE_COUPLINGS[::-1][used]
        among_first = np.minimum(np.cumsum(nodes), 1.0)
        root = np.average(coupling, weights=np.diff(among_first, prepend=0.0))
        inside = np.minimum(coupling / root, 1.0)  # probability to lie below a node of the row
        above = (nodes * inside)[:, None, None] * wins / pool
        # Of the nodes of a row itself, half lie above one of them, and none above itself.
        same_row = np.maximum(nodes - 1.0, 0.0) * inside / 2
        expected = np.cumsum(above, axis=0) - above + same_row[:, None, None] * wins / pool
        rates = 1.0 + (wins - 1.0) * np.exp(-expected)
        return np.asarray(np.tensordot(nodes, rates, axes=1))

    @property
    def variance(self) -> float:
        """Variance of the relative rates."""
        if self.equal:
            return 0.0
        rates, weights = self._on_grid(), latent_grid(self.contrasts).weights
        mean = (rates * weights).sum()
        if mean == 0:  # so few nodes that no null feature wins any
            return 0.0
        return float(((rates / mean - 1) ** 2 * weights).sum())

    @property
    def equal(self) -> bool:
        """Whether all null features have the same rate: without competition, or without nodes."""
        return bool(self.histogram.sum() == 0 or self.trees.candidates == 1)

    def with_variance(self, target: float) -> RateModel:
        """The model with its couplings scaled such that the relative rates have this variance.

        The variance grows with the couplings; the bounds of the factor are used where the target
        lies outside.
        """
        if self.equal:
            return self
        low, high = bisect(
            lambda x: replace(self, factor=float(np.exp(x))).variance >= target,
            float(np.log(FACTORS[0])),
            float(np.log(FACTORS[1])),
            2e-4,  # of the log factor, numerical: half a percent of what the probes determine
        )
        return replace(self, factor=float(np.exp((low + high) / 2)))

    def rates(self, largest_mean: float, *, fine: bool = True) -> tuple[Floats, Floats]:
        """Rates of null features relative to their mean, and the probability of each.

        Parameters
        ----------
        largest_mean : float
            The largest expected count of a null feature at which the rates will be used.
        fine : bool
            Full precision in the tail; else about one percent.
        """
        if self.equal:
            return np.ones(1), np.ones(1)
        grid, values = latent_grid(self.contrasts), self._on_grid()
        if fine:
            # Counts of mean λ distinguish rates that differ by 1/√λ, so the grid of max|z| must be
            # as fine; the rates are smooth in it, and interpolated.
            doublings = np.ceil(np.log2(max(largest_mean, 1.0) / 100) / 2)
            logs = np.log(np.maximum(values, 1e-12 * values.max()))  # lower rates win no node
            spline = CubicSpline(grid.largest, logs)
            grid = latent_grid(self.contrasts, 8 * 2 ** int(np.clip(doublings, 0, 3)))
            values = np.exp(spline(grid.largest))
        mean = (values * grid.weights).sum()
        return merge_rates((values / mean).ravel(), grid.weights.ravel(), largest_mean)
