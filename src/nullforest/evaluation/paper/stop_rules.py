"""When does a tree end? The paper does not say; these are the rules that are tried."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


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

    def parameters(self) -> dict[str, Any]:
        """The rule as settings of a forest."""
        return {
            "min_leaf": self.min_leaf,
            "max_depth": self.max_depth,
            "min_split": self.min_split,
        }


def rule_of(parameters: Any) -> StopRule:
    """The stop rule of a cell's parameters.

    Examples
    --------
    >>> rule_of({"min_leaf": 10, "max_depth": 3, "min_split": 2, "trees": 50})
    StopRule(min_leaf=10, max_depth=3, min_split=2)
    """
    return StopRule(parameters["min_leaf"], parameters["max_depth"], parameters["min_split"])


#: The rule whose forests come nearest to the printed numbers of the comparison tables, of all
#: that `studies.stop_rules` tries; the verdict checks it. All experiments on high-dimensional data
#: use it.
BEST_RULE = StopRule(4, 6, 23)
#: Every rule that the comparison tables are computed for.
STOP_RULES = (
    BEST_RULE,
    *(StopRule(leaf, depth) for depth in (None, 3) for leaf in (1, 5, 10)),
)
#: Trees of the low-dimensional experiment: the paper says that K changes with F_n there, which
#: is true of deep trees alone.
DEEP = StopRule(1)
