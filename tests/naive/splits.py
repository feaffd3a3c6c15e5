"""Splits, scores and impurities of one node in plain Python, by docs/randomness.md."""

from __future__ import annotations

import math
from collections import namedtuple
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache

HALF = 2**32

# ---- 5. The splits of a candidate


def offers(column, members):
    """Each split: (k, missing left?, members that go left in crossing order, sorted members)."""
    known = sorted((s for s in members if not math.isnan(column[s])), key=lambda s: (column[s], s))
    missing = [s for s in members if math.isnan(column[s])]
    order = known + missing
    for k in range(1, len(order)):
        known_differ = k < len(known) and column[order[k - 1]] != column[order[k]]
        if known_differ or k == len(known):
            yield k, False, order[:k], order
    if known and missing:
        for k in range(1, len(known)):
            if column[known[k - 1]] != column[known[k]]:
                yield k, True, missing + known[:k], order


# ---- 6. Scores


def binary_logarithm(x):
    """Section 6b: doubles, in the stated order."""
    m, e = math.frexp(x)
    if m < 0.70710678118654752440:
        m, e = 2 * m, e - 1
    z = (m - 1) / (m + 1)
    s = 0.0
    for k in range(11, -1, -1):
        s = s * (z * z) + series_coefficient(k)
    return e + z * s


@cache
def series_coefficient(k):
    with localcontext() as context:
        context.prec = 60
        return float(2 / ((2 * k + 1) * Decimal(2).ln()))


@cache
def entropy_term(j):
    if j == 0:
        return 0
    with localcontext() as context:
        context.prec = 60
        return int((HALF * j * Decimal(j).ln() / Decimal(2).ln()).to_integral_value())


def scaled_integers(values, centre, bits):
    """Rounded (v - centre) * 2**(bits - e), 2**(e-1) <= largest |v - centre| < 2**e."""
    largest = max(abs(v - centre) for v in values)
    if largest == 0.0:
        return [0] * len(values)
    e = math.frexp(largest)[1]
    whole = []
    for v in values:
        exact = Fraction(v - centre) * Fraction(2) ** (bits - e)
        size = math.floor(abs(exact) + Fraction(1, 2))
        whole.append(size if exact > 0 else -size)
    return whole


