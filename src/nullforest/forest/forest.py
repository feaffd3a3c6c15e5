"""A grown forest: its tally, its trees, and their predictions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nullforest import _native
from nullforest._util.errors import InputError
from nullforest.data.rank_table import values_of
from nullforest.data.targets import Target
from nullforest.forest.concordance import concordance_index
from nullforest.forest.settings import ForestSettings, n_threads
from nullforest.tallies.tally import Tally


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


@dataclass(eq=False, repr=False)
class Forest:
    """A forest grown by :func:`nullforest.grow`.

    Attributes
    ----------
    tally : Tally
        Its selection counts with what is needed to test them.
    trees : Trees or None
        The trees themselves, where kept.
    classes : array or None
        Class labels in the order of the columns of :meth:`predict_proba`.
    settings : ForestSettings
        The settings it was grown with, all filled in.
    seconds : float
        Time it took to grow (ranking included where `grow` ranked X).
    stopped_early : bool
        Whether `max_seconds` ended the growth. The finished trees are the first ones of the
        forest, so they equal a run with that many trees.
    note : str
        A remark on the growth, if any.
    settled : Selection or None
        With trees="auto": the selection at which the growth ended.

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
    classes: NDArray[Any] | None
    settings: ForestSettings
    seconds: float
    stopped_early: bool
    note: str
    target: Target
    sums: dict[str, NDArray[Any]] = field(default_factory=dict)
    settled: Any = field(default=None, repr=False)

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
            followed = survival[seen]
            return concordance_index(followed["event"], followed["time"], prediction[seen])
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
