"""Published tests of variable importance on nullforest's forests, and several tests compared."""

from nullforest.evaluation.baselines.boruta import boruta
from nullforest.evaluation.baselines.comparison import compare_runs
from nullforest.evaluation.baselines.importances import (
    corrected_gini,
    importance,
    importances,
    rank_agreement,
)
from nullforest.evaluation.baselines.janitza import janitza
from nullforest.evaluation.baselines.label_permutation import label_permutation
from nullforest.evaluation.baselines.results import BaselineResult

__all__ = [
    "BaselineResult",
    "boruta",
    "compare_runs",
    "corrected_gini",
    "importance",
    "importances",
    "janitza",
    "label_permutation",
    "rank_agreement",
]
