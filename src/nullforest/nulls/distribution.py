"""Null distributions of the selection count: the interface that all null models share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nullforest._util.errors import InputError
from nullforest._util.search import smallest_true
from nullforest._util.words import AUDIT, Command, Sentence

if TYPE_CHECKING:
    from nullforest.nulls.binomial_mixture import BinomialMixture
    from nullforest.nulls.shadows import Rescaled
    from nullforest.nulls.stages import Spliced

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
#: Share of the features whose extrapolated tails are worth a note.
MANY = 0.5


class NullDistribution(ABC):
    """Distribution of the selection count of a null feature: one that is independent of the target.

    `pmf` and `sf` describe one feature; `pvalues` tests all features of a forest. Constant
    features, which cannot be selected, have the p-value 1 and the expected count 0.

    Attributes
    ----------
    kind : str
        Name of the null model: "paper", "bagged", "probes" or "shadows".
    n_features : int
        Number of features that are tested: those that vary.
    largest : int
        Largest possible count.
    varying : (F,) bool or None
        Whether each feature varies; None where all do.
    feature_strata : (F,) int or None
        Stratum of each feature; None where all features have one null distribution.
    distributions : sequence
        Distribution of the count in each stratum (`mean`, `sf`, `pmf`, `largest`), where there are
        strata.
    notes : tuple of str
        Sentences that a reader of the result should see.
    """

    kind: str
    n_features: int
    largest: int
    varying: NDArray[np.bool_] | None = None
    feature_strata: Ints | None = None
    distributions: Sequence[Any] = ()
    notes: tuple[str, ...] = ()

    @property
    @abstractmethod
    def mean(self) -> float:
        """Expected count of a null feature."""

    @abstractmethod
    def pmf(self, k: ArrayLike) -> Floats:
        """Probability that a null feature is selected exactly k times."""

    @abstractmethod
    def sf(self, k: ArrayLike) -> Floats:
        """Probability that a null feature is selected more than k times."""

    def threshold(self, alpha: float) -> int:
        """Smallest κ with P(n > κ) ≤ alpha (the paper's Eq. thresholdII).

        A feature is selected when its count is *greater* than the threshold.
        """
        check_alpha(alpha)
        return quantile(self, alpha)

    def thresholds(self, alpha: float) -> Ints:
        """Count that each feature must exceed at the level `alpha`."""
        F = self.n_features if self.varying is None else len(self.varying)
        return np.full(F, self.threshold(alpha))

    def expected_false_positives(self, threshold: float) -> float:
        """Expected number of null features with a count greater than `threshold`."""
        return float(self.n_features * self.sf(threshold))

    def pvalues(self, counts: ArrayLike, *, mid: bool = False) -> Floats:
        """Probability of each feature's count or a larger one, each in its own stratum.

        Parameters
        ----------
        counts : array-like of int, (F,)
            Observed selection counts.
        mid : bool
            Take half of the probability of the observed count itself (mid-p). Mid-p values are
            uniform on average but may exceed the level; plain ones never do.
        """
        counts = np.asarray(counts)
        several, strata = len(self.distributions) > 1, self.feature_strata
        if several and strata is not None and counts.shape != strata.shape:
            raise InputError(
                f"These features are tested in {len(self.distributions)} strata; give one count "
                f"for each of the {len(strata)} features, in their order."
            )
        p = np.empty(counts.shape)
        for number, count in enumerate(self.distributions or (self,)):
            members = strata == number if several else ...
            values, place = np.unique(counts[members], return_inverse=True)
            tail = count.sf(values - 1)
            if mid:
                tail = tail - 0.5 * count.pmf(values)
            # Only a count above the largest possible one has probability 0; others may underflow.
            tail = np.where(values <= count.largest, np.maximum(tail, np.finfo(float).tiny), tail)
            p[members] = tail[place].reshape(counts[members].shape)
        return p if self.varying is None else np.where(self.varying, p, counts <= 0)

    def expected_counts(self) -> Floats:
        """Expected count of each feature under the null."""
        if self.varying is None:
            return np.full(self.n_features, self.mean)
        return np.where(self.varying, self.mean, 0.0)

    def stratum(self, number: int) -> NullDistribution:
        """Null distribution of one stratum alone."""
        return self

    def notes_at(self, alpha: float) -> tuple[str, ...]:
        """Sentences that a reader of p-values near `alpha` should see."""
        check_alpha(alpha)
        return self.notes

    def scaled(self, factor: float) -> NullDistribution | None:
        """Null distribution for `factor` times as many such trees; None where it is not known."""
        return None

    def describe(self) -> dict[str, Any]:
        """Parameters and diagnostics of the null model, for tables and JSON."""
        return {"null": self.kind, "expected_count": self.mean}


#: Short name, as in `null: Null`.
Null = NullDistribution


class StratifiedNull(NullDistribution):
    """Null distribution with one component for each stratum of features.

    `sf`, `pmf`, `threshold` and `expected_false_positives` refer to a null feature drawn at random
    from all features, so with several strata to their mixture: the false positive rate holds over
    all features, not in each stratum. `pvalues` and `thresholds` use each feature's own stratum.

    Parameters
    ----------
    kind : str
        Name of the null model.
    distributions : sequence of BinomialMixture, Spliced or Rescaled
        One per stratum.
    feature_strata : (F,) int
        Stratum of each feature, an index into `distributions`; any for constant features.
    varying : (F,) bool, optional
        Whether each feature varies; all do where not given.
    diagnostics : dict, or callable without arguments that returns one
        What `describe` tells besides the expected count.
    notes : tuple of str
        Sentences that a reader of the result should see.

    Examples
    --------
    >>> from nullforest.nulls.binomial_mixture import BinomialMixture
    >>> coins = [BinomialMixture([4], [p], [1.0]) for p in (0.5, 0.1)]
    >>> null = StratifiedNull("bagged", coins, np.array([0, 0, 1]))
    >>> round(null.mean, 3), null.pvalues([4, 0, 4]).round(4).tolist()
    (1.467, [0.0625, 1.0, 0.0001])
    """

    #: How its false positive rate is measured.
    audited_by: Command = AUDIT

    def __init__(
        self,
        kind: str,
        distributions: Sequence[BinomialMixture | Spliced | Rescaled],
        feature_strata: Ints,
        *,
        varying: NDArray[np.bool_] | None = None,
        diagnostics: dict[str, Any] | Callable[[], dict[str, Any]] | None = None,
        notes: tuple[str, ...] = (),
    ) -> None:
        self.kind = kind
        self.distributions = list(distributions)
        self.feature_strata: Ints = feature_strata
        self.varying = None if varying is None or varying.all() else varying
        tested = feature_strata if self.varying is None else feature_strata[self.varying]
        self.n_features = len(tested)
        sizes = np.bincount(tested, minlength=len(distributions))
        self.shares: Floats = sizes / self.n_features
        self.largest = max(d.largest for d in distributions)
        self.diagnostics: dict[str, Any] | Callable[[], dict[str, Any]] = diagnostics or {}
        self.notes = notes

    @property
    def mean(self) -> float:
        """Expected count of a null feature, over all strata."""
        return float(self.shares @ [d.mean for d in self.distributions])

    def pmf(self, k: ArrayLike) -> Floats:
        """Probability that a null feature is selected exactly k times."""
        pairs = zip(self.shares, self.distributions, strict=True)
        return np.asarray(sum(share * d.pmf(k) for share, d in pairs))

    def sf(self, k: ArrayLike) -> Floats:
        """Probability that a null feature is selected more than k times."""
        pairs = zip(self.shares, self.distributions, strict=True)
        return np.asarray(sum(share * d.sf(k) for share, d in pairs))

    def stratum(self, number: int) -> StratifiedNull:
        """Null distribution of one stratum alone."""
        size = np.count_nonzero(self.feature_strata == number)
        return StratifiedNull(self.kind, [self.distributions[number]], np.zeros(size, np.int64))

    def expected_counts(self) -> Floats:
        """Expected count of each feature under the null: the mean of its stratum."""
        means = np.array([d.mean for d in self.distributions])[self.feature_strata]
        return means if self.varying is None else np.where(self.varying, means, 0.0)

    def thresholds(self, alpha: float) -> Ints:
        """Count that each feature must exceed for every stratum to be held at `alpha`."""
        check_alpha(alpha)
        limits = [quantile(distribution, alpha) for distribution in self.distributions]
        return np.array(limits, np.int64)[self.feature_strata]

    def notes_at(self, alpha: float) -> tuple[str, ...]:
        """Sentences for a reader of p-values near `alpha`, which may be extrapolated."""
        check_alpha(alpha)
        levels = np.array([d.extrapolated_below for d in self.distributions])
        beyond = levels > alpha
        concerned = float(self.shares[beyond].sum())
        if concerned < MANY:
            return self.notes
        of_whom = "" if concerned == 1 else f" of {concerned:.0%} of the features"
        largest = levels[beyond].max()
        which = "All p-values" if largest >= 1 else f"p-values below {largest:.2g}"
        note = Sentence(
            f"{which}{of_whom} are extrapolated and approximate. An audit (",
            self.audited_by,
            ") measures the false positive rate on these data.",
        )
        return (*self.notes, note)

    def scaled(self, factor: float) -> StratifiedNull:
        """Null distribution for `factor` times as many such trees."""
        longer = [d.scale_trials(factor) for d in self.distributions]
        return StratifiedNull(self.kind, longer, self.feature_strata, varying=self.varying)

    def describe(self) -> dict[str, Any]:
        """Parameters and diagnostics of the null model."""
        if callable(self.diagnostics):
            self.diagnostics = self.diagnostics()
        return {**super().describe(), **self.diagnostics}


def check_alpha(alpha: float) -> None:
    """Refuse an error rate outside (0, 1)."""
    if not (isinstance(alpha, int | float | np.number) and 0.0 < alpha < 1.0):
        raise InputError(
            f"alpha = {alpha!r:.60} is not an error rate; give a number between 0 and 1."
        )


def quantile(count: Any, tail: float, start: int = 0) -> int:
    """Smallest k with P(count > k) ≤ tail, searched from `start`."""
    return smallest_true(lambda k: float(count.sf(k)) <= tail, 0, count.largest, start)
