"""How does nullforest grow its own forests? Exactly, from ranks, with keyed randomness."""

from nullforest.engine.forest import Forest, Tree, Trees
from nullforest.engine.growing import grow, grow_many
from nullforest.engine.ranking import RankTable
from nullforest.engine.sources import ParquetColumns

__all__ = ["Forest", "ParquetColumns", "RankTable", "Tree", "Trees", "grow", "grow_many"]
