"""Altmann's parametric p-values: distributions fitted to the permuted statistics.

Altmann et al. (2010) fit a normal, a log-normal and a gamma distribution to each feature's
permuted importances by maximum likelihood, keep the one with the largest p-value of a
Kolmogorov-Smirnov test, and take the p-value of the feature from its tail. Where the test rejects
all three, exceedances are counted instead. The parameters are fitted to the sample that is tested,
so the Kolmogorov-Smirnov test is lenient; it ranks the families.
"""

from __future__ import annotations

from time import monotonic
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from nullforest.evaluation.baselines import BaselineResult
from nullforest.evaluation.baselines.importances import MEASURES, MeasuredForests, Statistic
from nullforest.evaluation.relabelling import grow_permuted, permutable
from nullforest.nulls.distribution import Floats
from nullforest.selection.error_rates import ErrorRate

FAMILIES = ("normal", "lognormal", "gamma")
#: A family is rejected where its Kolmogorov-Smirnov p-value is below this, as in Altmann et al.
REJECTED = 0.05
#: Features fitted at once: 250 permutations of 4 096 features in double precision are 8 MB.
_AT_ONCE = 4096
#: Newton steps of the gamma's shape; the start is within 1.5 % and every step squares the error.
_STEPS = 4


def fitted_label_permutation(
    X: Any,
    y: Any,
    *,
    statistic: Statistic = "gini",
    permutations: int = 250,
    alpha: float = 0.01,
    error: ErrorRate = "fpr",
    blocks: Any = None,
    seed: int = 0,
    n_jobs: int = -1,
    **settings: Any,
) -> BaselineResult:
    """Label permutation with fitted p-values; exceedances are counted where no family fits.

    Parameters are those of :func:`nullforest.baselines.label_permutation`. The permuted
    statistics, (permutations, F), are held in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from studies.published.altmann_fits import fitted_label_permutation
    >>> X = np.random.default_rng(0).normal(size=(60, 40))
    >>> s = fitted_label_permutation(X, X[:, 5] > 0, trees=50, permutations=49)
    >>> s.selected.tolist(), bool(s.pvalues[5] < 1e-4)
    (['x5'], True)
    """
    start = monotonic()
    data = permutable(X, y, blocks, settings, n_jobs)
    measured = MeasuredForests(data, statistic, seed=seed, n_jobs=n_jobs, **settings)
    forest = measured.grown(seed)
    values = measured.values(forest)
    forests = grow_permuted(measured.data, permutations, seed=seed, **measured.settings)
    permuted = np.array([measured.values(forest) for forest in forests])
    fit = fitted_pvalues(permuted.astype(np.float32), values)
    plain = (1 + (permuted >= values).sum(axis=0)) / (1 + permutations)
    families = {name: int(np.sum(fit.family == i)) for i, name in enumerate(FAMILIES)}
    return BaselineResult.of(
        np.where(np.isnan(fit.pvalues), plain, fit.pvalues),
        alpha=alpha,
        error=error,
        test="label permutation with fitted tails",
        statistic=MEASURES[statistic],
        values=values,
        expected=permuted.mean(axis=0),
        tally=measured.tally(forest),
        forests=1 + permutations,
        seconds=monotonic() - start,
        details={"families": families | {"none": int(np.sum(fit.family < 0))}},
    )


class Fit(NamedTuple):
    """Tail probability of each feature, and the family it comes from (-1: none fits)."""

    pvalues: Floats
    family: NDArray[np.int8]


def fitted_pvalues(permuted: NDArray[np.float32], observed: Floats) -> Fit:
    """Tail of the best-fitting family at the observed statistics; NaN where none fits.

    Parameters
    ----------
    permuted : (B, F)
        Permuted statistics.
    observed : (F,)

    Examples
    --------
    >>> import numpy as np
    >>> from studies.published.altmann_fits import FAMILIES, fitted_pvalues
    >>> values = np.random.default_rng(0).gamma(2.0, size=(500, 1)).astype(np.float32)
    >>> fit = fitted_pvalues(values, np.array([9.0]))
    >>> FAMILIES[fit.family[0]], f"{fit.pvalues[0]:.1e}"
    ('gamma', '4.6e-04')
    """
    parts = [
        _fit(permuted[:, i : i + _AT_ONCE].astype(np.float64), observed[i : i + _AT_ONCE])
        for i in range(0, permuted.shape[1], _AT_ONCE)
    ]
    pvalues, families = zip(*parts, strict=True)
    return Fit(np.concatenate(pvalues), np.concatenate(families))


def _fit(permuted: Floats, observed: Floats) -> Fit:
    B, F = permuted.shape
    x = np.sort(permuted, axis=0)
    steps = np.arange(1, B + 1)[:, None] / B
    tails = np.full((len(FAMILIES), F), np.nan)
    merits = np.full((len(FAMILIES), F), -1.0)  # p-values of the Kolmogorov-Smirnov test
    varies = x[0] < x[-1]
    positive = varies & (x[0] > 0)
    for number, usable in enumerate((varies, positive, positive)):
        if not usable.any():
            continue
        cdf, tail = _family(number, x[:, usable], observed[usable])
        distance = np.maximum(steps - cdf, cdf - steps + 1 / B).max(axis=0)
        merits[number, usable] = stats.kstwo.sf(distance, B)
        tails[number, usable] = tail
    best = merits.argmax(axis=0)
    fits = merits.max(axis=0) >= REJECTED
    chosen = np.take_along_axis(tails, best[None], 0)[0]
    return Fit(np.where(fits, chosen, np.nan), np.where(fits, best, -1).astype(np.int8))


def _family(number: int, x: Floats, observed: Floats) -> tuple[Floats, Floats]:
    """Distribution function at x and tail at the observed values, of the fitted family."""
    if FAMILIES[number] == "gamma":
        mean = x.mean(axis=0)
        shape = _gamma_shape(np.log(mean) - np.log(x).mean(axis=0))
        at = np.maximum(observed, 0.0) * shape / mean
        return special.gammainc(shape, x * shape / mean), special.gammaincc(shape, at)
    if FAMILIES[number] == "lognormal":
        with np.errstate(divide="ignore"):  # an observed 0 lies at minus infinity: its tail is 1
            observed = np.log(np.maximum(observed, 0.0))
        x = np.log(x)
    mean, deviation = x.mean(axis=0), x.std(axis=0)
    return special.ndtr((x - mean) / deviation), special.ndtr((mean - observed) / deviation)


def _gamma_shape(s: Floats) -> Floats:
    """Maximum-likelihood shape k of a gamma: log k - ψ(k) = s (Minka's start and steps)."""
    k = (3 - s + np.sqrt((s - 3) ** 2 + 24 * s)) / (12 * s)
    for _ in range(_STEPS):
        step = (np.log(k) - special.digamma(k) - s) / (1 / k - special.polygamma(1, k))
        k = np.maximum(k - step, k / 2)
    return np.asarray(k)
