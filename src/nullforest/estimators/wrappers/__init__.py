"""Wrappers: selectors that fit another selector several times."""

from nullforest.estimators.wrappers.backward import BackwardElimination
from nullforest.estimators.wrappers.forward import ForwardSelection
from nullforest.estimators.wrappers.grouped import GroupSelector
from nullforest.estimators.wrappers.knockout import KnockOut, Layer
from nullforest.estimators.wrappers.stability import StabilitySelection

__all__ = [
    "BackwardElimination",
    "ForwardSelection",
    "GroupSelector",
    "KnockOut",
    "Layer",
    "StabilitySelection",
]
