"""Bagged null model: all trees share one sample. Computed from the tally alone.

A null feature that is associated with the target in this sample by chance wins again and again. How
strongly is known from the nodes: the coupling r of a node to the whole sample says how much of a
feature's score there is its score in the whole sample (`contrasts`, `rates`). Given its sample
association z, the count of a null feature is Bin(N, μ₀ s(z)/N), N the nodes of the forest.

1. *Mean.* μ₀ is estimated from the bulk of the counts, with the couplings of the nodes that null
   features won. Features with at most κ selections are taken as null; κ starts at the largest
   count. Each round estimates μ₀ and computes the count κ' that a null feature exceeds with
   probability 1/F, so that about one null feature is lost. If a feature taken as null has more than
   κ' selections, κ is lowered to κ' and another round follows. Every round but the last removes at
   least one feature and none returns, so there are at most F + 1 rounds (usually two to four).
2. *Overdispersion.* A best cut is not the largest of three fixed contrasts: unbalanced classes,
   numeric targets, bootstraps and whole or small samples make null features more unequal. A common
   factor on the couplings, log-normal a priori, is averaged over (`overdispersion`).
3. *Tail.* The model's own; nothing is extrapolated.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from nullforest._util.errors import InputError
from nullforest._util.words import GROW, Sentence, Setting
from nullforest.nulls import constants
from nullforest.nulls.binomial_mixture import BinomialMixture
from nullforest.nulls.distribution import Ints, StratifiedNull
from nullforest.nulls.rates import RateModel, TreeLoads, relative_to_mean
from nullforest.nulls.stages import (
    NEGLIGIBLE,
    bulk_end,
    dispersion,
    estimate_scale,
    log_likelihood,
    pi0,
)
from nullforest.tallies.tally import Tally


def from_tally(tally: Tally) -> StratifiedNull:
    """The bagged null distribution of a forest.

    Parameters
    ----------
    tally : Tally
        With couplings and candidates, of a forest whose nodes take the best split.
    """
    if tally.splitter == "random":
        raise InputError(
            "The bagged null model does not describe forests with random cut points (ExtraTrees). "
            'Grow a forest with nullforest.grow, which has probes, or use null="paper", which does '
            "not hold its level with many trees."
        )
    if tally.couplings is None:
        raise InputError(
            "The bagged null model needs the couplings of the nodes, which this tally does not "
            "hold. Take the tally from the fitted forest (nullforest.tally)."
        )
    varying, trees = tally.varying, TreeLoads.of(tally)
    counts, all_couplings = tally.counts[varying], tally.couplings.sum(0, dtype=np.int64)
    cutoff = int(counts.max())
    rates = RateModel(all_couplings, trees, 1.0)
    while True:
        lost = np.flatnonzero(tally.counts > cutoff)
        couplings = all_couplings - tally.couplings[lost].sum(0, dtype=np.int64)
        if couplings.sum() > 0:  # else those of the last round
            rates = RateModel(couplings, trees, couplings.sum() / trees.n_nodes)
        model = with_estimated_mean(rates, counts)
        lower = model.quantile(1 / tally.n_varying)  # about one null feature exceeds it
        if not np.any(counts[counts <= cutoff] > lower):
            break
        cutoff = lower
    factor, average = _average(rates, model, counts)
    return StratifiedNull(
        "bagged",
        [average],
        np.zeros(tally.n_features, np.int64),
        varying=varying,
        diagnostics={
            "pi0": pi0(average, counts),
            "dispersion": dispersion(
                counts[counts <= cutoff], tally.nodes_per_tree, tally.pool_per_tree, len(counts)
            ),
            "coupling_factor": factor,
        },
        notes=_notes(tally, trees.saturation),
    )


def with_estimated_mean(rates: RateModel, counts: Ints) -> BinomialMixture:
    """Counts of null features with these rates, their mean estimated from the bulk of `counts`."""
    F = len(counts)
    start = max(float(counts.mean()), 0.5 / F)  # of the search; not below half of the mean
    relative, weights = rates.rates(2 * start)
    if 1 < F < constants.BULK_FEATURES:
        relative, weights = relative_to_mean(relative, weights, F)
    trials, chances, weights = rates.trees.components(relative, weights, 2 * start)

    def model(mean: float) -> BinomialMixture:
        return BinomialMixture(trials, mean * chances, weights)

    return model(estimate_scale(lambda mean: [model(mean)], [counts], start, F))


def _average(
    rates: RateModel, plain: BinomialMixture, counts: Ints
) -> tuple[float, BinomialMixture]:
    """Average over the factor on the couplings: its posterior geometric mean, and the model."""
    if rates.equal:
        return 1.0, plain
    logs = np.array(constants.LOG_COUPLING_FACTORS)
    models = [
        with_estimated_mean(replace(rates, factor=float(np.exp(x))), counts) if x else plain
        for x in logs
    ]
    end = max(bulk_end(model, len(counts)) for model in models)
    observed = np.bincount(counts[counts <= end], minlength=end + 1)
    log_posterior = log_likelihood([model.pmf(np.arange(end + 1)) for model in models], observed)
    log_posterior -= 0.5 * (logs / constants.COUPLING_DEVIATION) ** 2
    weights = np.exp(log_posterior - log_posterior.max())
    weights[weights < NEGLIGIBLE * weights.max()] = 0
    weights /= weights.sum()
    return float(np.exp(weights @ logs)), BinomialMixture.average(models, weights)


def _notes(tally: Tally, saturation: float) -> tuple[str, ...]:
    notes: list[str] = []
    if tally.n_varying < constants.BULK_FEATURES:
        notes.append(
            Sentence(
                f"The null mean is estimated from only {tally.n_varying} features; p-values are "
                "approximate. A forest grown by nullforest (",
                GROW,
                ") has shadows for few features.",
            )
        )
    if saturation > 1:
        notes.append(
            Sentence(
                f"The trees are saturated: {saturation:.1f} times as many nodes as features in the "
                "pool. The bagged null model is conservative there. Draw features at every node, "
                "or grow a forest with probes (",
                GROW,
                ", ",
                Setting("draw", "node"),
                ").",
            )
        )
    return tuple(notes)
