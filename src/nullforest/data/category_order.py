"""Categories without an order, ordered by the target so that a threshold can split them.

Levels are ordered by their mean response, as for two classes or a number the best split of a node
is a threshold in that order (Breiman et al. 1984); with several classes by the first principal
component of the levels' class shares (Coppersmith, Hong & Hosking 1999). The order is found once,
on all samples, and would make a column of noise look related to the target. So each shadow is
ordered anew, by its own permuted column: feature and shadows are treated alike, and the test stays
exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import InputError
from nullforest.data.dense import Floats
from nullforest.data.targets import Target

#: Relative size of a difference between levels below which they count as equal: sums and principal
#: components differ in their last bits between machines.
_EQUAL = 1e-9


@dataclass(frozen=True, eq=False)
class CategoryOrder:
    """Which columns are categories, and the response that orders their levels.

    Attributes
    ----------
    columns : (C,) int
        Columns that hold codes of categories.
    responses : (S, Q)
        Numbers to predict, or one column per class.
    weight : (S,)
        Weight of each sample.
    """

    columns: NDArray[np.int64]
    responses: NDArray[np.float64]
    weight: NDArray[np.float64]

    @classmethod
    def by_target(cls, categories: NDArray[np.bool_], target: Target) -> CategoryOrder:
        """The order of the levels by a target."""
        if target.criterion == "neighbourhood":
            raise InputError(
                "Categories are ordered by the target, and distances have no mean; encode them as "
                "numbers, or drop them."
            )
        S = len(target.values)
        weight = np.ones(S) if target.weight is None else target.weight
        return cls(np.flatnonzero(categories), target.responses, weight)

    def ordered(self, values: Floats) -> Floats:
        """A copy of the table in which a category is the position of its level in the order."""
        values = values.copy()
        for column in self.columns:
            codes = values[:, column]
            known = ~np.isnan(codes)
            position = self._positions(codes[known].astype(np.int64), known)
            values[known, column] = position[codes[known].astype(np.int64)]
        return values

    def _positions(self, codes: NDArray[np.int64], known: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Position of each level; levels that do not occur have one too."""
        weight, responses = self.weight[known], self.responses[known]
        sizes = np.bincount(codes, weight)
        sums = [np.bincount(codes, weight * response) for response in responses.T]
        means = np.transpose(sums) / np.where(sizes > 0, sizes, 1.0)[:, None]
        centred = means - np.average(means, axis=0, weights=sizes)
        if centred.shape[1] > 1:
            axis = np.linalg.svd(centred * np.sqrt(sizes)[:, None], full_matrices=False)[2][0]
            centred = centred @ (axis * np.sign(axis[np.abs(axis).argmax()]))[:, None]
        scale = np.abs(centred).max(initial=0.0) or 1.0
        rounded = np.round(centred[:, 0] / scale / _EQUAL)
        return np.argsort(np.argsort(rounded, kind="stable"), kind="stable")
