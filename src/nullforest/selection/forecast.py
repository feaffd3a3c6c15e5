"""Forecasts: the selection of a larger forest, from the counts of this one.

The selection rate of a feature is known up to the noise of its count: n_f ~ Poisson(λ_f). The
distribution of λ over features is estimated from all counts (nonparametric maximum likelihood on a
grid of rates), which gives the posterior of λ_f given n_f. A forest c times as large has
n_f + Poisson((c−1) λ_f) for each feature, and its virtual probes win as many nodes more, by their
own rates. The null distribution is estimated anew from each larger tally, so that the forecast has
its noise too. Repeated draws give the probability that each feature is selected.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from nullforest._util.errors import InputError
from nullforest.nulls import KINDS, Kind
from nullforest.nulls import null as make_null
from nullforest.nulls.distribution import Floats, Ints, Null
from nullforest.selection.error_rates import ErrorRate, decide
from nullforest.selection.selection import Selection, select
from nullforest.tallies.halves import halves
from nullforest.tallies.probe_tally import ProbeTally
from nullforest.tallies.tally import Tally

#: Quantile of the normal distribution for the ends of a 90 % interval.
_NORMAL_95 = 1.645
#: Null distributions that are estimated for each factor; the draws share them in turn.
NULLS = 5
#: Rates on the grid: neighbours differ by less than the noise of any count below 10⁴.
_GRID = 120
#: Classes of weights of the probes, and least probes in each to estimate the prior of their rates.
_WEIGHT_CLASSES, _LEAST_GROUP = 8, 100
#: Iterations of the EM algorithm. It begins at a smooth distribution, and the likelihood hardly
#: changes after 300; with 3 000 it follows the noise of the counts.
_ROUNDS = 1000
#: Share of the features whose counts give the smooth distribution, and its largest shape.
_BULK, _LARGEST_SHAPE = 0.99, 50.0


@dataclass(frozen=True, eq=False, repr=False)
class Forecast:
    """The expected selections of larger forests on the same data.

    Attributes
    ----------
    table : DataFrame
        One row per factor: factor, trees, selected (expected number), low and high (90 % interval
        of that number), joining (expected number of features that are not selected now and would
        be), leaving (expected number of features that are selected now and would not be), surely
        (number of features whose decision is the same in 95 % of the draws).
    probabilities : (factors, F) float
        Probability that each feature is selected by the larger forest.
    selection : Selection
        The decision now.

    Examples
    --------
    >>> import nullforest as nf
    >>> X, y, relevant = nf.simulate.independent(100, 300, n_relevant=5, relevance=0.6)
    >>> forecast = nf.more_trees(nf.grow(X, y, trees=400).tally, error="fwer")
    >>> forecast.selection.n_selected, forecast.probabilities.shape
    (5, (3, 300))
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
    tally, kind = now.tally, now.null.kind
    if kind not in KINDS:
        raise InputError(
            f"The null distribution of {kind} is not known for more trees; use null='probes', "
            "'bagged' or 'paper'."
        )
    larger = _Larger(tally)
    rng = np.random.default_rng(seed)
    probability = np.zeros((len(factors), tally.n_features))
    numbers = np.zeros((len(factors), draws))
    for i, factor in enumerate(factors):
        for draw, support in enumerate(_supports(larger, factor, now, draws, rng)):
            probability[i] += support
            numbers[i, draw] = support.sum()
    probability /= draws
    wider = np.exp(_NORMAL_95 * _error_of_halves(now, rng))
    same = np.where(now.support, probability, 1 - probability)
    table = pd.DataFrame(
        {
            "factor": factors,
            "trees": [round(factor * tally.n_trees) for factor in factors],
            "selected": probability.sum(axis=1),
            "low": np.quantile(numbers, 0.05, axis=1) / wider,
            "high": np.minimum(np.quantile(numbers, 0.95, axis=1) * wider, tally.n_features),
            "joining": probability[:, ~now.support].sum(axis=1),
            "leaving": (1 - probability[:, now.support]).sum(axis=1),
            "surely": (same >= 0.95).sum(axis=1),
        }
    )
    return Forecast(table, probability, now)


def _supports(
    larger: _Larger, factor: float, now: Selection, draws: int, rng: np.random.Generator
) -> Iterator[NDArray[np.bool_]]:
    """Selections of so many forests, `factor` times as large."""
    models: list[Null] = []
    kind: Any = now.null.kind
    for draw in range(draws):
        counts = larger.counts(factor, rng)
        if draw < NULLS:
            models.append(make_null(larger.tally(factor, counts, rng), kind))
        yield decide(models[draw % NULLS].pvalues(counts), now.alpha, now.error).support


def _error_of_halves(now: Selection, rng: np.random.Generator) -> float:
    """Relative error of the same forecast from either half of the forest to the whole of it.

    The draws vary by the noise of the trees to come. The noise of the trees at hand, which they
    share, is seen in how far the forecasts of the halves are from what the whole forest selected.
    """
    if now.tally.n_trees < 2:
        return 0.0
    errors = []
    for half in halves(now.tally):
        found = [s.sum() for s in _supports(_Larger(half), 2.0, now, NULLS, rng)]
        errors.append(np.log((now.n_selected + 1) / (np.mean(found) + 1)))  # 1: none is no error
    return float(np.sqrt(np.mean(np.square(errors))))


