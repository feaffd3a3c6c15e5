"""Trajectories: a selection and its forest at increasing numbers of trees."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nullforest.nulls.distribution import Floats, Ints


@dataclass(frozen=True, eq=False)
class Trajectory:
    """State of a selection at increasing numbers of trees, the whole forest last.

    Attributes
    ----------
    trees : (B,) int
        Number of trees at each point.
    selected : tuple of (n,) int
        Columns selected at each point, at the error rate of the selection.
    thresholds : (B,) float
        Count to exceed at each point; NaN where it differs between features.
    expected : (B,) float
        Expected count of a null feature at each point.
    followed : (M,) int
        Columns that are followed: the most significant ones at the end.
    counts, adjusted : (B, M) int, float
        Their counts, and the p-values that were compared with alpha.
    oob_errors : (B,) float
        Out-of-bag error: share of wrong classes, or 1 − R²; NaN where there is none.
    guessing_error : float
        The same error of always predicting the most frequent class, or the mean.
    better_than_guessing : bool or None
        Whether the squared error of the out-of-bag predictions is below that of always
        predicting the class shares (or the mean) by more than two standard errors; None where
        there are no out-of-bag predictions.
    """

    trees: Ints
    selected: tuple[Ints, ...]
    thresholds: Floats
    expected: Floats
    followed: Ints
    counts: Ints
    adjusted: Floats
    oob_errors: Floats
    guessing_error: float
    better_than_guessing: bool | None

    @property
    def n_selected(self) -> Ints:
        """Number of features selected at each point."""
        return np.array([len(columns) for columns in self.selected], np.int64)

    @property
    def agreement(self) -> Floats:
        """Jaccard index of each point's selection and the last one (1 if both are empty)."""
        last = self.selected[-1]
        common = [len(np.intersect1d(columns, last)) for columns in self.selected]
        either = [len(np.union1d(columns, last)) for columns in self.selected]
        return np.array([c / e if e else 1.0 for c, e in zip(common, either, strict=True)])
