"""Random forests grown by nullforest: exact splits on ranks, with keyed randomness."""

from nullforest.engine.data.matrices import ParquetColumns
from nullforest.engine.data.rank_table import RankTable
from nullforest.engine.forest import Forest, Tree, Trees
from nullforest.engine.growing import grow
from nullforest.engine.many_forests import grow_many

__all__ = ["Forest", "ParquetColumns", "RankTable", "Tree", "Trees", "grow", "grow_many"]
