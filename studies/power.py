"""How much is found: real data, five seeds, permuted labels, and the paper's generator.

python -m studies.power [--data FOLDER] [--only PART ...] [--page FILE]

FOLDER holds golub.npz, singh.npz, alon.npz, khan.npz, riboflavin.npz and madelon.npz (X, y).
Finished pieces are kept in studies/results, so that an interrupted study resumes where it stopped.
Nothing is set but seeds: trees, candidates and depth are the defaults.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from itertools import product
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

import nullforest as nf
from nullforest.forest.settings import DEPTH
from nullforest.selection.agreement import jaccard
from nullforest.selection.error_rates import decide
from studies.calibration.null_data import ALPHAS, randomised_pvalues
from studies.packages import PACKAGES, PackageTask
from studies.records import Records, with_progress

REAL = ("golub", "singh", "alon", "khan", "leukaemia", "riboflavin", "madelon")
PERMUTED = ("golub", "singh", "alon", "khan")
#: Numbers of candidates at the default depth, and depths at the default number.
CANDIDATES, DEPTHS = (5, 10, 20, 40, 80), (1, 2, 3, 5, None)
#: Mean count of the forests that are compared with other settings.
MEAN_COUNT = 40
#: The defaults were set with seeds below 10 000.
FIRST_SEED = 30_000
SEEDS, PERMUTATIONS, JANITZA_PERMUTATIONS, DATA_SETS = 5, 100, 10, 10
#: Shares of relevant features and their correlation with the label: none, and weak and strong.
SIMULATED = [(0.0, 0.0), *product((0.01, 0.05, 0.2), (0.3, 0.6))]


def load(name: str, folder: Path | None) -> tuple[Any, Any, NDArray[np.bool_] | None]:
    """X, y and the known relevant features, where there are any."""
    if name == "leukaemia":
        data = nf.datasets.load_leukemia_sex()
        return data.data, data.target, data.known
    if folder is None:
        raise SystemExit(f"{name} needs --data FOLDER.")
    with np.load(folder / f"{name}.npz", allow_pickle=False) as file:
        return file["X"].astype(np.float64), file["y"], None


def available(names: tuple[str, ...], folder: Path | None) -> list[str]:
    """The data sets that can be read."""
    return [n for n in names if n == "leukaemia" or (folder and (folder / f"{n}.npz").exists())]


def seeds_agree(folder: Path | None) -> None:
    """The default answer for five seeds, and with four times the trees for the first two."""
    records = Records("power_seeds", ("data", "seed"))
    pieces = [(n, FIRST_SEED + s) for n in available(REAL, folder) for s in range(SEEDS)]
    for name, seed in _open(records, pieces, "five seeds"):
        X, y, known = load(name, folder)
        start = perf_counter()
        table = nf.RankTable(X)
        forest = nf.grow(table, y, seed=seed, oob=False)
        selection = nf.select(forest)
        seconds = perf_counter() - start
        agreement, more = selection.agreement, math.nan
        if seed < FIRST_SEED + 2:
            larger = nf.grow(table, y, trees=3 * forest.n_trees, more=forest)
            more = nf.select(larger).n_selected
        records.add(
            [
                {
                    "data": name,
                    "seed": seed,
                    "samples": X.shape[0],
                    "features": X.shape[1],
                    "trees": forest.n_trees,
                    "mean_count": forest.tally.counts.mean(),
                    "selected": selection.n_selected,
                    "known": -1 if known is None else int((selection.support & known).sum()),
                    "expected": agreement.expected if agreement else math.nan,
                    "settled": bool(agreement and agreement.settled),
                    "selected_4x": more,
                    "seconds": seconds,
                    "columns": " ".join(map(str, np.flatnonzero(selection.support))),
                }
            ]
        )


def other_settings(folder: Path | None) -> None:
    """Features selected with other numbers of candidates and depths, at equal mean counts."""
    records = Records("power_settings", ("data", "candidates", "depth"))
    both = [(c, DEPTH) for c in CANDIDATES] + [(20, d) for d in DEPTHS if d != DEPTH]
    pieces = [(n, c, d or 0) for n in available(PERMUTED, folder) for c, d in both]
    for name, candidates, depth in _open(records, pieces, "other settings"):
        X, y, _ = load(name, folder)
        how = {"candidates": candidates, "max_depth": depth or None, "seed": FIRST_SEED}
        table = nf.RankTable(X)
        few = nf.grow(table, y, trees=100, oob=False, keep_trees=False, **how)
        trees = round(MEAN_COUNT * X.shape[1] / few.tally.n_nodes * 100)
        start = process_time()
        forest = nf.grow(table, y, trees=trees, oob=False, keep_trees=False, **how)
        seconds = process_time() - start
        selection = nf.select(forest)
        agreement = selection.agreement
        records.add(
            [
                {"data": name, "candidates": candidates, "depth": depth, "trees": trees}
                | {"seed": FIRST_SEED, "selected": selection.n_selected, "cpu_seconds": seconds}
                | {"expected": agreement.expected if agreement else math.nan}
            ]
        )


def univariate(X: Any, y: Any) -> NDArray[np.float64]:
    """p-values of Wilcoxon's test (two classes), Kruskal's (more) or Spearman's (numbers)."""
    values, classes = np.asarray(X, float), np.unique(y)
    if np.asarray(y).dtype.kind == "f" and len(classes) > 20:
        ranks = stats.rankdata(values, axis=0)
        r = stats.zscore(ranks, axis=0).T @ stats.zscore(stats.rankdata(y)) / len(y)
        t = r * np.sqrt((len(y) - 2) / (1 - r**2))
        return np.asarray(2 * stats.t.sf(np.abs(t), len(y) - 2))
    parts = [values[np.asarray(y) == label] for label in classes]
    if len(parts) == 2:
        return np.asarray(stats.mannwhitneyu(*parts, axis=0, method="asymptotic").pvalue)
    return np.asarray(stats.kruskal(*parts, axis=0).pvalue)


