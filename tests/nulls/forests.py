"""What would a forest's tally look like if the model were true? Draws from the model itself."""

import numpy as np

from nullforest.nulls.contrasts import CONTRASTS, COUPLINGS, win_probability
from nullforest.tallies.tally import N_COUPLING_BINS, ProbeTally, Tally


def nodes_like(total, trees):
    """Share `total` nodes among the trees as equally as possible."""
    nodes = np.full(trees, total // trees)
    nodes[: total % trees] += 1
    return nodes


def tally_of(counts, *, trees=100, candidates=20, bins=(12,), pool=None, n_samples=60, probes=None):
    """A tally with these counts, every feature's nodes spread over the given coupling bins."""
    counts = np.asarray(counts)
    couplings = np.zeros((len(counts), N_COUPLING_BINS), np.int32)
    rng = np.random.default_rng(0)
    spread = rng.multinomial(counts, np.full(len(bins), 1 / len(bins)))
    np.add.at(couplings.T, list(bins), spread.T)
    nodes = nodes_like(int(counts.sum()), trees)
    pool = np.full(trees, len(counts)) if pool is None else pool
    return Tally(counts, nodes, pool, candidates, n_samples, couplings=couplings, probes=probes)


def lucky_rates(rng, n, *, bins=(12,), candidates=20, contrasts=CONTRASTS):
    """Relative rates of n null features with latent contrasts, by the definition."""
    z = rng.standard_normal((n, contrasts))
    shares = [
        win_probability(z, float(COUPLINGS[place]), candidates, contrasts) * candidates
        for place in bins
    ]
    return np.mean(shares, axis=0)


def probes_of(wins, n_features, *, trees=100, strata=None, feature_strata=None, bins=12):
    """A probe tally in which every probe was asked in all trees."""
    wins = np.asarray(wins)
    strata = np.zeros(len(wins), int) if strata is None else np.asarray(strata)
    feature_strata = np.zeros(n_features, int) if feature_strata is None else feature_strata
    couplings = np.zeros((int(max(strata.max(), feature_strata.max())) + 1, N_COUPLING_BINS), int)
    np.add.at(couplings[:, bins], strata, wins)
    asked = np.broadcast_to(trees, len(wins))
    return ProbeTally(np.arange(len(wins)), wins, asked, strata, feature_strata, couplings)