class Outcome:
    """y in the forms that scores and impurities need; `y` as section 1 names it."""

    def __init__(self, criterion, y, n_drawn):
        self.criterion = criterion
        if criterion in ("gini", "entropy"):
            labels = sorted(set(y))
            self.y = [labels.index(v) for v in y]
            self.n_classes = len(labels)
        elif criterion == "variance":
            self.y = [[float(v) for v in row] for row in y]
            flat = [v for row in self.y for v in row]
            Q = len(self.y[0])
            whole = scaled_integers(flat, sorted(flat)[len(flat) // 2], 40)
            self.whole = [whole[s * Q : (s + 1) * Q] for s in range(len(self.y))]
        else:
            self.y = [[float(v) for v in row] for row in y]
            S = len(self.y)
            bits = min(40, 61 - 2 * n_drawn.bit_length())
            whole = scaled_integers([v for row in self.y for v in row], 0.0, bits)
            self.whole = [whole[s * S : (s + 1) * S] for s in range(S)]

    def class_sums(self, samples, w):
        """Sum of w in each class, added in the order of the samples."""
        sums = [0 * w[0]] * self.n_classes
        for s in samples:
            sums[self.y[s]] += w[s]
        return sums


def exact_score(outcome, w, members, crossed):
    """Section 6a: whole weights."""
    left, right = sorted(crossed), sorted(set(members) - set(crossed))
    W_left, W_right = sum(w[s] for s in left), sum(w[s] for s in right)
    if outcome.criterion == "gini":
        return sum(
            Fraction(sum(c * c for c in outcome.class_sums(side, w)), W)
            for side, W in ((left, W_left), (right, W_right))
        )
    if outcome.criterion == "entropy":
        parts = outcome.class_sums(left, w) + outcome.class_sums(right, w)
        return sum(map(entropy_term, parts)) - entropy_term(W_left) - entropy_term(W_right)
    if outcome.criterion == "variance":
        reciprocal = 1.0 / (float(W_left) * float(W_right))
        score = 0.0
        for q in range(len(outcome.whole[0])):
            s_left = sum(w[s] * outcome.whole[s][q] for s in left)
            s_all = sum(w[s] * outcome.whole[s][q] for s in members)
            D = float((W_left + W_right) * s_left - W_left * s_all)
            score += D * D * reciprocal
        return score
    return -sum(
        Fraction(sum(w[s] * w[t] * outcome.whole[s][t] for s in side for t in side), W)
        for side, W in ((left, W_left), (right, W_right))
    )


def real_score(outcome, w, members, crossed):
    """Section 6b: doubles, in the stated order."""
    if outcome.criterion in ("gini", "entropy"):
        total, left = outcome.class_sums(members, w), outcome.class_sums(crossed, w)
        right = [t - part for t, part in zip(total, left, strict=True)]
        W_left = W_right = 0.0
        for a, b in zip(left, right, strict=True):
            W_left += a
            W_right += b

        def term(part, W):
            if not (part > 0 and W > 0):
                return 0.0
            return (
                part * part / W
                if outcome.criterion == "gini"
                else part * binary_logarithm(part / W)
            )

        score = 0.0
        for a, b in zip(left, right, strict=True):
            score += term(a, W_left) + term(b, W_right)
        return score
    W = 0.0
    for s in members:
        W += w[s]
    W_left = 0.0
    for s in crossed:
        W_left += w[s]
    if outcome.criterion == "variance":
        score = 0.0
        for q in range(len(outcome.y[0])):
            mean = 0.0
            for s in members:
                mean += w[s] * outcome.y[s][q]
            mean /= W
            left = 0.0
            for s in crossed:
                left += w[s] * (outcome.y[s][q] - mean)
            V = W_left * (W - W_left)
            score += left * left / V if V > 0 else 0.0
        return score
    row, P_right = pair_sums(outcome.y, w, members)
    P_left = 0.0
    for i, s in enumerate(crossed):
        x = 0.0
        for t in crossed[:i]:
            x += w[t] * outcome.y[s][t]
        P_left += 2.0 * w[s] * x
        P_right -= 2.0 * w[s] * (row[s] - x)
    return -(P_left / W_left + P_right / (W - W_left))


def pair_sums(distance, w, members):
    row, pairs = {}, 0.0
    for s in members:
        row[s] = 0.0
        for t in members:
            row[s] += w[t] * distance[s][t]
        pairs += w[s] * row[s]
    return row, pairs


# ---- 7. Impurity, purity


Measure = namedtuple("Measure", "weight impurity pure")


def measure(outcome, w, members):
    w = [float(v) for v in w]
    if outcome.criterion in ("gini", "entropy"):
        sums = outcome.class_sums(members, w)
        W = 0.0
        for part in sums:
            W += part
        if max(sums) == W:
            return Measure(W, 0.0, True)
        h = entropy = 0.0
        for part in sums:
            p = part / W
            h += p * p
            if p > 0:
                entropy -= p * binary_logarithm(p)
        return Measure(W, 1.0 - h if outcome.criterion == "gini" else entropy, False)
    W = 0.0
    for s in members:
        W += w[s]
    if outcome.criterion == "variance":
        if all(outcome.whole[s] == outcome.whole[members[0]] for s in members):
            return Measure(W, 0.0, True)
        Q = len(outcome.y[0])
        mean = [0.0] * Q
        for s in members:
            for q in range(Q):
                mean[q] += w[s] * outcome.y[s][q]
        total = 0.0
        for s in members:
            for q in range(Q):
                delta = outcome.y[s][q] - mean[q] / W
                total += w[s] * delta * delta
        return Measure(W, total / W, False)
    _, pairs = pair_sums(outcome.y, w, members)
    return Measure(W, pairs / (W * W), pairs == 0.0)


def leaf_value(outcome, w, members):
    W = sum(float(w[s]) for s in members)
    if outcome.criterion in ("gini", "entropy"):
        return [float(part) / W for part in outcome.class_sums(members, w)]
    if outcome.criterion == "variance":
        Q = len(outcome.y[0])
        return [sum(w[s] * outcome.y[s][q] for s in members) / W for q in range(Q)]
    return []


# ---- 9. Coupling, by its definition


def coupling(outcome, w, members, everyone):
    def spread(samples, weight):
        """A = sum w |y - mean|^2, B = sum w^2 |y - mean|^2."""
        W = math.fsum(weight[s] for s in samples)
        if outcome.criterion == "neighbourhood":
            d = outcome.y
            row = {s: math.fsum(weight[t] * d[s][t] for t in samples) for s in samples}
            pairs = math.fsum(weight[s] * row[s] for s in samples)
            square = {s: 2 * row[s] / W - pairs / W**2 for s in samples}
            return pairs / W, math.fsum(weight[s] ** 2 * square[s] for s in samples)
        if outcome.criterion == "variance":
            points = outcome.y
        else:
            points = [[float(c == v) for c in range(outcome.n_classes)] for v in outcome.y]
        Q = range(len(points[0]))
        mean = [math.fsum(weight[s] * points[s][q] for s in samples) / W for q in Q]
        square = {s: math.fsum((points[s][q] - mean[q]) ** 2 for q in Q) for s in samples}
        return (
            math.fsum(weight[s] * square[s] for s in samples),
            math.fsum(weight[s] ** 2 * square[s] for s in samples),
        )

    A, B = spread(members, w)
    A_all, _ = spread(everyone, [1.0] * len(everyone))
    return A * A / (B * A_all)
