"""How does nullforest grow its own forests? Exactly, from ranks, with keyed randomness."""

from nullforest.engine.forest import Forest, Tree, Trees
from nullforest.engine.growing import grow, grow_many
from nullforest.engine.ranking import RankTable

__all__ = ["Forest", "RankTable", "Tree", "Trees", "grow", "grow_many"]
