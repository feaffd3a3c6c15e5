"""Grid search for the stop rule that comes nearest to the printed comparison tables.

python -m studies.stop_rules [--jobs J] [--finished]

The paper does not give its stop rule. Leaf sizes, sizes of a node that may split and depths are
tried in the forests of its two tables, with the seeds of the reproduction. Only the rates of the
model are compared; those of permutation testing remain an independent check of the rule that is
found. One row per rule and pairing of the captions is kept in studies/results/stop_rules.csv;
rules that are there are not run again.
"""

from __future__ import annotations

import argparse
from typing import Any

from joblib import Parallel, delayed

from reproduction import comparison_tables as comparison
from reproduction.computing import one_forest
from reproduction.experiment import grid
from reproduction.printed_rates import compared, ranking
from reproduction.stop_rules import StopRule
from studies.markdown import markdown
from studies.records import Records, with_progress

LEAVES = range(1, 11)
SPLITS = (2, 20, 21, 22, 23, 24, 25, 26)
DEPTHS = (None, 3, 6)
SEED, RUNS = 0, 20
SHOWN = 20


def rules() -> list[StopRule]:
    """Every rule of the grid once: a node of twice the leaf size can always split."""
    return [
        StopRule(leaf, depth, split)
        for depth in DEPTHS
        for leaf in LEAVES
        for split in SPLITS
        if split == 2 or split > 2 * leaf
    ]


def piece(rule: StopRule) -> list[dict[str, Any]]:
    """Fit of one rule, in both pairings."""
    cells = [comparison.cell(p) for p in grid({"rule": rule, **comparison.FORESTS})]
    results = [
        (cell, [one_forest(cell.parameters, SEED, run, ("paper",)) for run in range(RUNS)])
        for cell in cells
    ]
    numbers = compared(comparison.table(results))
    nodes = {
        f"nodes_{cell.parameters['n_samples']}": records[0]["nodes_per_tree"]
        for cell, records in results
        if cell.parameters["n_features"] == 5000 and cell.parameters["n_relevant"] == 0
    }
    return [
        {**row, **nodes, "runs": RUNS, "seed": SEED}
        for row in ranking(numbers).round(6).to_dict("records")
    ]


def main() -> None:
    """Run the rules that are not finished, then print those that fit best."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=-1, help="cores to use; -1 for all")
    parser.add_argument("--finished", action="store_true", help="compute nothing")
    arguments = parser.parse_args()
    records = Records("stop_rules", ("rule",))
    done = records.done()
    left = [] if arguments.finished else [r for r in rules() if (str(r),) not in done]
    pool = Parallel(n_jobs=arguments.jobs, return_as="generator_unordered")
    found = pool(delayed(piece)(rule) for rule in left)
    for _ in with_progress(left, "stop rules"):
        records.add(next(found))
    frame = records.frame().sort_values("distance").drop(columns=["seed", "version"])
    print(f"{frame['rule'].nunique()} rules")
    print(markdown(frame.head(SHOWN), ".3f"))


if __name__ == "__main__":
    main()
