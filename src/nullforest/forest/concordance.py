"""Harrell's concordance index: how well risks order the times of events."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def concordance_index(event: Any, time: Any, risk: Any) -> float:
    """Share of comparable pairs of samples in which the earlier event has the greater risk.

    A pair is comparable if the earlier time is that of an event; of two equal times, if one is an
    event and the other censored. Equal risks count one half. NaN where no pair is comparable.

    Counts the samples that follow an event with a smaller risk in a tree of sorted blocks of 1, 2,
    4, … samples, in O(S log² S).
    """
    event, time, risk = np.asarray(event, bool), np.asarray(time), np.asarray(risk)
    order = np.lexsort((~event, time))  # events before the samples censored at the same time
    event, time, risk = event[order], time[order], risk[order]
    first = np.flatnonzero(event)
    pairs = np.stack([time, ~event])
    changes = np.flatnonzero((pairs[:, 1:] != pairs[:, :-1]).any(axis=0)) + 1
    ends = np.append(changes, len(time))
    end = ends[np.searchsorted(ends, first, side="right")]  # of the events at the same time
    comparable = int((len(time) - end).sum())
    if comparable == 0:
        return float("nan")
    rank = np.unique(risk, return_inverse=True)[1]
    smaller, equal = _counts_after(rank, end, rank[first])
    return float((smaller + equal / 2) / comparable)


def _counts_after(
    rank: NDArray[np.int64], begin: NDArray[np.int64], own: NDArray[np.int64]
) -> tuple[int, int]:
    """How many ranks from `begin` on are below, and equal to, the `own` rank of each query."""
    n = len(rank)
    levels = int(n - 1).bit_length() if n > 1 else 0
    padded = np.full(1 << levels, n)  # above every rank
    padded[:n] = rank
    smaller = equal = 0
    begin = begin.copy()
    for level in range(levels):
        size = 1 << level
        block = np.arange(len(padded)) >> level
        keys = np.sort(block * (n + 1) + padded)
        # [begin, end of all) is a union of at most one block of each size.
        part = np.flatnonzero(begin & size)
        of = begin[part] >> level
        sought = of * (n + 1) + own[part]
        below = np.searchsorted(keys, sought, side="left")
        smaller += int((below - of * size).sum())
        equal += int((np.searchsorted(keys, sought, side="right") - below).sum())
        begin[part] += size
    return smaller, equal
