"""Small tables: what is found, false positive rates by kind of column, the switch, and blocks.

python -m studies.tables [--only PART ...] [--page FILE]

Finished pieces are kept in studies/results, so that an interrupted study resumes where it stopped.
Nothing is set but seeds. The constants of the null model were set with seeds below 10 000.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

import nullforest as nf
from nullforest.forest.null_column_budget import FEW_FEATURES
from nullforest.selection.agreement import jaccard
from nullforest.selection.error_rates import decide
from studies.calibration.null_data import randomised_pvalues
from studies.records import Records, with_progress

FIRST_SEED = 40_000
#: First seed where tables hold several kinds of columns. The number of shadows from which a stratum
#: has a tail of its own was changed after results with the seeds above; it concerns these tables.
MIXED_SEED = 70_000
#: First seed of the tables that hold categories, which share no tail with numbers since results
#: with the seeds above.
KINDS_SEED = 80_000
ALPHAS = (0.05, 0.01, 0.001)
SEEDS, NOISE_DRAWS, PERMUTATIONS, NULL_TABLES, SWITCHED, BLOCK_RUNS = 5, 20, 300, 100, 20, 50
KIND_TABLES, ADJUSTED_RUNS, GIVEN_FORESTS = 300, 50, 100
SHAPES = tuple(product((5, 10, 20, 50, 100, 300, 1000), (50, 200, 1000)))
KINDS = ("normal", "log-normal", "binary", "binary 90/10", "Poisson", "five levels", "missing")

Rng = np.random.Generator


def mixed(rng: Rng, S: int, F: int) -> NDArray[np.float64]:
    """Correlated columns of all kinds, in turn."""
    factors = rng.normal(size=(S, 3))
    columns = []
    for f in range(F):
        z = 0.6 * factors[:, f % 3] + 0.8 * rng.normal(size=S)
        columns.append(
            {
                "normal": lambda z=z: z,
                "log-normal": lambda z=z: np.exp(z),
                "binary": lambda z=z: z > 0,
                "binary 90/10": lambda z=z: z > 1.2816,
                "Poisson": lambda z=z: rng.poisson(2 * np.exp(0.5 * z)),
                "five levels": lambda z=z: np.digitize(z, [-0.84, -0.25, 0.25, 0.84]),
                "missing": lambda z=z: np.where(rng.random(S) < 0.2, np.nan, z),
            }[KINDS[f % len(KINDS)]]()
        )
    return np.column_stack(columns).astype(np.float64)


def real(name: str) -> tuple[NDArray[np.float64], Any]:
    """A real table and its target."""
    if name == "friedman1":
        return datasets.make_friedman1(500, 30, random_state=0)
    data = getattr(datasets, f"load_{name}")()
    X: NDArray[np.float64] = data.data
    return X[:, X.std(axis=0) > 0], data.target


def found() -> None:
    """The default answer for five seeds, with and without 50 columns of noise."""
    records = Records("tables_found", ("data", "seed"))
    plain = product(("diabetes", "breast_cancer", "wine", "friedman1"), range(SEEDS))
    noisy = product(("diabetes, noise", "breast_cancer, noise"), range(NOISE_DRAWS))
    pieces = [(name, MIXED_SEED + seed) for name, seed in (*plain, *noisy)]
    for name, seed in _open(records, pieces, "found"):
        X, y = real(name.split(",")[0])
        n = X.shape[1]
        if name.endswith("noise"):
            X = np.column_stack([X, np.random.default_rng(seed).normal(size=(len(X), 50))])
        start = perf_counter()
        selection = nf.select(nf.grow(X, y, seed=seed))
        seconds = perf_counter() - start
        row = {"selected": selection.support[:n].sum(), "noise": selection.support[n:].sum()}
        records.add([{"data": name, "seed": seed, **row, "seconds": round(seconds, 3)}])


def _null_row(pvalues: NDArray[np.float64]) -> dict[str, Any]:
    """Features at or below each level, and whether anything is selected."""
    rates = {f"at {alpha:g}": int(np.sum(pvalues <= alpha)) for alpha in ALPHAS}
    return {
        **rates,
        "features": len(pvalues),
        "any": int(decide(pvalues, 0.05, "fdr").support.any()),
    }


def permuted() -> None:
    """Permuted labels on real tables and on mixed ones; for these also by kind of column."""
    records = Records("tables_permuted", ("data", "seed", "kind"))
    names = ("breast_cancer", "wine", "diabetes", "digits", "mixed", "mixed, numbers")
    first = {n: MIXED_SEED if n.startswith("mixed") else FIRST_SEED for n in names}
    pieces = [(n, first[n] + s, "all") for s in range(PERMUTATIONS) for n in names]
    for name, seed, _ in _open(records, pieces, "permuted labels"):
        rng = np.random.default_rng(seed)
        if name.startswith("mixed"):
            X = mixed(rng, 300, 28)
            y = rng.lognormal(size=300) if name.endswith("numbers") else np.arange(300) % 2
        else:
            X, y = real(name)
            y = rng.permutation(y)
        pvalues = nf.select(nf.grow(X, y, seed=seed, oob=False)).pvalues
        parts = {"all": pvalues}
        if name.startswith("mixed"):
            parts |= {kind: pvalues[i :: len(KINDS)] for i, kind in enumerate(KINDS)}
        records.add(
            [{"data": name, "seed": seed, "kind": k, **_null_row(p)} for k, p in parts.items()]
        )


def independent() -> None:
    """Independent null tables of many shapes."""
    records = Records("tables_independent", ("F", "S", "seed"))
    pieces = [(F, S, FIRST_SEED + i) for i in range(NULL_TABLES) for F, S in SHAPES]
    for F, S, seed in _open(records, pieces, "independent tables"):
        X = np.random.default_rng(seed).normal(size=(S, F))
        selection = nf.select(nf.grow(X, np.arange(S) % 2, seed=seed, oob=False))
        records.add([{"F": F, "S": S, "seed": seed, **_null_row(selection.pvalues)}])


def switch() -> None:
    """Shadows and probes on tables of the size at which the default changes."""
    records = Records("tables_switch", ("seed",))
    for (seed,) in _open(records, [(FIRST_SEED + i,) for i in range(SWITCHED)], "the switch"):
        rng, F = np.random.default_rng(seed), FEW_FEATURES
        y = np.arange(150) % 2
        X = rng.normal(size=(150, F)) + np.outer(y, np.where(np.arange(F) < F // 10, 1.0, 0.0))
        table = nf.RankTable(X)
        shadows = nf.select(nf.grow(table, y, seed=seed, shadows=4, oob=False))
        probes = nf.select(nf.grow(table, y, seed=seed, shadows=0, oob=False))
        records.add(
            [
                {
                    "seed": seed,
                    "shadows": shadows.n_selected,
                    "probes": probes.n_selected,
                    "jaccard": round(jaccard(shadows.support, probes.support), 4),
                }
            ]
        )


def blocks() -> None:
    """A batch that agrees with the label in 85 or 50 % of the samples, with and without blocks."""
    records = Records("tables_blocks", ("agree", "blocks", "seed"))
    pieces = [
        (agree, given, FIRST_SEED + i)
        for i in range(BLOCK_RUNS)
        for agree, given in product((0.85, 0.5), (0, 1))
    ]
    for agree, given, seed in _open(records, pieces, "blocks"):
        rng = np.random.default_rng(seed)
        batch = np.arange(120) % 2
        y = np.where(rng.random(120) < agree, batch, 1 - batch)
        X = rng.normal(size=(120, 2000))
        X[:, :10] += 1.6 * y[:, None]
        X[:, 10:110] += 1.6 * batch[:, None]
        grown = nf.grow(X, y, seed=seed, oob=False, blocks=batch if given else None)
        support = nf.select(grown).support
        row = {
            "true": support[:10].sum(),
            "batch only": support[10:110].sum(),
            "noise": support[110:].sum(),
        }
        records.add([{"agree": agree, "blocks": given, "seed": seed, **row}])


def kinds() -> None:
    """Null tables of mixed columns, with categories; randomised p-values by kind of column."""
    records = Records("tables_kinds", ("target", "seed", "kind"))
    pieces = [
        (target, KINDS_SEED + s, "all")
        for s in range(KIND_TABLES)
        for target in ("classes", "numbers")
    ]
    names = (*KINDS, "category, 5 levels", "category, 15 levels")
    for target, seed, _ in _open(records, pieces, "kinds of columns"):
        rng = np.random.default_rng(seed)
        columns = [pd.Series(column) for column in mixed(rng, 300, 4 * len(KINDS)).T]
        for number in range(4):
            for place, levels in ((7, 5), (8, 15)):
                text = pd.Series(rng.integers(0, levels, 300).astype(str)).radd("level ")
                columns.insert(9 * number + place, text)
        frame = pd.concat(columns, axis=1).set_axis([f"c{i}" for i in range(36)], axis=1)
        y = rng.lognormal(size=300) if target == "numbers" else np.arange(300) % 2
        tally = nf.grow(frame, y, seed=seed, oob=False).tally
        null = nf.null(tally, "shadows")
        p = randomised_pvalues(null, tally.counts, rng)
        parts = {"all": p} | {kind: p[i :: len(names)] for i, kind in enumerate(names)}
        records.add(
            [{"target": target, "seed": seed, "kind": k, **_null_row(p)} for k, p in parts.items()]
        )


def covariates() -> None:
    """A label that depends on covariates, with and without adjustment for them."""
    records = Records("tables_covariates", ("covariates", "related", "adjust", "seed"))
    pieces = [
        (number, related, given, FIRST_SEED + i)
        for i in range(ADJUSTED_RUNS)
        for number, related, given in product((1, 3), (1, 0), (0, 1))
    ]
    for number, related, given, seed in _open(records, pieces, "covariates"):
        rng = np.random.default_rng(seed)
        Z = rng.normal(size=(200, number))
        score = Z.sum(axis=1) / np.sqrt(number)
        y = (rng.random(200) < 1 / (1 + np.exp(-1.5 * related * score))).astype(int)
        X = rng.normal(size=(200, 200))
        X[:, :10] += 1.2 * y[:, None]
        X[:, 10:40] = 0.8 * score[:, None] + 0.6 * X[:, 10:40]
        grown = nf.grow(X, y, seed=seed, oob=False, adjust=Z if given else None)
        support = nf.select(grown).support
        row = {
            "true": support[:10].sum(),
            "covariate only": support[10:40].sum(),
            "noise": support[40:].sum(),
        }
        about = {"covariates": number, "related": related, "adjust": given, "seed": seed}
        records.add([about | row])


def given_forests() -> None:
    """scikit-learn's forests in a ForestSelector, on noise of which a part has two values."""
    records = Records("tables_given_forests", ("forest", "columns", "seed"))
    forests = {"classifier": RandomForestClassifier, "regressor": RandomForestRegressor}
    pieces = [
        (kind, columns, FIRST_SEED + i)
        for i in range(GIVEN_FORESTS)
        for kind, columns in product(forests, ("20 + 5 binary", "100 + 100 binary"))
    ]
    for kind, columns, seed in _open(records, pieces, "scikit-learn's forests"):
        rng = np.random.default_rng(seed)
        normal, binary = (20, 5) if columns.startswith("20") else (100, 100)
        X = np.hstack([rng.normal(size=(200, normal)), rng.integers(0, 2, (200, binary))])
        y = np.arange(200) % 2 if kind == "classifier" else rng.normal(size=200)
        forest = forests[kind](random_state=seed % 2**31, n_jobs=-1)
        support = nf.ForestSelector(forest).fit(X, y).support_
        row = {"normal": support[:normal].sum(), "binary": support[normal:].sum()}
        records.add([{"forest": kind, "columns": columns, "seed": seed, **row}])