def janitza(X: Any, y: Any, seed: int) -> NDArray[np.float64]:
    """p-values of Janitza's test by ranger, with 5 000 trees and its own defaults."""
    S, F = X.shape
    task = PackageTask(
        X=np.asarray(X, float),
        y=np.asarray(y),
        classes=len(np.unique(y)) <= 20,
        trees=5000,
        candidates=math.isqrt(F),
        samples=S,
        replace=True,
        permutations=0,
        rounds=0,
        alpha=0.05,
        seed=seed,
        n_jobs=-1,
    )
    return PACKAGES["ranger_janitza"].run(task).pvalues


def permuted_labels(folder: Path | None) -> None:
    """Rates of null features on real data with permuted labels, ours and those of other tests."""
    tests: dict[str, tuple[int, Callable[[Any, Any, int], Any]]] = {
        "nullforest": (PERMUTATIONS, _our_pvalues),
        "univariate": (PERMUTATIONS, lambda X, y, seed: (univariate(X, y),) * 2),
        "ranger_janitza": (JANITZA_PERMUTATIONS, lambda X, y, seed: (janitza(X, y, seed),) * 2),
    }
    if PACKAGES["ranger_janitza"].missing():
        del tests["ranger_janitza"]
    records = Records("power_permuted", ("data", "test", "seed"))
    pieces = [
        (name, test, FIRST_SEED + s)
        for s in range(PERMUTATIONS)
        for test, (number, _) in tests.items()
        for name in available(PERMUTED, folder)
        if s < number
    ]
    data = {name: load(name, folder)[:2] for name in available(PERMUTED, folder)}
    tables = {name: nf.RankTable(X) for name, (X, _) in data.items()}
    for name, test, seed in _open(records, pieces, "permuted labels"):
        X, y = data[name]
        shuffled = np.random.default_rng(seed).permutation(y)
        X = tables[name] if test == "nullforest" else X
        continuous, plain = tests[test][1](X, shuffled, seed)
        found = int(decide(np.nan_to_num(plain, nan=1.0), 0.05, "fdr").support.sum())
        records.add(
            [
                {
                    "data": name,
                    "test": test,
                    "seed": seed,
                    "alpha": alpha,
                    "features": len(plain),
                    "below": int(np.sum(continuous <= alpha)),
                    "discoveries": found,
                }
                for alpha in ALPHAS
            ]
        )


def _our_pvalues(X: Any, y: Any, seed: int) -> tuple[Any, Any]:
    """p-values made continuous, and as they are."""
    forest = nf.grow(X, y, seed=seed, oob=False)
    null, counts = nf.null(forest.tally), forest.tally.counts
    return randomised_pvalues(null, counts, np.random.default_rng(seed)), null.pvalues(counts)


def simulated(_: Path | None = None) -> None:
    """The paper's generator, 100 samples × 2 000 features: power, errors, and two seeds."""
    records = Records("power_simulated", ("share", "relevance", "seed"))
    pieces = [(*s, FIRST_SEED + d) for d in range(DATA_SETS) for s in SIMULATED]
    for share, relevance, seed in _open(records, pieces, "simulated data"):
        number = round(2000 * share)
        X, y, relevant = nf.simulate.independent(100, 2000, number, relevance, seed=seed)
        start = perf_counter()
        first, second = (nf.select(nf.grow(X, y, seed=s, oob=False)).support for s in (1, 2))
        seconds = (perf_counter() - start) / 2
        plain = decide(univariate(X, y), 0.05, "fdr").support
        records.add(
            [
                {"share": share, "relevance": relevance, "seed": seed, "relevant": number}
                | {"selected": int(first.sum()), "false": int((first & ~relevant).sum())}
                | {"agreement": jaccard(first, second), "seconds": seconds}
                | {"selected_univariate": int(plain.sum())}
                | {"false_univariate": int((plain & ~relevant).sum())}
            ]
        )


def _open(records: Records, pieces: list[Any], title: str) -> Any:
    """The pieces that are not finished."""
    done = records.done()
    return with_progress([p for p in pieces if tuple(map(str, p)) not in done], title)


def main() -> None:
    """Run what is not finished, then write the page."""
    from studies.power_page import page

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder of the NPZ files")
    parser.add_argument("--only", nargs="*", help="seeds permuted simulated settings none")
    parser.add_argument("--page", type=Path, help="write the page to this Markdown file")
    arguments = parser.parse_args()
    parts = {"seeds": seeds_agree, "permuted": permuted_labels, "simulated": simulated}
    parts["settings"] = other_settings
    for name, part in parts.items():
        if arguments.only is None or name in arguments.only:
            part(arguments.data)
    text = page()
    print(text)
    if arguments.page:
        arguments.page.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
