"""Which data come with the package? Small real sets whose truth is known."""

from nullforest.datasets.leukemia import load_leukemia_sex

__all__ = ["load_leukemia_sex"]
