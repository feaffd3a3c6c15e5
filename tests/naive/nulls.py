"""Null distributions by their definitions: densities, dense grids and double loops."""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy import stats
from scipy.integrate import quad
from scipy.special import ndtr


def normal_density(x):
    """Density of the standard normal."""
    return np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)


def score_density(s, z, r):
    """Density of max_j |√r z_j + √(1−r) ε_j|: the derivative of the product of distributions."""
    deviation = math.sqrt(1 - r)
    centre = [math.sqrt(r) * zj for zj in z]
    below = [ndtr((s - c) / deviation) - ndtr((-s - c) / deviation) for c in centre]
    density = [
        (normal_density((s - c) / deviation) + normal_density((s + c) / deviation)) / deviation
        for c in centre
    ]
    return sum(
        density[j] * math.prod(below[i] for i in range(len(z)) if i != j) for j in range(len(z))
    )


def win_probability(z, r, candidates):
    """E[G(score)^(c−1)], integrating over the score itself, not over its competitors'."""

    def integrand(s):
        beaten = (1 - 2 * ndtr(-s)) ** (len(z) * (candidates - 1))
        return beaten * score_density(s, z, r)

    middle = math.sqrt(r) * max(abs(zj) for zj in z)
    edges = [0.0, max(middle - 2, 0.5), middle + 1, middle + 3, middle + 14]
    return sum(
        quad(integrand, a, b, epsrel=1e-9, epsabs=0, limit=200)[0]
        for a, b in itertools.pairwise(edges)
    )


def rates_on_dense_grid(couplings, shares, candidates, contrasts):
    """Relative rates on a dense product grid of |z_j|, and its weights: one or two contrasts."""
    x, w = np.polynomial.legendre.leggauss(300)
    z, w = 5.5 * (x + 1), 5.5 * w * 2 * normal_density(5.5 * (x + 1))
    s = np.linspace(1e-4, 10, 6000)
    best = (1 - 2 * ndtr(-s)) ** (contrasts * (candidates - 1))
    step = np.diff(best, prepend=0.0)
    middle = np.concatenate([[s[0] / 2], (s[1:] + s[:-1]) / 2])
    rates = 0.0
    for r, share in zip(couplings, shares, strict=True):
        deviation = math.sqrt(1 - r)
        inside = ndtr((middle - math.sqrt(r) * z[:, None]) / deviation) - ndtr(
            (-middle - math.sqrt(r) * z[:, None]) / deviation
        )
        lost = inside @ step if contrasts == 1 else (inside * step) @ inside.T
        rates = rates + share * candidates * (1 - lost)
    weights = w if contrasts == 1 else np.outer(w, w)
    rates, weights = np.ravel(rates), np.ravel(weights) / weights.sum()
    return rates / (rates @ weights), weights


def pooled_sf(k, trees, share, nodes_per_tree, mean, rates, weights):
    """P(count > k) where a feature is in each pool with probability `share`: a double sum."""
    total = 0.0
    for j in range(trees + 1):
        chance = np.minimum(mean * np.asarray(rates) / (trees * share * nodes_per_tree), 1.0)
        above = stats.binom.sf(k, j * nodes_per_tree, chance) @ np.asarray(weights)
        total += stats.binom.pmf(j, trees, share) * above
    return total


def saturated_rates(couplings, nodes, wins, pool):
    """Expected wins in a saturated tree for each of some features; rows of nodes, largest first.

    couplings, nodes : coupling of the nodes in each row, and how many a tree has of them
    wins : for each row, the features' wins relative to the mean feature's
    """
    placed, root = 0.0, 0.0
    for r, n in zip(couplings, nodes, strict=True):
        first = min(n, 1.0 - placed)  # the largest node of a tree is its root
        placed, root = placed + first, root + first * r
    root /= placed
    result = np.zeros(len(wins[0]))
    for i, own in enumerate(wins):
        for f, win in enumerate(own):
            expected_above = 0.0
            for j in range(i + 1):
                inside = min(couplings[j] / root, 1.0)
                others = nodes[j] if j < i else max(nodes[j] - 1, 0) / 2
                expected_above += others * inside * wins[j][f] / pool
            result[f] += nodes[i] * (1 + (win - 1) * math.exp(-expected_above))
    return result


