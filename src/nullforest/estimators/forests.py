"""How does one predict with it, the scikit-learn way? Thin estimators on `nullforest.grow`."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_is_fitted,
    check_random_state,
    column_or_1d,
    validate_data,
)

from nullforest._util.errors import InputError
from nullforest.engine import Forest, grow
from nullforest.tallies.tally import Tally

MaxFeatures = int | float | Literal["sqrt", "log2"] | None


class _ForestEstimator(BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """What classifier and regressor share: the settings, growing, and the leaves."""

    _criteria: ClassVar[Mapping[str, str]]
    n_jobs: Any

    def _grow(self, X: Any, y: Any, sample_weight: Any, class_weight: Any) -> None:
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
        seed = self.random_state
        if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
            seed = int(check_random_state(seed).randint(2**31 - 1))
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
            min_leaf=_share("min_samples_leaf", self.min_samples_leaf, S, least=1),
            min_split=_share("min_samples_split", self.min_samples_split, S, least=2),
            max_depth=self.max_depth,
            min_gain=self.min_impurity_decrease,
            sample_weight=sample_weight,
            class_weight=class_weight,
            probes=self.probes,
            seed=int(seed),
            n_jobs=self.n_jobs,
            oob=bool(self.oob_score),
            feature_names=getattr(self, "feature_names_in_", None),
        )

    def _seen(self) -> NDArray[np.bool_]:
        """Samples that some tree did not see; warns where that is not all of them."""
        seen: NDArray[np.bool_] = self.forest_.sums["oob_trees"] > 0
        if not seen.any():
            raise InputError("Every tree saw every sample; oob_score needs more trees.")
        if not seen.all():
            warnings.warn(
                f"{int(np.sum(~seen))} samples were seen by every tree and have no out-of-bag "
                "prediction (NaN); more trees give them one.",
                stacklevel=3,
            )
        return seen

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self, "forest_")
        return validate_data(self, X, reset=False, **_X_RULES)

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
        """What the forest chose; see :class:`nullforest.Tally`."""
        check_is_fitted(self, "forest_")
        return self.forest_.tally

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Decrease of impurity that each feature brought, as a share of all."""
        check_is_fitted(self, "forest_")
        return self.forest_.gini_importance

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


#: float32 and float64 are used as they are; missing values are the engine's business.
_X_RULES: dict[str, Any] = {
    "accept_sparse": ["csr", "csc"],
    "dtype": [np.float64, np.float32],
    "ensure_all_finite": "allow-nan",
}


class ForestClassifier(ClassifierMixin, _ForestEstimator):  # type: ignore[misc]  # as above
    """A random forest that predicts classes; a scikit-learn classifier.

    Parameters
    ----------
    n_estimators : int, default 100
        Number of trees. Enough to predict; to judge features, 1 000 and more serve better.
    criterion : {"gini", "entropy", "log_loss"}, default "gini"
        What a split should make small; "log_loss" is another name of "entropy".
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
        Virtual probes to ask at the nodes, for the null model of the counts; see
        :func:`nullforest.grow`.
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
        What the forest chose: selection frequencies and what is needed to judge them.
    feature_importances_ : (n_features,) array
        Decrease of impurity that each feature brought; sums to 1.
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

    _criteria = MappingProxyType({"gini": "gini", "entropy": "entropy", "log_loss": "entropy"})

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: Literal["gini", "entropy", "log_loss"] = "gini",
        max_features: MaxFeatures = "sqrt",
        draw: Literal["node", "tree"] = "node",
        pool: int | float | None = None,
        bootstrap: bool = True,
        max_samples: int | float | None = None,
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_impurity_decrease: float = 0.0,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        oob_score: bool | Callable[[Any, Any], float] = False,
        probes: int | Literal["auto"] = 0,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_features = max_features
        self.draw = draw
        self.pool = pool
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.class_weight = class_weight
        self.oob_score = oob_score
        self.probes = probes
        self.random_state = random_state
        self.n_jobs = n_jobs

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
        X, y = validate_data(self, X, y, ensure_min_samples=2, **_X_RULES)
        check_classification_targets(y)
        y = column_or_1d(y, warn=True)
        self._grow(X, y, sample_weight, self.class_weight)
        self.classes_: NDArray[Any] = np.asarray(self.forest_.classes)
        if self.oob_score:
            self.oob_decision_function_ = self.forest_.oob_prediction
            seen = self._seen()
            said = self.classes_[self.oob_decision_function_[seen].argmax(axis=1)]
            score = self.oob_score if callable(self.oob_score) else accuracy_score
            self.oob_score_ = float(score(y[seen], said))
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
        X = self._checked(X)
        return self.forest_.predict_proba(X, n_jobs=self.n_jobs)

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Logarithm of `predict_proba`; minus infinity where no tree saw a chance."""
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


