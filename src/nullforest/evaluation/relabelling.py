"""Forests on permuted labels: what a forest selects without a relation to the target."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from inspect import signature
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import InputError
from nullforest._util.progress import Report, silent, step_of
from nullforest._util.randomness import LABELS, forest_seed, stream
from nullforest.data.dataset import Dataset
from nullforest.data.rank_table import RankTable
from nullforest.data.targets import Target
from nullforest.run import backends
from nullforest.run.forest import Forest
from nullforest.run.growing import grow


def dataset_of(X: Any, y: Any, settings: dict[str, Any], **of_data: Any) -> Dataset:
    """The data set of a test, ranked once; settings of the data are taken out of `settings`."""
    names = signature(Dataset.of).parameters.keys() & settings.keys()
    data = Dataset.of(X, y, **of_data, **{name: settings.pop(name) for name in names})
    return replace(data, X=data.table.numeric())


def without_blocks(data: Dataset) -> Dataset:
    """The data set of a forest without shadows: blocks limit only how labels are permuted."""
    return Dataset(data.table, replace(data.target, blocks=None))


def permutable(X: Any, y: Any, blocks: Any, settings: dict[str, Any], n_jobs: int) -> Dataset:
    """The data set as `dataset_of` makes it; labels that no permutation changes are refused."""
    if y is None and not isinstance(X, Dataset):
        raise InputError("There are no labels to permute: y is None.")
    data = dataset_of(X, y, settings, n_jobs=n_jobs, blocks=blocks)
    values, blocks = data.target.values.reshape(data.n_samples, -1), data.target.blocks
    if blocks is not None and not any(
        len(np.unique(values[blocks == block], axis=0)) > 1 for block in np.unique(blocks)
    ):
        raise InputError(
            "The label is constant within every block, so that no permutation within blocks "
            "changes it; give one sample per block to permute whole blocks, or omit blocks."
        )
    return data


def label_order(
    n_samples: int, blocks: NDArray[np.int64] | None, seed: int, permutation: int
) -> NDArray[np.int64]:
    """The sample whose label each sample receives; one of the same block, where there are any."""
    generator = stream(seed, LABELS, permutation)
    if blocks is None:
        return generator.permutation(n_samples)
    order = np.arange(n_samples)
    for block in range(int(blocks.max()) + 1):
        members = np.flatnonzero(blocks == block)
        order[members] = generator.permutation(members)
    return order


def permuted(target: Target, seed: int, permutation: int) -> Target:
    """The target with its labels permuted, with which times, events and weights move."""
    order = label_order(len(target.values), target.blocks, seed, permutation)
    rows = np.ix_(order, order) if target.criterion == "neighbourhood" else order
    return replace(
        target,
        values=target.values[rows],
        weight=None if target.weight is None else target.weight[order],
        survival=None if target.survival is None else target.survival[order],
        blocks=None,
    )


def grow_permuted(
    data: Dataset,
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
    backend = backends.find(settings.pop("backend", None))
    if backend is not None:
        shared = (data.table, data.target, seed, settings | {"n_jobs": 1})
        n_grown = first
        for end, limit in [(least, None), (permutations, deadline)]:
            tasks = range(n_grown, min(end, permutations))
            for forest in backends.each(_permuted_forest, shared, tasks, backend, deadline=limit):
                n_grown += 1
                progress(n_grown, permutations)
                yield forest
        return
    for b in range(first, permutations):
        seconds = None if deadline is None or b < least else deadline - monotonic()
        if seconds is not None and seconds <= 0:
            return
        limits = {"max_seconds": seconds, "progress": step_of(progress, b, permutations)}
        forest = _permuted_forest(data.table, data.target, seed, settings | limits, b)
        if forest.stopped_early:
            return
        progress(b + 1, permutations)
        yield forest


def _permuted_forest(
    table: RankTable, target: Target, seed: int, settings: dict[str, Any], permutation: int
) -> Forest:
    data = Dataset(table, permuted(target, seed, permutation))
    return grow(data, seed=forest_seed(seed, LABELS, permutation), backend="threads", **settings)
