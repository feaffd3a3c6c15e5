"""Virtual probes in plain Python, by native/probes/*.hpp, on top of the naive trees.

Every candidate and every probe is scored from scratch by its definition; nothing is skipped.
"""

from __future__ import annotations

import itertools
import math
from collections import namedtuple

import numpy as np

from naive.splits import exact_score, measure, offers, real_score
from naive.trees import below, shuffle, step, tree_key, usable_columns

Probe = namedtuple("Probe", "stratum number id column weight")


def association(y, weight, order, ties, least):
    """Gain of the best split of the whole sample by a ranking: y one row of outputs per sample."""
    S, Q = len(y), len(y[0])
    total = sum(weight)
    mean = [sum(weight[s] * y[s][q] for s in range(S)) / total for q in range(Q)]
    gains = [0.0]
    for k in range(max(least, 1), S - max(least, 1) + 1):
        if ties[k - 1] == ties[k]:
            continue
        left = [sum(weight[s] * (y[s][q] - mean[q]) for s in order[:k]) for q in range(Q)]
        gains.append(sum(v * v for v in left) * (1 / (k * (S - k))))
    return float(np.float32(max(gains)))


def sample(associations, number, start):
    """Rankings drawn by importance sampling, with weights 1/π, in the order of their numbers."""
    N = len(associations)
    ranked = sorted(range(N), key=lambda n: (-associations[n], n))
    size = [1 + 0.5 / math.sqrt((r + 0.5) / N) for r in range(N)]
    certain = 0
    while (number - certain) / sum(size[certain:]) * size[certain] > 1:
        certain += 1
    factor = (number - certain) / sum(size[certain:])
    drawn, reached = [], start
    for r, n in enumerate(ranked):
        probability = min(1.0, factor * size[r])
        if math.floor(reached + probability + 1e-12 * (r == N - 1)) > math.floor(reached):
            drawn.append((n, 1 / probability))
        reached += probability
    return sorted(drawn)


