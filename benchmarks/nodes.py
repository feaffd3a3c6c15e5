"""Time of a node with few candidates, on one core: 100 samples, 10 000 features, 20 candidates.

Columns are ranked before. Processor time of fully grown forests of 10 000 trees, best of several,
divided by the number of their nodes. With virtual probes, making them is included.

Run: python benchmarks/nodes.py
"""

from __future__ import annotations

from functools import partial

import numpy as np

import nullforest as nf
import other_engines as engines
import parts
from nullforest.data.rank_table import RankTable
from works import WORKS

WORK = WORKS["100 × 10 000, 20 candidates"]
REPEATS = 9


def main() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(WORK.samples, WORK.features)).astype(np.float32)
    y = rng.permutation(np.arange(WORK.samples) % 2)
    table = RankTable(X)
    measured = {}
    for probes, words in ((0, "without virtual probes"), ("auto", "with virtual probes")):
        settings = {"trees": WORK.trees, "candidates": WORK.candidates, "max_depth": None}
        settings |= {"probes": probes, "keep_trees": False, "oob": False, "n_jobs": 1}
        grow = partial(nf.grow, table, y, **settings)
        nodes = grow().tally.nodes_per_tree.sum()
        each = min(engines.timed(grow)[1] for _ in range(REPEATS)) / nodes
        measured[f"a node on one core, 20 candidates, {words}"] = each
        print(f"{words}: {1e6 * each:.2f} µs for each of {nodes} nodes")
    parts.keep("nodes.py", measured)


if __name__ == "__main__":
    main()
