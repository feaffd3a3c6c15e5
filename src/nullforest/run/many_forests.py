"""Many forests on one rank table, one for each target."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from nullforest._util.errors import InputError
from nullforest._util.progress import Report, check_report
from nullforest.data.rank_table import RankTable
from nullforest.forest.forest import Forest
from nullforest.forest.settings import paper_settings
from nullforest.run import backends as compute
from nullforest.run.growing import grow


def grow_many(
    X: Any,
    labels: Sequence[Any] | Any,
    *,
    seeds: Sequence[int] | None = None,
    n_jobs: int = -1,
    keep_trees: bool = False,
    oob: bool = False,
    progress: Report | None = None,
    feature_names: Iterable[str] | None = None,
    backend: Any = None,
    **settings: Any,
) -> list[Forest]:
    """Grow one forest per target; X is ranked once.

    Parameters
    ----------
    labels : sequence of y
        One target after the other.
    seeds : sequence of int, optional
        Seed of each forest; all `seed` (default 0) where not given.
    keep_trees, oob : bool
        Off: many forests are usually grown for their tallies.
    progress : callable, optional
        Called with (forests done, forests in all).
    X, n_jobs, feature_names, backend, **settings
        See :func:`grow`; a cluster grows one forest on each worker. Where the number of trees is
        not given, it is F/10 between 1 000 and 10 000, the same for all.

    Returns
    -------
    list of Forest

    Examples
    --------
    >>> import numpy as np, nullforest as nf
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(50, 100)), np.arange(50) % 2
    >>> permuted = [rng.permutation(y) for _ in range(3)]
    >>> [forest.n_trees for forest in nf.grow_many(X, permuted, trees=20)]
    [20, 20, 20]
    """
    check_report(progress)
    table = RankTable.of(X, n_jobs, feature_names)
    settings = {"trees": paper_settings(table.shape[1])["trees"]} | settings
    targets = list(labels)
    if seeds is not None and len(seeds) != len(targets):
        raise InputError(f"{len(seeds)} seeds for {len(targets)} targets; give one each.")
    settings |= {"keep_trees": keep_trees, "oob": oob}
    seeded = [{} if seeds is None else {"seed": seed} for seed in seeds or targets]
    where = compute.find(backend)
    forests: list[Forest] = []
    for forest in compute.each(
        _one_forest,
        (table, settings | {"n_jobs": n_jobs if where is None else 1}),
        list(zip(targets, seeded, strict=True)),
        where,
    ):
        forests.append(forest)
        if progress is not None:
            progress(len(forests), len(targets))
    return forests


def _one_forest(
    table: RankTable, settings: dict[str, Any], task: tuple[Any, dict[str, int]]
) -> Forest:
    y, seed = task
    return grow(table, y, backend="threads", **(settings | seed))
