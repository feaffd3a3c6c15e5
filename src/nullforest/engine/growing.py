"""How is a forest grown? `grow` for one outcome, `grow_many` for many on one ranking."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from dataclasses import replace as with_changes
from typing import Any, Literal

import numpy as np

from nullforest import compute
from nullforest._util.errors import InputError
from nullforest.engine.blocks import kept_probes, native_forest, shared_forest
from nullforest.engine.data.rank_table import RankTable, n_threads
from nullforest.engine.data.targets import Target, as_target
from nullforest.engine.forest import Forest, Trees
from nullforest.engine.probes.sampling import ProbePlan, plan_probes, tally_of
from nullforest.engine.settings import Plan, make_plan, whole_seed
from nullforest.tallies.tally import Tally

Progress = Callable[[int, int], object]


def grow(
    X: Any,
    y: Any,
    *,
    trees: int | None = None,
    candidates: int | None = None,
    draw: Literal["node", "tree"] = "node",
    pool: int | None = None,
    samples: float = 0.5,
    replace: bool = False,
    criterion: str = "auto",
    min_leaf: int = 1,
    min_split: int = 2,
    max_depth: int | None = None,
    min_gain: float = 0.0,
    sample_weight: Any = None,
    class_weight: Mapping[Any, float] | str | None = None,
    distance: Callable[[Any], Any] | None = None,
    probes: int | Literal["auto"] = "auto",
    probe_seed: int | None = None,
    seed: int = 0,
    n_jobs: int = -1,
    keep_trees: bool = True,
    oob: bool = True,
    more: Forest | None = None,
    first_tree: int = 0,
    progress: Progress | None = None,
    max_seconds: float | None = None,
    feature_names: Iterable[str] | None = None,
    backend: Any = None,
) -> Forest:
    """Grow a random forest, exactly and fast, and tally what it chose.

    The same seed gives the same trees on any number of cores and any processor.

    Parameters
    ----------
    X : array-like, DataFrame, sparse matrix, RankTable or matrix on disk, (S, F)
        The data; NaN means missing. A :class:`~nullforest.engine.RankTable` saves the sorting, and
        says which matrices on disk can be read.
    y : array-like, (S,), (S, Q) or (S, S), or None
        Classes, numbers, or (criterion "neighbourhood") distances between the samples. None:
        Euclidean distances between the rows of X, for a forest without supervision.
    trees : int, optional
        Number of trees; F/10 between 1 000 and 10 000 where not given.
    candidates : int, optional
        Features compared at a node; F/20 between √F and 1 000 where not given.
    draw : {"node", "tree"}
        New candidates at every node, or one set per tree.
    pool : int, optional
        With draw="node": features a tree can use, from which its nodes draw.
    samples : float or int
        Share (float) or number (int) of the samples drawn for a tree.
    replace : bool
        Draw with replacement (a bootstrap).
    criterion : {"auto", "gini", "entropy", "variance", "neighbourhood"}
        What a split should make small. "auto": Gini for classes (text, booleans, up to 20 distinct
        whole numbers), variance for other numbers.
    min_leaf, min_split : int
        Fewest samples in a leaf, and in a node that may be split.
    max_depth : int, optional
        Most splits between the root and a leaf.
    min_gain : float
        Least decrease of impurity, weighted by the node's share of the tree.
    sample_weight : array-like, (S,), optional
        Weight of each sample.
    class_weight : dict or "balanced", optional
        Weight of each class.
    distance : callable, optional
        Makes the matrix of distances from y (from X where y is None).
    probes : int or "auto"
        Virtual probes to ask at the nodes how a null feature fares; 0 for none. They do not
        change the trees. "auto" asks about 2 000, which adds up to a quarter to the time from
        20 000 features on; the fewer features, the larger the share (of a smaller forest), see
        :func:`nullforest.engine.probes.sampling.default_number`.
    probe_seed : int, optional
        Seed of the probes; `seed` where not given. Forests of different seeds whose tallies are
        to be added should ask the same probes.
    seed : int
        Seed of the forest.
    n_jobs : int
        Threads; -1 for all cores.
    keep_trees, oob : bool
        Keep the trees to predict with; compute out-of-bag predictions.
    more : Forest, optional
        Go on from this forest with `trees` more trees; settings are taken from it. The result
        equals one longer run.
    first_tree : int
        Number of the first tree: forests over [0, a) and [a, b) add up to that over [0, b).
    progress : callable, optional
        Called with (trees done, trees in all) a few times a second.
    max_seconds : float, optional
        Return the trees finished by then; `Forest.stopped_early` says so.
    feature_names : iterable of str, optional
        Names, where X has none.
    backend : {"threads", "dask", "ray", "joblib"} or a Dask client, optional
        Who grows the trees; see :func:`nullforest.parallel`. The forest is the same. Where not
        given, the engine of the `with nf.parallel(...)` around this call, if any.

    Returns
    -------
    Forest

    Examples
    --------
    >>> import numpy as np, nullforest as nf
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 300))
    >>> y = X[:, 7] + 0.3 * rng.normal(size=100) > 0
    >>> forest = nf.grow(X, y, trees=200)
    >>> int(forest.tally.counts.argmax())
    7
    """
    start = time.perf_counter()
    table = (
        X if isinstance(X, RankTable) else RankTable(X, n_jobs=n_jobs, feature_names=feature_names)
    )
    target = as_target(
        y,
        n_samples=table.shape[0],
        X=table.matrix if y is None else np.empty((table.shape[0], 0)),
        criterion=criterion if more is None else more.target.criterion,
        distance=distance,
        sample_weight=sample_weight,
        class_weight=class_weight,
    )
    if more is None:
        plan = make_plan(
            *table.shape,
            trees=trees,
            candidates=candidates,
            draw=draw,
            pool=pool,
            samples=samples,
            replace=replace,
            min_leaf=min_leaf,
            min_split=min_split,
            max_depth=max_depth,
            min_gain=min_gain,
            seed=seed,
            first_tree=first_tree,
        )
        probe_seed = plan.seed if probe_seed is None else whole_seed("probe_seed", probe_seed)
        plan = with_changes(
            plan, probes=plan_probes(table, probes, probe_seed, plan.pool, plan.candidates)
        )
    else:
        plan = _continued(more, trees, table)
        keep_trees, oob = more.trees is not None, "oob_sum" in more.sums
    where = compute.find(backend)
    forest = _grow(table, target, plan, keep_trees, oob, n_jobs, progress, max_seconds, more, where)
    forest.seconds = time.perf_counter() - start + (0.0 if more is None else more.seconds)
    return forest


def grow_many(
    X: Any,
    labels: Sequence[Any] | Any,
    *,
    seeds: Sequence[int] | None = None,
    n_jobs: int = -1,
    keep_trees: bool = False,
    oob: bool = False,
    progress: Progress | None = None,
    feature_names: Iterable[str] | None = None,
    backend: Any = None,
    **settings: Any,
) -> list[Forest]:
    """Grow one forest per outcome; X is ranked once.

    Parameters
    ----------
    X : array-like, DataFrame or RankTable, (S, F)
        The data.
    labels : sequence of y
        One outcome after the other, as :func:`grow` takes them.
    seeds : sequence of int, optional
        Seed of each forest; all `seed` (default 0) where not given.
    n_jobs : int
        Threads; -1 for all cores.
    keep_trees, oob : bool
        As in :func:`grow`, but off: many forests are usually wanted for their tallies.
    progress : callable, optional
        Called with (forests done, forests in all).
    feature_names : iterable of str, optional
        Names, where X has none.
    backend
        Who grows the forests, one each; see :func:`grow`.
    **settings
        All other settings of :func:`grow`.

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
    table = (
        X if isinstance(X, RankTable) else RankTable(X, n_jobs=n_jobs, feature_names=feature_names)
    )
    outcomes = list(labels)
    if seeds is not None and len(seeds) != len(outcomes):
        raise InputError(f"{len(seeds)} seeds for {len(outcomes)} outcomes; give one each.")
    settings |= {"keep_trees": keep_trees, "oob": oob}
    seeded = [{} if seeds is None else {"seed": int(seed)} for seed in seeds or outcomes]
    where = compute.find(backend)
    forests: list[Forest] = []
    for forest in compute.each(
        _one_forest,
        (table, settings | {"n_jobs": n_jobs if where is None else 1}),
        list(zip(outcomes, seeded, strict=True)),
        where,
    ):
        forests.append(forest)
        if progress is not None:
            progress(len(forests), len(outcomes))
    return forests


