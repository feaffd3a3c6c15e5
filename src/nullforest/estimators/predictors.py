"""The forest as a scikit-learn classifier and as a regressor."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from nullforest._util.errors import InputError
from nullforest.data.dense import checked_columns
from nullforest.data.targets import refuse_masked
from nullforest.estimators.arguments import X_RULES, whole_seed
from nullforest.run.forest import Forest
from nullforest.run.growing import grow
from nullforest.tallies.tally import Tally

MaxFeatures = int | float | Literal["sqrt", "log2"] | None


@dataclass(eq=False, repr=False)
class ForestPredictor(BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Settings, growth and leaves that the classifier and the regressor share.

    The fields are the arguments of `__init__`; scikit-learn reads them from its signature.
    """

    n_estimators: int = 100
    _: KW_ONLY
    criterion: str = "squared_error"
    max_features: MaxFeatures = 1.0
    draw: Literal["node", "tree"] = "node"
    pool: int | float | None = None
    bootstrap: bool = True
    max_samples: int | float | None = None
    max_depth: int | None = None
    min_samples_split: int | float = 2
    min_samples_leaf: int | float = 1
    min_impurity_decrease: float = 0.0
    oob_score: bool | Callable[[Any, Any], float] = False
    probes: int | Literal["auto"] = 0
    random_state: Any = None
    n_jobs: Any = None

    #: The criterion of the engine, by its name in scikit-learn.
    _criteria: ClassVar[Mapping[str, str]] = MappingProxyType({"squared_error": "variance"})

    def _fit(self, X: Any, y: Any, sample_weight: Any, **rules: Any) -> NDArray[Any]:
        """Grow the forest; y as it was checked."""
        X, names = checked_columns(X)
        refuse_masked(y)
        X, y = validate_data(self, X, y, ensure_min_samples=2, **rules, **X_RULES)
        if is_classifier(self):
            check_classification_targets(y)
        if y.ndim == 2 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        S, F = X.shape
        if self.criterion not in self._criteria:
            raise InputError(
                f"criterion = {self.criterion!r} is not known; use one of {tuple(self._criteria)}."
            )
        if self.oob_score and not self.bootstrap and self.max_samples in (None, 1.0, S):
            raise InputError(
                "oob_score needs samples that a tree does not see; use bootstrap=True, or "
                "max_samples below 1.0."
            )
        self.forest_: Forest = grow(
            X,
            y,
            trees=self.n_estimators,
            criterion=self._criteria[self.criterion],
            candidates=_n_features("max_features", self.max_features, F),
            draw=self.draw,
            pool=None if self.pool is None else _n_features("pool", self.pool, F),
            samples=1.0 if self.max_samples is None else self.max_samples,
            replace=self.bootstrap,
            min_leaf=_share("min_samples_leaf", self.min_samples_leaf, S, minimum=1),
            min_split=_share("min_samples_split", self.min_samples_split, S, minimum=2),
            max_depth=self.max_depth,
            min_gain=self.min_impurity_decrease,
            sample_weight=sample_weight,
            class_weight=getattr(self, "class_weight", None),
            probes=self.probes,
            seed=whole_seed(self.random_state),
            n_jobs=self.n_jobs,
            oob=bool(self.oob_score),
            feature_names=names,
        )
        return np.asarray(y)

    def _oob_score(self, y: NDArray[Any], predicted: NDArray[Any], default: Any) -> float:
        """Score of the out-of-bag predictions; warns where some sample has none."""
        out_of_bag = self.forest_.sums["oob_trees"] > 0
        if not out_of_bag.any():
            raise InputError("Every tree saw every sample; oob_score needs more trees.")
        if not out_of_bag.all():
            warnings.warn(
                f"{int(np.sum(~out_of_bag))} samples were seen by every tree and have no "
                "out-of-bag prediction (NaN); more trees give them one.",
                stacklevel=3,
            )
        score = self.oob_score if callable(self.oob_score) else default
        return float(score(y[out_of_bag], predicted[out_of_bag]))

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self, "forest_")
        return validate_data(self, checked_columns(X)[0], reset=False, **X_RULES)

    def apply(self, X: Any) -> NDArray[np.int32]:
        """Number of the leaf that each sample falls into, per tree.

        Parameters
        ----------
        X : (n_samples, n_features) array, sparse matrix or DataFrame

        Returns
        -------
        (n_samples, n_estimators) array
        """
        X = self._checked(X)
        return self.forest_.apply(X, n_jobs=self.n_jobs)

    @property
    def tally_(self) -> Tally:
        """Selection counts of the forest; see :class:`nullforest.Tally`."""
        check_is_fitted(self, "forest_")
        return self.forest_.tally

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Decrease of impurity at the nodes of each feature, as a share of all."""
        check_is_fitted(self, "forest_")
        return self.forest_.gini_importance

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


@dataclass(eq=False, repr=False, kw_only=True)
class ForestClassifier(ClassifierMixin, ForestPredictor):  # type: ignore[misc]  # scikit-learn is untyped
    """A random forest that predicts classes; a scikit-learn classifier.

    Parameters
    ----------
    n_estimators : int, default 100
        Number of trees. Enough to predict; use 1 000 or more to test features.
    criterion : {"gini", "entropy", "log_loss"}, default "gini"
        Impurity that splits reduce; "log_loss" is another name of "entropy".
    max_features : int, float, "sqrt", "log2" or None, default "sqrt"
        Features compared at a node: a number, a share of all, or all (None). Unlike in
        scikit-learn a node whose candidates are all constant becomes a leaf.
    draw : {"node", "tree"}, default "node"
        New candidates at every node, or one set per tree.
    pool : int, float or None, default None
        With draw="node": number or share of the features that a tree can use at all.
    bootstrap : bool, default True
        Draw the samples of a tree with replacement.
    max_samples : int, float or None, default None
        Number or share of the samples drawn for a tree; all where None. With bootstrap=False
        they are a subsample without replacement.
    max_depth : int or None, default None
        Most splits between the root and a leaf.
    min_samples_split, min_samples_leaf : int or float, default 2 and 1
        Fewest samples in a node that may be split, and in a leaf; a float is a share of all.
    min_impurity_decrease : float, default 0
        Least decrease of impurity, weighted by the node's share of the tree.
    oob_score : bool or callable, default False
        Predict the samples that a tree did not see, and score that; a callable
        `score(y_true, y_pred)` replaces the default.
    probes : int or "auto", default 0
        Virtual probes: columns of random ranks that are evaluated at the nodes and never split
        one. They give the null distribution of the counts; see :func:`nullforest.grow`.
    random_state : int, RandomState or None, default None
        Seed; an int gives the trees of `nullforest.grow(seed=...)`.
    n_jobs : int or None, default None
        Threads: None is one, -1 all cores. The result does not depend on it.
    class_weight : dict, "balanced" or None, default None
        Weight of each class.

    Attributes
    ----------
    classes_ : (n_classes,) array
        The classes, in the order of the columns of `predict_proba`.
    forest_ : Forest
        The grown forest.
    tally_ : Tally
        Selection counts of the forest, and what is needed to test them.
    feature_importances_ : (n_features,) array
        Decrease of impurity at the nodes of each feature; sums to 1.
    n_features_in_, feature_names_in_
        The features seen in `fit`.
    oob_score_, oob_decision_function_ : float, (n_samples, n_classes) array
        Accuracy and class shares, by the trees that did not see a sample.

    Examples
    --------
    >>> import nullforest as nf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = nf.ForestClassifier(200, oob_score=True, random_state=0).fit(X, y)
    >>> bool(forest.oob_score_ > 0.9)
    True
    >>> nf.tally(forest).n_trees
    200
    """

    criterion: Literal["gini", "entropy", "log_loss"] = "gini"
    max_features: MaxFeatures = "sqrt"
    class_weight: Mapping[Any, float] | Literal["balanced"] | None = None

    _criteria = MappingProxyType({"gini": "gini", "entropy": "entropy", "log_loss": "entropy"})

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the forest.

        Parameters
        ----------
        X : (n_samples, n_features) array, sparse matrix or DataFrame
            The data; NaN means missing.
        y : (n_samples,) array
            The classes.
        sample_weight : (n_samples,) array, optional
            Weight of each sample.
        """
        y = self._fit(X, y, sample_weight)
        self.classes_: NDArray[Any] = np.asarray(self.forest_.classes)
        if self.oob_score:
            self.oob_decision_function_ = self.forest_.oob_prediction
            predicted = self.classes_[np.nan_to_num(self.oob_decision_function_).argmax(axis=1)]
            self.oob_score_ = self._oob_score(y, predicted, accuracy_score)
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Mean over the trees of the class shares in each sample's leaf.

        Parameters
        ----------
        X : (n_samples, n_features) array, sparse matrix or DataFrame

        Returns
        -------
        (n_samples, n_classes) array
        """
        X = self._checked(X)  # first: it refuses an estimator that is not fitted
        return self.forest_.predict_proba(X, n_jobs=self.n_jobs)

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Logarithm of `predict_proba`; minus infinity where the share is zero."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the largest mean share.

        Parameters
        ----------
        X : (n_samples, n_features) array, sparse matrix or DataFrame

        Returns
        -------
        (n_samples,) array
        """
        shares = self.predict_proba(X)
        return np.asarray(self.classes_[shares.argmax(axis=1)])


