"""Targets: classes, numbers, survival times or distances; and the weights of the samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import InputError
from nullforest.data.survival_times import log_rank_scores, survival_of
from nullforest.forest.settings import real_number

Criterion = Literal["gini", "entropy", "variance", "logrank", "neighbourhood"]

#: Whole numbers with more distinct values than this are quantities (an age), not classes.
MOST_INTEGER_CLASSES = 20
#: Bounds of numbers, distances and weights, and inverses of the least ones. The kernel squares sums
#: of weight · number² (or distance): (2²² · 1e25 · 1e100)² is below the largest double, 1e308.
MOST_NUMBER, MOST_DISTANCE, MOST_WEIGHT = 1e50, 1e100, 1e25


@dataclass(frozen=True)
class Target:
    """The target as the kernel takes it: int64 codes (S,), doubles (S, Q) or distances (S, S)."""

    criterion: Criterion
    values: NDArray[Any]
    classes: NDArray[Any] | None = None
    flat: bool = True  # y had one axis, so predictions have one too
    weight: NDArray[np.float64] | None = None
    blocks: NDArray[np.int64] | None = None  # within which samples may be permuted
    survival: NDArray[Any] | None = None  # events and times, of which `values` are the scores

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 where y is not made of classes."""
        return 0 if self.classes is None else len(self.classes)

    @property
    def responses(self) -> NDArray[np.float64]:
        """What is to be predicted, as numbers (S, Q): a column per class, or one for two."""
        if self.classes is None:
            return np.asarray(self.values, float)
        columns = np.arange(1 if self.n_classes == 2 else self.n_classes)
        return np.asarray(self.values[:, None] == columns, float)

    @property
    def kernel_criterion(self) -> str:
        """What the kernel makes small: log-rank scores are numbers to it."""
        return "variance" if self.criterion == "logrank" else self.criterion


def as_target(
    y: Any,
    n_samples: int,
    *,
    values: Callable[[], Any] = lambda: None,
    criterion: str = "auto",
    distance: Callable[[Any], Any] | None = None,
    sample_weight: Any = None,
    class_weight: Mapping[Any, float] | str | None = None,
    blocks: Any = None,
    adjust: Any = None,
) -> Target:
    """Check y, the weights, blocks and covariates, and convert them to the form of the kernel.

    `values` is called for the values of X where y is None. Bins of the covariates are blocks.
    """
    target = _target(y, n_samples, values, criterion, distance, sample_weight, class_weight)
    if blocks is not None:
        target = replace(target, blocks=_blocks(blocks, n_samples))
    if adjust is not None:
        from nullforest.data.covariates import as_covariates, bins_of

        if target.criterion == "neighbourhood":
            raise InputError("adjust needs classes or numbers to predict, not distances; omit it.")
        covariates = as_covariates(adjust, n_samples)
        target = replace(target, blocks=bins_of(covariates, target.responses, target.blocks))
    return target


def _target(
    y: Any,
    n_samples: int,
    values: Callable[[], Any],
    criterion: str,
    distance: Callable[[Any], Any] | None,
    sample_weight: Any,
    class_weight: Mapping[Any, float] | str | None,
) -> Target:
    refuse_masked(y)
    weight = _weights(sample_weight, n_samples)
    if distance is None and (survival := survival_of(y)) is not None:
        return _survival(survival, n_samples, criterion, weight, class_weight)
    if criterion == "logrank":
        raise InputError(
            "criterion='logrank' needs events and times; give y as a structured array of both, as "
            "sksurv.util.Surv makes it, or as a DataFrame with the columns event and time."
        )
    if criterion == "neighbourhood" or distance is not None or y is None:
        if class_weight is not None:
            raise InputError("class_weight needs classes; the neighbourhood criterion has none.")
        if criterion not in ("neighbourhood", "auto"):
            raise InputError(f"Distances need criterion='neighbourhood', not {criterion!r}.")
        distances = _distances(y, n_samples, values, distance)
        return Target("neighbourhood", distances, flat=False, weight=_plain(weight))
    array = _array(y, n_samples)
    if criterion == "auto":
        criterion = "gini" if _looks_like_classes(array) else "variance"
    if criterion == "variance":
        if class_weight is not None:
            raise InputError("class_weight needs classes, but y holds numbers.")
        return Target("variance", *_numbers(array), weight=_plain(weight))
    codes, classes = _classes(array)
    weight = _plain(_with_class_weight(weight, codes, classes, class_weight))
    return Target("gini" if criterion == "gini" else "entropy", codes, classes, weight=weight)


