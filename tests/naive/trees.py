"""Which trees belong to a seed? docs/randomness.md in plain Python, section by section.

Slow on purpose: every split is scored from scratch by its definition. Nothing is taken from the
library, so that an engine that follows the page and this file agree or one of them is wrong.
"""

from __future__ import annotations

import math
from collections import namedtuple
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache

WORD = 2**64
HALF = 2**32

# ---- 2. Words and keys


def mix(x):
    x ^= x >> 30
    x = x * 0xBF58476D1CE4E5B9 % WORD
    x ^= x >> 27
    x = x * 0x94D049BB133111EB % WORD
    return x ^ (x >> 31)


def step(key, i):
    return mix((key + 0x9E3779B97F4A7C15 * (i + 1)) % WORD)


def below(word, m):
    return (word >> 32) * m >> 32


def tree_key(seed, tree):
    return step(step(0, seed), tree)


# ---- 3. Shuffle


def shuffle(m, key, count):
    """First `count` values of Shuffle(m, key)."""
    if m <= 256:
        entries = list(range(m))
        for i in range(count):
            j = i + below(step(key, i), m - i)
            entries[i], entries[j] = entries[j], entries[i]
        return entries[:count]
    a = math.isqrt(m - 1) + 1
    b = -(-m // a)
    k = [half for j in range(3) for half in (step(key, j) % HALF, step(key, j) >> 32)]

    def f(v, round_key, side):
        h = (v ^ round_key) * 0x9E3779B1 % HALF
        h ^= h >> 15
        h = h * 0x85EBCA6B % HALF
        h ^= h >> 13
        return h * side >> 32

    def around(x):
        left, right = divmod(x, b)
        for j in range(3):
            left = (left + f(right, k[2 * j], a)) % a
            right = (right + f(left, k[2 * j + 1], b)) % b
        return left * b + right

    values = []
    for i in range(count):
        x = around(i)
        while x >= m:
            x = around(x)
        values.append(x)
    return values


# ---- 4. What a tree draws


def draw_samples(S, key, n_drawn, replace):
    """How often each sample is drawn."""
    counts = [0] * S
    if replace:
        for j in range(n_drawn):
            counts[below(step(step(key, 3), j), S)] += 1
    elif n_drawn == S:
        counts = [1] * S
    else:
        for s in shuffle(S, step(key, 2), n_drawn):
            counts[s] = 1
    return counts


# ---- 5. Which splits a candidate offers


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
            return part * part / W if outcome.criterion == "gini" else part * math.log2(part / W)

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
            score += left * left / (W_left * (W - W_left))
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
                entropy -= p * math.log2(p)
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


# ---- A whole tree


class Node:
    """A node of the twin: what the flat arrays of the engine hold, and who its members are."""

    def __init__(self, members, measured, value):
        self.members = members
        self.impurity = measured.impurity
        self.value = value
        self.feature = -1
        self.left = self.right = -1
        self.threshold = 0.0
        self.missing_left = False
        self.decrease = self.coupling = None


def goes_left(node, x):
    return node.missing_left if math.isnan(x) else x <= node.threshold


def grow_tree(
    columns,
    outcome,
    weight,
    *,
    seed,
    tree,
    candidates,
    pool,
    n_drawn,
    replace=False,
    min_leaf=1,
    min_split=2,
    max_depth=math.inf,
    min_gain=0.0,
):
    """Nodes of tree number `tree` in preorder, and its out-of-bag samples.

    `columns[f][s]` are the data as doubles; `weight` is None or one double per sample.
    """
    F, S = len(columns), len(columns[0])
    key = tree_key(seed, tree)
    counts = draw_samples(S, key, n_drawn, replace)
    w = counts if weight is None else [c * v for c, v in zip(counts, weight, strict=True)]
    members = [s for s in range(S) if counts[s] > 0 and w[s] > 0]
    out_of_bag = [s for s in range(S) if counts[s] == 0]
    if not members:
        everyone = list(range(S))
        measured = measure(outcome, weight, everyone)
        return [Node(everyone, measured, leaf_value(outcome, weight, everyone))], []
    usable = shuffle(F, step(key, 1), pool) if pool < F else list(range(F))
    score = exact_score if weight is None else real_score
    nodes = []
    root_weight = measure(outcome, w, members).weight

    def best_split(members, node_key):
        best = None
        for i in shuffle(pool, step(node_key, 0), candidates):
            for k, missing_left, crossed, order in offers(columns[usable[i]], members):
                if min(len(crossed), len(members) - len(crossed)) < min_leaf:
                    continue
                value = score(outcome, w, members, crossed)
                if best is None or value > best[0]:
                    best = value, usable[i], k, missing_left, crossed, order
                if len(members) == 2:
                    return best
        return best

    def grow(members, node_key, depth):
        measured = measure(outcome, w, members)
        node = Node(members, measured, leaf_value(outcome, w, members))
        number = len(nodes)
        nodes.append(node)
        N = len(members)
        if measured.pure or max(min_split, 2 * min_leaf, 2) > N or depth == max_depth:
            return number
        best = best_split(members, node_key)
        if best is None:
            return number
        _, feature, k, missing_left, crossed, order = best
        left, right = sorted(crossed), sorted(set(members) - set(crossed))
        L, R = measure(outcome, w, left), measure(outcome, w, right)
        decrease = (
            measured.weight * measured.impurity - L.weight * L.impurity - R.weight * R.impurity
        ) / root_weight
        if min_gain > 0 and decrease < min_gain:
            return number
        column = columns[feature]
        known = sum(not math.isnan(column[s]) for s in members)
        node.feature = feature
        node.decrease = decrease
        node.coupling = coupling(outcome, [float(v) for v in w], members, list(range(S)))
        node.missing_left = missing_left if known < N else len(left) >= len(right)
        if k == known:
            node.threshold = math.inf
        else:
            low, high = column[order[k - 1]], column[order[k]]
            middle = low + (high - low) / 2.0
            node.threshold = middle if middle < high else low
        node.left = grow(left, step(node_key, 1), depth + 1)
        node.right = grow(right, step(node_key, 2), depth + 1)
        return number

    grow(members, step(key, 0), 0)
    return nodes, out_of_bag


# ---- 9. What a forest adds up


def leaf_of(nodes, sample_values):
    """Number of the leaf that a sample with these feature values falls into."""
    at = 0
    while nodes[at].feature >= 0:
        left = goes_left(nodes[at], sample_values[nodes[at].feature])
        at = nodes[at].left if left else nodes[at].right
    return at


def oob_predictions(forest, columns):
    """Mean value of the leaves of the trees that did not see a sample; None where all did."""
    S = len(columns[0])
    found = [[] for _ in range(S)]
    for nodes, out_of_bag in forest:
        for s in out_of_bag:
            found[s].append(nodes[leaf_of(nodes, [column[s] for column in columns])].value)
    return [
        [sum(v[q] for v in values) / len(values) for q in range(len(values[0]))] if values else None
        for values in found
    ]


def gini_importance(forest, n_features):
    sums = [0.0] * n_features
    for nodes, _ in forest:
        total = sum(node.decrease for node in nodes if node.feature >= 0)
        if total > 0:
            for node in nodes:
                if node.feature >= 0:
                    sums[node.feature] += node.decrease / total
    return [v / sum(sums) if sum(sums) > 0 else v for v in sums]


def coupling_histogram(forest, n_features, edges):
    bins = [[0] * (len(edges) - 1) for _ in range(n_features)]
    for nodes, _ in forest:
        for node in nodes:
            if node.feature >= 0:
                b = max(i for i, edge in enumerate(edges) if i == 0 or node.coupling >= edge)
                bins[node.feature][min(b, len(edges) - 2)] += 1
    return bins
