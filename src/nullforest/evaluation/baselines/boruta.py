"""Boruta: features that exceed the best of their shuffled copies in most rounds.

In every round each feature that is not rejected gets a shadow, a copy with its values shuffled, and
a forest is grown on both. A feature scores a hit when its importance exceeds that of the best
shadow. After n rounds hits ~ Bin(n, ½) at the border between the two,
so a feature is confirmed when P(Bin(n, ½) ≥ hits) is small and rejected when P(Bin(n, ½) ≤ hits)
is; rejected features take no further part.

Tails are compared with α / F (Bonferroni), as in Kursa and Rudnicki (2010) and R's Boruta.

Guarantee: features that exceed the best of F shadows more often than half of the time. That is no
test of independence: the border depends on the number of features that are left, and all rounds
share one sample, so a sample association is confirmed as readily as a true one. Cost: one forest
per round, on twice the features that are left.
"""

from __future__ import annotations

from time import monotonic
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from nullforest._util.checks import whole_number
from nullforest._util.errors import check_known
from nullforest._util.progress import Report, progress_bar
from nullforest._util.randomness import COLUMNS, forest_seed, stream
from nullforest.data.dataset import Dataset
from nullforest.data.targets import Target
from nullforest.evaluation.baselines.importances import importance, nodes_below
from nullforest.evaluation.baselines.results import BaselineResult
from nullforest.evaluation.relabelling import dataset_of, without_blocks
from nullforest.forest.settings import MOST_TREES, paper_settings
from nullforest.nulls.distribution import Floats, check_alpha
from nullforest.run.forest import Forest
from nullforest.run.growing import grow
from nullforest.run.permutation import permuted_errors
from nullforest.tallies.tally import Tally

Statistic = Literal["gini", "permutation", "frequency"]
#: The best of too few shadows is exceeded too easily (the number of both other implementations).
FEWEST_SHADOWS = 5
_UNDECIDED, _CONFIRMED, _REJECTED = 0, 1, -1


def boruta(
    X: Any,
    y: Any = None,
    *,
    statistic: Statistic = "gini",
    rounds: int = 100,
    alpha: float = 0.05,
    seed: int = 0,
    n_jobs: int = -1,
    max_seconds: float | None = None,
    progress: Report | None = None,
    **settings: Any,
) -> BaselineResult:
    """Select the features that exceed the best of their shuffled shadows in most rounds.

    Parameters
    ----------
    X, y, alpha, seed, n_jobs
        As in :func:`label_permutation`.
    statistic : {"gini", "permutation", "frequency"}
        The importance. "permutation" is its z-score, as in R's Boruta.
    rounds : int
        Most rounds; fewer where every feature is decided.
    max_seconds, progress
        As in :func:`label_permutation`, for rounds.
    **settings
        All other settings of :func:`nullforest.grow`. `candidates` is the square root of the
        number of features and shadows where not given, as both other implementations have it.

    Returns
    -------
    BaselineResult
        `support` marks confirmed features. `values` are the hits, `details` names the
        features that stayed undecided. The p-values are P(Bin(n, ½) ≥ hits) after the last
        round of the feature.

    References
    ----------
    M. Kursa, W. Rudnicki, Feature selection with the Boruta package, Journal of Statistical
    Software 36 (2010).

    Examples
    --------
    >>> import numpy as np, nullforest as nf
    >>> X = np.random.default_rng(0).normal(size=(60, 30))
    >>> s = nf.baselines.boruta(X, X[:, 5] > 0, trees=100, rounds=30)
    >>> s.selected.tolist()
    ['x5']
    """
    start = monotonic()
    check_alpha(alpha)
    check_known("Boruta on", statistic, ("gini", "permutation", "frequency"))
    whole_number("rounds", rounds, 1, MOST_TREES)
    data = without_blocks(dataset_of(X, y, settings, n_jobs=n_jobs))
    matrix, F = data.table.matrix, data.table.shape[1]
    state = np.full(F, _UNDECIDED)
    hits, played = np.zeros(F, np.int64), np.zeros(F, np.int64)
    counts, nodes = np.zeros(F, np.int64), []
    deadline = None if max_seconds is None else start + max_seconds
    n_rounds = 0
    with progress_bar("Rounds of Boruta", progress) as report:
        while n_rounds < rounds and (state == _UNDECIDED).any():
            if deadline is not None and n_rounds and monotonic() > deadline:
                break
            active = np.flatnonzero(state != _REJECTED)
            forest, values = _round(
                matrix[:, active], data.target, statistic, n_rounds, seed, n_jobs, dict(settings)
            )
            shadows = values[len(active) :]
            hits[active] += values[: len(active)] > shadows.max()
            played[active] += 1
            counts[active] += forest.tally.counts[: len(active)]
            nodes.append(nodes_below(forest, len(active)))
            n_rounds += 1
            _decide(state, hits, n_rounds, alpha)
            report(n_rounds, rounds)
    undecided = np.flatnonzero(state == _UNDECIDED)
    tally = Tally(
        counts=counts,
        nodes_per_tree=np.concatenate(nodes),
        pool_per_tree=np.full(sum(len(n) for n in nodes), F),
        candidates=None,
        n_samples=len(matrix),
        feature_names=data.table.feature_names,
        source="nullforest, rounds of Boruta without their shadows",
    )
    note = f"{len(undecided)} features stayed undecided after {n_rounds} rounds."
    return BaselineResult.of(
        np.asarray(stats.binom.sf(hits - 1, played, 0.5)),
        alpha=alpha,
        error="fwer",
        support=state == _CONFIRMED,
        test="Boruta",
        statistic="hits against the best shadow",
        values=hits.astype(np.float64),
        expected=played / 2,
        tally=tally,
        forests=n_rounds,
        seconds=monotonic() - start,
        notes=(note,) if len(undecided) else (),
        details={"rounds": n_rounds, "undecided": tally.names[undecided].tolist()},
    )


