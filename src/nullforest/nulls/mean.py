"""How large is the expected count of a null feature, when nobody says which features are null?

Relevant features have large counts. So only counts up to the model's own 90 % quantile κ are
looked at, and the model's scale is set such that their mean is the model's E[n | n ≤ κ]: relevant
features above κ then have no say at all, whatever their number. With a share w of relevant ones
among the counts up to κ, the matched mean of these counts is off by at most w·κ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from nullforest.nulls.binomial_mixture import BinomialMixture

BODY_TAIL = 0.1  # counts above the model's 90 % quantile are not looked at
FEW_FEATURES = 100  # below, a tenth of them is less than ten, and each is needed for the mean
_PRECISION = 1e-5  # of the log of the scale: the noise of 1e8 selections is ten times that
_STRIDE = 0.25  # of the way down: a root is not stepped over unless another lies within 28 %
_REACH = 60.0  # a factor of 1e26 either way: more than any forest has nodes


def running_sums(counts: NDArray[np.int64]) -> Callable[[int], tuple[int, int]]:
    """A function of k that gives how many counts are at most k, and their sum."""
    number = np.bincount(counts)
    up_to_number = np.cumsum(number)
    up_to_total = np.cumsum(number * np.arange(len(number)))

    def up_to(k: int) -> tuple[int, int]:
        place = min(k, len(number) - 1)
        return int(up_to_number[place]), int(up_to_total[place])

    return up_to


def body_tail(n_features: int) -> float:
    """Share of null features beyond the body: a tenth, less where features are few.

    Examples
    --------
    >>> body_tail(5000), body_tail(50)
    (0.1, 0.05)
    """
    return BODY_TAIL * min(1.0, n_features / FEW_FEATURES)


def body_end(model: BinomialMixture, tail: float = BODY_TAIL) -> int:
    """The count κ up to which counts are matched: the 90 % quantile, but at least 1.

    Counts of zero alone would not tell one scale from another.
    """
    return max(model.quantile(tail), 1)


def body_exceeds(
    models: Iterable[BinomialMixture],
    sums: Iterable[Callable[[int], tuple[int, int]]],
    tail: float = BODY_TAIL,
) -> bool:
    """Whether the counts in the bodies of the models add to more than the models expect.

    Half a count is added to the sum: a forest that never chose any of its null features does not
    prove that they cannot be chosen. An empty body means that the model is far too low.
    """
    number, difference = 0, 0.5
    for model, up_to in zip(models, sums, strict=True):
        end = body_end(model, tail)
        n, total = up_to(end)
        number += n
        difference += total - n * model.mean_up_to(end)
    return number == 0 or difference > 0


def matched_scale(
    models: Callable[[float], list[BinomialMixture]],
    counts: list[NDArray[np.int64]],
    start: float,
    tail: float = BODY_TAIL,
) -> float:
    """The scale at which models and counts agree on the mean of the counts in the body.

    Parameters
    ----------
    models : scale -> list of BinomialMixture
        One model for each group of features; expected counts grow with the scale.
    counts : list of arrays
        The counts of each group.
    start : float
        A positive scale at which the model's mean is near that of all counts.
    tail : float
        Share of null features beyond the body.

    Returns
    -------
    float
        The largest such scale, so that features which can never be chosen (constant columns)
        do not drag it down. The search ends: going up, the model at last expects more than the
        largest count; going down, it at last expects less than the half count that is added;
        and between the two a bracket is halved until it is short.
    """
    sums = [running_sums(group) for group in counts]

    def too_low(log_scale: float) -> bool:
        return body_exceeds(models(float(np.exp(log_scale))), sums, tail)

    high = np.log(start)
    while too_low(high) and high < np.log(start) + _REACH:
        high += 1.0
    low = high - _STRIDE
    while not too_low(low) and low > np.log(start) - _REACH:
        low, high = low - _STRIDE, low
    while high - low > _PRECISION:
        middle = (low + high) / 2
        if too_low(middle):
            low = middle
        else:
            high = middle
    return float(np.exp(high))


def pi0(model: BinomialMixture, counts: NDArray[np.int64]) -> float:
    """Estimated share of null features: features in the model's body ÷ those expected there."""
    end = body_end(model)
    expected = len(counts) * (1.0 - float(model.sf(end)))
    return float(min(1.0, np.count_nonzero(counts <= end) / expected)) if expected > 0 else 1.0
