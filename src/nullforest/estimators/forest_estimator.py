"""Base of the forest estimators: their settings, in scikit-learn's names, and the grown forest."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from nullforest._util.errors import InputError
from nullforest.data.dense import checked_columns
from nullforest.estimators.arguments import whole_seed
from nullforest.run.forest import Forest
from nullforest.run.growing import grow
from nullforest.tallies.tally import Tally

MaxFeatures = int | float | Literal["sqrt", "log2"] | None
#: float32 and float64 are used as they are; missing values are handled by the engine.
X_RULES: dict[str, Any] = {
    "accept_sparse": ["csr", "csc"],
    "dtype": [np.float64, np.float32],
    "ensure_all_finite": "allow-nan",
}


class ForestEstimator(BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Settings, growth and leaves that the classifier and the regressor share."""

    _criteria: ClassVar[Mapping[str, str]]
    n_jobs: Any

    def _grow(self, X: Any, y: Any, names: Any, sample_weight: Any, class_weight: Any) -> None:
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
            min_leaf=_share("min_samples_leaf", self.min_samples_leaf, S, least=1),
            min_split=_share("min_samples_split", self.min_samples_split, S, least=2),
            max_depth=self.max_depth,
            min_gain=self.min_impurity_decrease,
            sample_weight=sample_weight,
            class_weight=class_weight,
            probes=self.probes,
            seed=whole_seed(self.random_state),
            n_jobs=self.n_jobs,
            oob=bool(self.oob_score),
            feature_names=names,
        )

    def _oob_score(self, y: NDArray[Any], predicted: NDArray[Any], default: Any) -> float:
        """Score of the out-of-bag predictions; warns where some sample has none."""
        seen = self.forest_.sums["oob_trees"] > 0
        if not seen.any():
            raise InputError("Every tree saw every sample; oob_score needs more trees.")
        if not seen.all():
            warnings.warn(
                f"{int(np.sum(~seen))} samples were seen by every tree and have no out-of-bag "
                "prediction (NaN); more trees give them one.",
                stacklevel=3,
            )
        score = self.oob_score if callable(self.oob_score) else default
        return float(score(y[seen], predicted[seen]))

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


def _share(name: str, value: int | float, n_samples: int, *, least: int) -> int:
    """A number of samples, or a share of them rounded up."""
    if isinstance(value, float | np.floating):
        if not 0.0 < value <= 1.0:
            raise InputError(f"{name} = {value} must be a share above 0.0 and up to 1.0.")
        return max(least, math.ceil(value * n_samples))
    return value
