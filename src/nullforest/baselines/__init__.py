"""Which tests do users know already? Each published one gives a Selection, on our forests."""

from nullforest.baselines.label_permutation import label_permutation

__all__ = ["label_permutation"]
