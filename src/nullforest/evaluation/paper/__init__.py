"""Reproduction of the paper: one module per experiment, and what the experiments share."""

from nullforest.evaluation.paper.reproducing import NAMES, Reproduction, experiments, reproduce

__all__ = ["NAMES", "Reproduction", "experiments", "reproduce"]
