"""What did the paper find, and do we find it too? One module per table or figure of it."""

from nullforest.evaluation.paper.reproducing import NAMES, Reproduction, experiments, reproduce

__all__ = ["NAMES", "Reproduction", "experiments", "reproduce"]
