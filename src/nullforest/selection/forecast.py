"""Would more trees change the decision? What the stability of the counts says.

How often a feature is chosen per tree is known up to the noise of its count: n_f ~ Poisson(λ_f).
The distribution of the λ over features is estimated from all counts (the mixture of largest
likelihood on a grid of rates), which gives what λ_f may be given n_f. A forest c times as large
then has n_f + Poisson((c−1) λ_f) for each feature, and the null of c times the trees. Drawing that
many times tells which features would be selected, and how surely.
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
from nullforest.nulls.bagged import BaggedNull
from nullforest.nulls.binomial_mixture import BinomialMixture
from nullforest.nulls.distribution import Floats, Null
from nullforest.nulls.probes import ProbeNull
from nullforest.nulls.splice import Splice
from nullforest.selection.error_rates import ErrorRate, decide
from nullforest.selection.selection import Selection, select
from nullforest.tallies.tally import Tally

#: Rates on the grid: neighbours differ by less than the noise of any count below 10⁴.
_GRID = 120
#: Rounds of expectation and maximisation; the likelihood then changes in the sixth digit.
_ROUNDS = 300


@dataclass(frozen=True, eq=False, repr=False)
class Forecast:
    """What larger forests like this one would select.

    Attributes
    ----------
    table : DataFrame
        One row per factor: factor, trees, selected (expected number), joining (expected number of
        features that are not selected now and would be), leaving (the other way round), surely
        (number of features whose decision is the same in 95 % of the draws).
    probabilities : (factors, F) float
        Probability that each feature is selected by the larger forest.
    selection : Selection
        The decision now.
    """

    table: pd.DataFrame
    probabilities: Floats
    selection: Selection

    def headline(self) -> str:
        """The answer in one sentence."""
        now = self.selection.n_selected
        row = self.table.iloc[0]
        moved = row["joining"] + row["leaving"]
        more = (
            f"{int(row['trees'])} trees: {row['joining']:.1f} features expected to join the "
            f"{now} selected now, {row['leaving']:.1f} to leave"
        )
        if moved < 0.5:  # less than one change in two repetitions
            return f"More trees would hardly change the decision ({more})."
        return f"More trees would change the decision ({more})."

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
    """Whether a larger forest would decide otherwise.

    Parameters
    ----------
    forest : Tally or Selection
        What the forest chose; a Selection brings its own alpha, error and null.
    alpha, error, null
        How features are selected, for a Tally.
    factors : tuple of float
        How many times as many trees to look at, above 1.
    draws : int
        Forests to draw for each factor.
    seed : int
        Seed of the draws.

    Returns
    -------
    Forecast

    Examples
    --------
    >>> import nullforest as nf
    >>> X, y, relevant = nf.simulate.independent(100, 300, n_relevant=5, relevance=0.6)
    >>> outlook = nf.more_trees(nf.grow(X, y, trees=400).tally, error="fwer")
    >>> outlook.table["trees"].tolist()
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
    chosen = np.zeros((len(factors), tally.n_features))
    for i, factor in enumerate(factors):
        model = null_of_more_trees(now.null, factor)
        for _ in range(draws):
            level = rng.random(tally.n_features)
            which = (cumulative[place] < level[:, None]).sum(axis=1)
            extra = rng.poisson((factor - 1) * rates[np.minimum(which, len(rates) - 1)])
            chosen[i] += decide(model.pvalues(tally.counts + extra), alpha, error).support
    chosen /= draws
    rows = []
    for factor, p in zip(factors, chosen, strict=True):
        rows.append(
            {
                "factor": factor,
                "trees": round(factor * tally.n_trees),
                "selected": p.sum(),
                "joining": p[~now.support].sum(),
                "leaving": (1 - p[now.support]).sum(),
                "surely": int((np.where(now.support, p, 1 - p) >= 0.95).sum()),
            }
        )
    return Forecast(pd.DataFrame(rows), chosen, now)


def rates_given_counts(counts: NDArray[np.int64], features: NDArray[np.int64]) -> tuple[Any, Any]:
    """Rates λ on a grid, and the probability of each given each distinct count.

    Parameters
    ----------
    counts, features : (m,) int
        Distinct counts, and how many features have each.

    Returns
    -------
    rates : (R,)
    posterior : (m, R)

    Examples
    --------
    >>> rates, posterior = rates_given_counts(np.array([4, 5, 100]), np.array([50, 40, 1]))
    >>> (posterior @ rates).round(-1).tolist()  # 5 is but noise of 4, 100 is not
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


def null_of_more_trees(null: Null, factor: float) -> Null:
    """The null of `factor` times as many trees like these.

    The rates of null features grow by the factor; for probes, whose own counts are noisy, the
    rates are those of the fitted shape.
    """
    known = null.scaled(factor)
    if known is not None:
        return known
    if isinstance(null, BaggedNull):
        return BaggedNull(_longer(null.mixture, factor), null.n_features, cutoff=null.cutoff)
    if isinstance(null, ProbeNull):
        laws = [_longer(law.tail, factor) for law in null.distributions]
        return ProbeNull([Splice(m, m, -1) for m in laws], null.feature_strata, probes=null.probes)
    raise InputError(f"It is not known how the null {null.kind!r} changes with more trees.")


def _longer(mixture: BinomialMixture, factor: float) -> BinomialMixture:
    return BinomialMixture(np.round(factor * mixture.trials), mixture.chances, mixture.weights)
