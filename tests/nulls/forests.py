"""Tallies of forests that follow the null model: draws from the model itself."""

import numpy as np
from scipy.special import ndtr, ndtri

from nullforest.nulls import constants
from nullforest.nulls.rates import COUPLINGS
from nullforest.tallies.null_columns import NullColumns
from nullforest.tallies.tally import N_COUPLING_BINS, Tally


def nodes_like(total, trees):
    """Divide `total` nodes among the trees as equally as possible."""
    nodes = np.full(trees, total // trees)
    nodes[: total % trees] += 1
    return nodes


def tally_of(counts, *, trees=100, candidates=20, bins=(12,), pool=None, n_samples=60, probes=None):
    """A tally with these counts, every feature's nodes divided among the given coupling bins."""
    counts = np.asarray(counts)
    couplings = np.zeros((len(counts), N_COUPLING_BINS), np.int32)
    rng = np.random.default_rng(0)
    divided = rng.multinomial(counts, np.full(len(bins), 1 / len(bins)))
    np.add.at(couplings.T, list(bins), divided.T)
    nodes = nodes_like(int(counts.sum()), trees)
    pool = np.full(trees, len(counts)) if pool is None else pool
    return Tally(
        counts, nodes, pool, candidates, n_samples, couplings=couplings, null_columns=probes
    )


def associated_rates(rng, n, *, bins=(12,), candidates=20):
    """Relative rates of n null features with latent contrasts, by the definition.

    The probability to beat the best of c−1 competitors is an integral over its distribution H,
    taken here by a Gauss rule in H itself.
    """
    m = constants.CONTRASTS
    z = rng.standard_normal((n, m))
    nodes, weights = np.polynomial.legendre.leggauss(60)
    best = ((nodes + 1) / 2) ** (1 / (m * (candidates - 1)))  # H of one contrast of the best
    s = ndtri((1 + best) / 2)
    shares = []
    for r in COUPLINGS[list(bins)]:
        at, deviation = np.sqrt(r) * np.abs(z)[..., None], np.sqrt(1 - r)
        inside = np.prod(ndtr((s - at) / deviation) - ndtr((-s - at) / deviation), axis=1)
        shares.append(candidates * (1 - inside) @ weights / 2)
    return np.mean(shares, axis=0)


def probes_of(wins, n_features, *, trees=100, strata=None, feature_strata=None, bins=12):
    """A probe tally in which every probe was evaluated in all trees."""
    wins = np.asarray(wins)
    strata = np.zeros(len(wins), int) if strata is None else np.asarray(strata)
    feature_strata = np.zeros(n_features, int) if feature_strata is None else feature_strata
    couplings = np.zeros((int(max(strata.max(), feature_strata.max())) + 1, N_COUPLING_BINS), int)
    np.add.at(couplings[:, bins], strata, wins)
    evaluated = np.broadcast_to(trees, len(wins))
    return NullColumns(
        "probes", np.arange(len(wins)), wins, couplings, feature_strata, evaluated, strata
    )
