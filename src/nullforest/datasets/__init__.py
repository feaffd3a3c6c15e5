"""Data sets that come with the package, with known relevant features."""

from nullforest.datasets.leukemia import load_leukemia_sex

__all__ = ["load_leukemia_sex"]
