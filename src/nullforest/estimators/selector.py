"""A scikit-learn selector: grows or reads a forest and tests its selection counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from time import perf_counter
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted, validate_data

from nullforest._util.errors import InputError
from nullforest.data.dense import as_names, checked_columns, column_names
from nullforest.data.effects import Effects
from nullforest.data.targets import Task, refuse_masked
from nullforest.estimators.arguments import (
    X_RULES,
    MinFeaturesMixin,
    checked_data,
    keep_arguments,
    whole_seed,
)
from nullforest.nulls import Kind
from nullforest.run.growing import run_of
from nullforest.run.run import Run
from nullforest.run.schedule import Question
from nullforest.selection.error_rates import ErrorRate
from nullforest.selection.selection import Selection, select
from nullforest.tallies.favoured_columns import levels_of_data, mixed_levels
from nullforest.tallies.readers import tally as take_tally
from nullforest.tallies.tally import Tally

#: Settings of a run that are arguments of the selector under the same name.
_OF_RUN = (
    *("trees", "candidates", "draw", "samples", "replace", "min_leaf", "max_depth"),
    *("task", "criterion", "class_weight", "max_trees", "max_seconds", "n_jobs"),
)


class ForestSelector(MinFeaturesMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Select the features that a random forest uses more often than is expected under the null.

    Parameters
    ----------
    estimator : forest, optional
        A scikit-learn forest that is cloned and fitted, or, with `prefit=True`, used as it is.
        Where none is given, nullforest's own forest is grown. On columns of different kinds (two
        values and many) a second clone is fitted beside shadows, permuted copies of the columns,
        and tested instead.
    alpha : float, default 0.05
        The error rate to hold.
    error : {"fdr", "fpr", "fdr_by", "fwer"}, default "fdr"
        Which error rate; see :func:`nullforest.selection.error_rates.decide`.
    null : {"auto", "probes", "shadows", "bagged", "paper"}, default "auto"
        Null model of the counts; see :func:`nullforest.null`.
    prefit : bool, default False
        The estimator is fitted already. `fit` reads it, and `transform` can be called without.
    min_features : int, optional
        Fewest features to keep. Where fewer are significant, those with the smallest p-values are
        kept too, and a note of the selection says so. With 0 `transform` may return no column;
        where not given, it raises an error in that case.
    trees, candidates, draw, samples, replace, task, criterion, min_leaf, max_depth, max_trees, \
            max_seconds, class_weight
        Settings of nullforest's own forest; see :func:`nullforest.grow`. With trees="auto" it
        grows until its selection has settled.
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
        trees: int | Literal["auto"] = "auto",
        candidates: int | None = None,
        draw: Literal["node", "tree"] = "node",
        samples: float = 0.5,
        replace: bool = False,
        task: Task = "auto",
        criterion: str = "auto",
        min_leaf: int | None = None,
        max_depth: int | None = 3,
        max_trees: int | None = None,
        max_seconds: float | None = None,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        random_state: Any = 0,
        n_jobs: int = -1,
    ) -> None:
        keep_arguments(self, locals())

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sample_weight: Any = None,
        blocks: Any = None,
        adjust: Any = None,
        **fit_params: Any,
    ) -> Self:
        """Grow or read the forest, and test its features.

        Parameters
        ----------
        X : (n_samples, n_features) array, sparse matrix or DataFrame
            Without an estimator, a DataFrame may hold categories, text and dates.
        y : (n_samples,) array
            Labels or numbers to predict, or events and times; see :func:`nullforest.grow`.
        sample_weight : (n_samples,) array, optional
            Weight of each sample.
        blocks : (n_samples,) array or str, optional
            Block of each sample, such as its site or batch, or the column of X that holds it, which
            is then not kept: features are tested for association with y within blocks; see
            :func:`nullforest.grow`. Not with an estimator.
        adjust : array, DataFrame, str or list of str, optional
            Covariates of each sample, such as its age, or columns of X that hold them; likewise.
        **fit_params
            Passed to the `fit` of the estimator, by its metadata requests where scikit-learn's
            metadata routing is enabled, or to :func:`nullforest.grow`.
        """
        start = perf_counter()
        self._min_features()  # checked before the forest is grown
        if not isinstance(self.prefit, bool | np.bool_):
            raise InputError(f"prefit = {self.prefit!r:.60} must be True or False.")
        refuse_masked(y)
        used: Any = slice(None)
        if sample_weight is not None:
            fit_params["sample_weight"] = sample_weight
        if self.estimator is None:
            run = self._run(X, y, {"blocks": blocks, "adjust": adjust, **fit_params})
            self.estimator_, selection = run.answer()
            self.tally_, used = self.estimator_.tally, run.data.columns
        else:
            X, names = checked_columns(X)
            if blocks is not None or adjust is not None:
                raise InputError(
                    "blocks and adjust need shadows, which only nullforest's own forest has; omit "
                    "the estimator."
                )
            rules = {"accept_sparse": ["csr", "csc"], "ensure_all_finite": "allow-nan"}
            values = validate_data(self, X, **rules)
            # The forest sees X itself, so that it checks it by its own rules and keeps its names.
            self.estimator_ = self._fitted(X, y, fit_params)
            fitted_here = None if self.prefit else values.shape[0]
            self.tally_ = take_tally(self.estimator_, feature_names=names, n_samples=fitted_here)
            if self.tally_.n_features != self.n_features_in_:
                raise InputError(
                    f"The forest was fitted on {self.tally_.n_features} features, but X has "
                    f"{self.n_features_in_}; give the data that the forest was fitted on."
                )
            self.tally_ = replace(self.tally_, levels=levels_of_data(values))
            if self._needs_shadows():
                self.tally_ = self._shadowed(values, y, names, fit_params)
            selection = self._selected(self.tally_)
            selection = replace(selection, effects=self._effects(values, y))
        selection = replace(selection, seconds=perf_counter() - start)
        self.selection_, kept = self._with_smallest(selection, selection.support)
        self.support_ = np.zeros(self.n_features_in_, bool)
        self.support_[used] = kept
        return self

    def _effects(self, X: Any, y: Any) -> Effects | None:
        """Direction and size of all features, by what the given forest took y for."""
        from nullforest.data.effect_sizes import effect_sizes

        try:
            return effect_sizes(X, y, "gini" if is_classifier(self.estimator_) else "variance")
        except InputError:  # several outputs, or one class
            return None

    def _needs_shadows(self) -> bool:
        """Whether the given forest cannot be tested by its own counts alone."""
        if self.null == "shadows":
            return True
        return bool(self.null == "auto" and not self.prefit and mixed_levels(self.tally_.levels))

    def _shadowed(self, values: Any, y: Any, names: Any, fit_params: dict[str, Any]) -> Tally:
        """The tally of such a forest that was fitted beside shadows of the features."""
        from nullforest.estimators.shadow_fit import copies_for, shadow_tally_of

        if self.prefit:
            raise InputError('null="shadows" fits the forest beside shadows; omit prefit=True.')
        copies, table = copies_for(values, self.n_jobs)
        if get_config()["enable_metadata_routing"]:
            fit_params = process_routing(self, "fit", **fit_params).estimator.fit
        found = shadow_tally_of(self.estimator, values, y, copies, table, **fit_params)
        return found if names is None else replace(found, feature_names=as_names(names))

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

    def _run(self, X: Any, y: Any, settings: dict[str, Any]) -> Run:
        """The run of nullforest's own forest."""
        if self.prefit:
            raise InputError("prefit=True needs a fitted forest as estimator.")
        names = None
        if hasattr(X, "columns") and hasattr(X, "to_numpy"):
            column_names(X)  # equal ones are refused
            validate_data(self, X, skip_check_array=True)  # columns of any kind
        else:
            X, names = checked_columns(X)
            X, y = checked_data(self, X, y, ensure_min_samples=2, **X_RULES)
        settings = {name: getattr(self, name) for name in _OF_RUN} | settings
        return run_of(
            X,
            y,
            question=Question(self.alpha, self.error, self.null),
            seed=whole_seed(self.random_state),
            keep_trees=settings.pop("keep_trees", False),
            feature_names=names,
            **settings,
        )

    def _selected(self, tally: Tally) -> Selection:
        """The significant features."""
        return select(tally, self.alpha, self.error, self.null)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        if self.prefit and self.estimator is not None and not hasattr(self, "support_"):
            selection = self._selected(take_tally(self.estimator))
            return self._with_smallest(selection, selection.support)[1]
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
            mapping.add(caller="fit_transform", callee="fit")  # pipelines of scikit-learn < 1.8
            router.add(estimator=self.estimator, method_mapping=mapping)
        return router

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        inner = None if self.estimator is None else get_tags(self.estimator).input_tags
        tags.input_tags.sparse = inner is None or inner.sparse
        tags.input_tags.allow_nan = inner is None or inner.allow_nan
        return tags
