"""Run the comparisons and audits of docs/baselines.md; write its results and its tables.

python -m studies.baselines [--only STUDY ...] [--data FOLDER] [--repeats R]

STUDY is simulated, leukaemia, packages, ztest or audit; all of them by default, none with
`--only none`. FOLDER holds golub.npz (X, y), which is audited beside the embedded data. Results:
studies/results/baselines_STUDY.csv.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

import nullforest as nf
from nullforest.evaluation.baselines.comparison import METHODS
from nullforest.forest.settings import paper_settings
from studies.baselines.page import PAGE, with_tables
from studies.packages import PACKAGES as ADAPTERS
from studies.packages import compared
from studies.published.z_test import z_test
from studies.records import RESULTS

OURS = {name: METHODS[name] for name in ("paper", "bagged", "probes", "altmann")}
OURS["breiman_cutler"] = lambda problem: problem.published(z_test, "error")
OURS |= {name: METHODS[name] for name in ("janitza", "boruta")}
#: A test of this package, and the same test in another.
PAIRS = {
    "boruta": "boruta_py",
    "altmann_gini": "ranger_altmann",
    "janitza": "ranger_janitza",
}
#: Samples, features, relevant features (2 %), their correlation with the label, trees, candidates.
#: 500 trees instead of F/10 = 100, so that counts are large enough to test.
S, F, N, RELEVANCE, TREES, CANDIDATES = 100, 1000, 20, 0.5, 500, 50
PERMUTATIONS, ROUNDS, AUDITED = 250, 100, 24
#: Data sets of the z-test, on which one forest is small.
Z_DATA_SETS = 60


def simulated(given: argparse.Namespace) -> pd.DataFrame:
    """Power and false positives on independent features, with relevant ones and without."""
    parts = []
    for relevant in (N, 0):

        def make(seed: int, relevant: int = relevant) -> tuple[object, object, object]:
            return nf.simulate.independent(S, F, relevant, RELEVANCE, seed=seed)

        for error, alpha in (("fpr", 0.01), ("fdr", 0.05)):
            table = nf.baselines.compare_runs(
                make, OURS, repeats=given.repeats, alpha=alpha, error=error, trees=TREES,
                candidates=CANDIDATES, permutations=PERMUTATIONS, rounds=ROUNDS,
            )  # fmt: skip
            what = {"relevant": relevant, "error": error, "alpha": alpha}
            parts.append(table.reset_index().assign(**what, data_sets=given.repeats))
    return pd.concat(parts)


def leukaemia(given: argparse.Namespace) -> pd.DataFrame:
    """All tests on the leukaemia data, sex as the label; 16 features are known to be relevant."""
    data = nf.datasets.load_leukemia_sex()
    result = nf.compare(
        data.data, data.target, OURS, alpha=0.05, error="fdr", relevant=data.known,
        permutations=PERMUTATIONS, rounds=ROUNDS,
    )  # fmt: skip
    known = [int((a.support & data.known).sum()) for a in result.answers.values()]
    table = result.table[["selected", "seconds", "forests"]].assign(known=known)
    return table.reset_index().assign(**paper_settings(data.data.shape[1]))


def packages(given: argparse.Namespace) -> pd.DataFrame:
    """Tests implemented here and in other packages, on smaller data."""
    X, y, relevant = nf.simulate.independent(100, 300, 8, RELEVANCE, seed=0)
    rows = []
    for ours, other in PAIRS.items():
        missing = ADAPTERS[other].missing()
        if missing:
            print(f"{other} is left out: {missing}")
            continue
        methods = {ours: METHODS[ours], other: compared(ADAPTERS[other])}
        found = nf.compare(
            X, y, methods, relevant=relevant, alpha=0.01, error="fpr", trees=300,
            candidates=30, permutations=150, rounds=30,
        )  # fmt: skip
        table = found.table
        rows.append(
            {
                "ours": ours,
                "selected": table.loc[ours, "selected"],
                "seconds": table.loc[ours, "seconds"],
                "other": other,
                "other_selected": table.loc[other, "selected"],
                "other_seconds": table.loc[other, "seconds"],
                "both": found.shared.loc[ours, other],
            }
        )
    return pd.DataFrame(rows)


def ztest(given: argparse.Namespace) -> pd.DataFrame:
    """Power and false positive rate of Breiman and Cutler's test, by trees and samples."""
    rows = []
    for trees in (100, 400):
        for samples in (50, 150, 450):
            rejected = []
            for seed in range(Z_DATA_SETS):
                rng = np.random.default_rng(seed)
                X = rng.normal(size=(samples, 5))
                y = rng.random(samples) < 1 / (1 + np.exp(-0.4 * X[:, 0]))  # a weak relation
                selection = z_test(
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
            null = np.array(rejected)[:, 1:].mean(axis=1)
            rows.append(
                {
                    "trees": trees,
                    "samples": samples,
                    "power": np.array(rejected)[:, 0].mean(),
                    "fpr": null.mean(),
                    "fpr_se": null.std(ddof=1) / np.sqrt(Z_DATA_SETS),
                    "data_sets": Z_DATA_SETS,
                }
            )
    return pd.DataFrame(rows)


def audit(given: argparse.Namespace) -> pd.DataFrame:
    """False positive rate of each null model on real data with permuted labels."""
    leukemia = nf.datasets.load_leukemia_sex()
    sets = {"leukaemia": (leukemia.data, leukemia.target)}
    if given.data:
        with np.load(given.data / "golub.npz", allow_pickle=False) as archive:
            sets["golub"] = archive["X"].astype(np.float64), archive["y"]
    parts = []
    for name, (X, y) in sets.items():
        found = nf.audit(X, y, permutations=AUDITED, **paper_settings(X.shape[1]))
        shape = {"samples": X.shape[0], "features": X.shape[1], "trees": found.trees}
        parts.append(found.table.assign(data=name, **shape))
    return pd.concat(parts)


STUDIES: dict[str, Callable[[argparse.Namespace], pd.DataFrame]] = {
    "simulated": simulated,
    "leukaemia": leukaemia,
    "packages": packages,
    "ztest": ztest,
    "audit": audit,
}


def main() -> None:
    """Run the studies, then write the tables into the page."""
    parser = argparse.ArgumentParser(prog="python -m studies.baselines", description=__doc__)
    parser.add_argument("--only", nargs="*", choices=[*STUDIES, "none"], help="all by default")
    parser.add_argument("--data", type=Path, help="folder of golub.npz")
    parser.add_argument("--repeats", type=int, default=10, help="simulated data sets")
    given = parser.parse_args()
    for name, study in STUDIES.items():
        if given.only is None or name in given.only:
            frame = study(given).assign(seed=0, version=nf.__version__)
            frame.to_csv(
                RESULTS / f"baselines_{name}.csv",
                index=False,
                float_format="%.6g",
                lineterminator="\n",
            )
            print(frame.to_string(index=False), flush=True)
    PAGE.write_text(with_tables(PAGE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