def relative_rates(rates, weights, n_features):
    """Every way for n features to have these rates: (the first over the mean, probability)."""
    found = []
    for chosen in itertools.product(range(len(rates)), repeat=n_features):
        mean = sum(rates[i] for i in chosen) / n_features
        found.append((rates[chosen[0]] / mean, math.prod(weights[i] for i in chosen)))
    return found


def binomial_pmf(k, n, p):
    """One binomial probability, from whole numbers."""
    if k > n:
        return 0.0
    return math.comb(n, k) * p**k * (1 - p) ** (n - k)


def mixture_sf(k, trials, chances, weights):
    """P(count > k) of a mixture of binomials: a double loop."""
    total = 0.0
    for n, p, w in zip(trials, chances, weights, strict=True):
        for j in range(k + 1, n + 1):
            total += w * binomial_pmf(j, n, p)
    return total / sum(weights)


def thinned_sf(k, wins, q, weights):
    """Weighted mean over probes of P(Bin(W_p, q) > k): a double loop."""
    tails = [sum(binomial_pmf(j, w, q) for j in range(k + 1, w + 1)) for w in wins]
    return sum(v * t for v, t in zip(weights, tails, strict=True)) / sum(weights)


def effective_sample_size(k, wins, q, weights):
    """t²/variance of the tail t beyond k, the weighted mean of P(Bin(W_p, q) > k)."""
    above = [sum(binomial_pmf(j, w, q) for j in range(k + 1, w + 1)) for w in wins]
    total = sum(weights)
    tail = sum(v * p for v, p in zip(weights, above, strict=True)) / total
    variance = sum((v * (p - tail)) ** 2 for v, p in zip(weights, above, strict=True)) / total**2
    return tail**2 / variance


def random_effect(trials, chance, counts, end, sigmas):
    """Log-likelihood of each σ at its best shift, of counts up to `end`, by loops over the grid."""
    grid = [0.075 * i for i in range(-32, 33)]
    observed = [sum(count == k for count in counts) for k in range(end + 1)]
    pmf = [[binomial_pmf(k, trials, chance * math.exp(x)) for k in range(end + 1)] for x in grid]
    found = []
    for sigma in sigmas:
        best = -math.inf
        for shift in (x for x in grid if abs(x) <= 1):
            density = [
                math.exp(-((x - shift) ** 2) / (2 * sigma**2)) if sigma else float(x == shift)
                for x in grid
            ]
            mixed = [
                sum(d * row[k] for d, row in zip(density, pmf, strict=True)) for k in range(end + 1)
            ]
            inside = sum(mixed)
            best = max(
                best,
                sum(n * math.log(p / inside) for n, p in zip(observed, mixed, strict=True) if n),
            )
        found.append(best)
    return found


def shadow_moments(counts, strata):
    """Mean and deviation of each feature by its shadows, and of each shadow by the others."""
    k, F = counts.shape
    out = {
        "mean": np.zeros(F),
        "deviation": np.zeros(F),
        "others_mean": np.zeros((k, F)),
        "others_deviation": np.zeros((k, F)),
    }
    for stratum in set(strata.tolist()):
        members = [f for f in range(F) if strata[f] == stratum]
        means = [(sum(counts[:, f].tolist()) + 0.5) / k for f in members]
        variances = [float(np.var(counts[:, f], ddof=1)) for f in members]
        centre = sum(means) / len(means)
        phi = (sum(variances) / len(members) - centre) / (sum(m * m for m in means) / len(means))
        phi = max(phi, 0.0)
        one = centre + phi * centre**2
        between = max(float(np.var(means, ddof=1)) - one / k, 0.0) if len(members) > 1 else None

        def judged(values, between=between, one=one, centre=centre, phi=phi):
            n = len(values)
            own = 1.0 if between is None else between / (between + one / n)
            mean = own * (sum(values) + 0.5) / n + (1 - own) * centre
            spread = float(np.var(values, ddof=1)) * (n - 1) + 50 * (mean + phi * mean**2)
            return mean, np.sqrt(spread / (n - 1 + 50) * (1 + own / n))

        for f in members:
            values = counts[:, f].tolist()
            out["mean"][f], out["deviation"][f] = judged(values)
            for j in range(k):
                rest = judged(values[:j] + values[j + 1 :])
                out["others_mean"][j, f], out["others_deviation"][j, f] = rest
    return out
