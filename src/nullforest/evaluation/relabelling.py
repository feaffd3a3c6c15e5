"""Forests on permuted labels: what a forest selects without a relation to the target."""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import InputError
from nullforest._util.progress import Report, silent, step_of
from nullforest._util.randomness import LABELS, forest_seed, stream
from nullforest.data.rank_table import RankTable
from nullforest.data.survival_times import survival_of
from nullforest.run import backends as compute
from nullforest.run.forest import Forest
from nullforest.run.growing import grow


class Labels:
    """y, ready to be permuted, within blocks where given.

    Parameters
    ----------
    y : array-like, (S,), (S, Q), or (S, S) distances
        The target; survival times move together with their events.
    blocks : array-like, (S,), optional
        Labels are exchanged only between samples of the same block (the visits of a person, the
        patients of a site).
    sample_weight : array-like, (S,), optional
        Permuted with the labels.
    distances : bool
        y holds distances between samples, so that rows and columns move together.
    """

    def __init__(
        self, y: Any, *, blocks: Any = None, sample_weight: Any = None, distances: bool = False
    ) -> None:
        if y is None:
            raise InputError("There are no labels to permute: y is None.")
        survival = survival_of(y)
        self.y = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
        self.y = self.y if survival is None else survival
        self.weight = None if sample_weight is None else np.asarray(sample_weight)
        self.distances = distances
        self.blocks = None if blocks is None else self._checked(blocks)

    @classmethod
    def for_forest(cls, y: Any, blocks: Any, settings: dict[str, Any]) -> Labels:
        """The labels of forests of these settings, from which the sample weights are taken out."""
        weight = settings.pop("sample_weight", None)
        distances = settings.get("criterion") == "neighbourhood" and "distance" not in settings
        return cls(y, blocks=blocks, sample_weight=weight, distances=distances)

    def _checked(self, blocks: Any) -> NDArray[np.int64]:
        codes = np.unique(np.asarray(blocks).astype(str), return_inverse=True)[1]
        if codes.shape != (len(self.y),):
            raise InputError(
                f"blocks has the shape {codes.shape} for {len(self.y)} samples; give one each."
            )
        flat = self.y.reshape(len(self.y), -1)
        if flat.dtype.names is not None:
            flat = np.column_stack([self.y[name].astype(float) for name in flat.dtype.names])
        varies = any(
            len(np.unique(flat[codes == b], axis=0)) > 1 for b in range(int(codes.max()) + 1)
        )
        if not varies:
            raise InputError(
                "The label is constant within every block, so that no permutation within blocks "
                "changes it; give one sample per block to permute whole blocks, or omit blocks."
            )
        return codes.astype(np.int64)

    def order(self, seed: int, permutation: int) -> NDArray[np.int64]:
        """The sample whose label each sample receives in this permutation."""
        generator = stream(seed, LABELS, permutation)
        if self.blocks is None:
            return generator.permutation(len(self.y))
        order = np.arange(len(self.y))
        for block in range(int(self.blocks.max()) + 1):
            members = np.flatnonzero(self.blocks == block)
            order[members] = generator.permutation(members)
        return order

    def permuted(self, order: NDArray[np.int64]) -> dict[str, Any]:
        """The arguments of `grow` that a permutation changes."""
        y = self.y[np.ix_(order, order)] if self.distances else self.y[order]
        return {"y": y} if self.weight is None else {"y": y, "sample_weight": self.weight[order]}


def grow_permuted(
    table: RankTable,
    labels: Labels,
    permutations: int,
    *,
    seed: int,
    first: int = 0,
    least: int = 1,
    deadline: float | None = None,
    progress: Report = silent,
    **settings: Any,
) -> Iterator[Forest]:
    """Grow a forest for each of the permutations `first` to `permutations` - 1, in order.

    Permutation b and the seed of its forest depend on (seed, b) alone. Ends early, between two
    whole forests, when the clock passes `deadline` (of `time.monotonic`); the `least` first
    permutations are always finished.
    """
    backend = compute.find(settings.pop("backend", None))
    if backend is not None:
        shared = (table, labels, seed, settings | {"n_jobs": 1})
        n_grown = first
        for end, limit in [(least, None), (permutations, deadline)]:
            tasks = range(n_grown, min(end, permutations))
            for forest in compute.each(_permuted_forest, shared, tasks, backend, deadline=limit):
                n_grown += 1
                progress(n_grown, permutations)
                yield forest
        return
    for b in range(first, permutations):
        seconds = None if deadline is None or b < least else deadline - monotonic()
        if seconds is not None and seconds <= 0:
            return
        limits = {"max_seconds": seconds, "progress": step_of(progress, b, permutations)}
        forest = _permuted_forest(table, labels, seed, settings | limits, b)
        if forest.stopped_early:
            return
        progress(b + 1, permutations)
        yield forest


def _permuted_forest(
    table: RankTable, labels: Labels, seed: int, settings: dict[str, Any], permutation: int
) -> Forest:
    return grow(
        table,
        seed=forest_seed(seed, LABELS, permutation),
        backend="threads",
        **labels.permuted(labels.order(seed, permutation)),
        **settings,
    )
