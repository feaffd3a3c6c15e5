"""What is y: classes, numbers, or distances between the samples?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import InputError

Criterion = Literal["gini", "entropy", "variance", "neighbourhood"]

#: Whole numbers with more distinct values than this are quantities (an age), not classes.
MOST_INTEGER_CLASSES = 20


@dataclass(frozen=True)
class Target:
    """y as the engine takes it: int64 codes (S,), doubles (S, Q) or distances (S, S)."""

    criterion: Criterion
    values: NDArray[Any]
    classes: NDArray[Any] | None = None
    flat: bool = True  # y had one axis, so predictions have one too
    weight: NDArray[np.float64] | None = None

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 where y is not made of classes."""
        return 0 if self.classes is None else len(self.classes)


def as_target(
    y: Any,
    *,
    n_samples: int,
    X: NDArray[Any],
    criterion: str = "auto",
    distance: Callable[[Any], Any] | None = None,
    sample_weight: Any = None,
    class_weight: Mapping[Any, float] | str | None = None,
) -> Target:
    """Check y and the weights, and bring them into the engine's form."""
    allowed = ("auto", "gini", "entropy", "variance", "neighbourhood")
    if criterion not in allowed:
        raise InputError(f"criterion = {criterion!r} is not known; use one of {allowed}.")
    weight = _weights(sample_weight, n_samples)
    if criterion == "neighbourhood" or distance is not None or y is None:
        if class_weight is not None:
            raise InputError("class_weight needs classes; the neighbourhood criterion has none.")
        if criterion not in ("neighbourhood", "auto"):
            raise InputError(f"Distances need criterion='neighbourhood', not {criterion!r}.")
        values = _distances(y, n_samples, X, distance)
        return Target("neighbourhood", values, flat=False, weight=_plain(weight))
    array = _array(y, n_samples)
    if criterion == "auto":
        criterion = "gini" if _looks_like_classes(array) else "variance"
    if criterion == "variance":
        if class_weight is not None:
            raise InputError("class_weight needs classes, but y holds numbers.")
        return Target("variance", *_numbers(array), weight=_plain(weight))
    codes, classes = _classes(array)
    weight = _with_class_weight(weight, codes, classes, class_weight)
    return Target(
        "gini" if criterion == "gini" else "entropy", codes, classes, weight=_plain(weight)
    )


def _array(y: Any, n_samples: int) -> NDArray[Any]:
    array = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim not in (1, 2):
        raise InputError(f"y must have one axis (or two, for several outputs), not {array.ndim}.")
    if len(array) != n_samples:
        raise InputError(f"y has {len(array)} values for {n_samples} samples; give one each.")
    if array.dtype.kind == "f" and np.isinf(array).any():
        raise InputError("y holds infinite values; replace them or drop those samples.")
    if _any_missing(array):
        raise InputError("y has missing values; drop those samples from X and y.")
    return array


def _any_missing(array: NDArray[Any]) -> bool:
    if array.dtype.kind == "f":
        return bool(np.isnan(array).any())
    if array.dtype.kind == "O":
        from pandas import isna  # knows None, NaN, NaT and NA; slow to import, so only here

        return bool(np.any(isna(array)))
    return array.dtype.kind in "mM" and bool(np.isnat(array).any())


def _looks_like_classes(array: NDArray[Any]) -> bool:
    if array.ndim == 2:
        return False
    if array.dtype.kind in "iu":
        return len(np.unique(array)) <= MOST_INTEGER_CLASSES
    if array.dtype.kind == "f":
        distinct = np.unique(array)
        return len(distinct) <= 2 and bool(np.all(distinct == np.floor(distinct)))
    return True