class ForestRegressor(RegressorMixin, _ForestEstimator):  # type: ignore[misc]  # as above
    """A random forest that predicts one number or several; a scikit-learn regressor.

    Parameters
    ----------
    n_estimators : int, default 100
        Number of trees.
    criterion : {"squared_error"}, default "squared_error"
        What a split should make small; several outputs are summed.
    max_features : int, float, "sqrt", "log2" or None, default 1.0
        Features compared at a node.
    draw, pool, bootstrap, max_samples, max_depth, min_samples_split, min_samples_leaf
        As in :class:`ForestClassifier`.
    min_impurity_decrease, oob_score, probes, random_state, n_jobs
        As in :class:`ForestClassifier`.

    Attributes
    ----------
    forest_ : Forest
        The grown forest.
    tally_ : Tally
        What the forest chose: selection frequencies and what is needed to judge them.
    feature_importances_ : (n_features,) array
        Decrease of impurity that each feature brought; sums to 1.
    n_features_in_, feature_names_in_
        The features seen in `fit`.
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

    _criteria = MappingProxyType({"squared_error": "variance"})

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: Literal["squared_error"] = "squared_error",
        max_features: MaxFeatures = 1.0,
        draw: Literal["node", "tree"] = "node",
        pool: int | float | None = None,
        bootstrap: bool = True,
        max_samples: int | float | None = None,
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_impurity_decrease: float = 0.0,
        oob_score: bool | Callable[[Any, Any], float] = False,
        probes: int | Literal["auto"] = 0,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_features = max_features
        self.draw = draw
        self.pool = pool
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.oob_score = oob_score
        self.probes = probes
        self.random_state = random_state
        self.n_jobs = n_jobs

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
        X, y = validate_data(
            self, X, y, ensure_min_samples=2, multi_output=True, y_numeric=True, **_X_RULES
        )
        if y.ndim == 2 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        self._grow(X, y, sample_weight, None)
        if self.oob_score:
            self.oob_prediction_ = self.forest_.oob_prediction
            seen = self._seen()
            score = self.oob_score if callable(self.oob_score) else r2_score
            self.oob_score_ = float(score(y[seen], self.oob_prediction_[seen]))
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
        X = self._checked(X)
        return np.asarray(self.forest_.predict(X, n_jobs=self.n_jobs))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def _n_features(name: str, value: MaxFeatures, n_features: int) -> int:
    """A number of features from all the ways in which scikit-learn lets one say it."""
    if value is None:
        return n_features
    if value == "sqrt":
        return max(1, math.isqrt(n_features))
    if value == "log2":
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


def _share(name: str, value: int | float, n_samples: int, *, least: int) -> int:
    """A number of samples, or a share of them rounded up."""
    if isinstance(value, float | np.floating):
        if not 0.0 < value <= 1.0:
            raise InputError(f"{name} = {value} must be a share above 0.0 and up to 1.0.")
        return max(least, math.ceil(value * n_samples))
    return value
