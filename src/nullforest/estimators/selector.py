"""A scikit-learn selector: grows or reads a forest and tests its selection counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from time import perf_counter
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from nullforest._util.errors import InputError
from nullforest.data.dense import checked_columns, column_names
from nullforest.data.effect_sizes import effect_sizes
from nullforest.data.rank_table import RankTable
from nullforest.data.shadowed_table import permuted_rows
from nullforest.data.targets import Task, refuse_masked
from nullforest.estimators.arguments import X_RULES, MinFeaturesMixin, checked_data, whole_seed
from nullforest.forest.null_column_budget import LEAST_COPIES, default_copies
from nullforest.nulls import Kind
from nullforest.nulls.distribution import Ints
from nullforest.run.growing import run_of
from nullforest.run.run import Run
from nullforest.run.schedule import Question
from nullforest.selection.error_rates import ErrorRate
from nullforest.selection.selection import Selection, select
from nullforest.tallies.favoured_columns import mixed_levels
from nullforest.tallies.null_columns import NullColumns
from nullforest.tallies.readers import tally as take_tally
from nullforest.tallies.tally import Tally

#: Settings of a run that are arguments of the selector under the same name.
_OF_RUN = (
    *("trees", "candidates", "draw", "samples", "replace", "min_leaf", "max_depth"),
    *("task", "criterion", "class_weight", "max_trees", "max_seconds", "n_jobs"),
)


@dataclass(eq=False, repr=False)
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

    estimator: Any = None
    _: KW_ONLY
    alpha: float = 0.05
    error: ErrorRate = "fdr"
    null: Kind = "auto"
    prefit: bool = False
    min_features: int | None = None
    trees: int | Literal["auto"] = "auto"
    candidates: int | None = None
    draw: Literal["node", "tree"] = "node"
    samples: float = 0.5
    replace: bool = False
    task: Task = "auto"
    criterion: str = "auto"
    min_leaf: int | None = None
    max_depth: int | None = 3
    max_trees: int | None = None
    max_seconds: float | None = None
    class_weight: Mapping[Any, float] | Literal["balanced"] | None = None
    random_state: Any = 0
    n_jobs: int = -1

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
            if blocks is not None or adjust is not None:
                raise InputError(
                    "blocks and adjust need shadows, which only nullforest's own forest has; omit "
                    "the estimator."
                )
            selection = self._tested(X, y, fit_params)
        selection = replace(selection, seconds=perf_counter() - start)
        self.selection_, kept = self._with_smallest(selection, selection.support)
        self.support_ = np.zeros(self.n_features_in_, bool)
        self.support_[used] = kept
        return self

    def _tested(self, X: Any, y: Any, fit_params: dict[str, Any]) -> Selection:
        """The selection of the forest of another library; sets `estimator_` and `tally_`."""
        X, names = checked_columns(X)
        rules = {"accept_sparse": ["csr", "csc"], "ensure_all_finite": "allow-nan"}
        values = validate_data(self, X, **rules)
        if self.class_weight is not None:
            raise InputError(
                "class_weight is a setting of nullforest's own forest; set it on the estimator."
            )
        if get_config()["enable_metadata_routing"] and not self.prefit:
            fit_params = process_routing(self, "fit", **fit_params).estimator.fit
        # The forest sees X itself, so that it checks it by its own rules and keeps its names.
        self.estimator_ = (
            self.estimator if self.prefit else clone(self.estimator).fit(X, y, **fit_params)
        )
        n_samples = None if self.prefit else values.shape[0]
        tally = take_tally(self.estimator_, feature_names=names, n_samples=n_samples)
        if tally.n_features != self.n_features_in_:
            raise InputError(
                f"The forest was fitted on {tally.n_features} features, but X has "
                f"{self.n_features_in_}; give the data that the forest was fitted on."
            )
        table = RankTable(values, n_jobs=self.n_jobs, feature_names=names, bins=None)
        tally = replace(tally, levels=table.levels)
        mixed = self.null == "auto" and not self.prefit and mixed_levels(tally.levels)
        if self.null == "shadows" or mixed:
            tally = self._beside_shadows(table, y, fit_params)
        self.tally_ = tally
        try:  # by what the forest took y for
            criterion = "gini" if is_classifier(self.estimator_) else "variance"
            effects = effect_sizes(table, y, criterion)
        except InputError:  # several outputs, or one class
            effects = None
        return replace(select(tally, self.alpha, self.error, self.null), effects=effects)

    def _beside_shadows(self, table: RankTable, y: Any, fit_params: dict[str, Any]) -> Tally:
        """The tally of a clone of the forest, fitted to X beside permuted copies of it."""
        if self.prefit:
            raise InputError('null="shadows" fits the forest beside shadows; omit prefit=True.')
        S, F = table.shape
        X: Any = table.values
        copies = default_copies(table, blocks=False) or LEAST_COPIES
        rows = permuted_rows(S, copies, seed=0)
        if hasattr(X, "tocsr"):
            by_rows = X.tocsr()
            columns = sparse.hstack([by_rows, *(by_rows[row] for row in rows)], format="csr")
        else:
            columns = np.concatenate([X, *(X[row] for row in rows)], axis=1)
        tally = take_tally(clone(self.estimator).fit(columns, y, **fit_params), n_samples=S)
        if tally.column_orders:
            raise InputError(
                f"A {type(self.estimator).__name__} splits the lowest column when gains tie; "
                "features would be favoured over their shadows. Use ForestSelector() without a "
                "forest."
            )
        counts, couplings = tally.counts.reshape(copies + 1, F), tally.couplings
        parts: Ints = np.zeros((copies + 1, F, 1), np.int64)
        if couplings is not None:
            parts = couplings.reshape(copies + 1, F, -1).astype(np.int64)
        return replace(
            tally,
            counts=counts[0],
            couplings=None if couplings is None else parts[0],
            null_columns=NullColumns.of_shadows(counts, parts, table.strata.features, rows),
            levels=None,
            feature_names=table.feature_names,
            notes=(),  # of null models that shadows replace
        )

    def _run(self, X: Any, y: Any, settings: dict[str, Any]) -> Run:
        """The run of nullforest's own forest."""
        if self.prefit:
            raise InputError("prefit=True needs a fitted forest as estimator.")
        names = None
        if hasattr(X, "columns") and hasattr(X, "to_numpy"):
            column_names(X)  # equal ones are refused
            validate_data(self, X, skip_check_array=True)  # columns of any kind
            check_consistent_length(X, y)
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

    def _get_support_mask(self) -> NDArray[np.bool_]:
        if self.prefit and self.estimator is not None and not hasattr(self, "support_"):
            tally = take_tally(self.estimator)
            selection = select(tally, self.alpha, self.error, self.null)
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
