"""Class labels: two classes, exactly balanced, in random order."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import InputError


def balanced_labels(n_samples: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Labels 0 and 1, half of the samples each; an odd sample out has label 0.

    Examples
    --------
    >>> import numpy as np
    >>> np.bincount(balanced_labels(10, np.random.default_rng(0))).tolist()
    [5, 5]
    """
    if n_samples < 2:
        raise InputError(f"n_samples = {n_samples} must be at least 2, one of each class.")
    return rng.permutation(np.arange(n_samples) % 2)


def mean_shift(relevance: float) -> float:
    """Difference of the class means, in standard deviations within a class, that gives ρ.

    With equally likely classes a shift of 2ρ/√(1-ρ²) makes Pearson's correlation between the
    feature and the label ρ.

    Examples
    --------
    >>> round(mean_shift(0.5), 4)
    1.1547
    """
    if not -1.0 < relevance < 1.0:
        raise InputError(
            f"relevance = {relevance} is a correlation with the label; it must lie between "
            "-1 and 1, both excluded."
        )
    return 2.0 * relevance / math.sqrt(1.0 - relevance**2)
