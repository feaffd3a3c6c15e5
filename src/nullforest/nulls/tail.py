"""How does the null go on where too few probes are left? As the bagged model falls off there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from nullforest.nulls.binomial_mixture import BinomialMixture
from nullforest.nulls.rates import SCALES, Shape

_STEPS = 2  # then the factor is found to a few percent; the probes know it to ten or so
_USUAL = -0.3  # logarithm of the factor for many a forest
_CLOSE = 0.05  # logarithms so close give no slope
_FLAT = 0.05  # least slope: below it the couplings hardly move the excess
_TINY = 1e-12  # an excess of nothing, of which a logarithm is taken
_RARE = 1e-7  # a share beyond the edge so small that it is no divisor


def tail_after(
    body: BinomialMixture, edge: int, error: float, misfit: float, shape: Shape, nodes: int
) -> BinomialMixture:
    """The bagged model that falls off as the body does beyond the count `edge`.

    Its couplings are scaled such that its mean excess over the edge is the body's. (Matching the
    variance instead, much of which comes from below, makes the tail far too heavy where the label
    is skewed.) The probes beyond the edge know the excess to the relative `error`: that of their
    number, times how much excesses vary. Besides, no model falls off quite as features do:
    `misfit` is how far the logarithm of the factor may be off further out. The tail is averaged
    over both, with the three points of a Gauss–Hermite rule: what is not known makes it heavier.
    """

    def model(factor: float, *, fine: bool = False) -> BinomialMixture:
        rates, weights = replace(shape, scale=factor).rates(body.mean, fine=fine)
        return BinomialMixture(np.full(len(rates), nodes), body.mean * rates / nodes, weights)

    target = body.mean_excess(edge)
    if shape.equal or target == 0:
        return model(1.0, fine=True)

    def miss(log_factor: float) -> float:
        return float(np.log(max(model(np.exp(log_factor)).mean_excess(edge), _TINY) / target))

    # Secants on the log scale, along which the excess grows steadily.
    at, missed = _USUAL, miss(_USUAL)
    slope = max((missed - miss(0.0)) / _USUAL, _FLAT)
    for _ in range(_STEPS):
        before, missed_before = at, missed
        at = float(np.clip(at - np.clip(missed / slope, -1.5, 1.5), *np.log(SCALES)))
        missed = miss(at)
        if abs(at - before) > _CLOSE:
            slope = max((missed - missed_before) / (at - before), _FLAT)
    apart = min(np.sqrt(3.0) * np.hypot(error / slope, misfit), 1.0)
    heavy, light = (model(np.exp(np.clip(at + x, *np.log(SCALES)))) for x in (apart, -apart))
    parts = [(2 / 3, model(np.exp(at), fine=True)), (1 / 6, heavy), (1 / 6, light)]
    shares = [weight / max(part.beyond(edge), _RARE) for weight, part in parts]
    return BinomialMixture(
        np.concatenate([part.trials for _, part in parts]),
        np.concatenate([part.chances for _, part in parts]),
        np.concatenate([w * part.weights for w, (_, part) in zip(shares, parts, strict=True)]),
    )