def _open(records: Records, pieces: list[Any], title: str) -> Any:
    """The pieces that are not finished, with a progress bar."""
    done = records.done()
    return with_progress([p for p in pieces if tuple(map(str, p)) not in done], title)


PARTS: dict[str, Callable[[], None]] = {
    "found": found,
    "permuted": permuted,
    "independent": independent,
    "switch": switch,
    "blocks": blocks,
    "kinds": kinds,
    "covariates": covariates,
    "given_forests": given_forests,
}


def rates(name: str, by: list[str]) -> pd.DataFrame:
    """False positive rate ÷ level with its standard error over data sets, and how often any."""
    table = Records(name, tuple(by)).frame()
    if "kind" in table and "kind" not in by:
        table = table[table["kind"] == "all"]
    rows = []
    for key, part in table.groupby(by):
        row: dict[str, Any] = dict(zip(by, key, strict=True))
        for alpha in ALPHAS:
            share = part[f"at {alpha:g}"] / part["features"] / alpha
            row[f"{alpha:g}"] = f"{share.mean():.2f} ± {share.std(ddof=1) / np.sqrt(len(part)):.2f}"
        rows.append({**row, "any": f"{part['any'].mean():.1%}", "data sets": len(part)})
    return pd.DataFrame(rows)


def main() -> None:
    """Run what is not finished, then write the page."""
    from studies.tables_page import page

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", choices=PARTS, default=list(PARTS))
    parser.add_argument("--page", type=Path, help="write the page to this file")
    arguments = parser.parse_args()
    for part in arguments.only:
        PARTS[part]()
    if arguments.page:
        arguments.page.write_text(page(), "utf-8")


if __name__ == "__main__":
    main()
