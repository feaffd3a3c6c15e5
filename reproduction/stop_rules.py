"""Stop rules of trees; the paper does not give its own, so several are tried."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class StopRule:
    """Fewest samples in a leaf, most splits down to a leaf, fewest samples in a node that splits.

    Examples
    --------
    >>> print(StopRule(10, 3), "|", StopRule(1), "|", StopRule(4, 6, 23))
    leaf 10, depth 3 | leaf 1, any depth | leaf 4, split 23, depth 6
    """

    min_leaf: int
    max_depth: int | None = None
    min_split: int = 2

    def __str__(self) -> str:
        split = "" if self.min_split <= 2 * self.min_leaf else f", split {self.min_split}"
        depth = "any depth" if self.max_depth is None else f"depth {self.max_depth}"
        return f"leaf {self.min_leaf}{split}, {depth}"


#: The rule whose forests come nearest to the printed numbers of the comparison tables, of all
#: that `studies.stop_rules` tries; the verdict checks it. All experiments on high-dimensional data
#: use it.
BEST_RULE = StopRule(4, 6, 23)
#: Every rule that the comparison tables are computed for.
STOP_RULES = (BEST_RULE, *(StopRule(leaf, depth) for depth in (None, 3) for leaf in (1, 5, 10)))
