"""The forest as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from nullforest.data.dense import checked_columns
from nullforest.data.targets import refuse_masked
from nullforest.estimators.arguments import keep_arguments
from nullforest.estimators.forest_estimator import X_RULES, ForestEstimator, MaxFeatures


class ForestClassifier(ClassifierMixin, ForestEstimator):  # type: ignore[misc]  # scikit-learn is untyped
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
        keep_arguments(self, locals())

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
        X, names = checked_columns(X)
        refuse_masked(y)
        X, y = validate_data(self, X, y, ensure_min_samples=2, **X_RULES)
        check_classification_targets(y)
        y = column_or_1d(y, warn=True)
        self._grow(X, y, names, sample_weight, self.class_weight)
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
