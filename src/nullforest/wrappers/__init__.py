"""What if one forest is not enough? Selectors that call a selector again and again."""

from nullforest.wrappers.backward import BackwardElimination
from nullforest.wrappers.forward import ForwardSelection
from nullforest.wrappers.grouped import GroupSelector
from nullforest.wrappers.knockout import KnockOut, Layer
from nullforest.wrappers.stability import StabilitySelection

__all__ = [
    "BackwardElimination",
    "ForwardSelection",
    "GroupSelector",
    "KnockOut",
    "Layer",
    "StabilitySelection",
]
