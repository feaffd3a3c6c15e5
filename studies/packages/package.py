"""The interface of a test in another package: whether it is installed, and its result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class PackageTask:
    """One data set and the settings that all forests on it share."""

    X: NDArray[Any]
    y: NDArray[Any]
    classes: bool
    trees: int
    candidates: int
    samples: int
    replace: bool
    permutations: int
    rounds: int
    alpha: float
    seed: int
    n_jobs: int


@dataclass(frozen=True)
class PackageResult:
    """p-values (NaN where there are none), the selection if it has a rule of its own, the cost.

    `seconds` is the time of the test alone, where data are passed to another process. `importance`
    is the statistic of each feature, where the package gives it.
    """

    pvalues: NDArray[np.float64]
    support: NDArray[np.bool_] | None
    forests: int
    seconds: float | None = None
    importance: NDArray[np.float64] | None = None


class OtherPackage(Protocol):
    """A test in another package."""

    @property
    def title(self) -> str:
        """The test, with its package."""
        ...

    @property
    def survival(self) -> bool:
        """Whether it takes survival times."""
        ...

    def missing(self) -> str:
        """Why it cannot be run here; empty if it can."""
        ...

    def run(self, task: PackageTask) -> PackageResult:
        """Test one data set."""
        ...
