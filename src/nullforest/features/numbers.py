"""Features given by number or as a mask, checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import InputError


def feature_numbers(features: Any, n_features: int) -> NDArray[np.int64]:
    """Numbers of features, in their order, from numbers or a mask.

    Examples
    --------
    >>> from nullforest.features.numbers import feature_numbers
    >>> feature_numbers([False, True, True], 3).tolist(), feature_numbers([2, 0], 3).tolist()
    ([1, 2], [2, 0])
    """
    array = np.asarray(features)
    if array.dtype == bool:
        if array.shape != (n_features,):
            raise InputError(
                f"A mask of the {n_features} features has one entry for each, not {array.size}."
            )
        return np.flatnonzero(array)
    if array.size == 0:
        return np.empty(0, np.int64)
    if array.dtype.kind not in "iu" or array.ndim != 1:
        raise InputError(f"Give features by number, or as a mask of the {n_features} features.")
    if (wrong := array[(array < 0) | (array >= n_features)]).size:
        raise InputError(
            f"There is no feature {wrong[0]}; features are numbered from 0 to {n_features - 1}."
        )
    return array.astype(np.int64)
