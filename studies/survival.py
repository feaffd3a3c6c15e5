"""Survival times: false positive rates by censoring, and power beside ranger's survival forest.

python -m studies.survival [--only PART ...]

Finished pieces are kept in studies/results, so that an interrupted study resumes where it stopped.
Nothing is set but seeds: trees, candidates and depth are the defaults.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import nullforest as nf
from nullforest.selection.error_rates import decide
from studies.calibration.null_data import ALPHAS, randomised_pvalues
from studies.markdown import filled, markdown
from studies.packages import PACKAGES, PackageTask
from studies.records import Records, with_progress

PAGE = Path(__file__).parents[1] / "docs" / "survival.md"
FIRST_SEED = 50_000
#: Seeds of the comparison of power. The leaf size was chosen on seeds 50 000 to 50 015, which are
#: therefore not used.
POWER_SEED = 60_000
FEATURES = 2_000
#: Null data: samples, shares of censored samples, and whether times are rounded to whole numbers
#: of which there are about ten, so that most are tied.
SAMPLES, CENSORING, NULL_SETS = (100, 300), (0.0, 0.3, 0.7), 100
TIED_SETS = 30
#: Fewest samples in a leaf: the default for survival times, and that of other targets.
LEAVES = {"default": None, "1": 1}
#: Proportional hazards: features, and samples, share of censored samples, relevant features and
#: hazard ratio. Fewer features than above, so that each has its share of ranger's trees.
HAZARD_FEATURES = 500
HAZARDS = [(150, 0.0, 5, 2.0), (150, 0.3, 5, 2.5), (150, 0.7, 3, 4.0)]
POWER_SETS = 20
#: Trees of ranger's survival forest, whose default is 500.
RANGER_TREES = 1_000
#: False discovery proportions at which power is compared.
PROPORTIONS = (0.05, 0.1, 0.2)
TESTS = {
    "nullforest": "nullforest",
    "nullforest_leaf_1": "nullforest, leaves of 1",
    "ranger_janitza": "ranger, Janitza",
}


def tied(y: NDArray[Any]) -> NDArray[Any]:
    """The same with times rounded up to tenths of the range in which nine of ten samples lie."""
    y = y.copy()
    y["time"] = np.ceil(y["time"] / (np.quantile(y["time"], 0.9) / 10))
    return y


def null_data() -> None:
    """Features that are independent of the survival times, by samples, censoring and ties."""
    records = Records("survival_null", ("samples", "censoring", "ties", "leaf", "seed"))
    settings = [
        *product(SAMPLES, CENSORING, (False,), LEAVES, range(NULL_SETS)),
        *product((100,), CENSORING, (True,), LEAVES, range(TIED_SETS)),
    ]
    settings.sort(key=lambda setting: setting[-1])  # every setting, data set by data set
    pieces = [(*setting, FIRST_SEED + i) for *setting, i in settings]
    for S, censoring, ties, leaf, seed in _open(records, pieces, "null data"):
        X, y, _ = nf.simulate.survival(S, FEATURES, 0, 1.0, censoring, seed=seed)
        y = tied(y) if ties else y
        start = perf_counter()
        forest = nf.grow(X, y, seed=seed, oob=False, min_leaf=LEAVES[leaf])
        seconds = perf_counter() - start
        null, counts = nf.null(forest.tally), forest.tally.counts
        uniform = randomised_pvalues(null, counts, np.random.default_rng(seed))
        found = int(decide(null.pvalues(counts), 0.05, "fdr").support.sum())
        records.add(
            [
                {"samples": S, "censoring": censoring, "ties": ties, "leaf": leaf, "seed": seed}
                | {"alpha": alpha, "features": FEATURES, "below": int((uniform <= alpha).sum())}
                | {"events": int(y["event"].sum()), "trees": forest.n_trees}
                | {"discoveries": found, "seconds": round(seconds, 3)}
                for alpha in ALPHAS
            ]
        )


def by_ranger(X: NDArray[Any], y: NDArray[Any], seed: int) -> tuple[Any, Any]:
    """p-values of Janitza's test by ranger's survival forest, and the importances behind them."""
    S, F = X.shape
    task = PackageTask(
        X=X,
        y=y,
        classes=False,
        trees=RANGER_TREES,
        candidates=math.isqrt(F),
        samples=S,
        replace=True,
        permutations=0,
        rounds=0,
        alpha=0.05,
        seed=seed,
        n_jobs=-1,
    )
    result = PACKAGES["ranger_janitza"].run(task)
    return result.pvalues, result.importance


def by_nullforest(
    X: NDArray[Any], y: NDArray[Any], seed: int, min_leaf: int | None = None
) -> tuple[Any, Any]:
    """p-values by the default forest, and its counts."""
    selection = nf.select(nf.grow(X, y, seed=seed, oob=False, min_leaf=min_leaf))
    return selection.pvalues, selection.counts


def hazards() -> None:
    """Ranks of the relevant features, and what is selected, by both forests."""
    records = Records("survival_power", ("samples", "censoring", "relevant", "seed", "test"))
    tests = {
        "nullforest": by_nullforest,
        "nullforest_leaf_1": partial(by_nullforest, min_leaf=1),
        "ranger_janitza": by_ranger,
    }
    if why := PACKAGES["ranger_janitza"].missing():
        raise SystemExit(f"The power study needs ranger: {why}.")
    pieces = [
        (S, censoring, relevant, POWER_SEED + i, test)
        for i in range(POWER_SETS)
        for S, censoring, relevant, _ in HAZARDS
        for test in tests
    ]
    ratio_of = {setting[:3]: setting[3] for setting in HAZARDS}
    for S, censoring, relevant, seed, test in _open(records, pieces, "proportional hazards"):
        ratio = ratio_of[S, censoring, relevant]
        shape = S, HAZARD_FEATURES, relevant
        X, y, truth = nf.simulate.survival(*shape, ratio, censoring, seed=seed)
        start = perf_counter()
        pvalues, statistic = tests[test](X, y, seed)
        seconds = perf_counter() - start
        support = decide(pvalues, 0.05, "fdr").support
        records.add(
            [
                {"samples": S, "censoring": censoring, "relevant": relevant, "seed": seed}
                | {"test": test, "hazard_ratio": ratio, "events": int(y["event"].sum())}
                | {"selected": int(support.sum()), "true": int((support & truth).sum())}
                # How many relevant features stand before the k-th null feature, for each k: from
                # this the power at any false discovery proportion.
                | {"before": _before(pvalues, statistic, truth), "seconds": round(seconds, 3)}
            ]
        )


def _before(
    pvalues: NDArray[Any], statistic: NDArray[Any], truth: NDArray[np.bool_], most: int = 40
) -> str:
    """Relevant features that stand before the k-th null feature, k = 1, 2, …, sorted by p-value.

    Among equal p-values, as ranger's zeros are, the larger statistic comes first.
    """
    ordered = truth[np.lexsort((-statistic, pvalues))]
    return " ".join(map(str, np.cumsum(ordered)[~ordered][:most]))


def _open(records: Records, pieces: list[Any], title: str) -> Any:
    """The pieces that are not finished, with a progress bar."""
    done = records.done()
    return with_progress([p for p in pieces if tuple(map(str, p)) not in done], title)


PARTS: dict[str, Callable[[], None]] = {"null": null_data, "power": hazards}


def null_table(rows: pd.DataFrame) -> pd.DataFrame:
    """False positive rate ÷ level, ± one standard error over data sets, and how often any."""
    rows = rows.assign(ratio=rows["below"] / rows["features"] / rows["alpha"])
    table = []
    keys = ["leaf", "samples", "censoring", "ties"]
    rows = rows.astype({"leaf": str}).sort_values(keys, ascending=[False, True, True, True])
    for (leaf, S, censoring, ties), part in rows.groupby(keys, sort=False):
        row: dict[str, Any] = {"fewest in a leaf": leaf, "samples": S}
        row |= {"censored": f"{censoring:.0%}", "times": "tied" if ties else "distinct"}
        for alpha in ALPHAS[:3]:
            ratio = part.loc[part["alpha"] == alpha, "ratio"]
            row[f"α = {alpha:g}"] = f"{ratio.mean():.2f} ± {ratio.sem():.2f}"
        one = part[part["alpha"] == ALPHAS[0]]
        row["any selected at FDR .05"] = f"{(one['discoveries'] > 0).mean():.0%}"
        table.append({**row, "data sets": len(one)})
    return pd.DataFrame(table)


def power_at(before: str, relevant: int, proportion: float) -> float:
    """Largest share of the relevant features at a false discovery proportion of at most this.

    Examples
    --------
    >>> power_at("3 4 5", 10, 0.0), power_at("3 4 5", 10, 0.2)
    (0.3, 0.4)
    """
    found = np.array(before.split(), float)
    false = np.arange(len(found))
    return float(found[false <= proportion * (false + found)].max(initial=0.0) / relevant)


def power_table(rows: pd.DataFrame) -> pd.DataFrame:
    """Power of both tests at equal false discovery proportions, and as they select at FDR .05."""
    keys = ["samples", "censoring", "relevant", "seed"]
    rows = rows[rows.groupby(keys)["test"].transform("nunique") == len(TESTS)]
    table = []
    for (S, censoring, relevant), setting in rows.groupby(keys[:3]):
        for test, part in setting.groupby("test"):
            row: dict[str, Any] = {"samples": S, "censored": f"{censoring:.0%}"}
            row["relevant × hazard ratio"] = f"{relevant} × {part['hazard_ratio'].iloc[0]:g}"
            row["test"] = TESTS[test]
            for q in PROPORTIONS:
                power = np.array([power_at(before, relevant, q) for before in part["before"]])
                error = power.std(ddof=1) / np.sqrt(len(power)) if len(power) > 1 else math.nan
                row[f"FDP {q:g}"] = f"{power.mean():.2f} ± {error:.2f}"
            row["at FDR .05"] = f"{(part['true'] / relevant).mean():.2f}"
            false = (part["selected"] - part["true"]) / part["selected"].clip(lower=1)
            row["its FDP"] = f"{false.mean():.2f}"
            table.append({**row, "data sets": len(part)})
    return pd.DataFrame(table)


TABLES = {"survival_null": null_table, "survival_power": power_table}


def with_tables(text: str) -> str:
    """The page with every table between its markers."""
    rows = {name: Records(name, ("seed",)).frame() for name in TABLES}
    return filled(text, {name: markdown(make(rows[name])) for name, make in TABLES.items()})


def main() -> None:
    """Run what is not finished, then write the tables into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", help=f"{' '.join(PARTS)} none")
    arguments = parser.parse_args()
    for name, part in PARTS.items():
        if arguments.only is None or name in arguments.only:
            part()
    PAGE.write_text(with_tables(PAGE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