def _classes(array: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    if array.ndim == 2:
        raise InputError("y has several columns; Gini and entropy take one column of classes.")
    try:
        classes, codes = np.unique(array, return_inverse=True)
    except TypeError:
        raise InputError("y mixes types that cannot be compared; make all labels text.") from None
    if len(classes) < 2:
        raise InputError(f"y holds one class only ({classes[0]!r}); there is nothing to tell.")
    return codes.astype(np.int64), classes


def _numbers(array: NDArray[Any]) -> tuple[NDArray[np.float64], None, bool]:
    try:
        numbers = np.ascontiguousarray(array, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            "y holds text, but criterion='variance' needs numbers; use 'gini' for classes."
        ) from None
    if not np.all(np.abs(numbers) < 1e150):  # squares of larger ones overflow
        raise InputError("y holds infinite or huge values (above 1e150); scale y, or drop them.")
    if np.all(numbers == numbers[0]):
        raise InputError("y is constant; there is nothing to predict.")
    if np.ptp(numbers) < 1e-150:  # squares of smaller differences vanish
        raise InputError("The values of y differ by less than 1e-150; scale y.")
    return numbers.reshape(len(numbers), -1), None, numbers.ndim == 1


def _distances(
    y: Any, n_samples: int, X: NDArray[Any], distance: Callable[[Any], Any] | None
) -> NDArray[np.float64]:
    if distance is not None:
        y = distance(X if y is None else np.asarray(y))
    elif y is None:
        from scipy.spatial.distance import pdist, squareform  # slow to import, rarely asked

        if np.isnan(X).any():
            raise InputError("X has missing values; give the distances between samples as y.")
        y = squareform(pdist(X))
    try:
        matrix = np.ascontiguousarray(y, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            "The neighbourhood criterion needs y as a matrix of distances, or distance= a "
            "function that makes one from y."
        ) from None
    if matrix.shape != (n_samples, n_samples):
        raise InputError(
            f"The distances have the shape {matrix.shape}; for {n_samples} samples give "
            f"({n_samples}, {n_samples}), or distance= a function that makes them from y."
        )
    if not np.all(np.isfinite(matrix)) or matrix.min() < 0.0:
        raise InputError("Distances must be finite and not negative.")
    if not np.array_equal(matrix, matrix.T):
        if not np.allclose(matrix, matrix.T):
            raise InputError("The distances are not symmetric: d(a, b) must equal d(b, a).")
        matrix = (matrix + matrix.T) / 2.0
    if np.any(np.diag(matrix) != 0.0):
        raise InputError("The distance of a sample to itself must be 0.")
    if matrix.max() == 0.0:
        raise InputError("All distances are 0; there is nothing to tell the samples apart by.")
    return matrix


def _weights(sample_weight: Any, n_samples: int) -> NDArray[np.float64] | None:
    if sample_weight is None:
        return None
    try:
        weight = np.ascontiguousarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("sample_weight must hold numbers, one for each sample.") from None
    if weight.shape != (n_samples,):
        raise InputError(
            f"sample_weight has the shape {weight.shape} for {n_samples} samples; give one each."
        )
    if not np.all(np.isfinite(weight)) or weight.min() < 0.0 or weight.sum() == 0.0:
        raise InputError("sample_weight must be finite, not negative, and not all zero.")
    return weight


def _with_class_weight(
    weight: NDArray[np.float64] | None,
    codes: NDArray[np.int64],
    classes: NDArray[Any],
    class_weight: Mapping[Any, float] | str | None,
) -> NDArray[np.float64] | None:
    if class_weight is None:
        return weight
    if not isinstance(class_weight, Mapping):
        if class_weight != "balanced":
            raise InputError(f"class_weight = {class_weight!r}; use 'balanced' or a dictionary.")
        per_class = len(codes) / (len(classes) * np.bincount(codes))
    else:
        unknown = [c for c in class_weight if c not in classes.tolist()]
        if unknown:
            raise InputError(f"class_weight names {unknown[0]!r}, which is not a class of y.")
        per_class = np.array([float(class_weight.get(c, 1.0)) for c in classes.tolist()])
        if not np.all(np.isfinite(per_class)) or per_class.min() < 0.0:
            raise InputError("class_weight must be finite and not negative.")
    product: NDArray[np.float64] = per_class[codes] * (1.0 if weight is None else weight)
    if product.sum() == 0.0:
        raise InputError("class_weight and sample_weight together leave no sample any weight.")
    return product


def _plain(weight: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    """Equal weights are no weights: the exact integer kernels apply."""
    return None if weight is None or np.all(weight == weight[0]) else weight
