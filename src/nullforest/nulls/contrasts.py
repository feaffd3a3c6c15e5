"""Probability that a null feature wins a node, given its association in the whole sample.

A null feature has m latent contrasts z_1 … z_m ~ N(0, 1), its chance association with the target in
the whole sample (*sample association*). At a node of coupling r its score is
max_j |√r z_j + √(1−r) ε_j| with fresh ε, and it wins when its score exceeds those of its c−1
competitors, whose largest has the distribution function H(s) = G(s)^(c−1), G(s) = (2Φ(s)−1)^m. So
it wins with probability

    E[H(score) | z, r] = ∫ 1 − Π_j a(s, z_j) dH(s),
    a(s, z) = Φ((s − √r z)/√(1−r)) − Φ((−s − √r z)/√(1−r)).

Averaged over z that is 1/c exactly, whatever r, since c exchangeable scores compete; `win_table`
holds the ratio of the two, so every row of it has mean 1. All constants here are numerical, and
nothing is random:

- over s, the trapezium rule in log(−log H(s)), on which the integrand is smooth and dies away at
  both ends, so that the rule converges faster than any power of its step;
- over z, Gauss–Legendre panels for M = max_j |z_j|, which reach as deep into the tail as one
  likes, times a Gauss rule of the other m−1 contrasts given M. These are independent half-normals
  truncated at M, and symmetric, so one point per multiset of nodes is enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations_with_replacement
from math import factorial

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from nullforest.nulls.distribution import Floats
from nullforest.tallies.tally import COUPLING_EDGES

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


@dataclass(frozen=True)
class LatentGrid:
    """A rule to integrate symmetric even functions of m standard normal contrasts.

    Attributes
    ----------
    largest : (N,)
        Nodes of M = max|z|.
    inner : (N, n)
        Given M, the nodes of the other contrasts' |z|.
    multisets : (Q, n)
        How many of the other m−1 contrasts sit at each inner node.
    weights : (N, Q)
        Probability of node and multiset; they add to one.
    """

    largest: Floats
    inner: Floats
    multisets: NDArray[np.int64]
    weights: Floats


def _panel_rule(subdivide: int) -> tuple[Floats, Floats]:
    """Nodes and weights of composite Gauss–Legendre quadrature over M."""
    start, edges = 0.0, [np.zeros(1)]
    for end, panels in _PANELS:
        edges.append(np.linspace(start, end, panels * subdivide + 1)[1:])
        start = end
    edge = np.concatenate(edges)
    x, w = np.polynomial.legendre.leggauss(_NODES_PER_PANEL)
    half = np.diff(edge)[:, None] / 2
    return (edge[:-1, None] + half * (x + 1)).ravel(), (half * w).ravel()


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
    largest, length = _panel_rule(subdivide)
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


def _competition(candidates: int, contrasts: int) -> tuple[Floats, Floats]:
    """Scores s and weights of dH(s), H the distribution of the best of c−1 competitors."""
    low, high = _LOG_RANGE
    log_x = np.arange(low, high, _LOG_STEP)
    x = np.exp(log_x)  # x = −log H(s)
    tail = -np.expm1(-x / ((candidates - 1) * contrasts))  # of one contrast: 2Φ(−s)
    return -ndtri(tail / 2), _LOG_STEP * x * np.exp(-x)


def _inside(z: Floats, coupling: float, s: Floats) -> Floats:
    """a(s, z) = P(|√r z + √(1−r) ε| ≤ s) for z ≥ 0, with one more axis for s."""
    deviation = np.sqrt(1 - coupling)
    middle = np.sqrt(coupling) * z[..., None]
    return np.asarray(ndtr((s - middle) / deviation) - ndtr(-(s + middle) / deviation))


@lru_cache(maxsize=16)
def win_table(candidates: int, contrasts: int) -> Floats:
    """E[H(score) | z, r] · c for every row of `TABLE_COUPLINGS` and point of the latent grid.

    Parameters
    ----------
    candidates : int
        Features compared at each node, c.
    contrasts : int
        Latent contrasts of a feature, m.

    Returns
    -------
    (R, N, Q) float64, read-only
        Each row has mean 1 over z, and so under the weights of `latent_grid(contrasts)` up to
        the error of that rule.

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
        s, weight = _competition(candidates, contrasts)
        for row, coupling in enumerate(TABLE_COUPLINGS):
            top = _inside(grid.largest, coupling, s) * weight
            inner = np.moveaxis(_inside(grid.inner, coupling, s), 1, 0) if contrasts > 1 else top
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