class _Larger:
    """Larger forests on the same data, drawn from the posterior of all rates."""

    def __init__(self, tally: Tally) -> None:
        self.now = tally
        probes, shadows = tally.probes, tally.shadows
        null_columns = shadows if probes is None else probes
        strata = np.zeros(tally.n_features, np.int64)
        if null_columns is not None:
            strata = null_columns.feature_strata
        self._features = _Posterior(tally.counts, strata)
        self._shadows = None
        if shadows is not None:
            self._shadows = _Posterior(shadows.counts.ravel(), np.tile(strata, len(shadows)))
        self._probes = None if probes is None else _Posterior(probes.wins, _probe_groups(probes))

    def counts(self, factor: float, rng: np.random.Generator) -> Ints:
        """Selection counts of a forest `factor` times as large."""
        return self.now.counts + rng.poisson((factor - 1) * self._features.draw(rng))

    def tally(self, factor: float, counts: Ints, rng: np.random.Generator) -> Tally:
        """The tally of such a forest with these counts."""
        now, probes = self.now, self.now.probes
        if probes is not None and self._probes is not None:
            probes = replace(
                probes,
                wins=probes.wins + rng.poisson((factor - 1) * self._probes.draw(rng)),
                trees=probes.trees * factor,
                couplings=np.rint(probes.couplings * factor).astype(np.int64),
            )
        shadows, selections = now.shadows, int(counts.sum())
        if shadows is not None and self._shadows is not None:
            more_often = rng.poisson((factor - 1) * self._shadows.draw(rng))
            shadows = replace(
                shadows,
                counts=shadows.counts + more_often.reshape(shadows.counts.shape),
                couplings=np.rint(shadows.couplings * factor).astype(np.int64),
            )
            selections += int(shadows.counts.sum())
        trees = round(factor * now.n_trees)
        nodes = np.resize(now.nodes_per_tree, trees)
        # The counts add to the nodes; the noise of their sum goes to single trees.
        more, order = selections - int(nodes.sum()), np.argsort(-nodes, kind="stable")
        largest = order[: max(trees // 2, 1)]
        each, left = divmod(abs(more), len(largest))
        nodes[largest] += each * np.sign(more)
        nodes[largest[:left]] += np.sign(more)
        couplings = None
        if now.couplings is not None:
            couplings = np.rint(now.couplings * factor).astype(np.int32)
        return replace(
            now,
            counts=counts,
            nodes_per_tree=nodes,
            pool_per_tree=np.resize(now.pool_per_tree, trees),
            couplings=couplings,
            probes=probes,
            shadows=shadows,
            lineage=(),
        )


class _Posterior:
    """Posterior of the rates of columns given their counts, with a prior for each group of them."""

    def __init__(self, counts: Ints, groups: Ints) -> None:
        self._n = len(counts)
        self._groups = []
        for group in np.unique(groups):
            own = np.flatnonzero(groups == group)
            distinct, place = np.unique(counts[own], return_inverse=True)
            rates, posterior = rates_given_counts(distinct, np.bincount(place))
            # One rising line for all distinct counts, so that one search finds the rates of all.
            steps = np.cumsum(posterior, axis=1) + np.arange(len(distinct))[:, None]
            self._groups.append((own, place, rates, steps.ravel()))

    def draw(self, rng: np.random.Generator) -> Floats:
        """One rate for each column."""
        drawn = np.empty(self._n)
        for own, place, rates, cumulative in self._groups:
            found = np.searchsorted(cumulative, rng.random(len(own)) + place)
            drawn[own] = rates[np.minimum(found - place * len(rates), len(rates) - 1)]
        return drawn


def _probe_groups(probes: ProbeTally) -> Ints:
    """Groups of probes of one stratum with similar weights.

    Probes with strong sample associations have small weights and large rates. With one prior for
    all, the rates of probes with large weights would be drawn too large, and the tail with them.
    """
    groups = np.zeros(len(probes), np.int64)
    for stratum in np.unique(probes.strata):
        own = probes.strata == stratum
        classes = np.clip(own.sum() // _LEAST_GROUP, 1, _WEIGHT_CLASSES)
        edges = np.quantile(probes.weights[own], np.arange(1, classes) / classes)
        place = np.searchsorted(edges, probes.weights[own])
        groups[own] = stratum * _WEIGHT_CLASSES + place
    return groups


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
    shares = features / features.sum()
    weights = _smooth(grid, counts, shares)
    for _ in range(_ROUNDS):
        weights *= (shares / (likelihood @ weights)) @ likelihood
    joint = likelihood * weights
    return grid, joint / joint.sum(axis=1, keepdims=True)


def _smooth(grid: Floats, counts: NDArray[np.int64], shares: Floats) -> Floats:
    """A gamma distribution of rates that gives the bulk of the counts its mean and variance."""
    bulk = np.cumsum(shares) <= max(_BULK, shares[0])
    mean = max(float(np.average(counts[bulk], weights=shares[bulk])), float(grid[0]))
    variance = float(np.average((counts[bulk] - mean) ** 2, weights=shares[bulk])) - mean
    shape = mean**2 / max(variance, mean**2 / _LARGEST_SHAPE)
    weights = np.exp(shape * (np.log(grid / mean) - grid / mean + 1))
    # Rates beyond the bulk, those of relevant features, have a share too.
    even = (1 - _BULK) / len(grid)
    smooth: Floats = weights / weights.sum() * _BULK + even
    return smooth
