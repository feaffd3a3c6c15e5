r"""Forecasts: the selection of a larger forest, from the counts of this one.

The selection rate of a feature is known up to the noise of its count: n_f ~ Poisson(λ_f). The
distribution of λ over features is estimated from all counts (nonparametric maximum likelihood on a
grid of rates), which gives the posterior of λ_f given n_f. A forest c times as large has
n_f + Poisson((c−1) λ_f) for each feature, and the null distribution of c times as many trees.
Repeated draws give the probability that each feature is selected.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from nullforest._util.errors import InputError
from nullforest.nulls import Kind
from nullforest.nulls.distribution import Floats
from nullforest.selection.error_rates import ErrorRate, decide
from nullforest.selection.selection import Selection, select
from nullforest.tallies.tally import Tally

#: Rates on the grid: neighbours differ by less than the noise of any count below 10⁴.
_GRID = 120
#: Iterations of the EM algorithm; the likelihood then changes in the sixth digit.
_ROUNDS = 300


@dataclass(frozen=True, eq=False, repr=False)
class Forecast:
    """The expected selections of larger forests on the same data.

    Attributes
    ----------
    table : DataFrame
        One row per factor: factor, trees, selected (expected number), joining (expected number of
        features that are not selected now and would be), leaving (expected number of features that
        are selected now and would not be), surely (number of features whose decision is the same
        in 95 % of the draws).
    probabilities : (factors, F) float
        Probability that each feature is selected by the larger forest.
    selection : Selection
        The decision now.
    """

    table: pd.DataFrame
    probabilities: Floats
    selection: Selection

    def headline(self) -> str:
        """The forecast in one sentence."""
        row = self.table.iloc[0]
        # Less than one change in two repetitions is hardly any.
        hardly = "hardly " if row["joining"] + row["leaving"] < 0.5 else ""
        return (
            f"More trees would {hardly}change the decision ({int(row['trees'])} trees: "
            f"{row['joining']:.1f} features expected to join the {self.selection.n_selected} "
            f"selected now, {row['leaving']:.1f} to leave)."
        )

    def __repr__(self) -> str:
        return f"<Forecast: {self.headline()}>\n{self.table.round(2).to_string(index=False)}"


def more_trees(
    forest: Tally | Selection,
    alpha: float = 0.05,
    error: ErrorRate = "fdr",
    null: Kind = "auto",
    *,
    factors: tuple[float, ...] = (2, 4, 8),
    draws: int = 100,
    seed: int = 0,
) -> Forecast:
    """Forecast the selection of larger forests on the same data.

    Parameters
    ----------
    forest : Tally or Selection
        The selection counts of the forest; a Selection brings its own alpha, error and null.
    alpha, error, null
        As in :func:`nullforest.select`, for a Tally.
    factors : tuple of float
        Numbers of trees to forecast for, as multiples of the present one, above 1.
    draws : int
        Larger forests to draw for each factor.
    seed : int
        Seed of the draws.

    Returns
    -------
    Forecast

    Examples
    --------
    >>> import nullforest as nf
    >>> X, y, relevant = nf.simulate.independent(100, 300, n_relevant=5, relevance=0.6)
    >>> forecast = nf.more_trees(nf.grow(X, y, trees=400).tally, error="fwer")
    >>> forecast.table["trees"].tolist()
    [800, 1600, 3200]
    """
    if isinstance(forest, Selection):
        now, alpha, error = forest, forest.alpha, forest.error
    else:
        now = select(forest, alpha, error, null)
    if draws < 1 or any(factor <= 1 for factor in factors) or not factors:
        raise InputError("factors must be above 1, and draws at least 1.")
    tally = now.tally
    counts, place = np.unique(tally.counts, return_inverse=True)
    rates, posterior = rates_given_counts(counts, np.bincount(place))
    cumulative = np.cumsum(posterior, axis=1)
    rng = np.random.default_rng(seed)
    probability = np.zeros((len(factors), tally.n_features))
    for i, factor in enumerate(factors):
        model = now.null.scaled(factor)
        if model is None:
            raise InputError(
                f"The null distribution of {now.null.kind} is not known for more trees; use null="
                "'probes', 'bagged' or 'paper'."
            )
        for _ in range(draws):
            level = rng.random(tally.n_features)
            which = (cumulative[place] < level[:, None]).sum(axis=1)
            extra = rng.poisson((factor - 1) * rates[np.minimum(which, len(rates) - 1)])
            probability[i] += decide(model.pvalues(tally.counts + extra), alpha, error).support
    probability /= draws
    same = np.where(now.support, probability, 1 - probability)
    table = pd.DataFrame(
        {
            "factor": factors,
            "trees": [round(factor * tally.n_trees) for factor in factors],
            "selected": probability.sum(axis=1),
            "joining": probability[:, ~now.support].sum(axis=1),
            "leaving": (1 - probability[:, now.support]).sum(axis=1),
            "surely": (same >= 0.95).sum(axis=1),
        }
    )
    return Forecast(table, probability, now)


def rates_given_counts(counts: NDArray[np.int64], features: NDArray[np.int64]) -> tuple[Any, Any]:
    """Rates λ on a grid, and their posterior (m, R) given each of m distinct counts.

    `features` are the numbers of features with each count.

    Examples
    --------
    >>> rates, posterior = rates_given_counts(np.array([4, 5, 100]), np.array([50, 40, 1]))
    >>> (posterior @ rates).round(-1).tolist()  # 5 has the rate of 4, 100 has not
    [0.0, 0.0, 100.0]
    """
    high = float(counts.max()) + 1.0
    grid = np.geomspace(0.05, high, _GRID)  # a rate of 0.05 leaves 19 features in 20 at zero
    log = xlogy(counts[:, None], grid) - grid - gammaln(counts[:, None] + 1.0)
    likelihood = np.exp(log - log.max(axis=1, keepdims=True))
    weights = np.full(len(grid), 1 / len(grid))
    for _ in range(_ROUNDS):
        joint = likelihood * weights
        posterior = joint / joint.sum(axis=1, keepdims=True)
        weights = features @ posterior / features.sum()
    joint = likelihood * weights
    return grid, joint / joint.sum(axis=1, keepdims=True)
