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
from nullforest.tallies.probe_tally import ProbeTally
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
    nodes = tally.nodes_per_tree[::2]
    shadows = rest_shadows = None
    if tally.shadows is None:
        counts = _drawn(tally.counts, int(nodes.sum()), rng)
    else:
        whole = np.concatenate([tally.counts, tally.shadows.counts.ravel()])
        counts, copies = np.split(_drawn(whole, int(nodes.sum()), rng), [tally.n_features])
        copies = copies.reshape(tally.shadows.counts.shape)
        won = rng.binomial(tally.shadows.couplings, 0.5)
        shadows = replace(tally.shadows, counts=copies, couplings=won)
        rest_shadows = replace(
            tally.shadows,
            counts=tally.shadows.counts - copies,
            couplings=tally.shadows.couplings - won,
        )
    couplings = rest = None
    if tally.couplings is not None:  # alternate bins are rounded up; their noise does not matter
        couplings = (tally.couplings + np.arange(tally.couplings.shape[1]) % 2) // 2
        rest = tally.couplings - couplings
    probes = None if tally.probes is None else _half(tally.probes, rng)
    first = replace(
        tally,
        counts=counts,
        nodes_per_tree=nodes,
        pool_per_tree=tally.pool_per_tree[::2],
        couplings=couplings,
        probes=probes,
        shadows=shadows,
        lineage=(),
    )
    second = replace(
        tally,
        counts=tally.counts - counts,
        nodes_per_tree=tally.nodes_per_tree[1::2],
        pool_per_tree=tally.pool_per_tree[1::2],
        couplings=rest,
        probes=None if probes is None else _rest(tally.probes, probes),
        shadows=rest_shadows,
        lineage=(),
    )
    return first, second


def _drawn(counts: NDArray[np.int64], n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Numbers of each feature's nodes among `n` that are drawn without replacement."""
    total = int(counts.sum())
    if total < 10**9:  # the limit of numpy
        return rng.multivariate_hypergeometric(counts, n, method="marginals")
    drawn = rng.binomial(counts, n / total)
    more = n - int(drawn.sum())  # about √total / 2, spread in proportion to the room there is
    room = counts - drawn if more > 0 else drawn
    step = (room * (abs(more) / room.sum())).astype(np.int64)
    step[np.argsort(-room, kind="stable")[: abs(more) - int(step.sum())]] += 1
    return np.asarray(drawn + np.sign(more) * step)


def _half(probes: ProbeTally, rng: np.random.Generator) -> ProbeTally:
    return replace(
        probes,
        wins=rng.binomial(probes.wins, 0.5),
        trees=probes.trees / 2,
        couplings=rng.binomial(probes.couplings, 0.5),
    )


def _rest(whole: ProbeTally | None, half: ProbeTally) -> ProbeTally:
    assert whole is not None
    return replace(
        whole,
        wins=whole.wins - half.wins,
        trees=whole.trees - half.trees,
        couplings=whole.couplings - half.couplings,
    )
