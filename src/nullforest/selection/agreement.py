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
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import InputError
from nullforest.nulls import KINDS, Kind
from nullforest.nulls import null as make_null
from nullforest.nulls.distribution import Null
from nullforest.selection.error_rates import ErrorRate, decide
from nullforest.tallies.tally import Tally

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
    """Jaccard index of two selections: features in both ÷ features in either; 1 if none is."""
    either = int(np.sum(a | b))
    return float(np.sum(a & b) / either) if either else 1.0


@dataclass(frozen=True)
class SplitHalf:
    """Agreement of the two halves of a forest, and what follows for the whole.

    Attributes
    ----------
    expected : float
        Expected Jaccard index of two forests of the whole size.
    standard_error : float
        Of `expected`, from the number of features that either half selects.
    number : float
        Mean number of features that a half selects.
    """

    expected: float
    standard_error: float
    number: float

    @classmethod
    def of(
        cls, tally: Tally, kind: Kind, alpha: float, error: ErrorRate, seed: int
    ) -> SplitHalf | None:
        """Test both halves of one random split; None where they have too few trees."""
        try:
            a, b = (
                decide(
                    make_null(part, kind).pvalues(part.counts), alpha, error, tested=part.varying
                ).support
                for part in tally.halves(seed)
            )
        except InputError:  # too few trees for a null distribution of half of them
            return None
        index, either = jaccard(a, b), max(int(np.sum(a | b)), 1)
        return cls(
            expected=1 - (1 - index) / float(np.sqrt(2)),
            standard_error=float(np.sqrt(index * (1 - index) / either / 2)),
            number=(a.sum() + b.sum()) / 2,
        )

    @property
    def unsettled(self) -> bool:
        """Whether another split would hardly show a forest that has settled."""
        return self.expected < LEAST_AGREEMENT - 2 * self.standard_error


#: Splits by the null distribution of the whole forest, of which a tally has one for each model.
_splits: WeakKeyDictionary[Null, dict[Any, list[SplitHalf]]] = WeakKeyDictionary()


def agreement(selection: Selection, first: SplitHalf | None = None) -> Agreement | None:
    """Expected agreement of a selection; None where its forest has too few trees, or no counts.

    The run, which has made the `first` split already, passes it on.
    """
    kind: Any = selection.null.kind
    if kind not in KINDS:
        return None
    rate = selection.alpha, selection.error
    splits = _splits.setdefault(selection.null, {}).setdefault(
        rate, [] if first is None else [first]
    )
    while len(splits) < SPLITS and not (splits and splits[0].unsettled):
        split = SplitHalf.of(selection.tally, kind, *rate, len(splits))
        if split is None:
            return None
        splits.append(split)
    n, number = selection.n_selected, np.mean([split.number for split in splits])
    return Agreement(
        expected=float(np.mean([split.expected for split in splits])),
        standard_error=float(np.mean([split.standard_error for split in splits])),
        change=float(_QUADRUPLING * (n - number) / max(n, 1)),
        n_selected=n,
    )
