"""Sums of counts and pairs in trees, by loops and exact fractions."""

from fractions import Fraction


def power_of_pmf(pmf, number):
    """Distribution of the sum of `number` independent counts, in exact fractions."""
    single = [Fraction(p) for p in pmf]
    total = [Fraction(1)]
    for _ in range(number):
        longer = [Fraction(0)] * (len(total) + len(single) - 1)
        for i, a in enumerate(total):
            for j, b in enumerate(single):
                longer[i + j] += a * b
        total = longer
    return total


def upper_tail(pmf, k):
    """P(n > k)."""
    return float(sum(pmf[k + 1 :], Fraction(0)))


def pairs_of_tree(tree):
    """(parent feature, child feature, depth of the child) for every internal edge, by descent."""
    found = []

    def descend(node, depth):
        for child in (tree.left[node], tree.right[node]):
            if tree.feature[child] >= 0:
                found.append((int(tree.feature[node]), int(tree.feature[child]), depth + 1))
                descend(child, depth + 1)

    if tree.feature[0] >= 0:
        descend(0, 0)
    return found
