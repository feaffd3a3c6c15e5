"""A grown forest: its tally, its trees, and their predictions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nullforest import _native
from nullforest._util.checks import n_threads
from nullforest._util.errors import InputError
from nullforest.data.dataset import Dataset
from nullforest.data.rank_table import values_of
from nullforest.data.shadowed_table import ShadowedTable
from nullforest.data.targets import Target
from nullforest.forest.grower import Grower, Sums
from nullforest.forest.null_column_budget import evaluation_rates, trees_evaluated
from nullforest.forest.settings import TreeSettings
from nullforest.forest.trees import Trees
from nullforest.tallies.null_columns import NullColumns
from nullforest.tallies.tally import Tally

#: Sums of a forest that are no part of its tally.
_SUMS = ("importance", "oob_sum", "oob_trees")


@dataclass(eq=False, repr=False)
class Forest:
    """A forest grown by :func:`nullforest.grow`.

    Attributes
    ----------
    tally : Tally
        Its selection counts with what is needed to test them.
    trees : Trees or None
        The trees themselves, where kept.
    settings : TreeSettings
        The settings it was grown with, all filled in.
    seconds : float
        Time it took to grow (ranking included where `grow` ranked X).
    stopped_early : bool
        Whether `max_seconds` ended the growth. The finished trees are the first ones of the
        forest, so they equal a run with that many trees.
    note : str
        How the growth ended, where it ended early.
    target : Target
        What it predicts.
    remarks : tuple of str
        Sentences about the data that a reader of the result should see.

    Examples
    --------
    >>> import nullforest as nf
    >>> X, y, relevant = nf.simulate.independent(100, 300, n_relevant=5, relevance=0.6)
    >>> forest = nf.grow(X, y, trees=400)
    >>> forest.tally.n_trees, forest.predict(X).shape, bool(forest.oob_score > 0.8)
    (400, (100,), True)
    """

    tally: Tally
    trees: Trees | None
    settings: TreeSettings
    target: Target
    seconds: float = 0.0
    stopped_early: bool = False
    note: str = ""
    remarks: tuple[str, ...] = ()
    sums: Sums = field(default_factory=dict)

    @classmethod
    def of_sums(cls, raw: dict[str, Any], grower: Grower, data: Dataset, first_tree: int) -> Forest:
        """The forest of which the kernel returned the sums."""
        return cls(
            tally=_tally(raw, grower, data, first_tree),
            trees=None if raw.get("trees") is None else Trees(raw["trees"]),
            settings=grower.settings,
            target=data.target,
            stopped_early=bool(raw["stopped_early"]),
            remarks=data.notes,
            sums={name: raw[name] for name in _SUMS if name in raw},
        )

    def followed_by(self, later: Forest) -> Forest:
        """The forest with later trees, whose sums include those of its own."""
        trees = self.trees
        if trees is not None and later.trees is not None:
            trees = trees + later.trees
        return replace(
            later,
            tally=self.tally + later.tally,
            trees=trees,
            settings=self.settings,
            seconds=self.seconds + later.seconds,
        )

    @property
    def classes(self) -> NDArray[Any] | None:
        """Class labels in the order of the columns of :meth:`predict_proba`."""
        return self.target.classes

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences that a reader of the result should see."""
        return (*self.remarks, *([self.note] if self.note else ()))

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return self.tally.n_trees

    @property
    def gini_importance(self) -> NDArray[np.float64]:
        """Decrease of impurity by each feature, as a share of that of all features."""
        sums: NDArray[np.float64] = self.sums["importance"]
        total = sums.sum()
        return sums / total if total > 0 else sums.copy()

    @property
    def oob_prediction(self) -> NDArray[np.float64]:
        """Mean prediction of each sample by the trees that did not draw it: class shares, or means.

        With a survival target the means are of log-rank scores: risks, high for early events.
        NaN for a sample that every tree drew.
        """
        if "oob_sum" not in self.sums:
            raise InputError(
                "No out-of-bag predictions: grow with oob=True and samples below 1, and without "
                "categories, whose order knows all samples."
            )
        trees = self.sums["oob_trees"].astype(np.float64)
        trees[trees == 0] = np.nan
        mean: NDArray[np.float64] = self.sums["oob_sum"] / trees[:, None]
        return mean[:, 0] if self.classes is None and self.target.flat else mean

    @property
    def oob_score(self) -> float:
        """Accuracy (classes), R² (numbers) or concordance (survival) of out-of-bag predictions.

        R² is the mean over outputs; the concordance is Harrell's index.
        """
        prediction = self.oob_prediction
        seen = ~np.isnan(prediction.reshape(len(prediction), -1)[:, 0])
        if not seen.any():
            raise InputError("Every tree drew every sample; grow more trees, or samples below 1.")
        truth = self.target.values[seen]
        if self.classes is not None:
            return float(np.mean(prediction[seen].argmax(axis=1) == truth))
        if (survival := self.target.survival) is not None:
            from nullforest.forest.concordance import concordance_index

            times = survival[seen]
            return concordance_index(times["event"], times["time"], prediction[seen])
        error = ((truth - prediction[seen].reshape(truth.shape)) ** 2).sum(axis=0)
        total = ((truth - truth.mean(axis=0)) ** 2).sum(axis=0)
        return float(np.mean(1.0 - error / np.where(total > 0, total, 1.0)))

    def predict_proba(self, X: Any, *, n_jobs: int = -1) -> NDArray[np.float64]:
        """Mean over the trees of the class shares in each sample's leaf."""
        if self.classes is None:
            raise InputError("This forest predicts numbers, not classes; use predict(X).")
        return self._sent_down(_native.predict, X, n_jobs)

    def predict(self, X: Any, *, n_jobs: int = -1) -> NDArray[Any]:
        """The class with the largest mean share, or the mean number.

        With a survival target the number is a risk, the mean log-rank score of the leaves: high
        for early events.

        Examples
        --------
        >>> import numpy as np, nullforest as nf
        >>> X = np.random.default_rng(0).normal(size=(60, 20))
        >>> forest = nf.grow(X, X[:, 0] > 0, trees=50, candidates=10)
        >>> bool(np.mean(forest.predict(X) == (X[:, 0] > 0)) > 0.9)
        True
        """
        if self.target.criterion == "neighbourhood":
            raise InputError("A forest on distances predicts no value; use apply(X).")
        mean: NDArray[np.float64] = self._sent_down(_native.predict, X, n_jobs)
        if self.classes is not None:
            labels: NDArray[Any] = self.classes[mean.argmax(axis=1)]
            return labels
        return mean[:, 0] if self.target.flat else mean

    def apply(self, X: Any, *, n_jobs: int = -1) -> NDArray[np.int32]:
        """Number of the leaf that each sample ends in, per tree: (S, T)."""
        return self._sent_down(_native.apply, X, n_jobs)

    def _sent_down(self, kernel: Callable[..., NDArray[Any]], X: Any, n_jobs: int) -> NDArray[Any]:
        if self.trees is None:
            raise InputError("The trees were not kept; grow with keep_trees=True to predict.")
        values, shape = values_of(X)
        if shape[1] != self.tally.n_features:
            raise InputError(
                f"X has {shape[1]} features; the forest was grown on {self.tally.n_features}."
            )
        return kernel(self.trees.arrays, values, shape[0], n_threads(n_jobs))

    def __repr__(self) -> str:
        ending = f"; {self.note}" if self.note else ""
        return f"<Forest: {self.tally!r}, {self.seconds:.3g} s{ending}>"