def _one_forest(
    table: RankTable, settings: dict[str, Any], task: tuple[Any, dict[str, int]]
) -> Forest:
    y, seed = task
    return grow(table, y, backend="threads", **(settings | seed))


def _continued(more: Forest, trees: int | None, table: RankTable) -> Plan:
    """The plan of the trees that follow on `more`."""
    known = more.tally
    if table.shape != (known.n_samples, known.n_features) or not (
        known.fingerprint or ""
    ).startswith(f"{table.native.fingerprint:016x}"):
        raise InputError(
            f"The forest was grown on different data ({known.n_samples} samples × "
            f"{known.n_features} features); give the same X to go on from it."
        )
    settings = dict(more.settings)
    done = len(more.tally.nodes_per_tree)
    settings["first_tree"] += done
    plan = Plan(**settings | {"probes": ProbePlan(**settings["probes"])})
    return plan if trees is None else with_changes(plan, trees=int(trees))


def _grow(
    table: RankTable,
    target: Target,
    plan: Plan,
    keep_trees: bool,
    oob: bool,
    n_jobs: int,
    progress: Progress | None,
    max_seconds: float | None,
    more: Forest | None,
    where: compute.Backend | None,
) -> Forest:
    S = table.shape[0]
    oob = oob and (plan.replace or plan.n_drawn < S) and target.criterion != "neighbourhood"
    if table.values is None and (keep_trees or oob):
        raise InputError(
            "The values of X were not kept with the table, so that trees have no thresholds; grow "
            "with keep_trees=False and oob=False, or build the table with keep_values=True."
        )
    asking = plan.probes
    sums = {} if more is None else more.sums
    if where is None:
        raw = native_forest(
            table, target, plan, keep_trees, oob, n_threads(n_jobs), sums, progress, max_seconds
        )
    else:
        raw = shared_forest(
            where, table, target, plan, keep_trees, oob, sums, progress, max_seconds
        )
    probes = kept_probes(table, target, plan)  # those that were asked
    grown = int(raw["n_trees"])
    tally = Tally(
        counts=raw["counts"],
        nodes_per_tree=raw["nodes_per_tree"],
        pool_per_tree=np.full(grown, plan.pool),
        candidates=plan.candidates,
        n_samples=S,
        couplings=raw["couplings"],
        probes=None
        if probes is None or asking is None
        else tally_of(probes, asking, table, target, raw),
        feature_names=table.feature_names,
        splitter="best",
        source="nullforest",
        lineage=((plan.seed, plan.first_tree, grown),),
        fingerprint=f"{table.native.fingerprint:016x}{raw['outcome_fingerprint']:016x}",
        settings={"criterion": target.criterion, **plan.shape()},
    )
    trees = Trees(raw["trees"]) if keep_trees else None
    settings = asdict(plan)
    if more is not None:
        tally = more.tally + tally
        trees = more.trees + trees if more.trees is not None and trees is not None else None
        settings["first_tree"] = more.settings["first_tree"]
    note = ""
    if raw["stopped_early"]:
        note = f"stopped by max_seconds after {grown} of {plan.trees} trees"
    return Forest(
        tally=tally,
        trees=trees,
        classes=target.classes,
        settings=settings,
        seconds=0.0,
        stopped_early=bool(raw["stopped_early"]),
        note=note,
        target=target,
        sums={k: raw[k] for k in ("importance", "oob_sum", "oob_trees") if k in raw},
    )
