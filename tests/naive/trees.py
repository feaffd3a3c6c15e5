"""Trees grown in plain Python by docs/randomness.md, section by section.

Slow on purpose: every split is scored from scratch by its definition. Nothing is imported from the
library, so that a difference between the engine and this file is an error of one of them.
"""

from __future__ import annotations

import math

from naive.splits import coupling, exact_score, leaf_value, measure, offers, real_score

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


# ---- 4. Samples, pool and candidates of a tree


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


def varies(column):
    """Whether a column can ever be split: missing is a value."""
    return len({x for x in column if not math.isnan(x)}) + any(map(math.isnan, column)) > 1


def usable_columns(columns, key, pool):
    """The columns from which the candidates of a tree are drawn."""
    varying = [f for f, column in enumerate(columns) if varies(column)]
    V = len(varying)
    return [varying[v] for v in shuffle(V, step(key, 1), pool)] if pool < V else varying


# ---- A whole tree


class Node:
    """A node: what the flat arrays of the engine hold, and its members."""

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
    S = len(columns[0])
    key = tree_key(seed, tree)
    counts = draw_samples(S, key, n_drawn, replace)
    w = counts if weight is None else [c * v for c, v in zip(counts, weight, strict=True)]
    members = [s for s in range(S) if counts[s] > 0 and w[s] > 0]
    out_of_bag = [s for s in range(S) if counts[s] == 0]
    if not members:
        everyone = list(range(S))
        measured = measure(outcome, weight, everyone)
        return [Node(everyone, measured, leaf_value(outcome, weight, everyone))], []
    usable = usable_columns(columns, key, pool)
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


# ---- 9. Sums over a forest


def leaf_of(nodes, sample_values):
    """Number of the leaf that a sample with these feature values falls into."""
    at = 0
    while nodes[at].feature >= 0:
        left = goes_left(nodes[at], sample_values[nodes[at].feature])
        at = nodes[at].left if left else nodes[at].right
    return at


def oob_predictions(forest, columns):
    """Mean value of the leaves of the trees that did not draw a sample; None where all did."""
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
