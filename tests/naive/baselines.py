"""Permutation tests by plain loops, from their definitions; nothing is shared with the library.

The keyed random numbers follow the written specification of the engine (keyed_random.hpp).
"""

import numpy as np
from scipy import stats

WORD = 2**64


def mix(x):
    x ^= x >> 30
    x = x * 0xBF58476D1CE4E5B9 % WORD
    x ^= x >> 27
    x = x * 0x94D049BB133111EB % WORD
    return x ^ (x >> 31)


def step(key, i):
    return mix((key + 0x9E3779B97F4A7C15 * (i + 1)) % WORD)


def shuffle(n, key):
    """Fisher-Yates from the identity; the specification for n <= 256."""
    entries = list(range(n))
    for i in range(n):
        j = i + ((step(key, i) >> 32) * (n - i) >> 32)
        entries[i], entries[j] = entries[j], entries[i]
    return entries


def out_of_bag(settings, tree_key, n_samples):
    if settings.replace:
        stream = step(tree_key, 3)
        drawn = {(step(stream, j) >> 32) * n_samples >> 32 for j in range(settings.samples)}
    else:
        drawn = set(shuffle(n_samples, step(tree_key, 2))[: settings.samples])
    return [s for s in range(n_samples) if s not in drawn]


def tree_error(tree, row, truth, classes):
    node = 0
    while tree.feature[node] >= 0:
        value = row[tree.feature[node]]
        left = tree.missing_left[node] if np.isnan(value) else value <= tree.threshold[node]
        node = tree.left[node] if left else tree.right[node]
    said = tree.value[node]
    if classes:
        return float(np.argmax(said) != truth)
    return float(np.mean((truth - said) ** 2))


def oob_increases(forest, X, truth):
    """(T, F): increase of each tree's out-of-bag error when each feature is shuffled."""
    S, F = X.shape
    out = np.zeros((forest.n_trees, F))
    classes = forest.classes is not None
    for t, tree in enumerate(forest.trees):
        key = step(step(0, forest.settings.seed), forest.settings.first_tree + t)
        oob = out_of_bag(forest.settings, key, S)
        if not oob:
            continue
        before = [tree_error(tree, X[s], truth[s], classes) for s in oob]
        for f in range(F):
            order = shuffle(len(oob), step(step(key, 16), f))
            after = []
            for i, s in enumerate(oob):
                row = X[s].copy()
                row[f] = X[oob[order[i]], f]
                after.append(tree_error(tree, row, truth[s], classes))
            out[t, f] = np.mean(after) - np.mean(before)
    return out


def minimal_depths(forest, n_features):
    """(T, F): depth of the first split on each feature, of the deepest leaf where there is none."""
    out = np.zeros((forest.n_trees, n_features))
    for t, tree in enumerate(forest.trees):
        first, deepest = {}, 0

        def walk(node, depth, tree=tree, first=first):
            f = tree.feature[node]
            if f < 0:
                return depth
            first[f] = min(depth, first.get(f, depth))
            return max(walk(tree.left[node], depth + 1), walk(tree.right[node], depth + 1))

        deepest = walk(0, 0)
        out[t] = [first.get(f, deepest) for f in range(n_features)]
    return out


def permutation_pvalues(observed, permuted, strict=False, pooled=False):
    p = []
    for f, value in enumerate(observed):
        null = [v for row in permuted for v in row] if pooled else [row[f] for row in permuted]
        if strict:
            p.append(sum(v > value for v in null) / len(null))
        else:
            p.append((1 + sum(v >= value for v in null)) / (1 + len(null)))
    return np.array(p)


def fitted_pvalue(sample, value):
    """Best of normal, log-normal and gamma by scipy's own fits and tests; None if none fits."""
    families = [(stats.norm, {})]
    if min(sample) > 0:
        families += [(stats.lognorm, {"floc": 0}), (stats.gamma, {"floc": 0})]
    tried = []
    for family, fixed in families:
        frozen = family(*family.fit(sample, **fixed))
        tried.append((stats.kstest(sample, frozen.cdf).pvalue, frozen.sf(value)))
    merit, tail = max(tried)
    return tail if merit >= 0.05 else None


def mirrored_pvalues(importance, plus_one):
    null = [v for v in importance if v < 0] + [-v for v in importance if v < 0]
    null += [v for v in importance if v == 0]
    return np.array(
        [(plus_one + sum(m >= v for m in null)) / (plus_one + len(null)) for v in importance]
    )
