"""Search of a monotone predicate by bisection."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Number = TypeVar("Number", int, float)


def bisect(
    predicate: Callable[[Number], bool], low: Number, high: Number, width: Number
) -> tuple[Number, Number]:
    """Bracket no longer than `width` in which a predicate turns from false to true.

    Parameters
    ----------
    predicate : number -> bool
        Taken to be false at `low` and true at `high`; evaluated only between them.
    low, high : int or float
        The first bracket; whole numbers stay whole.
    width : int or float
        Length at which the bracket is short enough.
    """
    while high - low > width:
        middle = (low + high) // 2 if isinstance(low, int) else (low + high) / 2
        low, high = (low, middle) if predicate(middle) else (middle, high)
    return low, high


def smallest_true(predicate: Callable[[int], bool], low: int, high: int, start: int) -> int:
    """Smallest whole number from `low` to `high` at which a monotone predicate is true.

    The search leaves `start` in steps that double, so that a good guess costs few evaluations.
    The predicate is taken to be true at `high` and is not evaluated there.
    """
    below, above, step = low - 1, high, 1
    at = min(max(start, low), high)
    if at == high or predicate(at):
        above = at
        while above > low and predicate(at := max(above - step, low)):
            above, step = at, 2 * step
        below = at if above > low else below
    else:
        below = at
        while (at := min(below + step, high)) < high and not predicate(at):
            below, step = at, 2 * step
        above = at
    return bisect(predicate, below, above, 1)[1]
