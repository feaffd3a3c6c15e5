"""Targets: classes, numbers, survival times or distances; and the weights of the samples.

One rule tells classes from numbers, at every door: text, booleans, any two values and up to six
distinct whole numbers are classes, everything else is a number to predict; `task` decides
otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nullforest._util.checks import real_number
from nullforest._util.errors import InputError, check_known, refused
from nullforest._util.words import Sentence, Setting
from nullforest.data.dense import is_missing

Criterion = Literal["gini", "entropy", "variance", "logrank", "neighbourhood"]
Task = Literal["auto", "classification", "regression"]
TASKS: tuple[Task, ...] = ("auto", "classification", "regression")

#: Whole numbers with more distinct values than this are quantities (a count, an age), not classes;
#: so are those with fewer samples than this for each value.
MOST_INTEGER_CLASSES, LEAST_CLASS = 6, 2
#: Bounds of numbers, distances and weights, and inverses of the least ones. The kernel squares sums
#: of weight · number² (or distance): (2²² · 1e25 · 1e100)² is below the largest double, 1e308.
MOST_NUMBER, MOST_DISTANCE, MOST_WEIGHT = 1e50, 1e100, 1e25
CRITERIA = ("auto", "gini", "entropy", "variance", "logrank", "neighbourhood")
#: What a criterion predicts; the others have no task of their own.
_TASK_OF = {"gini": "classification", "entropy": "classification", "variance": "regression"}


@dataclass(frozen=True, eq=False)
class Target:
    """The target as the kernel takes it: int64 codes (S,), doubles (S, Q) or distances (S, S).

    Attributes
    ----------
    criterion : {"gini", "entropy", "variance", "logrank", "neighbourhood"}
        What a split makes small.
    values : array
        What the kernel reads.
    classes : (C,) array or None
        The classes, in the order of their codes.
    flat : bool
        Whether y had one axis, so that predictions have one too.
    weight : (S,) float or None
        Weight of each sample; None where all are equal.
    blocks : (S,) int or None
        Blocks within which samples may be permuted.
    survival : (S,) structured array or None
        Events and times, of which `values` are the scores.
    name : str
        Name of the target in sentences and tables.
    notes : tuple of str
        What was assumed.
    """

    criterion: Criterion
    values: NDArray[Any]
    classes: NDArray[Any] | None = None
    flat: bool = True
    weight: NDArray[np.float64] | None = None
    blocks: NDArray[np.int64] | None = None
    survival: NDArray[Any] | None = None
    name: str = "y"
    notes: tuple[str, ...] = ()

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 where y is not made of classes."""
        return 0 if self.classes is None else len(self.classes)

    @property
    def task(self) -> str:
        """What is predicted: "classification", "regression", "survival", or "distances"."""
        others = {"logrank": "survival", "neighbourhood": "distances"}
        return (_TASK_OF | others)[self.criterion]

    @property
    def labels(self) -> NDArray[Any] | None:
        """The class of each sample; None where y is not made of classes."""
        return None if self.classes is None else self.classes[self.values]

    @property
    def y(self) -> NDArray[Any]:
        """The target as it was given: classes, numbers, events and times, or distances."""
        if self.survival is not None:
            return self.survival
        if self.labels is not None:
            return self.labels
        return self.values[:, 0] if self.flat else self.values

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
    task: Task = "auto",
    criterion: str = "auto",
    values: Callable[[], Any] = lambda: None,
    distance: Callable[[Any], Any] | None = None,
    sample_weight: Any = None,
    class_weight: Mapping[Any, float] | str | None = None,
    blocks: Any = None,
    adjust: Any = None,
    name: str = "y",
) -> Target:
    """Check y, the weights, blocks and covariates, and convert them to the form of the kernel.

    `values` is called for the values of X where y is None. Bins of the covariates are blocks.

    Examples
    --------
    >>> as_target([0.0, 1.0, 2.0] * 4, 12).criterion, as_target(range(20), 20).criterion
    ('gini', 'variance')
    >>> as_target([0.0, 1.0, 2.0] * 4, 12, task="regression").criterion
    'variance'
    """
    if not (isinstance(task, str) and task in TASKS):
        check_known("task", task, TASKS)
    if not (isinstance(criterion, str) and criterion in CRITERIA):
        raise refused("criterion", criterion, f"is unknown; use one of {', '.join(CRITERIA)}.")
    if criterion != "auto" and task not in ("auto", _TASK_OF.get(criterion, "neither")):
        raise InputError(
            Sentence("criterion = ", repr(criterion), f" is not for {task}; omit one of the two."),
            setting="task",
        )
    weight = None if sample_weight is None else _weights(sample_weight, n_samples)
    target = _target(y, n_samples, values, criterion, task, distance, weight, class_weight, name)
    if task != "auto" and target.survival is not None:
        raise InputError(
            Sentence(Setting("task"), " is for classes and numbers; survival times need none."),
            setting="task",
        )
    if target.weight is not None and np.all(target.weight == target.weight[0]):
        target = replace(target, weight=None)  # equal weights: the exact integer kernels apply
    target = replace(target, name=name)
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
    task: Task,
    distance: Callable[[Any], Any] | None,
    weight: NDArray[np.float64] | None,
    class_weight: Mapping[Any, float] | str | None,
    name: str,
) -> Target:
    if isinstance(y, np.ma.MaskedArray):
        refuse_masked(y)
    fields = getattr(getattr(y, "dtype", None), "names", None)
    if distance is None and (fields is not None or hasattr(y, "columns")):
        from nullforest.data.survival_times import survival_of

        survival = survival_of(y, name)
        if survival is not None:
            return _survival(survival, n_samples, criterion, weight, class_weight)
    # A criterion that is given takes any number of classes.
    most = max(2, n_samples // LEAST_CLASS) if criterion == "auto" else n_samples
    if task != "auto" and criterion == "auto":
        criterion = "gini" if task == "classification" else "variance"
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
        return Target("neighbourhood", distances, flat=False, weight=weight)
    subject = "y" if name == "y" else f"The target {name!r}"
    array = _array(y, n_samples, subject)
    notes: tuple[str, ...] = ()
    if criterion == "auto":
        criterion, notes = _told_by_values(array, subject)
    if criterion == "variance":
        if class_weight is not None:
            raise InputError(f"class_weight needs classes, but {subject} holds numbers.")
        numbers = _numbers(array, subject)
        flat = array.ndim == 1
        return Target("variance", numbers, flat=flat, weight=weight, notes=notes)
    codes, classes = _classes(array, subject, most)
    if class_weight is not None:
        weight = _with_class_weight(weight, codes, classes, class_weight)
    chosen: Criterion = "gini" if criterion == "gini" else "entropy"
    return Target(chosen, codes, classes, weight=weight, notes=notes)


def _told_by_values(array: NDArray[Any], subject: str) -> tuple[str, tuple[str, ...]]:
    """Gini for classes, variance for numbers; and a note where numbers are taken for classes."""
    if array.ndim == 2:
        return "variance", ()
    if array.dtype.kind not in "iuf":
        return "gini", ()
    levels = np.unique(array)
    whole = bool(np.all(levels == np.floor(levels)))
    few = len(levels) <= min(MOST_INTEGER_CLASSES, len(array) // LEAST_CLASS)
    if len(levels) <= 2 or not (whole and few):  # a constant is refused later
        return ("gini" if len(levels) == 2 else "variance"), ()
    note = Sentence(
        f"{subject} holds {len(levels)} different whole numbers, which were taken for classes; ",
        Setting("task", "regression"),
        " takes them for amounts.",
    )
    return "gini", (note,)


def _survival(
    survival: NDArray[Any],
    n_samples: int,
    criterion: str,
    weight: NDArray[np.float64] | None,
    class_weight: Any,
) -> Target:
    from nullforest.data.survival_times import log_rank_scores

    if criterion not in ("auto", "logrank"):
        raise InputError(
            f"y holds events and times, which criterion={criterion!r} does not take; omit it, or "
            "use 'logrank'."
        )
    if class_weight is not None:
        raise InputError("class_weight needs classes, but y holds events and times.")
    if len(survival) != n_samples:
        raise InputError(f"y has {len(survival)} values for {n_samples} samples; give one each.")
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
    if is_missing(array).any():
        raise InputError("blocks has missing values; drop those samples, or name their block.")
    if array.dtype.kind == "O":
        array = array.astype(str)
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


def _array(y: Any, n_samples: int, subject: str) -> NDArray[Any]:
    several = f"{subject} holds several values in a sample; give one value each."
    try:
        array = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
    except ValueError:  # rows of different lengths
        raise InputError(several) from None
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim not in (1, 2):
        raise InputError(
            f"{subject} must have one axis (or two, for several outputs), not {array.ndim}."
        )
    if array.dtype.kind == "c":
        raise InputError(f"{subject} holds complex numbers; give real numbers or classes.")
    if len(array) != n_samples:
        raise InputError(
            f"{subject} has {len(array)} values for {n_samples} samples; give one each."
        )
    missing = is_missing(array)
    if array.dtype.kind == "O":
        if any(isinstance(value, list | tuple | dict | set | np.ndarray) for value in array.flat):
            raise InputError(several)
        numeric = array.ndim == 1 and all(
            isinstance(value, int | float | np.number) and not isinstance(value, bool)
            for value in array[~missing]
        )
        if numeric and not missing.any():
            array = array.astype(np.float64)
    for unusable, what in [
        (missing, "no value"),
        (np.isinf(array) if array.dtype.kind == "f" else missing, "an infinite value"),
    ]:
        samples = np.flatnonzero(unusable.reshape(len(array), -1).any(axis=1))
        if len(samples):
            raise InputError(
                f"{subject} has {what} in {len(samples)} of {len(array)} samples (the first is "
                f"number {samples[0] + 1}); fill it in, or drop those samples from X and y."
            )
    return array


def _classes(
    array: NDArray[Any], subject: str, most: int
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    if array.ndim == 2:
        raise InputError(
            f"{subject} has several columns; Gini and entropy take one column of classes."
        )
    try:
        classes, codes = np.unique(array, return_inverse=True)
    except TypeError:
        raise InputError(
            f"{subject} mixes types that cannot be compared; make all labels text."
        ) from None
    if len(classes) < 2:
        raise _constant(array, subject)
    if len(classes) > most:
        numbers = array.dtype.kind in "iuf"
        raise InputError(
            Sentence(
                f"{subject} has {len(classes)} different values in {len(array)} samples, too many "
                "to be classes; ",
                *(
                    ("use ", Setting("task", "regression"), ".")
                    if numbers
                    else ("is it a column of names?",)
                ),
            )
        )
    return codes.astype(np.int64), classes


def _numbers(array: NDArray[Any], subject: str) -> NDArray[np.float64]:
    classes = Setting("task", "classification")
    text = Sentence(f"{subject} holds text, which is no number to predict; use ", classes, ".")
    if array.dtype.kind == "b":
        raise InputError(text)
    numbers = _real(array, text)
    if not np.all(np.abs(numbers) < MOST_NUMBER):
        raise InputError(f"{subject} holds values beyond {MOST_NUMBER:g}; scale it, or drop them.")
    if np.all(numbers == numbers[0]):
        raise _constant(array, subject)
    if np.ptp(numbers) < 1 / MOST_NUMBER:
        raise InputError(
            f"The values of {subject} differ by less than {1 / MOST_NUMBER:g}; scale them."
        )
    return numbers.reshape(len(numbers), -1)


def _constant(array: NDArray[Any], subject: str) -> InputError:
    return InputError(
        f"{subject} has the same value in every sample ({array.flat[0]!s:.60}), so that there is "
        "nothing to predict; choose another target, or add samples of another class."
    )


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
    """Checked weights; equal ones are none."""
    refuse_masked(sample_weight, "sample_weight")
    weight = _real(sample_weight, "sample_weight must hold numbers, one for each sample.")
    if weight.shape != (n_samples,):
        raise InputError(
            f"sample_weight has the shape {weight.shape} for {n_samples} samples; give one each."
        )
    weight = _checked_weights("sample_weight", weight)
    return None if np.all(weight == weight[0]) else weight


def _checked_weights(name: str, weight: NDArray[np.float64]) -> NDArray[np.float64]:
    if not np.all(weight >= 0.0) or not np.any(weight):  # NaN neither
        raise InputError(f"{name} must be finite, not negative, and not all zero.")
    if weight.max() > MOST_WEIGHT or weight[weight > 0].min() < 1 / MOST_WEIGHT:
        raise InputError(
            f"{name} must lie between {1 / MOST_WEIGHT:g} and {MOST_WEIGHT:g}, or be 0; scale it."
        )
    return weight


def _real(values: Any, message: str | Sentence) -> NDArray[np.float64]:
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
    labels = classes.tolist()
    if isinstance(class_weight, Mapping):
        if unknown := [label for label in class_weight if label not in labels]:
            raise InputError(f"class_weight names {unknown[0]!r}, which is not a class of y.")
        per_class = np.array(
            [real_number("class_weight", class_weight.get(c, 1.0), MOST_WEIGHT) for c in labels]
        )
    elif isinstance(class_weight, str) and class_weight == "balanced":
        per_class = len(codes) / (len(classes) * np.bincount(codes))
    else:
        raise InputError(f"class_weight = {class_weight!r:.60} must be 'balanced' or a dictionary.")
    product = per_class[codes] * (1.0 if weight is None else weight)
    return _checked_weights("The product of class_weight and sample_weight", product)
