"""Published tests of variable importance, on nullforest's forests; each gives a Selection."""

from nullforest.evaluation.baselines.boruta import boruta
from nullforest.evaluation.baselines.breiman_cutler import breiman_cutler
from nullforest.evaluation.baselines.janitza import janitza
from nullforest.evaluation.baselines.label_permutation import label_permutation
from nullforest.evaluation.baselines.variable_permutation import variable_permutation

__all__ = [
    "boruta",
    "breiman_cutler",
    "janitza",
    "label_permutation",
    "variable_permutation",
]
