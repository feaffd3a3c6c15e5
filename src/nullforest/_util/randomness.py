"""Random streams: one per key, independent of the order of the work."""

from __future__ import annotations

import numpy as np

#: First number of a key: what the stream is for, so that no two purposes share one.
LABELS, FORESTS, COPIES, COLUMNS = range(4)


def stream(seed: int, *key: int) -> np.random.Generator:
    """A generator that depends on the seed and the key alone.

    Permutation 7 draws from `stream(seed, LABELS, 7)`, so that it is the same permutation whether
    it is the eighth of one run, the first after an interruption, or done on another machine.
    """
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key)))


def forest_seed(seed: int, *key: int) -> int:
    """The seed of forest number `key` among the many that one seed stands for."""
    return int(stream(seed, FORESTS, *key).integers(2**63))
