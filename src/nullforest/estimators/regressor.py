"""The forest as a scikit-learn regressor."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import column_or_1d, validate_data

from nullforest.data.dense import checked_columns
from nullforest.data.targets import refuse_masked
from nullforest.estimators.arguments import keep_arguments
from nullforest.estimators.forest_estimator import X_RULES, ForestEstimator, MaxFeatures


class ForestRegressor(RegressorMixin, ForestEstimator):  # type: ignore[misc]  # scikit-learn is untyped
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
    forest_ : Forest
        The grown forest.
    tally_ : Tally
        Selection counts of the forest, and what is needed to test them.
    feature_importances_ : (n_features,) array
        Decrease of impurity at the nodes of each feature; sums to 1.
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
        keep_arguments(self, locals())

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
        X, names = checked_columns(X)
        refuse_masked(y)
        X, y = validate_data(
            self, X, y, ensure_min_samples=2, multi_output=True, y_numeric=True, **X_RULES
        )
        if y.ndim == 2 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        self._grow(X, y, names, sample_weight, None)
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
