"""Forests grown from data: `grow`, with so many trees or until the selection has settled."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace as with_changes
from typing import Any, Literal

import numpy as np

from nullforest._util.errors import InputError
from nullforest._util.progress import Report, check_report, part_of
from nullforest.data.rank_table import RankTable
from nullforest.data.sample_columns import columns_about_samples
from nullforest.data.shadowed_table import ShadowedTable, shadowed
from nullforest.data.targets import Target, as_target
from nullforest.forest.blocks import kept_probes, native_forest, shared_forest
from nullforest.forest.forest import Forest, Trees
from nullforest.forest.settings import (
    DEPTH,
    MOST_BLOCK_CANDIDATES,
    ForestSettings,
    check_no_limit,
    default_candidates,
    n_threads,
    resolved_number,
    time_limit,
)
from nullforest.forest.virtual_probes import probe_tally
from nullforest.run import backends as compute
from nullforest.run.settling import Settling, last, settle
from nullforest.run.shadow_forest import given_copies, settling_copies, shadow_tally
from nullforest.selection.selection import Selection
from nullforest.tallies.tally import Tally


def grow(
    X: Any,
    y: Any,
    *,
    trees: int | Literal["auto"] = "auto",
    candidates: int | None = None,
    draw: Literal["node", "tree"] = "node",
    pool: int | None = None,
    samples: float = 0.5,
    replace: bool = False,
    criterion: str = "auto",
    min_leaf: int | None = None,
    min_split: int = 2,
    max_depth: int | None = DEPTH,
    min_gain: float = 0.0,
    sample_weight: Any = None,
    class_weight: Mapping[Any, float] | str | None = None,
    distance: Callable[[Any], Any] | None = None,
    probes: int | Literal["auto"] = "auto",
    shadows: int | Literal["auto"] = "auto",
    probe_seed: int | None = None,
    blocks: Any = None,
    adjust: Any = None,
    seed: int = 0,
    n_jobs: int = -1,
    keep_trees: bool | None = None,
    oob: bool = True,
    more: Forest | None = None,
    first_tree: int = 0,
    progress: Report | None = None,
    max_trees: int | None = None,
    max_seconds: float | None = None,
    feature_names: Iterable[str] | None = None,
    backend: Any = None,
) -> Forest:
    """Grow a random forest with exact splits, and take its tally.

    The same seed gives the same trees on any number of cores and any processor.

    Parameters
    ----------
    X : array-like, DataFrame, sparse matrix, RankTable or matrix on disk, (S, F)
        The data; NaN and masked values are missing. Columns of a DataFrame hold numbers, dates or
        categories (text too) and have different names; several levels of names are joined by an
        underscore. Categories without an order are tested against shadows. A
        :class:`~nullforest.run.RankTable` saves the sorting; its page lists the matrices on disk
        that can be read.
    y : array-like, (S,), (S, Q) or (S, S), or None
        Classes, numbers, or (criterion "neighbourhood") distances between the samples. None:
        Euclidean distances between the rows of X, for a forest without supervision. Survival times
        are a structured array of a boolean event and a time, as in scikit-survival, or a DataFrame
        of these two columns; the forest is grown on their log-rank scores.
    trees : int or "auto"
        Number of trees. "auto" grows them until the selection at a false discovery rate of .05 is
        expected to agree with that of another seed; see :mod:`nullforest.run.settling`.
    candidates : int, optional
        Features compared at a node; √F, at most 20 (60 with blocks), where not given. Shadows
        count as features.
    draw : {"node", "tree"}
        New candidates at every node, or one set per tree.
    pool : int, optional
        With draw="node": features a tree can use, from which its nodes draw.
    samples : float or int
        Share (float) or number (int) of the samples drawn for a tree.
    replace : bool
        Draw with replacement (a bootstrap).
    criterion : {"auto", "gini", "entropy", "variance", "logrank", "neighbourhood"}
        What a split should make small. "auto": Gini for classes (text, booleans, up to 20 distinct
        whole numbers), variance for other numbers, and for survival times "logrank", the variance
        of their log-rank scores.
    min_leaf, min_split : int
        Fewest samples in a leaf (where not given 1, and with survival times a tenth of a tree's
        samples, up to 10), and in a node that may be split.
    max_depth : int or None
        Most splits between the root and a leaf; None for no limit. Nodes below the third level
        have few samples, and features correlated with relevant ones are often selected there.
    min_gain : float
        Least decrease of impurity, weighted by the node's share of the tree.
    sample_weight : array-like, (S,), optional
        Weight of each sample.
    class_weight : dict or "balanced", optional
        Weight of each class.
    distance : callable, optional
        Makes the matrix of distances from y (from X where y is None).
    probes : int or "auto"
        Number of virtual probes, 0 for none. A virtual probe is a column of random ranks that is
        scored at nodes but never splits one; its wins estimate the null distribution. "auto" uses
        up to 3 500, which add up to a quarter to the time from 20 000 features on, and a larger
        share to the shorter time with fewer features; see
        :func:`nullforest.forest.probe_budget.default_number`.
    shadows : int or "auto"
        Number of shadows of each feature, 0 for none: copies of all columns, the rows of each copy
        permuted as a whole, which compete for nodes and give each feature a null distribution of
        its own. "auto" uses them, instead of probes, with trees="auto" and fewer than 500 features,
        and with blocks; see
        :func:`nullforest.data.shadowed_table.default_copies`.
    probe_seed : int, optional
        Seed of the probes and shadows; 0 where not given. Forests of all seeds then share them, so
        that their tallies add, and their selections differ less.
    blocks : array-like, (S,), or str, optional
        Block of each sample (site, batch, family), or the column of a DataFrame that holds it,
        which is then no feature. The rows of shadows are permuted within blocks, so that a feature
        is tested for its association with y given the block.
    adjust : array-like, (S,) or (S, K), DataFrame, str or list of str, optional
        Covariates of each sample (age), or columns of a DataFrame that hold them. Rows are permuted
        among samples with nearly the same covariates; see :mod:`nullforest.data.covariates`.
    seed : int
        Seed of the forest.
    n_jobs : int
        Threads; -1 for all cores.
    keep_trees : bool, optional
        Keep the trees to predict with. Where not given, they are kept if their number is given.
    oob : bool
        Compute out-of-bag predictions.
    more : Forest, optional
        A forest to extend by `trees` trees, on the same X, y and weights and with its settings; a
        setting that is given must be the same. The result equals one longer run.
    first_tree : int
        Number of the first tree: the tallies of trees [0, a) and [a, b) add up to that of [0, b).
    progress : callable, optional
        Called with (trees done, trees in all) a few times a second.
    max_trees : int, optional
        With trees="auto": largest number of trees. Where not given, as many as select a feature
        300 times on average, or have 40 million nodes.
    max_seconds : float, optional
        Return the trees finished by then, at least one; `Forest.stopped_early` says so.
    feature_names : iterable of str, optional
        Names, where X has none.
    backend : {"threads", "dask", "ray", "joblib"} or a Dask client, optional
        Where the trees are grown; see :func:`nullforest.parallel`. The forest is the same. Where
        not given, the backend of the `with nf.parallel(...)` around this call, if any.

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
    given, start = locals(), time.perf_counter()
    settings = ForestSettings(**{name: given[name] for name in ForestSettings.__dataclass_fields__})
    threads, limit = n_threads(n_jobs), time_limit(max_seconds)
    check_report(progress)
    if not (more is None or isinstance(more, Forest)):
        raise InputError(f"more = {more!r:.60} must be a forest grown by nullforest.grow.")
    if settings.trees == "auto":
        for name in ("X", "y", "trees", "max_trees"):
            del given[name]
        given["keep_trees"] = bool(keep_trees)
        rule = Settling(max_trees=max_trees)
        forest, selection = last(grow_settling(X, y, rule, **given))
        return with_changes(forest, settled=selection)
    check_no_limit(max_trees)
    X, blocks, adjust = columns_about_samples(X, blocks, adjust)
    table = RankTable.of(X, n_jobs, feature_names)
    target = as_target(
        y,
        table.shape[0],
        values=lambda: table.matrix,
        criterion=criterion if more is None else more.target.criterion,
        distance=distance,
        sample_weight=sample_weight,
        class_weight=class_weight,
        blocks=blocks,
        adjust=adjust,
    )
    if more is None:
        copies = given_copies(settings, table, target, keep_trees)
        if copies:
            settings = with_changes(settings, probe_seed=settings.probe_seed or 0)
            if target.blocks is not None and settings.candidates is None:
                columns = table.native.n_varying * (copies + 1)
                candidates = default_candidates(columns, MOST_BLOCK_CANDIDATES)
                settings = with_changes(settings, candidates=candidates)
            oob = oob and table.categories is None  # whose order knows the samples out of bag
            table = shadowed(table, copies, settings.probe_seed or 0, target, n_jobs)
        keep_trees = (not copies) if keep_trees is None else keep_trees
        if not (n_varying := table.native.n_varying):
            raise InputError("Every feature is constant, so that no node can be split.")
        settings = settings.resolved(
            (table.shape[0], n_varying),
            target.criterion,
            lambda: sum(table.strata.evaluable),
            copies,
        )
        oob = oob and (settings.replace or settings.samples < table.shape[0])
        oob = oob and target.criterion != "neighbourhood"
    else:
        _check_same_data(more, table, target)
        settings = settings.extending(more.settings, more.n_trees, table.shape[0])
        target = more.target  # equal, and the table keeps the probes made for it
        if copies := resolved_number(settings.shadows):
            seed_of_rows = resolved_number(settings.probe_seed)
            table = shadowed(table, copies, seed_of_rows, target, n_jobs)
        keep_trees, oob = more.trees is not None, "oob_sum" in more.sums
    if table.values is None and (keep_trees or oob):
        raise InputError(
            "The values of X were not kept with the table, so that trees have no thresholds; grow "
            "with keep_trees=False and oob=False, or build the table with keep_values=True."
        )
    where = compute.find(backend)
    sums = {} if more is None else more.sums
    task = settings, keep_trees, oob
    if where is None:
        raw = native_forest(table, target, task, sums, progress, limit, threads)
    else:
        raw = shared_forest(where, table, target, task, sums, progress, limit)
    forest = _forest_of(raw, table, target, settings)
    if more is not None:  # the sums of the later trees include those of the earlier
        trees = resolved_number(settings.trees) + more.n_trees
        forest.settings = with_changes(settings, trees=trees, first_tree=more.settings.first_tree)
        forest.tally = more.tally + forest.tally
        forest.seconds = more.seconds
        if more.trees is not None and forest.trees is not None:
            forest.trees = more.trees + forest.trees
    forest.seconds += time.perf_counter() - start
    return forest


