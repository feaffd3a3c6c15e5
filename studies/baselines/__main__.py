"""Run the comparison and the audits that docs/baselines.md quotes, and print its tables.

python -m studies.baselines simulated [--repeats R]
python -m studies.baselines packages [--repeats R]
python -m studies.baselines ztest [--repeats R]
python -m studies.baselines audit [--npz FILE] [--permutations R]
python -m studies.baselines leukemia

Every table is printed as Markdown, as it stands in the documentation.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

import nullforest as nf
from nullforest.engine.settings import paper_settings
from nullforest.evaluation.packages import PACKAGES as ADAPTERS
from studies.markdown import markdown

OURS = ["paper", "bagged", "probes", "altmann", "breiman_cutler", "janitza", "boruta"]
PACKAGES = ["boruta_py", "ranger_altmann", "ranger_janitza", "random_forest_explainer"]
RATES = ["fpr", "fpr_se", "fdr", "fdr_se", "power", "power_se"]
#: Samples, features, relevant features (2 %), their correlation with the label, trees, candidates.
#: 500 trees instead of F/10 = 100, so that counts are large enough to test.
S, F, N, RELEVANCE, TREES, CANDIDATES = 100, 1000, 20, 0.5, 500, 50


def show(table: pd.DataFrame, digits: int = 3) -> None:
    """Print a table as Markdown."""
    print(markdown(table.reset_index(), f".{digits}g"), flush=True)


def simulated(repeats: int) -> None:
    """Power and false positives on independent features, with relevant ones and without."""
    for relevant in (N, 0):

        def make(seed: int, relevant: int = relevant) -> tuple[object, object, object]:
            return nf.simulate.independent(S, F, relevant, RELEVANCE, seed=seed)

        for error, alpha in (("fpr", 0.01), ("fdr", 0.05)):
            table = nf.compare_runs(
                make, OURS, repeats=repeats, alpha=alpha, error=error, trees=TREES,
                candidates=CANDIDATES, permutations=250, rounds=100,
            )  # fmt: skip
            print(f"\n{S} x {F}, {relevant} relevant, {error} {alpha}, {repeats} data sets\n")
            show(table[["selected", *RATES, "any_false", "seconds", "forests"]])


def other_packages(repeats: int) -> None:
    """Tests implemented here and in other packages, on smaller data."""
    here = [m for m in PACKAGES if not ADAPTERS[m].missing()]
    for m in PACKAGES:
        print(f"{m}: {ADAPTERS[m].missing() or ADAPTERS[m].title}")

    def make(seed: int) -> tuple[object, object, object]:
        return nf.simulate.independent(100, 300, 8, RELEVANCE, seed=seed)

    how = {"alpha": 0.01, "error": "fpr", "trees": 300, "candidates": 30}
    how |= {"permutations": 150, "rounds": 30}
    pairs = [("boruta", "boruta_py"), ("altmann_gini", "ranger_altmann")]
    pairs = [p for p in [*pairs, ("janitza", "ranger_janitza")] if p[1] in here]
    methods = [m for pair in pairs for m in pair]
    X, y, relevant = make(0)
    first = nf.compare(X, y, methods, relevant=relevant, **how)
    print("\n100 x 300, 8 relevant, fpr .01, the first data set\n")
    show(first.table[["selected", "fpr", "power", "seconds", "forests"]])
    print("\nselected by both\n")
    show(first.shared)
    if repeats > 1:
        table = nf.compare_runs(make, methods, repeats=repeats, **how)
        print(f"\nmeans over {repeats} data sets\n")
        show(table[["selected", *RATES, "seconds", "forests"]])


def audited(npz: Path | None, permutations: int) -> None:
    """False positive rate of each null model on real data with permuted labels."""
    if npz is None:
        leukemia = nf.datasets.load_leukemia_sex()
        name, X, y = "leukaemia, sex", leukemia.data, leukemia.target
    else:
        with np.load(npz, allow_pickle=False) as archive:
            name, X, y = npz.stem, archive["X"], archive["y"]
    result = nf.audit(X, y, permutations=permutations, **paper_settings(X.shape[1]))
    print(f"\n{name}: {X.shape[0]} samples, {X.shape[1]} features, {result.trees} trees, ", end="")
    print(f"{permutations} permutations, {result.seconds:.0f} s\n")
    show(result.table.set_index("null"))
    print()
    for alpha in result.alphas:
        print(f"> {result.verdict(alpha)}")


def leukemia() -> None:
    """All tests on the leukaemia data, sex as the label; 16 features are known to be relevant."""
    data = nf.datasets.load_leukemia_sex()
    result = nf.compare(
        data.data, data.target, OURS, alpha=0.05, error="fdr", relevant=data.known,
        permutations=250, rounds=100,
    )  # fmt: skip
    table = result.table
    table.insert(1, "known", [int((a.support & data.known).sum()) for a in result.answers.values()])
    print("\nleukaemia, sex, FDR .05\n")
    show(table[["selected", "known", "seconds", "forests"]])
    print("\nselected by both\n")
    show(result.shared)


def z_test(repeats: int) -> None:
    """Power and false positive rate of Breiman and Cutler's test, by trees and samples."""
    rows = []
    for trees in (100, 400):
        for samples in (50, 150, 450):
            rejected = []
            for seed in range(repeats):
                rng = np.random.default_rng(seed)
                X = rng.normal(size=(samples, 5))
                y = rng.random(samples) < 1 / (1 + np.exp(-0.4 * X[:, 0]))  # a weak relation
                selection = nf.baselines.breiman_cutler(
                    X,
                    y,
                    alpha=0.05,
                    trees=trees,
                    candidates=2,
                    seed=seed,
                    replace=True,
                    samples=1.0,
                )
                rejected.append(selection.support)
            share, null = np.array(rejected), np.array(rejected)[:, 1:].mean(axis=1)
            error = null.std(ddof=1) / np.sqrt(repeats)
            rows.append([trees, samples, share[:, 0].mean(), null.mean(), error])
    names = ["trees", "samples", "power", "fpr", "fpr_se"]
    print(f"\nBreiman and Cutler's z-test at .05, one of 5 features related, {repeats} data sets\n")
    show(pd.DataFrame(rows, columns=names).set_index("trees"))


def main() -> None:
    """Run one of the studies."""
    parser = argparse.ArgumentParser(prog="python -m studies.baselines", description=__doc__)
    parser.add_argument("study", choices=["simulated", "packages", "ztest", "audit", "leukemia"])
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument(
        "--npz", type=Path, help="file with X and y; the embedded data if not given"
    )
    parser.add_argument("--permutations", type=int, default=24)
    arguments = parser.parse_args()
    if arguments.study == "simulated":
        simulated(arguments.repeats)
    elif arguments.study == "packages":
        other_packages(arguments.repeats)
    elif arguments.study == "ztest":
        z_test(arguments.repeats)
    elif arguments.study == "audit":
        audited(arguments.npz, arguments.permutations)
    else:
        leukemia()


if __name__ == "__main__":
    main()
