"""Reproduction of the paper: one module per experiment, and what the experiments share."""

from reproduction.reproducing import NAMES, Reproduction, experiments, reproduce

__all__ = ["NAMES", "Reproduction", "experiments", "reproduce"]
