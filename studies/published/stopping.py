"""Stopping rules: when a permutation test ends before its last permutation.

After m of at most M permutations d of them were as extreme as the observation; the p-value of the
full test is (1 + d_M) / (1 + M), and a feature is selected when it is at most α.

none            run all M permutations.
certain         stop when the remaining permutations cannot change the decision. The p-value is
                the largest one still possible where selected, (1 + d + M - m) / (1 + M), and
                (1 + d) / (1 + m) where not.
besag_clifford  stop after h exceedances: p = h / m, an exact p-value (Besag and Clifford 1991);
                the full test's if there are fewer among M.
sprt            Wald's test of p = p₀ against p = p₁, p₁ < α < p₀: stop when the likelihood ratio
                (p₁/p₀)^d ((1-p₁)/(1-p₀))^(m-d) reaches (1-b)/a (selected) or b/(1-a) (not);
                p is estimated by (1 + d) / (1 + m). Errors a and b as in rfvimptest.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, log
from typing import Literal

from nullforest._util.errors import check_known

Stop = Literal["none", "certain", "besag_clifford", "sprt"]
STOPS: tuple[Stop, ...] = ("none", "certain", "besag_clifford", "sprt")


@dataclass(frozen=True)
class Stopping:
    """A stopping rule and its parameters.

    Attributes
    ----------
    rule : str
    permutations : int
        Most permutations M.
    alpha : float
        Level of the decision.
    exceedances : int
        h of Besag and Clifford.
    spread : float
        SPRT: p₀ = (1 + spread) α and p₁ = (1 - spread) α.
    a, b : float
        SPRT: probability to select at p = p₀, and not to select at p = p₁.
    """

    rule: Stop
    permutations: int
    alpha: float
    exceedances: int = 8
    spread: float = 0.2
    a: float = 0.05
    b: float = 0.2

    def __post_init__(self) -> None:
        check_known("stop", self.rule, STOPS)

    def done(self, d: int, m: int) -> bool:
        """Whether to stop after m permutations with d exceedances."""
        if m >= self.permutations:
            return True
        if self.rule == "certain":
            return d > self._allowed or d + self.permutations - m <= self._allowed
        if self.rule == "besag_clifford":
            return d >= self.exceedances
        if self.rule == "sprt":
            p0, p1 = (1 + self.spread) * self.alpha, (1 - self.spread) * self.alpha
            ratio = d * log(p1 / p0) + (m - d) * log((1 - p1) / (1 - p0))
            return ratio >= log((1 - self.b) / self.a) or ratio <= log(self.b / (1 - self.a))
        return False

    def pvalue(self, d: int, m: int) -> float:
        """The p-value when it stops after m permutations with d exceedances.

        Examples
        --------
        >>> Stopping("besag_clifford", 999, 0.05).pvalue(8, 20)
        0.4
        >>> Stopping("certain", 99, 0.05).pvalue(0, 95)
        0.05
        """
        if self.rule == "besag_clifford" and d >= self.exceedances:
            return d / m
        if self.rule == "certain" and d + self.permutations - m <= self._allowed:
            return (1 + d + self.permutations - m) / (1 + self.permutations)
        return (1 + d) / (1 + m)

    @property
    def _allowed(self) -> int:
        """Most exceedances among all M permutations with which a feature is selected."""
        # The tolerance keeps α (M + 1) = 5.0 from becoming 4.999… and losing a whole step.
        return floor(self.alpha * (self.permutations + 1) + 1e-9) - 1
