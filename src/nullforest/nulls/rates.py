"""Rates at which null features are selected, given their association in the whole sample.

**One node.** A null feature has m latent contrasts z_1 … z_m ~ N(0, 1), its chance association with
the target in the whole sample (*sample association*). At a node of coupling r its score is
max_j |√r z_j + √(1−r) ε_j| with fresh ε, and it wins when its score exceeds those of its c−1
competitors, whose largest has the distribution function H(s) = G(s)^(c−1), G(s) = (2Φ(s)−1)^m. So
it wins with probability

    E[H(score) | z, r] = ∫ 1 − Π_j a(s, z_j) dH(s),
    a(s, z) = Φ((s − √r z)/√(1−r)) − Φ((−s − √r z)/√(1−r)).

Averaged over z that is 1/c exactly, whatever r, since c exchangeable scores compete; `win_table`
holds the ratio of the two, so every row of it has mean 1. Nothing is random:

- over s, the trapezium rule in log(−log H(s)), on which the integrand is smooth and dies away at
  both ends, so that the rule converges faster than any power of its step;
- over z, Gauss–Legendre panels for M = max_j |z_j|, which reach as deep into the tail as one
  likes, times a Gauss rule of the other m−1 contrasts given M. These are independent half-normals
  truncated at M, and symmetric, so one point per multiset of nodes is enough.

**A forest.** A null feature with latent contrasts z is selected at the rate
g(z) = Σ_i E[H | z, r_i] · c, the mean over the nodes i that null features won, relative to the mean
null feature. A tree that uses a feature gains little from it below, so the rate saturates within a
tree: with K_t nodes for null features and a pool of F_t features,

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
from functools import lru_cache
from itertools import combinations_with_replacement
from math import factorial

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline
from scipy.special import ndtr, ndtri
from scipy.stats import binom

from nullforest._util.errors import InputError
from nullforest._util.search import bisect
from nullforest.nulls import constants
from nullforest.nulls.binomial_mixture import merge_rates
from nullforest.nulls.distribution import Floats, Ints
from nullforest.tallies.tally import COUPLING_EDGES, Tally

#: The coupling that stands for each bin of `COUPLING_EDGES`: the geometric middle, but the lower
#: third of the open first bin, and the lower end of the last, above which r hardly matters.
COUPLINGS: Floats = np.concatenate(
    [[0.002], np.sqrt(COUPLING_EDGES[1:-2] * COUPLING_EDGES[2:-1]), [0.98]]
)

#: Rows of the table: the coupling of every bin, and one between neighbours for scaled couplings.
_STEPS_PER_BIN = 2
TABLE_COUPLINGS: Floats = np.exp(
    np.interp(
        np.arange(_STEPS_PER_BIN * (len(COUPLINGS) - 1) + 1) / _STEPS_PER_BIN,
        np.arange(len(COUPLINGS)),
        np.log(COUPLINGS),
    )
)

#: Panels of M = max|z| as (end, panels up to it): fine to 8, where the tail is 1e-15, and then
#: coarse to 20, where it is 1e-88.
_PANELS = ((8.0, 16), (12.0, 4), (20.0, 2))
_NODES_PER_PANEL = 7
_INNER_NODES = 6  # per contrast other than the largest: exact for polynomials in z² of degree 11
_LOG_STEP = 0.3  # step of log(−log H): the narrowest feature, at r = .98, is about .5 wide
_LOG_RANGE = (-16.2, 3.6)  # −log H from 1e-7 to 36: what lies outside weighs less than 1e-6
_MOST_CLASSES = 64  # of trees with similar K_t/F_t; more change the rates by less than 1e-4
_LEAST = 1e-3  # mean rate of the other features; only two of them can be so unequal
_CURVE = 256  # points of the saturation curve: to 1e-7 with steps of a tenth
_NEVER = 1e-16  # numbers of pools with a smaller probability are left out
_POOL_CELL = 0.3  # in the square root of the expected count, which counts resolve to about a half
FACTORS = (0.02, 50.0)  # bounds of a factor on the couplings: from hardly any to all of them 1


@dataclass(frozen=True)
class LatentGrid:
    """A rule to integrate symmetric even functions of m standard normal contrasts."""

    largest: Floats  # (N,) nodes of M = max|z|
    inner: Floats  # (N, n) given M, the nodes of the other contrasts' |z|
    multisets: NDArray[np.int64]  # (Q, n) how many of the other m−1 contrasts sit at each node
    weights: Floats  # (N, Q) probability of node and multiset; they add to one


def _half_normal_rules(cut: Floats, n: int) -> tuple[Floats, Floats]:
    """Gauss rules of n nodes in t = z² for half-normals truncated at each of `cut`.

    Stieltjes' recurrence on a fine discretisation gives the Jacobi matrix of the weight, and its
    eigenvectors the rule (Golub and Welsch). Every even function is a smooth function of z².
    """
    x, w = np.polynomial.legendre.leggauss(40)  # far more than the 2n that the rule must match
    reach = np.minimum(cut, 9.0)[:, None]  # the half-normal beyond 9 is less than 1e-18
    z = reach * (x + 1) / 2
    weight = w * np.exp(-(z**2) / 2)
    weight /= weight.sum(1, keepdims=True)
    t = z**2
    matrix = np.zeros((len(cut), n, n))
    before, now = np.zeros_like(t), np.ones_like(t)
    norm_before, norm = np.ones(len(cut)), np.ones(len(cut))
    for i in range(n):
        alpha = (weight * t * now**2).sum(1) / norm
        beta = norm / norm_before if i else np.zeros(len(cut))
        matrix[:, i, i] = alpha
        if i:
            matrix[:, i, i - 1] = matrix[:, i - 1, i] = np.sqrt(beta)
        before, now = now, (t - alpha[:, None]) * now - beta[:, None] * before
        norm_before, norm = norm, (weight * now**2).sum(1)
    values, vectors = np.linalg.eigh(matrix)
    return np.sqrt(np.maximum(values, 0.0)), vectors[:, 0, :] ** 2


@lru_cache(maxsize=8)
def latent_grid(contrasts: int, subdivide: int = 1) -> LatentGrid:
    """The rule over the latent contrasts, each panel divided into `subdivide` parts."""
    start, edges = 0.0, [np.zeros(1)]
    for end, panels in _PANELS:
        edges.append(np.linspace(start, end, panels * subdivide + 1)[1:])
        start = end
    edge = np.concatenate(edges)
    x, w = np.polynomial.legendre.leggauss(_NODES_PER_PANEL)
    half = np.diff(edge)[:, None] / 2
    largest, length = (edge[:-1, None] + half * (x + 1)).ravel(), (half * w).ravel()
    inner, inner_weights = _half_normal_rules(largest, _INNER_NODES)
    rest = contrasts - 1
    multisets = np.array(
        [
            [chosen.count(node) for node in range(_INNER_NODES)]
            for chosen in combinations_with_replacement(range(_INNER_NODES), rest)
        ]
    )
    orders = np.array(
        [factorial(rest) / np.prod([factorial(k) for k in row]) for row in multisets.tolist()]
    )
    # P(max in dM) = m · 2φ(M) · (2Φ(M)−1)^(m−1) dM
    density = contrasts * np.exp(-(largest**2) / 2) * np.sqrt(2 / np.pi)
    density *= (1 - 2 * ndtr(-largest)) ** rest
    outer = length * density
    weights = orders * np.prod(inner_weights[:, None, :] ** multisets, axis=2)
    weights *= (outer / outer.sum() / weights.sum(1))[:, None]
    return LatentGrid(largest, inner, multisets, weights)


@lru_cache(maxsize=16)
def win_table(candidates: int, contrasts: int) -> Floats:
    """E[H(score) | z, r] · c for every row of `TABLE_COUPLINGS` and point of the latent grid.

    For c candidates of m contrasts each: (R, N, Q) and read-only. Each row has mean 1 over z, and
    so under the weights of `latent_grid(contrasts)` up to the error of that rule.

    Examples
    --------
    A feature without sample association wins less than its share, one with much far more.

    >>> table = win_table(100, 3)
    >>> bool(table[-1, 0, 0] < 0.01), bool(table[-1, -1, 0] > 50)
    (True, True)
    """
    grid = latent_grid(contrasts)
    shape = (len(TABLE_COUPLINGS), *grid.weights.shape)
    if candidates == 1:
        table = np.ones(shape)
    else:
        table = np.empty(shape)
        x = np.exp(np.arange(*_LOG_RANGE, _LOG_STEP))  # x = −log H(s)
        tail = -np.expm1(-x / ((candidates - 1) * contrasts))  # of one contrast: 2Φ(−s)
        s, weight = -ndtri(tail / 2), _LOG_STEP * x * np.exp(-x)  # the weight of dH(s)

        def inside(z: Floats, coupling: float) -> Floats:
            """a(s, z) = P(|√r z + √(1−r) ε| ≤ s) for z ≥ 0, with one more axis for s."""
            deviation = np.sqrt(1 - coupling)
            middle = np.sqrt(coupling) * z[..., None]
            return np.asarray(ndtr((s - middle) / deviation) - ndtr(-(s + middle) / deviation))

        for row, coupling in enumerate(TABLE_COUPLINGS):
            top = inside(grid.largest, coupling) * weight
            inner = np.moveaxis(inside(grid.inner, coupling), 1, 0) if contrasts > 1 else top
            # Every product of m−1 inner factors, each made from one of m−2 by one multiplication.
            products: dict[tuple[int, ...], Floats] = {(): top}
            for _ in range(contrasts - 1):
                products = {
                    (*nodes, node): product * inner[node]
                    for nodes, product in products.items()
                    for node in range(nodes[-1] if nodes else 0, _INNER_NODES)
                }
            for column, product in enumerate(products.values()):
                table[row, :, column] = weight.sum() - product.sum(1)
        table = candidates * np.maximum(table, 0.0)
    table.flags.writeable = False
    return table


@dataclass(frozen=True)
class TreeLoads:
    """The trees of a forest, as far as they determine the rates of null features."""

    load: Floats  # (U,) nodes ÷ pool, K_t/F_t, of classes of similar trees
    pools: Floats  # (U,) the sum of their pools F_t
    candidates: int  # features compared at a node, never more than the pool holds
    n_nodes: int  # nodes of the forest, at least one
    n_trees: int
    nodes_per_tree: float  # mean number of nodes of a tree
    saturation: float  # mean of nodes ÷ pool
    pool_share: float  # mean share of the features in a tree's pool

    @classmethod
    def of(cls, tally: Tally) -> TreeLoads:
        """The trees of a tally with known candidates."""
        if tally.candidates is None:
            raise InputError(
                "This null model needs the number of features compared at each node. Give "
                "candidates when the tally is made."
            )
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
            saturation=float((tally.nodes_per_tree / tally.pool_per_tree).mean()),
            pool_share=float(tally.pool_per_tree.mean()) / tally.n_columns,
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
        """Trials, chances and weights of the counts of features with these rates and weights.

        Rates are relative to the mean; a chance is to be multiplied by the expected count of a null
        feature, which is at most `largest_mean`.
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
        rate = np.tile(rates, len(member))
        merged, mass = merge_rates(product, both, largest_mean)
        # A component's chance is the mean rate of those that were merged into it.
        cells = np.floor(np.sqrt(largest_mean * product) / _POOL_CELL).astype(np.int64)
        total = np.bincount(cells, both * product)
        used = total > 0
        mean_rate = np.bincount(cells, both * product * rate)[used] / total[used]
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
    mean_of_others = np.repeat([max(1 - deviation, _LEAST), 1 + deviation], len(rates))
    rate = np.tile(rates, 2)
    mean = (rate + (n_features - 1) * mean_of_others) / n_features
    return rate / mean, np.tile(weights / 2, 2)


@dataclass(frozen=True)
class RateModel:
    """Distribution of the rates of null features, relative to their mean."""

    histogram: Ints  # (B,) couplings of nodes that null features won, in bins of `COUPLING_EDGES`
    trees: TreeLoads
    node_share: float  # share of the nodes that null features won
    contrasts: int = field(default_factory=lambda: constants.CONTRASTS)  # of a feature, m
    factor: float = 1.0  # on the couplings

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
        rates, weights = self.rates(1.0, fine=False)
        return float(weights @ (rates - 1) ** 2)

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

        They serve expected counts up to `largest_mean`, with full precision in the tail where
        `fine`, else of about one percent.
        """
        if self.equal:
            return np.ones(1), np.ones(1)
        grid, table = latent_grid(self.contrasts), win_table(self.trees.candidates, self.contrasts)
        if self.trees.saturation * self.node_share > constants.SATURATED:
            values = self._on_paths(table)
        else:
            rates = np.tensordot(coupling_weights(self.histogram, self.factor), table, axes=1)
            values = self.trees.saturate(rates, self.node_share)
        if not values.any():  # so few nodes that no null feature wins any
            return np.ones(1), np.ones(1)
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
