"""Which probes win which nodes? native/probes.hpp in plain Python, on top of the naive trees.

Every candidate and every probe is scored from scratch by its definition; nothing is skipped.
"""

from __future__ import annotations

import math
from collections import namedtuple

from naive.trees import below, exact_score, measure, offers, real_score, shuffle, step, tree_key

Probe = namedtuple("Probe", "stratum number id column")


def make_probes(columns, feature_strata, n_probes, copies, seed):
    """The probes in the order of their numbers; columns hold levels, NaN for missing."""
    S = len(columns[0])
    probes = []
    for s, n in enumerate(n_probes):
        among = [f for f, stratum in enumerate(feature_strata) if stratum == s]
        for k in range(n):
            key = step(step(step(1, seed), s), k)
            v = shuffle(S, step(key, 0), S)
            column = [0.0] * S
            if copies[s]:
                real = columns[among[below(step(key, 1), len(among))]]
                for i in range(S):
                    column[v[i]] = real[i]
            else:
                for i in range(S):
                    column[v[i]] = float(i)
            probes.append(Probe(s, k, step(key, 2) >> 1, column))
    return sorted(probes, key=lambda p: ((2 * p.number + 1) / n_probes[p.stratum], p.stratum))


def asked(word, n, rate):
    """Who of a list of n is asked, in which order."""
    if rate == 2**16:
        return list(range(n))
    position = [((word >> 32) + i * 2**32 // n) % 2**32 for i in range(n)]
    return sorted((i for i in range(n) if position[i] < rate * 2**16), key=position.__getitem__)


def best_of(score, outcome, w, members, column, min_leaf):
    """Best score of a column and who goes left in its first best split; None without a split."""
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
    usable = shuffle(len(columns), step(key, 1), pool) if pool < len(columns) else None
    score = exact_score if weight is None else real_score
    root_weight = measure(outcome, w, nodes[0].members).weight
    of_tree = asked(step(key, 4), len(probes), rates[0])
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

    def visit(number, node_key, depth, worn):
        """`worn`: the column that a probe wears instead of its own, per probe."""
        node = nodes[number]
        members, N = node.members, len(node.members)
        pure = measure(outcome, w, members).pure
        if not (pure or max(min_split, 2 * min_leaf, 2) > N or depth == max_depth):
            drawn = shuffle(pool, step(node_key, 0), candidates)
            features = [i if usable is None else usable[i] for i in drawn]
            found = [best_of(score, outcome, w, members, columns[f], min_leaf) for f in features]
            values = [None if b is None else b[0] for b in found]
            here = asked(step(node_key, 3), len(of_tree), rates[1])
            start = below(step(node_key, 4), candidates)
            worn = dict(worn)
            for i, slot in enumerate(here):
                p = of_tree[slot]
                place = (start + i * candidates // len(here)) % candidates
                column = worn.get(p, probes[p].column)
                best = best_of(score, outcome, w, members, column, min_leaf)
                if best is None or not wins_in_place(best[0], place, values):
                    continue
                if not gains_enough(members, best[1]):
                    continue
                wins.append((p, number))
                of_kind = sorted(
                    (q for q in probes if q.stratum == probes[p].stratum), key=lambda q: q.number
                )
                if len(of_kind) > 1:
                    k = below(step(step(node_key, 5), probes[p].id), len(of_kind) - 1)
                    worn[p] = of_kind[k + (k >= probes[p].number)].column
        if node.feature >= 0:
            visit(node.left, step(node_key, 1), depth + 1, worn)
            visit(node.right, step(node_key, 2), depth + 1, worn)

    visit(0, step(key, 0), 0, {})
    return wins
