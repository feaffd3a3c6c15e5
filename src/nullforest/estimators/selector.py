"""A scikit-learn selector: grows or reads a forest and tests its selection counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from time import perf_counter
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted, validate_data

from nullforest._util.errors import InputError
from nullforest.engine.data.dense import checked_columns
from nullforest.engine.data.targets import refuse_masked
from nullforest.estimators.arguments import keep_arguments, whole_seed
from nullforest.estimators.forest_estimator import X_RULES
from nullforest.nulls import Kind
from nullforest.selection.error_rates import ERROR_RATES, ErrorRate
from nullforest.selection.selection import Selection, select
from nullforest.tallies.levels import levels_of_data
from nullforest.tallies.readers import tally as take_tally
from nullforest.tallies.tally import Tally


class ForestSelector(SelectorMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Select the features that a random forest uses more often than is expected under the null.

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
        Null model of the counts; see :func:`nullforest.null`.
    prefit : bool, default False
        The estimator is fitted already. `fit` reads it, and `transform` can be called without.
    min_features : int, optional
        Fewest features to keep. Where fewer are significant, those with the smallest p-values are
        kept too, and a note of the selection says so. With 0 `transform` may return no column;
        where not given, it raises an error in that case.
    trees, candidates, draw, samples, replace, criterion, min_leaf, max_depth, class_weight
        Settings of nullforest's own forest; see :func:`nullforest.grow`.
    random_state : int, RandomState or None, default 0
        Seed of nullforest's own forest.
    n_jobs : int, default -1
        Cores that nullforest's own forest uses; the result does not depend on it.

    Attributes
    ----------
    selection_ : Selection
        Significant features, with p-values, table and threshold.
    support_ : (F,) bool
        Features that are kept: the significant ones, and those that `min_features` adds.
    tally_ : Tally
        Selection counts of the forest.
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
        min_features: int | None = None,
        trees: int | None = None,
        candidates: int | None = None,
        draw: Literal["node", "tree"] = "node",
        samples: float = 0.5,
        replace: bool = False,
        criterion: str = "auto",
        min_leaf: int = 1,
        max_depth: int | None = None,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        random_state: Any = 0,
        n_jobs: int = -1,
    ) -> None:
        keep_arguments(self, locals())

    def fit(self, X: Any, y: Any = None, *, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Grow or read the forest, and test its features.

        Parameters
        ----------
        X : (n_samples, n_features) array, sparse matrix or DataFrame
        y : (n_samples,) array
            Labels or numbers to predict.
        sample_weight : (n_samples,) array, optional
            Weight of each sample.
        **fit_params
            Passed to the `fit` of the estimator, by its metadata requests where scikit-learn's
            metadata routing is enabled, or to :func:`nullforest.grow`.
        """
        start = perf_counter()
        X, names = checked_columns(X)
        refuse_masked(y)
        if sample_weight is not None:
            fit_params["sample_weight"] = sample_weight
        if self.estimator is None:
            self.estimator_ = self._grown(X, y, fit_params)
            self.tally_ = take_tally(self.estimator_, feature_names=names)
        else:
            rules = {"accept_sparse": ["csr", "csc"], "ensure_all_finite": "allow-nan"}
            values = validate_data(self, X, **rules)
            # The forest sees X itself, so that it checks it by its own rules and keeps its names.
            self.estimator_ = self._fitted(X, y, fit_params)
            self.tally_ = take_tally(self.estimator_, feature_names=names)
            if self.tally_.n_features != self.n_features_in_:
                raise InputError(
                    f"The forest was fitted on {self.tally_.n_features} features, but X has "
                    f"{self.n_features_in_}; give the data that the forest was fitted on."
                )
            self.tally_ = replace(self.tally_, levels=levels_of_data(values))
        self.selection_, self.support_ = self._tested(self.tally_, perf_counter() - start)
        return self

    def _fitted(self, X: Any, y: Any, fit_params: dict[str, Any]) -> Any:
        """The given forest, fitted unless it is already."""
        if self.class_weight is not None:
            raise InputError(
                "class_weight is a setting of nullforest's own forest; set it on the estimator."
            )
        if self.prefit:
            return self.estimator
        if get_config()["enable_metadata_routing"]:
            fit_params = process_routing(self, "fit", **fit_params).estimator.fit
        return clone(self.estimator).fit(X, y, **fit_params)

    def _grown(self, X: Any, y: Any, fit_params: dict[str, Any]) -> Any:
        """A forest of nullforest's own."""
        from nullforest.engine import grow

        if self.prefit:
            raise InputError("prefit=True needs a fitted forest as estimator.")
        X, y = validate_data(self, X, y, ensure_min_samples=2, multi_output=True, **X_RULES)
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
            class_weight=self.class_weight,
            seed=whole_seed(self.random_state),
            n_jobs=self.n_jobs,
            keep_trees=False,
            **fit_params,
        )

    def _tested(self, tally: Tally, seconds: float | None) -> tuple[Selection, NDArray[np.bool_]]:
        """The significant features, and those that are kept."""
        least = 0 if self.min_features is None else self.min_features
        if isinstance(least, bool) or not isinstance(least, int | np.integer) or least < 0:
            raise InputError(f"min_features = {least!r} must be a whole number, 0 or more.")
        selection = select(tally, self.alpha, self.error, self.null, seconds=seconds)
        support = selection.support.copy()
        if selection.n_selected < min(least, tally.n_features):
            order = np.lexsort((-tally.counts, selection.pvalues))
            support[order[:least]] = True
            note = (
                f"min_features={least} keeps the {int(support.sum())} features with the smallest "
                f"p-values; {selection.n_selected} of them are significant."
            )
            selection = replace(selection, notes=(*selection.notes, note))
        return selection, support

    def transform(self, X: Any) -> Any:
        """Reduce X to the features that are kept.

        Parameters
        ----------
        X : (n_samples, n_features) array, sparse matrix or DataFrame

        Returns
        -------
        (n_samples, n_kept) array, sparse matrix or DataFrame
        """
        if self.min_features is None and not self.get_support().any():
            raise InputError(
                f"{type(self).__name__} selected none of the {len(self.get_support())} features "
                f"at a {ERROR_RATES[self.error]} of {self.alpha:g}, so that the next step would "
                "have no column. Set min_features=1 to keep the most significant feature, or "
                "min_features=0 to allow a table without columns."
            )
        return super().transform(X)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        if self.prefit and self.estimator is not None and not hasattr(self, "support_"):
            return self._tested(take_tally(self.estimator), None)[1]
        check_is_fitted(self, "support_")
        return self.support_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "support_") or (self.prefit and self.estimator is not None)

    def get_metadata_routing(self) -> Any:
        """Metadata that `fit` uses itself, and passes on to the estimator.

        Returns
        -------
        MetadataRouter
        """
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        if self.estimator is not None:
            mapping = MethodMapping().add(caller="fit", callee="fit")
            router.add(estimator=self.estimator, method_mapping=mapping)
        return router

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        inner = None if self.estimator is None else get_tags(self.estimator).input_tags
        tags.input_tags.sparse = inner is None or inner.sparse
        tags.input_tags.allow_nan = inner is None or inner.allow_nan
        return tags