def grow_settling(
    X: Any,
    y: Any,
    rule: Settling,
    *,
    more: Forest | None = None,
    progress: Report | None = None,
    max_seconds: float | None = None,
    n_jobs: int = -1,
    feature_names: Iterable[str] | None = None,
    before: int = 0,
    **settings: Any,
) -> Iterator[tuple[Forest, Selection]]:
    """Grow a forest until its selection has settled; yield it with its selection at each test.

    Parameters
    ----------
    rule : Settling
        Error rate and null model of the selection, and the largest number of trees.
    before : int
        Tests before the first at which the forest may end.
    X, y, more, progress, max_seconds, n_jobs, feature_names, **settings
        See :func:`grow`.
    """
    deadline = None if (limit := time_limit(max_seconds)) is None else time.monotonic() + limit
    about = [settings.get("blocks"), settings.get("adjust")]
    X, settings["blocks"], settings["adjust"] = columns_about_samples(X, *about)
    table = RankTable.of(X, n_jobs, feature_names)
    if more is None:
        settings["shadows"] = settling_copies(table, rule, settings)

    def grown(trees: int, forest: Forest | None, tell: Report | None) -> Forest:
        done = 0 if forest is None else forest.n_trees
        return grow(
            table,
            y,
            trees=trees - done,
            more=forest,
            progress=part_of(tell, done, trees),
            max_seconds=None if deadline is None else max(deadline - time.monotonic(), 1e-3),
            n_jobs=n_jobs,
            **settings,
        )

    return settle(rule, grown, more, progress, before)


