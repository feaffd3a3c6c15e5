"""Experiments: settings of each size, number of runs, and how they become a table and claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from reproduction.claims import Claim
from reproduction.store import Cell, Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Size = Literal["full", "quick", "tiny"]
Parameters = Mapping[str, Any]
#: Grids of each size: parameters, of which a tuple holds several values.
Settings = Mapping[Size, Sequence[Parameters]]
#: Finished runs: each cell with its records, in the order of their numbers.
Results = Sequence[tuple[Cell, list[Record]]]
STRATEGY = {"node": "I", "tree": "II"}


@dataclass(frozen=True)
class Experiment:
    """One table or figure of the paper."""

    name: str
    title: str
    settings: Settings
    runs: Mapping[Size, int]  # of each setting
    cell: Callable[[Parameters], Cell]  # of one point of a grid
    table: Callable[[Results], pd.DataFrame]
    figure: Callable[[pd.DataFrame, Results], Figure]  # like the paper's
    claims: Callable[[pd.DataFrame], list[Claim]]  # the paper's sentences, checked on the table

    def cells(self, size: Size, maps: str | None = None) -> list[Cell]:
        """The settings of a size; `maps` is the file of the cortical maps, where they are used."""
        points = [point for one in self.settings[size] for point in grid(one)]
        return [self.cell({**p, "source": maps} if "source" in p else p) for p in points]

    def finished(
        self, table: pd.DataFrame, runs: int, image: bytes = b"", minutes: float = 0.0
    ) -> Finished:
        """The experiment with its table and checked claims."""
        return Finished(self.name, self.title, table, self.claims(table), runs, image, minutes)


@dataclass(frozen=True)
class Finished:
    """A finished experiment; `image` is its figure as a PNG, `minutes` the time of one core."""

    name: str
    title: str
    table: pd.DataFrame
    claims: list[Claim]
    runs: int
    image: bytes = b""
    minutes: float = 0.0


def grid(parameters: Parameters) -> list[dict[str, Any]]:
    """Every combination of the parameters whose value is a tuple.

    Examples
    --------
    >>> grid({"n_samples": (50, 100), "relevance": 0.5})
    [{'n_samples': 50, 'relevance': 0.5}, {'n_samples': 100, 'relevance': 0.5}]
    """
    values = [value if isinstance(value, tuple) else (value,) for value in parameters.values()]
    return [dict(zip(parameters, chosen, strict=True)) for chosen in product(*values)]