class ForestRegressor(RegressorMixin, ForestPredictor):  # type: ignore[misc]  # scikit-learn is untyped
    """A random forest that predicts one number or several; a scikit-learn regressor.

    Parameters
    ----------
    n_estimators : int, default 100
        Number of trees.
    criterion : {"squared_error"}, default "squared_error"
        Impurity that splits reduce; several outputs are summed.
    max_features : int, float, "sqrt", "log2" or None, default 1.0
        Features compared at a node.
    draw, pool, bootstrap, max_samples, max_depth, min_samples_split, min_samples_leaf
        As in :class:`ForestClassifier`.
    min_impurity_decrease, oob_score, probes, random_state, n_jobs
        As in :class:`ForestClassifier`.

    Attributes
    ----------
    forest_, tally_, feature_importances_, n_features_in_, feature_names_in_
        As in :class:`ForestClassifier`.
    oob_score_, oob_prediction_ : float, (n_samples,) or (n_samples, n_outputs) array
        R² and predictions, by the trees that did not see a sample.

    Examples
    --------
    >>> import nullforest as nf
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = nf.ForestRegressor(200, max_features=3, oob_score=True, random_state=0).fit(X, y)
    >>> bool(forest.oob_score_ > 0.4)
    True
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the forest.

        Parameters
        ----------
        X : (n_samples, n_features) array, sparse matrix or DataFrame
            The data; NaN means missing.
        y : (n_samples,) or (n_samples, n_outputs) array
            The numbers to predict.
        sample_weight : (n_samples,) array, optional
            Weight of each sample.
        """
        y = self._fit(X, y, sample_weight, multi_output=True, y_numeric=True)
        if self.oob_score:
            self.oob_prediction_ = self.forest_.oob_prediction
            self.oob_score_ = self._oob_score(y, self.oob_prediction_, r2_score)
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Mean over the trees of the mean in each sample's leaf.

        Parameters
        ----------
        X : (n_samples, n_features) array, sparse matrix or DataFrame

        Returns
        -------
        (n_samples,) or (n_samples, n_outputs) array
        """
        X = self._checked(X)  # first: it refuses an estimator that is not fitted
        return np.asarray(self.forest_.predict(X, n_jobs=self.n_jobs))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def _n_features(name: str, value: MaxFeatures, n_features: int) -> int:
    """A number of features, from any form that scikit-learn accepts."""
    if value is None:
        return n_features
    if isinstance(value, str) and value == "sqrt":
        return max(1, math.isqrt(n_features))
    if isinstance(value, str) and value == "log2":
        return max(1, int(math.log2(n_features)))
    if isinstance(value, float | np.floating) and 0.0 < value <= 1.0:
        return max(1, int(value * n_features))
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        if 1 <= value <= n_features:
            return int(value)
        raise InputError(f"{name} = {value} must lie between 1 and the {n_features} features.")
    raise InputError(
        f"{name} = {value!r} is not known; use a number of features, a share above 0.0 and up to "
        "1.0, 'sqrt', 'log2', or None for all."
    )


def _share(name: str, value: int | float, n_samples: int, *, minimum: int) -> int:
    """A number of samples, or a share of them rounded up."""
    if isinstance(value, float | np.floating):
        if not 0.0 < value <= 1.0:
            raise InputError(f"{name} = {value} must be a share above 0.0 and up to 1.0.")
        return max(minimum, math.ceil(value * n_samples))
    return value
