"""Tallies of quantile-forest's RandomForestQuantileRegressor and ExtraTreesQuantileRegressor.

Trees of scikit-learn, candidates drawn at each node. Nothing is lacking, but for the random cut
points of ExtraTrees.
"""

from __future__ import annotations

from typing import Any

from nullforest._util.errors import InputError
from nullforest.tallies.nodes import needs_samples
from nullforest.tallies.readers.sklearn_trees import check_fitted, stored_samples, tally_of_trees
from nullforest.tallies.tally import Tally


def read(forest: Any, n_samples: int | None) -> Tally:
    """Take the tally of a fitted quantile forest."""
    name = type(forest).__name__
    if not hasattr(forest, "estimator_params"):
        raise InputError(f"A {name} of quantile-forest is no forest; give a fitted regressor.")
    check_fitted(forest)
    n_samples = needs_samples(n_samples, stored_samples(forest))
    return tally_of_trees(forest, n_samples, source=f"quantile-forest {name}")
