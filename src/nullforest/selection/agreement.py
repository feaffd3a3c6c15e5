"""Agreement: how far an independent forest on the same data would select the same features.

The forest is split into two random halves, each of which is tested with a null distribution of its
own. Their selections differ by the noise of the counts and by that of the estimated null
distribution. Both are √2 times as large in a half as in the whole forest, and the share of features
on which two forests differ is proportional to them, so that two forests of the whole size have the
expected Jaccard index 1 − (1 − J)/√2, with J that of the halves.

The number of selected features tends to its limit with an error proportional to 1/√T, so that from
T trees to 4 T it changes by ½/(√2 − 1) = 1.21 times what it changed from T/2 to T.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import InputError
from nullforest.nulls import KINDS
from nullforest.nulls import null as make_null
from nullforest.selection.error_rates import decide
from nullforest.tallies.halves import halves

if TYPE_CHECKING:
    from nullforest.selection.selection import Selection

#: Least expected agreement of a selection that has settled, and most relative change of the number
#: of selected features that four times the trees may bring.
LEAST_AGREEMENT, MOST_CHANGE = 0.9, 0.05
#: Splits over which the agreement is averaged. Each takes the time of two null distributions.
SPLITS = 2
#: Change of the number of selected features from T to 4 T, by that from T/2 to T.
_QUADRUPLING = 0.5 / (np.sqrt(2.0) - 1.0)


@dataclass(frozen=True)
class Agreement:
    """Expected agreement of a selection with that of an independent forest on the same data.

    Attributes
    ----------
    expected : float
        Expected Jaccard index of the two selections; 1 where both are expected to be empty.
    standard_error : float
        Of `expected`, from the number of features that it rests on.
    change : float
        Expected relative change of the number of selected features with four times the trees.
    n_selected : int
        Features selected now.
    """

    expected: float
    standard_error: float
    change: float
    n_selected: int

    @property
    def settled(self) -> bool:
        """Whether the agreement is at least .9 and more trees would hardly change the number.

        The agreement must exceed .9 by its standard error. A change of less than one feature, or
        of 5 %, is hardly any.
        """
        change = abs(self.change)
        small = change <= MOST_CHANGE or change * self.n_selected < 1.0
        return self.expected - self.standard_error >= LEAST_AGREEMENT and small


def jaccard(a: NDArray[np.bool_], b: NDArray[np.bool_]) -> float:
    """Jaccard index of two selections: features in both ÷ features in either; 1 if none is.

    Examples
    --------
    >>> jaccard(np.array([True, True, False]), np.array([True, False, False]))
    0.5
    """
    either = int(np.sum(a | b))
    return float(np.sum(a & b) / either) if either else 1.0


def agreement(selection: Selection) -> Agreement | None:
    """Expected agreement of a selection; None where its forest has too few trees, or no counts.

    Examples
    --------
    >>> import nullforest as nf
    >>> X, y, relevant = nf.simulate.independent(100, 300, n_relevant=5, relevance=0.7)
    >>> found = agreement(nf.select(nf.grow(X, y, trees=2000)))
    >>> round(found.expected, 1), found.settled
    (1.0, True)
    """
    kind: Any = selection.null.kind
    if not selection.tests_counts or kind not in KINDS:
        return None
    found, errors, numbers = [], [], []
    for seed in range(SPLITS):
        try:
            parts = halves(selection.tally, seed)
            a, b = (
                decide(
                    make_null(part, kind).pvalues(part.counts), selection.alpha, selection.error
                ).support
                for part in parts
            )
        except InputError:  # too few trees for a null distribution of half of them
            return None
        index, either = jaccard(a, b), int(np.sum(a | b))
        found.append(1 - (1 - index) / np.sqrt(2))
        errors.append(np.sqrt(index * (1 - index) / max(either, 1) / 2))
        numbers.append((a.sum() + b.sum()) / 2)
        if found[0] < LEAST_AGREEMENT - 2 * errors[0]:  # a second split would not change that
            break
    n = selection.n_selected
    return Agreement(
        expected=float(np.mean(found)),
        standard_error=float(np.mean(errors)),
        change=float(_QUADRUPLING * (n - np.mean(numbers)) / max(n, 1)),
        n_selected=n,
    )
