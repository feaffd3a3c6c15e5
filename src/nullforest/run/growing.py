"""The doors of a run: forests of so many trees or until settled, watched, or kept in a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from inspect import signature
from typing import Any, Literal

from nullforest._util.errors import InputError
from nullforest._util.progress import Report
from nullforest.data.dataset import Dataset
from nullforest.data.rank_table import RankTable
from nullforest.data.targets import Task
from nullforest.forest.settings import DEPTH, ForestSettings, paper_settings
from nullforest.nulls import Kind
from nullforest.run import backends
from nullforest.run.forest import Forest
from nullforest.run.forest_checkpoint import SAVE_EVERY, ForestCheckpoint
from nullforest.run.run import Run, check_run
from nullforest.run.schedule import Question
from nullforest.selection.error_rates import ErrorRate
from nullforest.selection.selection import Selection

_OF_SETTINGS = [setting.name for setting in fields(ForestSettings)]
_OF_DATA = [name for name in signature(Dataset.of).parameters if name not in ("X", "y")]


def grow(
    X: Any,
    y: Any = None,
    *,
    trees: int | Literal["auto"] = "auto",
    candidates: int | None = None,
    draw: Literal["node", "tree"] = "node",
    pool: int | None = None,
    samples: float = 0.5,
    replace: bool = False,
    task: Task = "auto",
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
    X : array-like, DataFrame, sparse matrix, matrix on disk, RankTable or Dataset, (S, F)
        The data; NaN and masked values are missing. Columns of a DataFrame hold numbers, dates or
        categories (text too) and have different names; several levels of names are joined by an
        underscore. Categories without an order are tested against shadows. A
        :class:`~nullforest.RankTable` saves the sorting; its page lists the matrices on disk that
        can be read. A :class:`~nullforest.Dataset` has its target, so that y is omitted.
    y : array-like, (S,), (S, Q) or (S, S), or None
        Classes, numbers, or (criterion "neighbourhood") distances between the samples. None:
        Euclidean distances between the rows of X, for a forest without supervision. Survival times
        are a structured array of a boolean event and a time, as in scikit-survival, or a DataFrame
        of these two columns; the forest is grown on their log-rank scores.
    trees : int or "auto"
        Number of trees. "auto" grows them until the selection at a false discovery rate of .05 is
        expected to agree with that of another seed; see :mod:`nullforest.run.schedule`.
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
    task : {"auto", "classification", "regression"}
        What y is. "auto": text, booleans, any two values and up to six distinct whole numbers are
        classes, everything else is numbers to predict.
    criterion : {"auto", "gini", "entropy", "variance", "logrank", "neighbourhood"}
        What a split should make small. "auto": Gini for classes, variance for numbers, and for
        survival times "logrank", the variance of their log-rank scores.
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
        :func:`nullforest.forest.null_column_budget.default_number`.
    shadows : int or "auto"
        Number of shadows of each feature, 0 for none: copies of all columns, the rows of each copy
        permuted as a whole, which compete for nodes and give each feature a null distribution of
        its own. "auto" uses them, instead of probes, with trees="auto" and fewer than 500 features,
        and with blocks; see
        :func:`nullforest.forest.null_column_budget.default_copies`.
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
    return run_of(**locals()).forest()


def run_of(X: Any, y: Any, *, question: Question | None = None, **settings: Any) -> Run:
    """The run on a data set, with settings that are sorted to their owners and checked.

    Parameters
    ----------
    X, y, **settings
        See :func:`grow`.
    question : Question, optional
        Error rate and null model.
    """
    of_trees, of_data = (
        {name: settings.pop(name) for name in names if name in settings}
        for names in (_OF_SETTINGS, _OF_DATA)
    )
    trees, more = ForestSettings(**of_trees), settings.get("more")
    n_jobs = of_data.get("n_jobs", -1)
    # Before the ranking, which takes a while.
    check_run(n_jobs, settings.get("max_seconds"), settings.get("progress"))
    has_criterion = isinstance(X, Dataset) or of_data.get("criterion", "auto") != "auto"
    if isinstance(more, Forest) and not has_criterion:
        of_data["criterion"] = more.target.criterion
    data = Dataset.of(X, y, **of_data)
    return Run(data, trees, question, n_jobs=n_jobs, **settings)


def watch(
    X: Any,
    y: Any = None,
    alpha: float = 0.05,
    error: ErrorRate = "fdr",
    null: Kind = "auto",
    **settings: Any,
) -> Selection:
    """Grow a forest and select its features, with the trajectory over the number of trees.

    The selection is the one that :func:`nullforest.grow` and :func:`nullforest.select` give. The
    report and the plots show its `trajectory`.

    Parameters
    ----------
    X, y, **settings
        See :func:`nullforest.grow`.
    alpha, error, null
        Error rate and null model; see :func:`nullforest.select`.

    Returns
    -------
    Selection
        With its `trajectory`, and the `effects` of all features.

    Examples
    --------
    >>> import numpy as np, nullforest as nf
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(100, 200)), np.arange(100) % 2
    >>> X[:, :3] += 2 * y[:, None]
    >>> selection = nf.watch(X, y, error="fwer", trees=200)
    >>> selection.trajectory.trees[-3:].tolist(), selection.trajectory.n_selected[-3:].tolist()
    ([126, 159, 200], [3, 3, 3])
    """
    question = Question(alpha, error, null)
    settings = {"keep_trees": False} | settings
    return run_of(X, y, question=question, watched=True, **settings).answer()[1]


def resume(
    X: Any,
    y: Any,
    folder: Any,
    *,
    save_every: float = SAVE_EVERY,
    **settings: Any,
) -> Forest:
    """Grow a forest that is kept in a folder: begin it, or resume where it stopped.

    The forest equals that of one uninterrupted :func:`nullforest.grow` to the last bit. Its trees
    are not kept, only their tally and their out-of-bag predictions.

    Parameters
    ----------
    X, y
        The data; see :func:`nullforest.grow`.
    folder : path
        Where the forest is kept; made where it is missing. A forest on other data or with other
        settings is refused.
    save_every : float
        Seconds between two savings.
    **settings
        See :func:`nullforest.grow`. A later call may give more trees.

    Returns
    -------
    Forest

    Examples
    --------
    >>> import numpy as np, nullforest as nf, tempfile
    >>> X = np.random.default_rng(0).normal(size=(60, 50))
    >>> folder = tempfile.mkdtemp()
    >>> part = nf.resume(X, X[:, 3] > 0, folder, trees=40)
    >>> whole = nf.resume(X, X[:, 3] > 0, folder, trees=100)
    >>> whole.tally == nf.grow(X, X[:, 3] > 0, trees=100).tally
    True
    """
    run = run_of(X, y, **settings | {"keep_trees": False})
    with ForestCheckpoint(
        folder, run.data, run.settings, oob=run.oob, save_every=save_every
    ) as checkpoint:
        return replace(run, checkpoint=checkpoint).forest()


def select_table(
    data: Dataset,
    *,
    alpha: float = 0.05,
    error: ErrorRate = "fdr",
    null: Kind = "auto",
    **settings: Any,
) -> Selection:
    r"""Select the features of a data set that a forest uses to predict its target.

    The selection knows what the files say of each feature (`annotations`), where it lies in them
    (`columns`), and the direction and size of its effect, as that of `nullforest select` does.

    Parameters
    ----------
    data : Dataset
        From :func:`nullforest.read_table`; its blocks and covariates are taken into account.
    alpha, error, null
        As in :func:`nullforest.select`.
    **settings
        Of the forest; see :func:`nullforest.grow`.

    Returns
    -------
    Selection

    Examples
    --------
    >>> import numpy as np, nullforest as nf, pandas as pd, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> X = np.random.default_rng(0).normal(size=(80, 600))
    >>> frame = pd.DataFrame(X).add_prefix("gene ").assign(ill=np.where(X[:, 4] > 0, "yes", "no"))
    >>> frame.to_csv(path, index=False)
    >>> nf.select_table(nf.read_table(path, "ill"), trees=300).selected.tolist()
    ['gene 4']
    """
    question = Question(alpha, error, null)
    settings = {"keep_trees": False, "oob": False} | settings
    return run_of(data, None, question=question, **settings).answer()[1]


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
    check_run(n_jobs, None, progress)
    table = RankTable.of(X, n_jobs, feature_names)
    settings = {"trees": paper_settings(table.shape[1])["trees"]} | settings
    targets = list(labels)
    if seeds is not None and len(seeds) != len(targets):
        raise InputError(f"{len(seeds)} seeds for {len(targets)} targets; give one each.")
    settings |= {"keep_trees": keep_trees, "oob": oob}
    seeded = [{} if seeds is None else {"seed": seed} for seed in seeds or targets]
    cluster = backends.find(backend)
    forests: list[Forest] = []
    for forest in backends.each(
        _one_forest,
        (table, settings | {"n_jobs": n_jobs if cluster is None else 1}),
        list(zip(targets, seeded, strict=True)),
        cluster,
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
