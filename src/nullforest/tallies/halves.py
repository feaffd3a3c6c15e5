"""Halves of a forest, drawn from its tally alone.

The trees of a forest are exchangeable, so that the nodes of half of them are a random half of all
nodes. A half drawn without replacement from the nodes has the distribution of the tally of half of
the trees, and the two halves are as independent as two forests of that size on the same data. The
clustering of a feature's nodes in trees is lost, which matters only where a tree often uses one
feature several times.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import InputError
from nullforest.tallies.tally import Tally


def halves(tally: Tally, seed: int = 0) -> tuple[Tally, Tally]:
    """Split a tally into those of two halves of its forest; they add to the whole.

    Parameters
    ----------
    tally : Tally
        Of at least two trees.
    seed : int
        Seed of the split.

    Examples
    --------
    >>> import nullforest as nf
    >>> whole = nf.Tally.from_counts([40, 3, 1], nodes_per_tree=[4] * 11, n_samples=20)
    >>> first, second = halves(whole)
    >>> first.n_trees, second.n_trees, (first.counts + second.counts).tolist()
    (6, 5, [40, 3, 1])
    """
    if tally.n_trees < 2:
        raise InputError("A forest of one tree has no halves.")
    rng = np.random.default_rng(seed)
    varying = tally.varying
    nodes = tally.nodes_per_tree[::2]
    null_columns, rest_columns = tally.null_columns, tally.null_columns
    if tally.shadows is not None:
        columns = np.concatenate([tally.counts, tally.shadows.wins.ravel()])
        drawn = _drawn(columns, int(nodes.sum()), rng, np.tile(varying, 1 + len(tally.shadows)))
        counts, wins = np.split(drawn, [tally.n_features])
        null_columns, rest_columns = tally.shadows.halves(wins, rng)
    else:
        counts = _drawn(tally.counts, int(nodes.sum()), rng, varying)
        if tally.probes is not None:
            null_columns, rest_columns = tally.probes.halves(None, rng)
    couplings = rest = None
    if tally.couplings is not None:  # alternate bins are rounded up; their noise does not matter
        couplings = (tally.couplings + np.arange(tally.couplings.shape[1]) % 2) // 2
        rest = tally.couplings - couplings
    first = replace(
        tally,
        counts=counts,
        nodes_per_tree=nodes,
        pool_per_tree=tally.pool_per_tree[::2],
        couplings=couplings,
        null_columns=null_columns,
        lineage=(),
    )
    second = replace(
        tally,
        counts=tally.counts - counts,
        nodes_per_tree=tally.nodes_per_tree[1::2],
        pool_per_tree=tally.pool_per_tree[1::2],
        couplings=rest,
        null_columns=rest_columns,
        lineage=(),
    )
    return first, second


def _drawn(
    counts: NDArray[np.int64], n: int, rng: np.random.Generator, varying: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Numbers of each column's nodes among `n` that are drawn without replacement.

    Constant columns have none and take no random numbers, so that they change no other column.
    """
    if not varying.all():
        drawn = np.zeros_like(counts)
        drawn[varying] = _drawn(counts[varying], n, rng, varying[varying])
        return drawn
    total = int(counts.sum())
    if total < 10**9:  # the limit of numpy
        return rng.multivariate_hypergeometric(counts, n, method="marginals")
    drawn = rng.binomial(counts, n / total)
    more = n - int(drawn.sum())  # about √total / 2, spread in proportion to the room there is
    room = counts - drawn if more > 0 else drawn
    step = (room * (abs(more) / room.sum())).astype(np.int64)
    step[np.argsort(-room, kind="stable")[: abs(more) - int(step.sum())]] += 1
    return np.asarray(drawn + np.sign(more) * step)
