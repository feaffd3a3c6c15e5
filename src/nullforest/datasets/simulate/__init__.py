"""Simulated data with known relevant features: the paper's two generators, and survival times."""

from nullforest.datasets.simulate.cortical import CorticalModel, cortical
from nullforest.datasets.simulate.independent import independent
from nullforest.datasets.simulate.proportional_hazards import survival

__all__ = ["CorticalModel", "cortical", "independent", "survival"]
