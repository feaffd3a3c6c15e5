"""Strata of the features, by the ties of their columns.

A feature is tested against the probes of its stratum. For features with (nearly) as many values as
samples a probe is a random ranking; for all others it is a column of the stratum with its samples
permuted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

#: A column with at least this many levels per sample counts as one without ties.
CONTINUOUS = 0.8
#: Edges of the bins: number of levels (2, 3, 4-6, 7-12, 13-24, more); share of the pairs of samples
#: that differ, and so could be split (for SNPs it grows with the allele frequency to .625, so the
#: edges are close there); share of missing values (none, up to 5 %, …).
LEVEL_EDGES = (2.5, 3.5, 6.5, 12.5, 24.5)
DIFFERENT_EDGES = (0.06, 0.12, 0.18, 0.24, 0.31, 0.39, 0.47, 0.54, 0.6, 0.67, 0.75, 0.85)
MISSING_EDGES = (0.0, 0.05, 0.2, 0.5)
#: Most strata of columns with ties, and the share of the features below which a stratum is merged
#: with an adjacent one.
MOST_STRATA, RARE = 24, 0.02


@dataclass(frozen=True)
class Strata:
    """The strata of the features: the stratum of each feature, and facts about each stratum."""

    features: Ints
    copies: tuple[bool, ...]  # its probes are permuted columns (else random rankings)
    evaluable: tuple[bool, ...]  # a probe could win (not so for constant columns)
    missing: tuple[bool, ...] = ()  # any of its columns has missing values

    @property
    def sizes(self) -> Ints:
        """Features in each stratum."""
        return np.bincount(self.features, minlength=len(self.copies))

    def allocated(self, number: int) -> list[int]:
        """Probes of each stratum: a quarter divided evenly, the others by the number of features.

        Examples
        --------
        >>> Strata(np.repeat([0, 1], [90, 10]), (False, True), (True, True)).allocated(1000)
        [800, 200]
        """
        evaluable = np.array(self.evaluable)
        if not evaluable.any():
            return [0] * len(evaluable)
        share = np.where(evaluable, 0.25 / evaluable.sum(), 0.0)
        sizes = np.bincount(self.features, minlength=len(evaluable)) * evaluable
        share += 0.75 * sizes / sizes.sum()
        ends = np.rint(np.cumsum(share) * number).astype(int)
        return [int(n) for n in np.diff(ends, prepend=0)]


def stratify(n_levels: Ints, equal_pairs: Ints, n_missing: Ints, n_samples: int) -> Strata:
    """Strata of features by the ties of their columns.

    For each column: distinct values (missing is one), how many of the n_samples² pairs of samples
    (each with itself too) have equal values, and how many values are missing.

    Examples
    --------
    Two genes, three SNPs (one of them rare), and a constant column, of 100 samples:

    >>> levels = np.array([100, 98, 3, 3, 2, 1])
    >>> equal = np.array([100, 104, 4700, 4800, 9418, 10_000])
    >>> strata = stratify(levels, equal, np.zeros(6, int), 100)
    >>> strata.features.tolist(), strata.copies
    ([0, 0, 2, 2, 1, 3], (False, True, True, True))
    """
    continuous = (n_missing == 0) & (n_levels >= CONTINUOUS * n_samples)
    constant = n_levels == 1
    bins = np.stack(
        [
            np.digitize(n_levels, LEVEL_EDGES),
            np.digitize(1 - equal_pairs / n_samples**2, DIFFERENT_EDGES),
            np.digitize(n_missing / n_samples, MISSING_EDGES, right=True),
        ],
        axis=1,
    )
    labels = np.full(len(n_levels), -1, np.int64)
    discrete = ~continuous & ~constant
    labels[discrete] = _merged(bins[discrete], len(n_levels))
    labels[continuous] = -2  # the first stratum
    last = np.iinfo(np.int64).max
    labels[constant] = last
    names, features = np.unique(labels, return_inverse=True)
    missing = np.bincount(features, n_missing, len(names)) > 0
    return Strata(
        features.astype(np.int64),
        copies=tuple(bool(name != -2) for name in names),
        evaluable=tuple(bool(name != last) for name in names),
        missing=tuple(missing.tolist()),
    )


def _merged(bins: Ints, n_features: int) -> Ints:
    """Number the distinct rows of `bins`, rare ones merged with their nearest.

    Rows with few features are merged with an adjacent one if there is one. While there are too
    many, the rarest is merged with the nearest, however far.
    """
    if len(bins) == 0:
        return np.zeros(0, np.int64)
    rows, place, sizes = np.unique(bins, axis=0, return_inverse=True, return_counts=True)
    into = np.arange(len(rows))
    left = list(range(len(rows)))
    settled: set[int] = set()
    while rare := [i for i in left if i not in settled]:
        rarest = min(rare, key=lambda i: (sizes[i], i))
        others = [i for i in left if i != rarest]
        distance = [int(((rows[i] - rows[rarest]) ** 2).sum()) for i in others]
        adjacent = bool(others) and min(distance) == 1 and sizes[rarest] < RARE * n_features
        if not adjacent and len(left) <= MOST_STRATA:
            settled.add(rarest)
            continue
        nearest = others[int(np.argmin(distance))]
        left.remove(rarest)
        into[into == rarest] = nearest
        sizes[nearest] += sizes[rarest]
    merged: Ints = into[place.ravel()]
    return merged