def _round(
    active: NDArray[Any],
    target: Target,
    statistic: Statistic,
    number: int,
    seed: int,
    n_jobs: int,
    settings: dict[str, Any],
) -> tuple[Forest, Floats]:
    """Grow a forest on features and fresh shadows, and measure them all."""
    copies = -(-FEWEST_SHADOWS // active.shape[1])  # one, but for very few features
    shadows = np.asfortranarray(np.tile(active, (1, copies)))
    generator = stream(seed, COLUMNS, number)
    for column in range(shadows.shape[1]):
        shadows[:, column] = shadows[generator.permutation(len(shadows)), column]
    with_shadows = np.asfortranarray(np.hstack([active, shadows]))
    usual, candidates = paper_settings(with_shadows.shape[1]), settings.pop("candidates", None)
    n_candidates = np.sqrt(with_shadows.shape[1]) if candidates is None else candidates
    settings["candidates"] = min(int(n_candidates), with_shadows.shape[1])
    forest = grow(
        Dataset(with_shadows, target, n_jobs=n_jobs),
        seed=forest_seed(seed, COLUMNS, number),
        n_jobs=n_jobs,
        **(usual | settings | {"keep_trees": True, "oob": False, "probes": 0}),
    )
    if statistic != "permutation":
        return forest, importance(forest, with_shadows, statistic)
    mean, deviation = permuted_errors(forest, with_shadows, n_jobs=n_jobs)
    return forest, mean / np.where(deviation > 0, deviation, np.inf)


def _decide(state: NDArray[np.int64], hits: NDArray[np.int64], n_rounds: int, alpha: float) -> None:
    """Confirm and reject undecided features by their binomial tails."""
    undecided, level = state == _UNDECIDED, alpha / len(state)
    state[undecided & (stats.binom.sf(hits - 1, n_rounds, 0.5) <= level)] = _CONFIRMED
    state[undecided & (stats.binom.cdf(hits, n_rounds, 0.5) <= level)] = _REJECTED
