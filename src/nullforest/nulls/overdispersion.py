"""Do real features differ more from each other than the probes do?

A probe knows nothing of the other columns. Real features are correlated with each other and with
what the trees split by first, some more and some less, so each has a base rate of its own: given
its luck, its rate is the probe's times a factor e^x, x ~ N(shift, σ²). How large σ is shows in the
body of the counts, which would otherwise be too wide for the probes.

Beforehand σ = 0 has probability .85 (less where features are known to be alike), and the other
`SPREADS` share the rest as e^(−σ/0.2): where the counts cannot tell, as with few trees, the null
hardly widens, so that it is about as cautious there as with many. The likelihood of the counts up
to the body's 90 % quantile, where relevant features have hardly a say, turns them into weights (at
each σ the shift is the most likely one; where there are several kinds of features, σ is common to
all), and the null is the average over all σ: a prediction that knows how well σ is known.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from nullforest.nulls.binomial_mixture import BinomialMixture
from nullforest.nulls.mean import BODY_TAIL

Floats = NDArray[np.float64]

#: Values of σ: from none to rates that differ by a factor of 2.5 either way.
SPREADS = (0.0, 0.15, 0.25, 0.35, 0.5, 0.7, 0.9)
#: Probability beforehand that features differ no more than probes, where they are independent.
NONE = 0.85
_USUAL = 0.2  # of σ, where it is not zero: rates that differ by a fifth
_STEP = 0.075  # of x: half of the smallest σ, for which the sum over a normal law is exact
_X: Floats = _STEP * np.arange(-32.0, 33.0)  # to 2.4, where the largest σ has lost all but 1 %
_SHIFTS = 1.0  # of the mean of x either way; −σ²/2 keeps the mean rate
_MOST_CELLS = 64  # cells of counts whose frequencies are compared
_TINY = np.finfo(float).tiny
_NEGLIGIBLE = 1e-3  # weights below it are dropped


class Spread:
    """What the counts of one kind of feature say about σ.

    Parameters
    ----------
    model : factor -> BinomialMixture
        Counts of null features whose rates are multiplied by `factor`; matched at 1.
    counts : (F,) int
        The counts.

    Attributes
    ----------
    evidence : (σ,)
        Logarithm of the likelihood of each of `SPREADS`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> def model(factor):
    ...     return BinomialMixture([1000], [0.01 * factor], [1.0])
    >>> same = Spread(model, rng.binomial(1000, 0.01, 5000))
    >>> factors, shares = same.factors(same.evidence)
    >>> bool(np.sqrt(shares @ np.log(factors) ** 2) < 0.15)
    True
    >>> rates = 0.01 * np.exp(rng.normal(0, 0.3, 5000))
    >>> wide = Spread(model, rng.binomial(1000, rates))
    >>> factors, shares = wide.factors(wide.evidence)
    >>> bool(0.2 < np.sqrt(shares @ np.log(factors) ** 2) < 0.4)
    True
    """

    def __init__(
        self, model: Callable[[float], BinomialMixture], counts: NDArray[np.int64]
    ) -> None:
        end = max(model(1.0).quantile(BODY_TAIL), 2)
        edges = np.unique(np.linspace(0, end, min(end + 1, _MOST_CELLS)).astype(np.int64))
        seen = np.bincount(np.searchsorted(edges, counts[counts <= end]), minlength=len(edges))
        cells = np.stack([model(float(np.exp(x))).cells(edges) for x in _X])
        shifts = _X[np.abs(_X) <= _SHIFTS]
        evidence, laws = [], []
        for spread in SPREADS:
            law = _laws(shifts, spread)
            expected = law @ cells
            body = expected.sum(1, keepdims=True)
            # Factors so large that no count could lie in the body are out of the question.
            share = np.divide(expected, body, out=np.zeros_like(expected), where=body > _TINY)
            likelihood = np.where(body[:, 0] > _TINY, xlogy(seen, share).sum(1), -np.inf)
            best = int(np.argmax(likelihood))
            evidence.append(likelihood[best])
            laws.append(law[best])
        self.evidence: Floats = np.array(evidence)
        laws[0] = (_X == 0).astype(float)  # the scale that was matched
        self._laws = laws

    def factors(self, evidence: Floats, none: float = NONE) -> tuple[Floats, Floats]:
        """Factors on the rates and their probabilities, by what all kinds of features say.

        `none` is the probability beforehand that σ = 0.
        """
        prior = np.array([np.exp(-spread / _USUAL) if spread else 0.0 for spread in SPREADS])
        prior = np.where(prior == 0, none, (1 - none) * prior / max(prior.sum(), _TINY))
        if not np.isfinite(evidence.max()):
            evidence = self.evidence  # no σ suits all kinds at once
        posterior = prior * np.exp(evidence - evidence.max())
        posterior[posterior < _NEGLIGIBLE * posterior.sum()] = 0
        shares = np.average(self._laws, axis=0, weights=posterior)
        kept = shares > _NEGLIGIBLE * shares.max()
        return np.exp(_X[kept]), shares[kept] / shares[kept].sum()


def _laws(shifts: Floats, spread: float) -> Floats:
    """Weights of a normal law on the points x, one row for each mean."""
    apart = np.abs(_X - shifts[:, None])
    law = np.exp(-((apart / spread) ** 2) / 2) if spread else (apart < _STEP / 2).astype(float)
    return np.asarray(law / law.sum(1, keepdims=True))
