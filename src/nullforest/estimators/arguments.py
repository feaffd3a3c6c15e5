"""Arguments of estimators, kept and read the way scikit-learn expects."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length, check_random_state, validate_data

from nullforest.data.survival_times import survival_of


def keep_arguments(estimator: Any, arguments: dict[str, Any]) -> None:
    """Set the arguments of `__init__`, its `locals()`, as attributes of the same names."""
    for name, value in arguments.items():
        if name not in ("self", "__class__"):
            setattr(estimator, name, value)


def whole_seed(random_state: Any) -> int:
    """A seed from an int, a RandomState or None."""
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def checked_data(estimator: Any, X: Any, y: Any, **rules: Any) -> tuple[Any, Any]:
    """X and y by the rules of scikit-learn, which know no survival times."""
    survival = survival_of(y)
    if survival is None:
        X, y = validate_data(estimator, X, y, multi_output=True, **rules)
        return X, y
    X = validate_data(estimator, X, **rules)
    check_consistent_length(X, survival)
    return X, survival
