"""In how many trees can a null feature be chosen at all? In those whose pool it is in.

A tree that draws its features once offers a feature all of its K_t nodes or none. Over T trees with
a share p of the features in each pool, a feature is in J ~ Bin(T, p) pools. Given its rate s and J,
its count is Bin(J·K, μ₀ s/(T p K)), K the mean number of nodes per tree, so its expected count is
μ₀ s J/(T p): being in many pools is one more way to have a large rate. Without pools p = 1, J = T.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from nullforest.nulls.binomial_mixture import merge_rates
from nullforest.tallies.tally import Tally

Floats = NDArray[np.float64]

_NEVER = 1e-16  # numbers of pools as unlikely as that are left out
_CELL = 0.3  # in the square root of the expected count, of which counts resolve about a half


@dataclass(frozen=True)
class Pools:
    """The trees of a forest, as far as a feature's chance to be in them goes.

    Attributes
    ----------
    nodes : int
        Nodes of the forest, one at least.
    trees : int
        Trees of the forest.
    share : float
        Mean share of the features in a tree's pool.
    """

    nodes: int
    trees: int
    share: float

    @classmethod
    def of(cls, tally: Tally) -> Pools:
        """The pools of a tally."""
        share = float(tally.pool_per_tree.mean()) / tally.n_features
        return cls(max(tally.n_nodes, 1), tally.n_trees, share)

    def components(
        self, rates: Floats, weights: Floats, largest_mean: float
    ) -> tuple[Floats, Floats, Floats]:
        """Binomials of which the counts are a mixture, for features with these rates.

        Parameters
        ----------
        rates, weights : (N,)
            Rates in units of the mean, and their probabilities.
        largest_mean : float
            The largest expected count at which the result will be used.

        Returns
        -------
        trials, chances, weights : (I,)
            A chance is to be multiplied by the expected count of a null feature.

        Examples
        --------
        A feature in none of two pools, in one, or in both.

        >>> pools = Pools(nodes=60, trees=2, share=0.5)
        >>> trials, chances, weights = pools.components(np.ones(1), np.ones(1), 3.0)
        >>> np.unique(trials.round()).tolist(), float(round(weights @ (trials * chances), 9))
        ([0.0, 30.0, 60.0], 1.0)
        """
        if self.share == 1:
            return np.full(len(rates), float(self.nodes)), rates / self.nodes, weights
        number = np.arange(self.trees + 1)
        likely = binom.pmf(number, self.trees, self.share)
        number, likely = number[likely > _NEVER], likely[likely > _NEVER]
        member, membership = merge_rates(
            number / (self.trees * self.share), likely, largest_mean * float(rates.max())
        )
        product = np.outer(member, rates).ravel()
        both = np.outer(membership, weights).ravel()
        own = np.tile(rates, len(member))
        merged, mass = merge_rates(product, both, largest_mean)
        # A component's chance is the mean rate of those that were merged into it.
        cells = np.floor(np.sqrt(largest_mean * product) / _CELL).astype(np.int64)
        total = np.bincount(cells, both * product)
        used = total > 0
        mean_rate = np.bincount(cells, both * product * own)[used] / total[used]
        centre = np.bincount(cells, both * product**2)[used] / total[used]
        chance = np.interp(merged, centre, mean_rate) / (self.share * self.nodes)
        trials = np.ceil(merged / chance)
        return trials, merged / np.maximum(trials, 1.0), mass
