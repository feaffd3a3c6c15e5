"""What must a peer be able to do? Say whether it is here, and answer for one data set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class PeerTask:
    """One data set and the settings that all forests on it share."""

    X: NDArray[Any]
    y: NDArray[Any]
    classes: bool
    trees: int
    candidates: int
    n_drawn: int
    replace: bool
    permutations: int
    rounds: int
    alpha: float
    seed: int
    n_jobs: int


@dataclass(frozen=True)
class PeerAnswer:
    """p-values (NaN where the peer gives none), its own choice if it has one, and its cost."""

    pvalues: NDArray[np.float64]
    support: NDArray[np.bool_] | None
    forests: int


class Peer(Protocol):
    """A test in another package."""

    #: What it is, with its package.
    title: str

    def missing(self) -> str:
        """Why it cannot be used here; empty if it can."""
        ...

    def run(self, task: PeerTask) -> PeerAnswer:
        """Answer for one data set."""
        ...
