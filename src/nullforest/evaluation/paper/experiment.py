"""What is an experiment? Settings, how often each is run, and the table, figure and claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from nullforest.evaluation.paper.store import Cell, Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Size = Literal["full", "quick", "tiny"]
SIZES: tuple[Size, ...] = ("full", "quick", "tiny")
#: Finished runs: each cell with its records, in the order of their numbers.
Results = Sequence[tuple[Cell, list[Record]]]
STRATEGY = {"node": "I", "tree": "II"}


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, and whether our numbers bear it out.

    Attributes
    ----------
    text : str
        What the paper says.
    found : str
        The number behind the answer.
    holds : bool
    """

    text: str
    found: str
    holds: bool


@dataclass(frozen=True)
class Experiment:
    """One table or figure of the paper.

    Attributes
    ----------
    name, title : str
    cells : callable
        The settings of a size.
    runs : mapping of size to int
        How often each setting is run.
    table : callable
        One row per setting, null and alpha: means, deviations and number of runs.
    figure : callable
        A figure like the paper's, from the table and the runs.
    claims : callable
        The paper's sentences, checked on the table.
    """

    name: str
    title: str
    cells: Callable[[Size], list[Cell]]
    runs: Mapping[Size, int]
    table: Callable[[Results], pd.DataFrame]
    figure: Callable[[pd.DataFrame, Results], Figure]
    claims: Callable[[pd.DataFrame], list[Claim]]


def summary(values: Sequence[float], name: str) -> dict[str, float]:
    """Mean and deviation between runs, under names that begin with `name`.

    Examples
    --------
    >>> summary([0.1, 0.3], "fpr")
    {'fpr': 0.2, 'fpr_sd': 0.141421}
    """
    array = np.asarray(values, float)
    spread = float(np.std(array, ddof=1)) if len(array) > 1 else float("nan")
    return {name: round(float(np.mean(array)), 6), f"{name}_sd": round(spread, 6)}


def trend(
    table: pd.DataFrame, along: str, value: str, by: Sequence[str], *, rising: bool
) -> tuple[bool, str]:
    """Does a value rise (or fall) along a parameter, from its smallest to its largest?

    A curve agrees when its last point lies on the claimed side of its first, or level with it. A
    figure's trend is a statement about most curves: it holds when four of five agree, and the
    mean change has the claimed sign.

    Examples
    --------
    >>> table = pd.DataFrame({"S": [1, 2, 1, 2], "F": [5, 5, 6, 6], "fpr": [0.4, 0.1, 0.3, 0.2]})
    >>> trend(table, "S", "fpr", ["F"], rising=False)
    (True, '2 of 2 curves; mean change -0.2')
    """
    changes = []
    for _, curve in table.groupby(list(by), dropna=False):
        ordered = curve.sort_values(along)[value].to_numpy()
        changes.append(ordered[-1] - ordered[0])
    change = np.array(changes)
    agree = change >= 0 if rising else change <= 0
    mean = float(change.mean())
    holds = agree.mean() >= 0.8 and (mean > 0) == rising
    return bool(holds), f"{agree.sum()} of {len(agree)} curves; mean change {mean:+.2g}"


def share(conditions: pd.Series[bool]) -> str:
    """How many of a list of conditions are true.

    Examples
    --------
    >>> share(pd.Series([True, True, False]))
    '2 of 3'
    """
    return f"{int(conditions.sum())} of {len(conditions)}"
