"""Counts under the paper's null model, step-up procedures and forests, by plain loops."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import mpmath
import numpy as np
from scipy import stats


def partitions(k: int, largest: int | None = None) -> Iterator[list[int]]:
    """All integer partitions of k, as lists of parts in descending order."""
    if k == 0:
        yield []
        return
    for part in range(min(k, largest or k), 0, -1):
        for rest in partitions(k - part, part):
            yield [part, *rest]


def paper_strategy_two_pmf(k: int, T: int, K: int, F_n: int, F: int) -> float:
    """P(C_{k,T}) of the paper: Eq. modelII, a sum over integer partitions of k."""
    in_pool = math.comb(F - 1, F_n - 1) / math.comb(F, F_n)

    def in_tree(count: int) -> float:  # P(C_{k,t})
        return in_pool * math.comb(K, count) * (1 / F_n) ** count * (1 - 1 / F_n) ** (K - count)

    never = in_tree(0) + 1 - in_pool  # P(C_0)
    total = 0.0
    for parts in partitions(k):
        if len(parts) > T or parts[:1] > [K]:
            continue
        term = math.factorial(T) / math.factorial(T - len(parts))
        for value in set(parts):
            times = parts.count(value)
            term *= in_tree(value) ** times / math.factorial(times)
        total += term * never ** (T - len(parts))
    return total


def enumerated_pmf(nodes: list[int], pools: list[int], F: int, group: int = 1) -> list[Fraction]:
    """Pmf of the count of features 0..group−1, by listing every pool and every winner."""
    pmf = {0: Fraction(1)}
    for K, size in zip(nodes, pools, strict=True):
        tree: dict[int, Fraction] = {}
        subsets = list(itertools.combinations(range(F), size))
        for subset in subsets:
            for winners in itertools.product(subset, repeat=K):
                count = sum(winner < group for winner in winners)
                weight = Fraction(1, len(subsets) * size**K)
                tree[count] = tree.get(count, Fraction(0)) + weight
        combined: dict[int, Fraction] = {}
        for a, p in pmf.items():
            for b, q in tree.items():
                combined[a + b] = combined.get(a + b, Fraction(0)) + p * q
        pmf = combined
    return [pmf.get(k, Fraction(0)) for k in range(sum(nodes) + 1)]


def exact_pmf(nodes: list[int], pools: list[int], F: int) -> list[mpmath.mpf]:
    """Pmf of one feature's count with 60 digits, multiplying the trees' polynomials."""
    with mpmath.workdps(60):
        pmf = [mpmath.mpf(1)]
        for K, size in zip(nodes, pools, strict=True):
            share, win = mpmath.mpf(size) / F, mpmath.mpf(1) / size
            tree = [
                share * mpmath.binomial(K, j) * win**j * (1 - win) ** (K - j) for j in range(K + 1)
            ]
            tree[0] += 1 - share
            product = [mpmath.mpf(0)] * (len(pmf) + K)
            for a, p in enumerate(pmf):
                for b, q in enumerate(tree):
                    product[a + b] += p * q
            pmf = product
    return pmf


def convolved_pmf(nodes: list[int], pools: list[int], F: int) -> np.ndarray:
    """The same in doubles, for larger forests; sums of products of positive numbers keep digits."""
    pmf = np.ones(1)
    for K, size in zip(nodes, pools, strict=True):
        tree = size / F * stats.binom.pmf(np.arange(K + 1), K, 1 / size)
        tree[0] += 1 - size / F
        pmf = np.convolve(pmf, tree)
    return pmf


def exact_binomial_tail(k: int, n: int, F: int) -> mpmath.mpf:
    """P(Bin(n, 1/F) > k) with 60 digits, term by term."""
    with mpmath.workdps(60):
        win = mpmath.mpf(1) / F
        term = mpmath.binomial(n, k + 1) * win ** (k + 1) * (1 - win) ** (n - k - 1)
        total, j = mpmath.mpf(0), k + 1
        while j <= n and (total == 0 or term > total * mpmath.mpf(10) ** -40):
            total += term
            term *= mpmath.mpf(n - j) / (j + 1) * win / (1 - win)
            j += 1
    return total


def simulated_counts(
    nodes: list[int], pools: list[int], F: int, forests: int, seed: int
) -> np.ndarray:
    """Counts of feature 0 in many forests grown by literally drawing pools and winners."""
    rng = np.random.default_rng(seed)
    counts = np.zeros(forests, int)
    for K, size in zip(nodes, pools, strict=True):
        order = rng.random((forests, F)).argsort(axis=1)[:, :size]
        for _ in range(K):
            winner = order[np.arange(forests), rng.integers(size, size=forests)]
            counts += winner == 0
    return counts


def benjamini_hochberg(p: list[float], alpha: float) -> list[bool]:
    """Benjamini and Hochberg's step-up procedure, as they wrote it down."""
    order = sorted(range(len(p)), key=lambda i: p[i])
    last = 0
    for rank, i in enumerate(order, start=1):
        if p[i] <= alpha * rank / len(p):
            last = rank
    return [order.index(i) < last for i in range(len(p))]


def sklearn_counts(trees: list, columns: list[list[int]], F: int) -> tuple[list[int], list[int]]:
    """Split counts and nodes per tree, by walking every tree from its root."""
    counts, nodes = [0] * F, []
    for tree, subset in zip(trees, columns, strict=True):
        stack, found = [0], 0
        while stack:
            node = stack.pop()
            left, right = tree.tree_.children_left[node], tree.tree_.children_right[node]
            if left != -1:
                counts[subset[tree.tree_.feature[node]]] += 1
                found += 1
                stack += [left, right]
        nodes.append(found)
    return counts, nodes
