"""How unequal are the rates of null features? The shape that the nodes of a forest imply.

A null feature with latent contrasts z wins nodes at the rate g(z) = Σ_i E[H | z, r_i] · c, the
mean over the nodes i that null features won (see `contrasts`), relative to the mean null feature.
A tree that uses a feature has little left to gain from it below, so within a tree the rate
saturates: with K_t nodes for null features and a pool of F_t features,

    s(z) = Σ_t (F_t/F) · (1 − exp(−K_t g(z)/F_t)),   scaled to mean 1.

This covers both strategies and mixtures: F_t is the pool of tree t, F without pools.

A *crowded* tree has more than half as many nodes for null features as its pool has features, and
takes the same feature several times over. There, only what lies above a node on the way to it
counts: where the feature has been used, its luck is spent, and it wins as any other does; where it
has not, it wins by its luck,

    s(z) = Σ_i 1 + (g_i(z) − 1) · exp(−Λ_i(z)),   Λ_i(z) = Σ_j (r_j/r_0) g_j(z)/F_t over r_j > r_i,

since a node of coupling r_j lies above one of its tree's smaller nodes with probability r_j/r_0,
r_0 the coupling of the root, and is won by the feature with probability g_j/F_t.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from nullforest.nulls.binomial_mixture import merge_rates
from nullforest.nulls.contrasts import (
    COUPLINGS,
    TABLE_COUPLINGS,
    latent_grid,
    win_table,
)
from nullforest.nulls.diagnostics import crowding
from nullforest.tallies.tally import Tally

Floats = NDArray[np.float64]

_MOST_GROUPS = 64  # of trees alike in K_t/F_t; more change the rates by less than 1e-4
_LEAST = 1e-3  # mean of the other features' rates; only two of them can be so unequal
_CURVE = 256  # points of the curve of saturation: to 1e-7 with steps of a tenth
#: Nodes for null features ÷ features of the pool, above which a tree is crowded.
CROWDED = 0.5
#: What lies below splits that look at the label goes less with the whole sample than a random part
#: of it would: factor on the couplings in crowded trees, set by hand on simulated null data.
_BELOW_SPLITS = 0.75
SCALES = (0.02, 50.0)  # within which couplings may be scaled: from hardly any to all of them 1


@dataclass(frozen=True)
class Trees:
    """What saturation needs to know of the trees: groups alike in nodes ÷ pool.

    Attributes
    ----------
    load : (U,)
        Nodes ÷ pool, K_t/F_t.
    share : (U,)
        Sum of the pools F_t of the group's trees.
    candidates : int
        Features compared at a node, never more than the pool holds.
    nodes : float
        Mean number of nodes of a tree.
    crowding : float
        Mean of nodes ÷ pool.
    """

    load: Floats
    share: Floats
    candidates: int
    nodes: float
    crowding: float

    @classmethod
    def of(cls, tally: Tally) -> Trees:
        """Group the trees of a tally; it must know its candidates."""
        assert tally.candidates is not None
        pool = tally.pool_per_tree.astype(float)
        load = tally.nodes_per_tree / pool
        at_node = np.minimum(tally.candidates, tally.pool_per_tree)
        if at_node.min() == at_node.max():
            candidates = int(at_node[0])
        else:  # pools smaller than the candidates: the mean on the scale on which tails change
            nodes = tally.nodes_per_tree + 1e-9  # a forest of stumps without a split has a mean too
            candidates = round(float(np.exp(np.average(np.log(at_node), weights=nodes))))
        values, group = np.unique(load, return_inverse=True)
        if len(values) > _MOST_GROUPS:
            edges = np.quantile(load, np.linspace(0, 1, _MOST_GROUPS + 1)[1:-1])
            group = np.searchsorted(edges, load)
        share = np.bincount(group, pool).astype(float)
        total = np.bincount(group, pool * load).astype(float)
        used = share > 0
        return cls(
            load=total[used] / share[used],
            share=share[used],
            candidates=candidates,
            nodes=float(tally.nodes_per_tree.mean()),
            crowding=crowding(tally),
        )

    def saturate(self, rates: Floats, pi0: float) -> Floats:
        """Rate s of each relative rate, where null features win `pi0` of the nodes."""
        if rates.size > 4 * _CURVE:  # a smooth curve: many are interpolated on the log scale
            logs = np.log(np.maximum(rates, 1e-12 * max(rates.max(), 1e-12)))
            points = np.linspace(logs.min(), logs.max(), _CURVE)
            curve = np.log(np.maximum(self.saturate(np.exp(points), pi0), 1e-300))
            return np.asarray(np.exp(CubicSpline(points, curve)(logs)))
        result = np.zeros_like(rates)
        for load, share in zip(self.load * pi0, self.share, strict=True):
            result -= share * np.expm1(-load * rates)
        return result


def coupling_weights(histogram: NDArray[np.int64], scale: float = 1.0) -> Floats:
    """Share of nodes at each row of the table, the couplings multiplied by `scale`.

    A scaled coupling that lies between two rows is given to both, linearly in log r.
    """
    share = histogram / histogram.sum()
    where = np.interp(
        np.log(COUPLINGS * scale), np.log(TABLE_COUPLINGS), np.arange(len(TABLE_COUPLINGS))
    )
    lower = np.minimum(where.astype(int), len(TABLE_COUPLINGS) - 2)
    part = where - lower
    rows = np.zeros(len(TABLE_COUPLINGS))
    np.add.at(rows, lower, share * (1 - part))
    np.add.at(rows, lower + 1, share * part)
    return rows


def shared_out(rates: Floats, weights: Floats, n_features: int) -> tuple[Floats, Floats]:
    """Rates of features relative to the mean of all F, which are few.

    The F features share the nodes, so a feature of rate s wins in proportion to s over the mean
    (s + (F−1) m)/F, m the mean of the others: 1 on average, with variance Var s/(F−1). Two values
    of m, one standard deviation either way, stand for its law.

    Examples
    --------
    What the luckier of two features wins the other one loses.

    >>> rates, _ = shared_out(np.array([0.5, 1.5]), np.array([0.5, 0.5]), 2)
    >>> rates.tolist()
    [1.0, 1.5, 0.5, 1.0]
    """
    spread = np.sqrt(weights @ (rates - 1) ** 2 / (n_features - 1))
    others = np.repeat([max(1 - spread, _LEAST), 1 + spread], len(rates))
    own = np.tile(rates, 2)
    mean = (own + (n_features - 1) * others) / n_features
    return own / mean, np.tile(weights / 2, 2)


@dataclass(frozen=True)
class Shape:
    """How the rates of null features spread, before it is known how large they are.

    Attributes
    ----------
    histogram : (B,) int
        Couplings of the nodes that null features won, in the bins of `COUPLING_EDGES`.
    trees : Trees
        The forest's trees.
    pi0 : float
        Share of the nodes that null features won.
    contrasts : int
        Latent contrasts of a feature, m.
    scale : float
        Factor on the couplings.
    """

    histogram: NDArray[np.int64]
    trees: Trees
    pi0: float
    contrasts: int
    scale: float = 1.0

    def _on_grid(self) -> Floats:
        """s(z) on the latent grid, up to a constant factor."""
        table = win_table(self.trees.candidates, self.contrasts)
        if self.trees.crowding * self.pi0 > CROWDED:
            return self._on_paths(table)
        rates = np.tensordot(coupling_weights(self.histogram, self.scale), table, axes=1)
        return self.trees.saturate(rates, self.pi0)

    def _on_paths(self, table: Floats) -> Floats:
        """s(z) of crowded trees, from the wins `table` of every coupling and point of the grid."""
        pool = self.trees.nodes / self.trees.crowding
        nodes = coupling_weights(self.histogram, self.scale * _BELOW_SPLITS)
        nodes = nodes[::-1] * self.pi0 * self.trees.nodes  # of a tree, the largest first
        used = nodes > 0
        nodes, wins = nodes[used], table[::-1][used]
        coupling = TABLE_COUPLINGS[::-1][used]
        among_first = np.minimum(np.cumsum(nodes), 1.0)
        root = np.average(coupling, weights=np.diff(among_first, prepend=0.0))
        inside = np.minimum(coupling / root, 1.0)  # probability to lie below a node of the row
        above = (nodes * inside)[:, None, None] * wins / pool
        # Of the nodes of a row itself, half lie above one of them, and none above itself.
        alike = np.maximum(nodes - 1.0, 0.0) * inside / 2
        spent = np.cumsum(above, axis=0) - above + alike[:, None, None] * wins / pool
        rates = 1.0 + (wins - 1.0) * np.exp(-spent)
        return np.asarray(np.tensordot(nodes, rates, axes=1))

    @property
    def variance(self) -> float:
        """Variance of the relative rates, the mean rate being 1."""
        if self.equal:
            return 0.0
        rates, weights = self._on_grid(), latent_grid(self.contrasts).weights
        mean = (rates * weights).sum()
        if mean == 0:  # so few nodes that no null feature wins any
            return 0.0
        return float(((rates / mean - 1) ** 2 * weights).sum())

    @property
    def equal(self) -> bool:
        """Whether all null features have the same rate: there is no competition, or no node."""
        return bool(self.histogram.sum() == 0 or self.trees.candidates == 1)

    def with_variance(self, target: float) -> Shape:
        """The shape with its couplings scaled such that the relative rates have this variance.

        The variance grows with the couplings, so the bracket of allowed factors is halved; its
        ends serve where the target lies outside.
        """
        if self.equal:
            return self
        low, high = np.log(SCALES[0]), np.log(SCALES[1])
        for _ in range(16):  # a factor of 2500, halved to 1e-4 of its logarithm
            middle = (low + high) / 2
            if replace(self, scale=float(np.exp(middle))).variance < target:
                low = middle
            else:
                high = middle
        return replace(self, scale=float(np.exp((low + high) / 2)))

    def rates(self, largest_mean: float, *, fine: bool = True) -> tuple[Floats, Floats]:
        """Rates of null features relative to their mean, and the probability of each.

        Parameters
        ----------
        largest_mean : float
            The largest expected count of a null feature at which the rates will be used.
        fine : bool
            Whether tails are wanted to full precision, rather than to a percent or so.
        """
        if self.equal:
            return np.ones(1), np.ones(1)
        base = latent_grid(self.contrasts)
        if not fine:
            rates = self._on_grid()
            mean = (rates * base.weights).sum()
            return merge_rates((rates / mean).ravel(), base.weights.ravel(), largest_mean)
        # Counts of mean λ tell rates apart that differ by 1/√λ, so the grid of max|z| must be as
        # fine; the rates are smooth in it, and interpolated.
        finer = 8 * 2 ** int(np.clip(np.ceil(np.log2(max(largest_mean, 1.0) / 100) / 2), 0, 3))
        grid = latent_grid(self.contrasts, finer)
        coarse = self._on_grid()
        logs = np.log(np.maximum(coarse, 1e-12 * coarse.max()))  # rates below it win no node
        values = np.exp(CubicSpline(base.largest, logs)(grid.largest))
        mean = (values * grid.weights).sum()
        return merge_rates((values / mean).ravel(), grid.weights.ravel(), largest_mean)
