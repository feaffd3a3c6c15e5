"""Claims of the paper, and whether our numbers bear them out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

#: Fewest runs per setting that support an answer. Two standard errors estimated from R runs cover
#: P(|t| <= 2) with R - 1 degrees of freedom: 70 % for 2 runs, 92 % for 10 and 94 % for 20.
ENOUGH_RUNS = 10
#: Begins a claim that the paper does not make.
ADDED = "(not in the paper)"
#: Columns that name a setting; a curve of a figure runs along one and has the others in common.
_SETTING = (
    *("strategy", "null", "alpha", "n_samples", "n_features"),
    *("n_relevant", "relevant_share", "region_share", "relevance", "trees"),
)


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper (`text`), the number behind the answer, and whether it holds."""

    text: str
    evidence: str
    holds: bool

    def answer(self, runs: int) -> str:
        """Whether the claim holds, as far as this number of runs per setting can tell."""
        if runs < ENOUGH_RUNS:
            return "cannot tell"
        return "yes" if self.holds else "no"


def held(claims: Sequence[Claim], runs: int) -> str:
    """Number of claims that hold, as far as this number of runs per setting can tell.

    Examples
    --------
    >>> claims = [Claim("Rates grow with F.", "3 of 3 curves", True)]
    >>> print(held(claims, runs=2))
    cannot tell whether the 1 claims hold: 2 runs per setting, at least 10 are needed
    >>> print(held(claims, runs=20))
    1 of 1 claims hold
    """
    if runs < ENOUGH_RUNS:
        return (
            f"cannot tell whether the {len(claims)} claims hold: {runs} runs per setting, at least "
            f"{ENOUGH_RUNS} are needed"
        )
    return f"{sum(claim.holds for claim in claims)} of {len(claims)} claims hold"


def trend(text: str, table: pd.DataFrame, along: str, value: str, *, rising: bool) -> Claim:
    """Claim that a value rises (or falls) along a parameter, from its smallest to its largest.

    A curve agrees when its last point lies on the claimed side of its first, or level with it. A
    figure's trend is a statement about most curves: it holds when four of five agree, and the
    mean change has the claimed sign.

    Examples
    --------
    >>> table = pd.DataFrame({"n_samples": [50, 99, 50, 99], "trees": [5, 5, 6, 6],
    ...                       "fpr": [0.4, 0.1, 0.3, 0.2]})
    >>> trend("Rates fall with S.", table, "n_samples", "fpr", rising=False)
    Claim(text='Rates fall with S.', evidence='2 of 2 curves; mean change -0.2', holds=True)
    """
    by = [name for name in _SETTING if name in table and name != along]
    curves = [part.sort_values(along)[value].to_numpy() for _, part in table.groupby(by)]
    change = np.array([curve[-1] - curve[0] for curve in curves])
    agree = change >= 0 if rising else change <= 0
    mean = float(change.mean())
    evidence = f"{agree.sum()} of {len(agree)} curves; mean change {mean:+.2g}"
    return Claim(text, evidence, bool(agree.mean() >= 0.8 and (mean > 0) == rising))


def in_settings(text: str, holds: pd.Series[bool], note: str = "", *, least: float = 1.0) -> Claim:
    """Claim about settings; it must hold in at least this share of them.

    Examples
    --------
    >>> in_settings("Rates are low.", pd.Series([True, False]), "; mean 0.1", least=0.5)
    Claim(text='Rates are low.', evidence='1 of 2 settings; mean 0.1', holds=True)
    """
    evidence = f"{int(holds.sum())} of {len(holds)} settings{note}"
    return Claim(text, evidence, bool(holds.mean() >= least))
