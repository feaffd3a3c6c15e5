"""Trees: the arrays of their nodes, one tree after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Tree:
    """One tree: arrays over its nodes, in preorder; node 0 is the root.

    Attributes
    ----------
    feature : int32
        Feature that splits the node; -1 in a leaf.
    threshold : float64
        A sample goes left when its value is at most this.
    left, right : int32
        Children; -1 in a leaf.
    missing_left : uint8
        Whether a missing value goes left.
    value : (nodes, classes or outputs) float64
        Class shares or means of the training samples.
    n_samples : uint32
        Training samples in the node.
    impurity : float64
        Impurity of the node.
    """

    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    missing_left: NDArray[np.uint8]
    value: NDArray[np.float64]
    n_samples: NDArray[np.uint32]
    impurity: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.feature)


_ARRAYS = tuple(Tree.__dataclass_fields__)


@dataclass(frozen=True, eq=False)
class Trees:
    """All trees, one after the other in flat arrays; `trees[t]` is a view of one."""

    arrays: dict[str, NDArray[Any]]

    @property
    def offsets(self) -> NDArray[np.int64]:
        """First node of each tree in the flat arrays, and the end of the last tree."""
        return self.arrays["offsets"]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, t: int) -> Tree:
        if not -len(self) <= t < len(self):
            raise IndexError(f"tree {t} of {len(self)}")
        span = slice(*self.offsets[t % len(self) :][:2])
        return Tree(**{name: self.arrays[name][span] for name in _ARRAYS})

    def __iter__(self) -> Iterator[Tree]:
        return (self[t] for t in range(len(self)))

    def __add__(self, other: Trees) -> Trees:
        return Trees.joined([self, other])

    @staticmethod
    def joined(parts: Sequence[Trees]) -> Trees:
        """The trees of several parts, one part after the other."""
        arrays = {n: np.concatenate([part.arrays[n] for part in parts]) for n in _ARRAYS}
        lengths = np.concatenate([np.diff(part.offsets) for part in parts])
        arrays["offsets"] = np.concatenate([[0], np.cumsum(lengths)])
        return Trees(arrays)
