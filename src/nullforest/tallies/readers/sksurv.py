"""Tallies of scikit-survival's RandomSurvivalForest and ExtraSurvivalTrees.

Candidates are drawn at each node. The trees keep no impurity: the coupling of a node is a power of
its share of the samples. ExtraSurvivalTrees have random cut points, which the bagged null model
does not describe.
"""

from __future__ import annotations

from typing import Any

from nullforest._util.errors import InputError
from nullforest.tallies.nodes import SURVIVAL_POWER, needs_samples
from nullforest.tallies.readers.sklearn_trees import check_fitted, stored_samples, tally_of_trees
from nullforest.tallies.tally import Tally

_FORESTS = ("RandomSurvivalForest", "ExtraSurvivalTrees")


def read(forest: Any, n_samples: int | None) -> Tally:
    """Take the tally of a fitted survival forest."""
    name = type(forest).__name__
    if not {kind.__name__ for kind in type(forest).__mro__} & set(_FORESTS):
        raise InputError(
            f"nullforest cannot take the tally of a {name}: only trees grown independently of each "
            f"other have a known null distribution. Use scikit-survival's {' or '.join(_FORESTS)}."
        )
    check_fitted(forest)
    n_samples = needs_samples(n_samples, stored_samples(forest))
    return tally_of_trees(forest, n_samples, source=f"scikit-survival {name}", power=SURVIVAL_POWER)