def rankings(columns, among, seed, stratum, number, y, weight, least):
    """The probes of a stratum without missing values; y is None for distances.

    `among`: the features whose ties they have, if any.
    """
    S = len(columns[0])
    family = step(step(1, seed), stratum)
    side = math.ceil(math.sqrt(number if y is None else 16 * number))
    a = [shuffle(S, step(step(family, 0), i), S) for i in range(side)]
    b = [shuffle(S, step(step(family, 1), j), S) for j in range(side)]
    orders = [[a[i][x] for x in b[j]] for i in range(side) for j in range(side)]
    ties = [
        sorted(columns[among[below(step(step(family, 3), j), len(among))]])
        if among
        else [float(x) for x in range(S)]
        for j in range(side)
    ]
    drawn = [(n, 1.0) for n in range(number)]
    if y is not None:
        start = (tree_key(seed, 2**64 - 1 - stratum) >> 11) / 2**53
        found = [association(y, weight, o, ties[n % side], least) for n, o in enumerate(orders)]
        drawn = sample(found, number, start)
    for k, (n, w) in enumerate(drawn):
        column = [0.0] * S
        for x, s in enumerate(orders[n]):
            column[s] = ties[n % side][x]
        key = step(step(step(family, 2), n // side), n % side)
        yield Probe(stratum, k, key >> 1, column, w)


def shared_missing(columns, among, f, key):
    """Samples whose missing values stay missing in a copy of feature f."""
    S = len(columns[f])
    lost = [{s for s in range(S) if math.isnan(columns[g][s])} for g in range(len(columns))]
    partners = [among[below(step(step(key, 3), t), len(among))] for t in range(8)]
    partners = [g for g in partners if g != f]
    if not partners or not lost[f]:
        return set()
    best = max(partners, key=lambda g: len(lost[f] & lost[g]))  # the first of equals
    shared = lost[f] & lost[best]
    return shared if 2 * S * len(shared) > len(lost[f]) * (S + len(lost[best])) else set()


def copies_of(columns, seed, stratum, number, among):
    """The probes of a stratum with missing values; NaN sorts last."""
    S = len(columns[0])
    for k in range(number):
        key = step(step(step(1, seed), stratum), k)
        f = among[below(step(key, 1), len(among))]
        stays = shared_missing(columns, among, f, key)
        v = [s for s in shuffle(S, step(key, 0), S) if s not in stays] + sorted(stays)
        column = [0.0] * S
        values = sorted(columns[f], key=lambda x: (math.isnan(x), x))
        for sample, value in zip(v, values, strict=True):
            column[sample] = value
        yield Probe(stratum, k, step(key, 2) >> 1, column, 1.0)


def make_probes(columns, feature_strata, n_probes, copies, seed, y, weight, least):
    """The probes in the order of their numbers; columns hold levels, NaN for missing."""
    probes = []
    for s, n in enumerate(n_probes):
        among = [f for f, stratum in enumerate(feature_strata) if stratum == s]
        if any(math.isnan(x) for f in among for x in columns[f]):
            probes += copies_of(columns, seed, s, n, among)
        elif n:
            tied = among if copies[s] else []
            probes += rankings(columns, tied, seed, s, n, y, weight, least)
    return sorted(probes, key=lambda p: ((2 * p.number + 1) / n_probes[p.stratum], p.stratum))


def evaluated(word, n, rate):
    """Which of a list of n probes are evaluated, in which order."""
    if rate == 2**16:
        return list(range(n))
    position = [((word >> 32) + i * 2**32 // n) % 2**32 for i in range(n)]
    return sorted((i for i in range(n) if position[i] < rate * 2**16), key=position.__getitem__)


def best_of(score, outcome, w, members, column, min_leaf):
    """Best score of a column and the left side of its first best split; None without a split."""
    best = None
    for _, _, crossed, _ in offers(column, members):
        if min(len(crossed), len(members) - len(crossed)) >= min_leaf:
            # Two members can be split in one way only, whatever rounding says of the score.
            value = 0 if len(members) == 2 else score(outcome, w, members, crossed)
            if best is None or value > best[0]:
                best = value, crossed
    return best


def wins_of_tree(
    columns,
    outcome,
    weight,
    nodes,
    counts,
    probes,
    rates,
    *,
    seed,
    tree,
    candidates,
    pool,
    min_leaf=1,
    min_split=2,
    max_depth=math.inf,
    min_gain=0.0,
    **_,
):
    """Every win in one tree: (number of the probe, number of the node).

    `nodes` is the naive tree itself, `counts` how often it drew each sample.
    """
    key = tree_key(seed, tree)
    w = counts if weight is None else [c * v for c, v in zip(counts, weight, strict=True)]
    usable = usable_columns(columns, key, pool)
    score = exact_score if weight is None else real_score
    root_weight = measure(outcome, w, nodes[0].members).weight
    of_tree = evaluated(step(key, 4), len(probes), rates[0])
    wins = []

    def wins_in_place(g, place, values):
        before, after = values[:place], values[place + 1 :]
        return all(v is None or g > v for v in before) and all(v is None or g >= v for v in after)

    def gains_enough(members, crossed):
        if min_gain == 0.0:
            return True
        total = measure(outcome, w, members)
        rest = total.weight * total.impurity
        for side in (sorted(crossed), sorted(set(members) - set(crossed))):
            part = measure(outcome, w, side)
            rest -= part.weight * part.impurity
        return rest / root_weight >= min_gain

    def visit(number, node_key, depth, replaced):
        """`replaced`: the column that replaces a probe's own, per probe."""
        node = nodes[number]
        members, N = node.members, len(node.members)
        pure = measure(outcome, w, members).pure
        if not (pure or max(min_split, 2 * min_leaf, 2) > N or depth == max_depth):
            features = [usable[i] for i in shuffle(pool, step(node_key, 0), candidates)]
            found = [best_of(score, outcome, w, members, columns[f], min_leaf) for f in features]
            values = [None if b is None else b[0] for b in found]
            here = evaluated(step(node_key, 3), len(of_tree), rates[1])
            start = below(step(node_key, 4), candidates)
            replaced = dict(replaced)
            for i, slot in enumerate(here):
                p = of_tree[slot]
                place = (start + i * candidates // len(here)) % candidates
                column = replaced.get(p, probes[p].column)
                best = best_of(score, outcome, w, members, column, min_leaf)
                if best is None or not wins_in_place(best[0], place, values):
                    continue
                if not gains_enough(members, best[1]):
                    continue
                wins.append((p, number))
                of_stratum = sorted(
                    (q for q in probes if q.stratum == probes[p].stratum), key=lambda q: q.number
                )
                if len(of_stratum) > 1:
                    heaviest = max(q.weight for q in of_stratum)
                    for t in itertools.count():
                        word = step(step(step(node_key, 5), probes[p].id), t)
                        k = below(word, len(of_stratum) - 1)
                        other = of_stratum[k + (k >= probes[p].number)]
                        if word % 2**32 < math.floor(2**32 * (other.weight / heaviest)):
                            break
                    replaced[p] = other.column
        if node.feature >= 0:
            visit(node.left, step(node_key, 1), depth + 1, replaced)
            visit(node.right, step(node_key, 2), depth + 1, replaced)

    visit(0, step(key, 0), 0, {})
    return wins
