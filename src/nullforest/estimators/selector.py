"""How does it join a scikit-learn pipeline? A selector that fits a forest and judges its counts."""

from __future__ import annotations

from time import perf_counter
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, check_random_state, validate_data

from nullforest._util.errors import InputError
from nullforest.nulls import Kind
from nullforest.selection.error_rates import ErrorRate
from nullforest.selection.selection import select
from nullforest.tallies.readers import tally as take_tally


class ForestSelector(SelectorMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Keep the features that a random forest uses more often than chance explains.

    Parameters
    ----------
    estimator : forest, optional
        A scikit-learn forest that is cloned and fitted, or, with `prefit=True`, used as it is.
        Where none is given, nullforest's own forest is grown.
    alpha : float, default 0.05
        The error rate to hold.
    error : {"fdr", "fpr", "fdr_by", "fwer"}, default "fdr"
        Which error rate; see :func:`nullforest.selection.error_rates.decide`.
    null : {"auto", "probes", "bagged", "paper"}, default "auto"
        How a null feature behaves; see :func:`nullforest.null`.
    prefit : bool, default False
        The estimator is fitted already; `fit` only reads it.
    trees, candidates, draw, samples, replace, criterion, min_leaf, max_depth
        Settings of nullforest's own forest; see :func:`nullforest.grow`.
    random_state : int, RandomState or None, default 0
        Seed of nullforest's own forest.
    n_jobs : int, default -1
        Cores that nullforest's own forest uses; the result does not depend on it.

    Attributes
    ----------
    selection_ : Selection
        The answer: p-values, table, threshold.
    tally_ : Tally
        What the forest chose.
    estimator_ : forest
        The fitted forest.
    n_features_in_, feature_names_in_
        The features seen in `fit`.

    Examples
    --------
    >>> import numpy as np, nullforest as nf
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(100, 200)), np.arange(100) % 2
    >>> X[:, :3] += 2 * y[:, None]
    >>> selector = nf.ForestSelector(alpha=0.05, error="fwer").fit(X, y)
    >>> selector.get_support(indices=True)
    array([0, 1, 2])
    >>> selector.transform(X).shape
    (100, 3)
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        alpha: float = 0.05,
        error: ErrorRate = "fdr",
        null: Kind = "auto",
        prefit: bool = False,
        trees: int | None = None,
        candidates: int | None = None,
        draw: Literal["node", "tree"] = "node",
        samples: float = 0.5,
        replace: bool = False,
        criterion: str = "auto",
        min_leaf: int = 1,
        max_depth: int | None = None,
        random_state: Any = 0,
        n_jobs: int = -1,
    ) -> None:
        self.estimator = estimator
        self.alpha = alpha
        self.error = error
        self.null = null
        self.prefit = prefit
        self.trees = trees
        self.candidates = candidates
        self.draw = draw
        self.samples = samples
        self.replace = replace
        self.criterion = criterion
        self.min_leaf = min_leaf
        self.max_depth = max_depth
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, **fit_params: Any) -> Self:
        """Grow or read the forest, and judge its features.

        Parameters
        ----------
        X : (n_samples, n_features) array, sparse matrix or DataFrame
        y : (n_samples,) array
            Labels or numbers to predict.
        **fit_params
            Passed on to the estimator's `fit`.
        """
        start = perf_counter()
        if self.prefit:
            if self.estimator is None:
                raise InputError("prefit=True needs a fitted forest as estimator.")
            validate_data(self, X, accept_sparse=["csr", "csc"], ensure_all_finite="allow-nan")
            self.estimator_ = self.estimator
        elif self.estimator is not None:
            # The forest sees X itself, so that it checks it by its own rules and keeps its names.
            validate_data(self, X, accept_sparse=["csr", "csc"], ensure_all_finite="allow-nan")
            self.estimator_ = clone(self.estimator).fit(X, y, **fit_params)
        else:
            self.estimator_ = self._grown(X, y, fit_params)
        names = getattr(self, "feature_names_in_", None)
        self.tally_ = take_tally(self.estimator_, feature_names=names)
        if self.tally_.n_features != self.n_features_in_:
            raise InputError(
                f"The forest was fitted on {self.tally_.n_features} features, but X has "
                f"{self.n_features_in_}; give the data that the forest was fitted on."
            )
        self.selection_ = select(
            self.tally_, self.alpha, self.error, self.null, seconds=perf_counter() - start
        )
        return self

    def _grown(self, X: Any, y: Any, fit_params: dict[str, Any]) -> Any:
        from nullforest.engine import grow

        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse=["csr", "csc"],
            dtype=[np.float64, np.float32],
            ensure_all_finite="allow-nan",
            ensure_min_samples=2,
            multi_output=True,
        )
        seed = self.random_state
        if not isinstance(seed, int | np.integer):
            seed = int(check_random_state(seed).randint(2**31 - 1))
        return grow(
            X,
            y,
            trees=self.trees,
            candidates=self.candidates,
            draw=self.draw,
            samples=self.samples,
            replace=self.replace,
            criterion=self.criterion,
            min_leaf=self.min_leaf,
            max_depth=self.max_depth,
            seed=seed,
            n_jobs=self.n_jobs,
            keep_trees=False,
            **fit_params,
        )

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self, "selection_")
        return np.asarray(self.selection_.support)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        inner = None if self.estimator is None else get_tags(self.estimator).input_tags
        tags.input_tags.sparse = inner is None or inner.sparse
        tags.input_tags.allow_nan = inner is None or inner.allow_nan
        return tags
