"""Small tables: what samples per tree, leaf size, depth and number of shadows do.

python -m studies.table_settings

One setting at a time differs from the defaults.
Seeds are below 10 000, which the studies that report false positive rates and power do not use.
Finished pieces are kept in studies/results, so that an interrupted study resumes where it stopped.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn import datasets

import nullforest as nf
from studies.records import Records, with_progress
from studies.tables import mixed, real

FIRST_SEED, RUNS = 9_500, 6
#: Settings that differ from the defaults, by name.
SETTINGS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "samples per tree .25": {"samples": 0.25},
    "samples per tree .632": {"samples": 0.632},
    "samples per tree .8": {"samples": 0.8},
    "bootstrap": {"samples": 1.0, "replace": True},
    "leaves of 5": {"min_leaf": 5},
    "leaves of 20": {"min_leaf": 20},
    "depth 2": {"max_depth": 2},
    "depth 5": {"max_depth": 5},
    "fully grown": {"max_depth": 100},
    "500 columns": {"shadows": 500},
    "4 000 columns": {"shadows": 4_000},
}

Table = tuple[NDArray[np.float64], Any, NDArray[np.bool_]]


def linear(rng: np.random.Generator) -> Table:
    """300 samples, 30 normal features of which 6 shift the log odds by .5 each."""
    X = rng.normal(size=(300, 30))
    y = rng.random(300) < 1 / (1 + np.exp(-0.5 * X[:, :6].sum(axis=1)))
    return X, y, np.arange(30) < 6


def friedman(rng: np.random.Generator) -> Table:
    """Friedman's function of 5 features, with noise, 25 further features and 200 samples."""
    X, y = datasets.make_friedman1(200, 30, noise=3.0, random_state=int(rng.integers(2**31)))
    return X, y, np.arange(30) < 5


def interaction(rng: np.random.Generator) -> Table:
    """400 samples whose class depends on the sign of a product of two features of 30."""
    X = rng.normal(size=(400, 30))
    y = (X[:, 0] * X[:, 1] > 0) ^ (rng.random(400) < 0.1)
    return X, y, np.arange(30) < 2


def kinds(rng: np.random.Generator) -> Table:
    """300 samples, 28 correlated columns of seven kinds; one of each kind raises a number.

    Through their correlation the others are related to it too.
    """
    X = mixed(rng, 300, 28)
    known = np.nan_to_num(X[:, :7], nan=0.0)
    y = ((known - known.mean(axis=0)) / known.std(axis=0)).sum(axis=1) * 0.25 + rng.normal(size=300)
    return X, y, np.arange(28) < 7


def with_noise(name: str) -> Callable[[np.random.Generator], Table]:
    """A real table, all columns of which are taken for relevant, and 50 columns of noise."""

    def table(rng: np.random.Generator) -> Table:
        X, y = real(name)
        noise = rng.normal(size=(len(X), 50))
        return np.column_stack([X, noise]), y, np.arange(X.shape[1] + 50) < X.shape[1]

    return table


TABLES: dict[str, Callable[[np.random.Generator], Table]] = {
    "linear": linear,
    "Friedman": friedman,
    "interaction": interaction,
    "kinds": kinds,
    "diabetes": with_noise("diabetes"),
    "breast cancer": with_noise("breast_cancer"),
}


def run() -> None:
    """What is selected with each of the settings."""
    records = Records("table_settings", ("table", "setting", "seed"))
    done = records.done()
    pieces = [
        (table, setting, FIRST_SEED + i)
        for i in range(RUNS)
        for table in TABLES
        for setting in SETTINGS
    ]
    left = [piece for piece in pieces if tuple(map(str, piece)) not in done]
    for name, setting, seed in with_progress(left, "settings of small tables"):
        X, y, relevant = TABLES[name](np.random.default_rng(seed))
        given = dict(SETTINGS[setting])
        if "shadows" in given:
            given["shadows"] = max(round(given["shadows"] / X.shape[1]) - 1, 1)
        start = perf_counter()
        support = nf.select(nf.grow(X, y, seed=seed, oob=False, **given)).support
        row = {
            "found": round(float(support[relevant].mean()), 4),
            "false": int(support[~relevant].sum()),
            "false share": round(float(support[~relevant].sum() / max(support.sum(), 1)), 4),
            "seconds": round(perf_counter() - start, 3),
        }
        records.add([{"table": name, "setting": setting, "seed": seed, **row}])


def summary() -> pd.DataFrame:
    """Share of the relevant features found for each table, and what was false, by setting."""
    frame = Records("table_settings", ("table", "setting", "seed")).frame()
    found = frame.pivot_table("found", "setting", "table", sort=False)
    table = found.loc[list(SETTINGS), list(TABLES)].map("{:.2f}".format)
    # Columns of several kinds are correlated, so that none of them is unrelated to the target.
    unrelated = frame[frame["table"] != "kinds"]
    table["false share"] = unrelated.groupby("setting")["false share"].mean().map("{:.3f}".format)
    table["runs"] = frame.groupby("setting").size()
    return table.reset_index().rename_axis(columns=None)


if __name__ == "__main__":
    run()
    print(summary().to_string(index=False))