def _survival(
    survival: NDArray[Any],
    n_samples: int,
    criterion: str,
    weight: NDArray[np.float64] | None,
    class_weight: Any,
) -> Target:
    if criterion not in ("auto", "logrank"):
        raise InputError(
            f"y holds events and times, which criterion={criterion!r} does not take; omit it, or "
            "use 'logrank'."
        )
    if class_weight is not None:
        raise InputError("class_weight needs classes, but y holds events and times.")
    if len(survival) != n_samples:
        raise InputError(f"y has {len(survival)} values for {n_samples} samples; give one each.")
    weight = _plain(weight)
    scores = log_rank_scores(survival["event"], survival["time"], weight)
    return Target("logrank", scores[:, None], weight=weight, survival=survival)


def _blocks(blocks: Any, n_samples: int) -> NDArray[np.int64]:
    """Numbers of the blocks, from text or numbers, one for each sample."""
    refuse_masked(blocks, "blocks")
    array = np.asarray(blocks.to_numpy() if hasattr(blocks, "to_numpy") else blocks)
    if array.shape != (n_samples,):
        raise InputError(
            f"blocks has the shape {array.shape} for {n_samples} samples; give one block each."
        )
    if array.dtype.kind == "O":
        from pandas import isna

        if np.any(isna(array)):
            raise InputError("blocks has missing values; drop those samples, or name their block.")
        array = array.astype(str)
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise InputError("blocks has missing values; drop those samples, or name their block.")
    numbers = np.unique(array, return_inverse=True)[1].astype(np.int64)
    if np.bincount(numbers).max() < 2:
        raise InputError(
            "Every sample is a block of its own, so that no rows can be permuted; give larger "
            "blocks, such as sites or batches."
        )
    return numbers


