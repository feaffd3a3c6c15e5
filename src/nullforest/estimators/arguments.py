"""Arguments of estimators, kept and read the way scikit-learn expects."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_random_state


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