def _check_same_data(more: Forest, table: RankTable, target: Target) -> None:
    """Refuse data other than those of the forest to extend, before any tree is grown."""
    known = more.tally
    same = table.shape == (known.n_samples, known.n_features)
    if not (same and (known.fingerprint or "").startswith(table.fingerprint)):
        raise InputError(
            f"The forest to extend was grown on different data ({known.n_samples} samples × "
            f"{known.n_features} features); give the same X."
        )
    names, own = known.feature_names, table.feature_names
    if names is not None and own is not None and not np.array_equal(names, own):
        raise InputError("The forest to extend names its features differently; give the same X.")
    if not np.array_equal(target.values, more.target.values):
        raise InputError("The forest to extend was grown on a different y; give the same y.")
    blocks: list[Any] = [target.blocks, more.target.blocks]
    if not np.array_equal(*blocks):
        raise InputError("The forest to extend was grown with other blocks; give the same blocks.")
    weights: list[Any] = [target.weight, more.target.weight]
    if not np.array_equal(*weights):  # None equals None only
        raise InputError(
            "The forest to extend was grown with other weights; give the same sample_weight and "
            "class_weight."
        )


def _forest_of(
    raw: dict[str, Any], table: RankTable, target: Target, settings: ForestSettings
) -> Forest:
    """The forest of which the kernel returned the sums."""
    probes = kept_probes(table, target, settings)
    grown = int(raw["n_trees"])
    counts, couplings, shadows, plain = raw["counts"], raw["couplings"], None, table
    if isinstance(table, ShadowedTable):
        counts, couplings, shadows = shadow_tally(raw, table)
        plain = table.plain
    tally = Tally(
        counts=counts,
        nodes_per_tree=raw["nodes_per_tree"],
        # All columns that vary are all that the trees can use.
        pool_per_tree=np.full(
            grown, table.shape[1] if settings.pool == table.native.n_varying else settings.pool
        ),
        candidates=settings.candidates,
        n_samples=table.shape[0],
        couplings=couplings,
        probes=None if probes is None else probe_tally(probes, settings, table, target, raw),
        shadows=shadows,
        feature_names=table.feature_names,
        # Probes and shadows carry the strata of the features.
        levels=table.levels if probes is None and shadows is None else None,
        splitter="best",
        source="nullforest",
        lineage=((settings.seed, settings.first_tree, grown),),
        fingerprint=f"{plain.fingerprint}{raw['outcome_fingerprint']:016x}",
        settings=settings.shape(),
    )
    early = bool(raw["stopped_early"])
    return Forest(
        tally=tally,
        trees=None if raw.get("trees") is None else Trees(raw["trees"]),
        classes=target.classes,
        settings=settings,
        seconds=0.0,
        stopped_early=early,
        note=f"Stopped by max_seconds after {grown} of {settings.trees} trees." if early else "",
        target=target,
        sums={k: raw[k] for k in ("importance", "oob_sum", "oob_trees") if k in raw},
    )