def refuse_masked(values: Any, name: str = "y") -> None:
    """Refuse masked values, which a conversion to an array would reveal."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise InputError(f"{name} has masked values; drop those samples from X and y.")


def _array(y: Any, n_samples: int) -> NDArray[Any]:
    array = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim not in (1, 2):
        raise InputError(f"y must have one axis (or two, for several outputs), not {array.ndim}.")
    if array.dtype.kind == "c":
        raise InputError("y holds complex numbers; give real numbers or classes.")
    if len(array) != n_samples:
        raise InputError(f"y has {len(array)} values for {n_samples} samples; give one each.")
    if array.dtype.kind == "f" and np.isinf(array).any():
        raise InputError("y holds infinite values; replace them or drop those samples.")
    if array.dtype.kind == "O":
        from pandas import isna  # knows None, NaN, NaT and NA; slow to import, so only here

        missing = isna(array)
    else:
        missing = array != array  # NaN and NaT
    if np.any(missing):
        raise InputError("y has missing values; drop those samples from X and y.")
    return array


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
        raise InputError(f"y holds one class only ({classes[0]!r}); at least two are needed.")
    return codes.astype(np.int64), classes


def _numbers(array: NDArray[Any]) -> tuple[NDArray[np.float64], None, bool]:
    wrong = "y holds text, but criterion='variance' needs numbers; use 'gini' for classes."
    numbers = _real(array, wrong)
    if not np.all(np.abs(numbers) < MOST_NUMBER):
        raise InputError(f"y holds values beyond {MOST_NUMBER:g}; scale y, or drop them.")
    if np.all(numbers == numbers[0]):
        raise InputError("y is constant, so that no feature can predict it; give another target.")
    if np.ptp(numbers) < 1 / MOST_NUMBER:
        raise InputError(f"The values of y differ by less than {1 / MOST_NUMBER:g}; scale y.")
    return numbers.reshape(len(numbers), -1), None, numbers.ndim == 1


def _distances(
    y: Any,
    n_samples: int,
    values: Callable[[], Any],
    distance: Callable[[Any], Any] | None,
) -> NDArray[np.float64]:
    if distance is not None:
        if not callable(distance):
            raise InputError(f"distance = {distance!r:.60} must be a function.")
        y = distance(values() if y is None else np.asarray(y))
    elif y is None:
        from scipy.spatial.distance import pdist, squareform  # slow to import, rarely needed

        if np.isnan(X := values()).any():
            raise InputError("X has missing values; give the distances between samples as y.")
        y = squareform(pdist(X))
    needed = "y as a matrix of distances, or distance= a function that makes one from y"
    matrix = _real(y, f"The neighbourhood criterion needs {needed}.")
    if matrix.shape != (n_samples, n_samples):
        raise InputError(
            f"The distances have the shape {matrix.shape}; for {n_samples} samples give "
            f"({n_samples}, {n_samples}), or distance= a function that makes them from y."
        )
    if not np.all(matrix <= MOST_DISTANCE) or matrix.min() < 0.0:  # NaN neither
        raise InputError(
            f"Distances must be finite, not negative and at most {MOST_DISTANCE:g}; scale them."
        )
    if not np.array_equal(matrix, matrix.T):
        if not np.allclose(matrix, matrix.T):
            raise InputError("The distances are not symmetric: d(a, b) must equal d(b, a).")
        matrix = (matrix + matrix.T) / 2.0
    if np.any(np.diag(matrix) != 0.0):
        raise InputError("The distance of a sample to itself must be 0.")
    if matrix.max() < 1 / MOST_DISTANCE:
        raise InputError("All distances are 0, so that no split separates samples.")
    return matrix


def _weights(sample_weight: Any, n_samples: int) -> NDArray[np.float64] | None:
    if sample_weight is None:
        return None
    refuse_masked(sample_weight, "sample_weight")
    weight = _real(sample_weight, "sample_weight must hold numbers, one for each sample.")
    if weight.shape != (n_samples,):
        raise InputError(
            f"sample_weight has the shape {weight.shape} for {n_samples} samples; give one each."
        )
    return _checked_weights("sample_weight", weight)


def _checked_weights(name: str, weight: NDArray[np.float64]) -> NDArray[np.float64]:
    if not np.all(weight >= 0.0) or not np.any(weight):  # NaN neither
        raise InputError(f"{name} must be finite, not negative, and not all zero.")
    if weight.max() > MOST_WEIGHT or weight[weight > 0].min() < 1 / MOST_WEIGHT:
        raise InputError(
            f"{name} must lie between {1 / MOST_WEIGHT:g} and {MOST_WEIGHT:g}, or be 0; scale it."
        )
    return weight


def _real(values: Any, message: str) -> NDArray[np.float64]:
    """Values as floats; the message says what is wrong with others."""
    try:
        array = np.asarray(values)
        if array.dtype.kind == "c":  # numpy would drop the imaginary part
            raise TypeError
        return np.ascontiguousarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(message) from None


def _with_class_weight(
    weight: NDArray[np.float64] | None,
    codes: NDArray[np.int64],
    classes: NDArray[Any],
    class_weight: Mapping[Any, float] | str | None,
) -> NDArray[np.float64] | None:
    if class_weight is None:
        return weight
    known = classes.tolist()
    if isinstance(class_weight, Mapping):
        if unknown := [c for c in class_weight if c not in known]:
            raise InputError(f"class_weight names {unknown[0]!r}, which is not a class of y.")
        given = [real_number("class_weight", class_weight.get(c, 1.0), MOST_WEIGHT) for c in known]
        per_class = np.array(given)
    elif isinstance(class_weight, str) and class_weight == "balanced":
        per_class = len(codes) / (len(classes) * np.bincount(codes))
    else:
        raise InputError(f"class_weight = {class_weight!r:.60} must be 'balanced' or a dictionary.")
    product = per_class[codes] * (1.0 if weight is None else weight)
    return _checked_weights("The product of class_weight and sample_weight", product)


def _plain(weight: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    """Equal weights are no weights: the exact integer kernels apply."""
    return None if weight is None or np.all(weight == weight[0]) else weight
