"""When does a tree end? The paper does not say; these are the rules that are tried."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class StopRule:
    """Fewest samples in a leaf, most splits down to a leaf.

    Examples
    --------
    >>> print(StopRule(10, 3), "|", StopRule(1))
    leaf 10, depth 3 | leaf 1, any depth
    """

    min_leaf: int
    max_depth: int | None = None

    def __str__(self) -> str:
        depth = "any depth" if self.max_depth is None else f"depth {self.max_depth}"
        return f"leaf {self.min_leaf}, {depth}"

    def parameters(self) -> dict[str, Any]:
        """The rule as settings of a forest."""
        return {"min_leaf": self.min_leaf, "max_depth": self.max_depth}


def rule_of(parameters: Any) -> StopRule:
    """The stop rule of a cell's parameters.

    Examples
    --------
    >>> rule_of({"min_leaf": 10, "max_depth": 3, "trees": 50})
    StopRule(min_leaf=10, max_depth=3)
    """
    return StopRule(parameters["min_leaf"], parameters["max_depth"])


#: Every rule that the comparison tables are computed for.
STOP_RULES = tuple(StopRule(leaf, depth) for depth in (None, 3) for leaf in (1, 5, 10))
#: The rule whose forests come nearest to the printed numbers of the comparison tables; the
#: verdict checks it. All experiments on high-dimensional data use it.
BEST_RULE = StopRule(10)
#: Trees of the low-dimensional experiment: the paper says that K changes with F_n there, which
#: is true of deep trees alone.
DEEP = StopRule(1)
