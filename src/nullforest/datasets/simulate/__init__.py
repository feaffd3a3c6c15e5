"""Simulated data with known relevant features: the two generators of the paper."""

from nullforest.datasets.simulate.cortical import CorticalModel, cortical
from nullforest.datasets.simulate.independent import independent

__all__ = ["CorticalModel", "cortical", "independent"]
