"""What all estimators share: arguments, seeds and data by the rules of scikit-learn."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_consistent_length, check_random_state, validate_data

from nullforest._util.errors import InputError
from nullforest.data.survival_times import survival_of
from nullforest.selection.error_rates import ERROR_RATES
from nullforest.selection.selection import Selection

#: float32 and float64 are used as they are; missing values are handled by the engine.
X_RULES: dict[str, Any] = {
    "accept_sparse": ["csr", "csc"],
    "dtype": [np.float64, np.float32],
    "ensure_all_finite": "allow-nan",
}


def whole_seed(random_state: Any) -> int:
    """A seed from an int, a RandomState or None."""
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def checked_data(estimator: Any, X: Any, y: Any, **rules: Any) -> tuple[Any, Any]:
    """X and y checked by scikit-learn, whose rules have no survival times."""
    survival = survival_of(y)
    if survival is None:
        X, y = validate_data(estimator, X, y, multi_output=True, **rules)
        return X, y
    X = validate_data(estimator, X, **rules)
    check_consistent_length(X, survival)
    return X, survival


class MinFeaturesMixin(SelectorMixin):  # type: ignore[misc]  # scikit-learn is untyped
    """A selector with the setting `min_features`."""

    min_features: int | None

    def _min_features(self) -> int:
        """The fewest features to keep, 0 where not given."""
        minimum = 0 if self.min_features is None else self.min_features
        if isinstance(minimum, bool) or not isinstance(minimum, int | np.integer) or minimum < 0:
            raise InputError(f"min_features = {minimum!r} must be a whole number, 0 or more.")
        return int(minimum)

    def _with_smallest(
        self, selection: Selection, support: NDArray[np.bool_]
    ) -> tuple[Selection, NDArray[np.bool_]]:
        """The support, with the features of smallest p-value where it has too few; and a note."""
        minimum, n_selected = self._min_features(), int(support.sum())
        if n_selected >= min(minimum, len(support)):
            return selection, support
        order = np.lexsort((-selection.counts, selection.pvalues, ~support))
        support = support.copy()
        support[order[:minimum]] = True
        note = (
            f"min_features={minimum} keeps {int(support.sum())} features: {n_selected} selected, "
            f"and {int(support.sum()) - n_selected} more with the smallest p-values."
        )
        return replace(selection, notes=(*selection.notes, note)), support

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
            alpha, error = getattr(self, "alpha", None), getattr(self, "error", None)
            level = "" if error is None else f" at a {ERROR_RATES[error]} of {alpha:g}"
            raise InputError(
                f"{type(self).__name__} selected none of the {len(self.get_support())} features"
                f"{level}, so that the next step would have no column. Set min_features=1 to keep "
                "the feature with the smallest p-value, or min_features=0 to allow a table without "
                "columns."
            )
        return super().transform(X)
