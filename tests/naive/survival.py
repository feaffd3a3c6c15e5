"""Survival by its definitions: risk sets, the log-rank table, and all pairs of samples."""

from __future__ import annotations

import numpy as np


def log_rank_scores(event, time, weight=None):
    """Event indicator less the sum of d/n over event times up to the own, each risk set anew."""
    n = len(time)
    weight = np.ones(n) if weight is None else weight
    scores = []
    for i in range(n):
        hazard = 0.0
        for t in sorted({time[j] for j in range(n) if event[j] and time[j] <= time[i]}):
            died = sum(weight[j] for j in range(n) if event[j] and time[j] == t)
            at_risk = sum(weight[j] for j in range(n) if time[j] >= t)
            hazard += died / at_risk if died else 0.0
        scores.append(float(event[i]) - hazard)
    return np.array(scores)


def observed_less_expected(event, time, group):
    """Numerator of the log-rank test: events in the group less those expected in it."""
    total = 0.0
    for t in sorted({t for t, e in zip(time, event, strict=True) if e}):
        died = [i for i in range(len(time)) if event[i] and time[i] == t]
        at_risk = [i for i in range(len(time)) if time[i] >= t]
        total += sum(bool(group[i]) for i in died)
        total -= len(died) * sum(bool(group[i]) for i in at_risk) / len(at_risk)
    return total


def concordance(event, time, risk):
    """Harrell's index over all pairs."""
    comparable = concordant = 0.0
    for i in range(len(time)):
        for j in range(len(time)):
            later = time[j] > time[i] or (time[j] == time[i] and not event[j])
            if i == j or not event[i] or not later:
                continue
            comparable += 1
            concordant += 1.0 if risk[i] > risk[j] else 0.5 if risk[i] == risk[j] else 0.0
    return concordant / comparable if comparable else float("nan")


def kaplan_meier(event, time):
    """Share that survives each distinct time, as a product over risk sets."""
    left, shares = 1.0, []
    for t in sorted(set(time)):
        at_risk = sum(u >= t for u in time)
        died = sum(bool(e) for e, u in zip(event, time, strict=True) if u == t)
        left *= 1 - died / at_risk
        shares.append(left)
    return np.array(shares)
