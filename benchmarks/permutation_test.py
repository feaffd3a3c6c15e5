"""Time of the paper's permutation test: 250 permutations of its largest setting.

The paper reports 22 hours for 250 samples × 5 000 features, 500 trees, 250 candidates per node and
250 permutations, on one core of 2007 and code that was not optimised. Run from anywhere:
python benchmarks/permutation_test.py [permutations]
"""

import sys
from time import perf_counter

import numpy as np

import nullforest as nf
import parts

PAPER_HOURS = 22
S, F, TREES, CANDIDATES, PERMUTATIONS = 250, 5000, 500, 250, 250
RELEVANT = 100  # 2 % of the features, as in the paper's table


def main(permutations: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(S, F)).astype(np.float32)
    y = X[:, :RELEVANT].sum(axis=1) > 0
    print(f"{S} samples x {F} features, {TREES} trees, {CANDIDATES} candidates")
    start = perf_counter()
    selection = nf.baselines.label_permutation(
        X, y, trees=TREES, candidates=CANDIDATES, permutations=permutations, alpha=0.01
    )
    seconds = perf_counter() - start
    print(f"{selection.forests} forests, sorting included: {seconds:.1f} s")
    print(f"selected {selection.n_selected}, of them relevant {selection.support[:RELEVANT].sum()}")
    full = seconds * (1 + PERMUTATIONS) / selection.forests
    print(f"the paper's {PERMUTATIONS} permutations: {PAPER_HOURS} h; here {full:.1f} s")
    print(f"ratio: {PAPER_HOURS * 3600 / full:.0f}")
    parts.keep("permutation_test.py", {f"the paper's {PERMUTATIONS} label permutations": full})


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else PERMUTATIONS)