def _tally(raw: dict[str, Any], grower: Grower, data: Dataset, first_tree: int) -> Tally:
    """What the trees selected, with what is needed to test it."""
    settings, table, n_trees = grower.settings, grower.table, int(raw["n_trees"])
    counts, couplings, null_columns = raw["counts"], raw["couplings"], None
    if isinstance(table, ShadowedTable):
        counts = counts.reshape(table.copies + 1, -1)
        couplings = couplings.reshape(*counts.shape, -1)
        null_columns = NullColumns.of_shadows(counts, couplings, table.shadow_strata, table.rows)
        counts, couplings = counts[0], couplings[0]
    elif (probes := grower.probes) is not None:
        rates = evaluation_rates(table.n_varying, settings.pool, settings.candidates)
        order = np.argsort(probes.ids)
        null_columns = NullColumns(
            kind="probes",
            ids=probes.ids[order],
            wins=raw["probe_wins"][order],
            trees=np.full(len(order), trees_evaluated(n_trees, rates)),
            strata=probes.strata[order],
            feature_strata=table.strata.features,
            couplings=raw["probe_couplings"],
            weights=probes.weights[order],
            mean_r2=data.mean_r2,
        )
    return Tally(
        counts=counts,
        nodes_per_tree=raw["nodes_per_tree"],
        pool_per_tree=np.full(n_trees, settings.pool),
        candidates=settings.candidates,
        n_samples=table.shape[0],
        n_constant=data.table.shape[1] - data.table.n_varying,
        couplings=couplings,
        null_columns=null_columns,
        feature_names=table.feature_names,
        # Null columns carry the strata of the features.
        levels=table.levels if null_columns is None else None,
        splitter="best",
        source="nullforest",
        lineage=((settings.seed, first_tree, n_trees),),
        fingerprint=f"{data.table.fingerprint}{raw['outcome_fingerprint']:016x}",
        settings=settings.shape,
    )
