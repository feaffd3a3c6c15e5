"""Forests grown in blocks of trees by the workers of a cluster: the same to the last bit."""

from __future__ import annotations

import math
from contextlib import closing
from time import monotonic
from typing import Any

from nullforest._util.progress import Report
from nullforest.forest.grower import Grower, ListedSums, Sums, grow_listed
from nullforest.run.backends import Backend

#: A block is this part of a worker's share of the remaining trees, so that blocks become smaller
#: and all workers end at about the same time; within these bounds, since each block costs some
#: milliseconds of transfer, and is lost when its worker dies.
PART, FEWEST, MOST = 1 / 2, 8, 1000
#: A worker's share of the trees has at most this many blocks of the smallest size.
MOST_PIECES = 8
#: Largest block with a limit of time: blocks not finished by then are lost.
FEW = 32


def blocks_of(trees: int, workers: int, most: int = MOST) -> list[tuple[int, int]]:
    """First tree and length of each block: large ones first.

    Examples
    --------
    >>> blocks_of(1000, 2)[:4], blocks_of(1000, 2)[-2:], len(blocks_of(1000, 2))
    ([(0, 250), (250, 188), (438, 141), (579, 106)], [(888, 62), (950, 50)], 9)
    """
    blocks, first = [], 0
    fewest = max(FEWEST, trees // (MOST_PIECES * workers))
    while first < trees:
        share = math.ceil(PART * (trees - first) / workers)
        size = min(max(share, fewest), most, trees - first)
        blocks.append((first, size))
        first += size
    return blocks


def grown_by_workers(
    backend: Backend,
    grower: Grower,
    first_tree: int,
    trees: int,
    sums: Sums,
    progress: Report | None,
    max_seconds: float | None,
) -> dict[str, Any]:
    """The sums of a block of trees, added in their order; see :meth:`Grower.block`."""
    deadline = None if max_seconds is None else monotonic() + max_seconds
    blocks = blocks_of(trees, backend.workers(), MOST if deadline is None else FEW)
    tasks = [(first_tree + first, number) for first, number in blocks]
    total = ListedSums(grower, sums)
    waiting: dict[int, dict[str, Any]] = {}
    turn = 0
    if progress is not None:
        progress(0, trees)
    running = backend.run(grow_listed, grower.shared, tasks, deadline=deadline)
    with closing(running) as finished:
        for number, block in finished:
            waiting[number] = block
            _ = grower.probes  # needed by the tally; made while others work
            while turn in waiting:  # floating point is added in the order of the trees
                total.add(waiting.pop(turn))
                turn += 1
            if progress is not None:
                early = sum(len(block["nodes_per_tree"]) for block in waiting.values())
                progress(total.n_trees + early, trees)
    if turn == 0:  # out of time, but no forest is empty
        total.add(grower.block(first_tree, 1, listed=True))
    return total.raw(stopped_early=total.n_trees < trees)
