"""Which tests do users know already? Each published one gives a Selection, on our forests."""

from nullforest.baselines.boruta import boruta
from nullforest.baselines.breiman_cutler import breiman_cutler
from nullforest.baselines.janitza import janitza
from nullforest.baselines.label_permutation import label_permutation
from nullforest.baselines.variable_permutation import variable_permutation

__all__ = [
    "boruta",
    "breiman_cutler",
    "janitza",
    "label_permutation",
    "variable_permutation",
]
