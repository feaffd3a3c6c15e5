"""Sensitivity of the false positive rate to each constant of the null models.

python -m studies.sensitivity [--data FOLDER] [--page docs/constants.md] [--jobs 2]

Every constant of `nullforest.nulls.constants` is halved and doubled (probabilities: their odds), on
data that none was set on: expression data with permuted labels (FOLDER with golub.npz, singh.npz,
alon.npz and khan.npz, each with arrays X and y; left out without it) and null tables of the paper's
generator; those with 50 or weakly correlated features are for the constants that concern them. A
forest in the proportions of the paper (fully grown trees, F/20 candidates) is grown once for each
table and kept in build/sensitivity; the constants are varied on its tally. Finished variants are
kept in results/sensitivity.csv and not run again, as long as no constant changes.
"""

from __future__ import annotations

import argparse
import hashlib
import inspect
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd

import nullforest as nf
from nullforest.forest.settings import paper_settings
from nullforest.nulls import constants
from studies.calibration.null_data import randomised_pvalues
from studies.markdown import markdown
from studies.records import RESULTS, Records, with_progress

ALPHAS = (0.05, 0.01, 0.001)
EXPRESSION = ("alon", "golub", "khan", "singh")
PERMUTATIONS, TREES = 10, 2_000
#: The null models were developed, and the calibration study was run, on lower seeds.
FIRST_SEED = 9_000
#: Null tables of the paper's generator: samples, features, number of tables, trees.
TABLES = {
    "independent": (100, 2_000, 20, TREES),
    "correlated": (100, 2_000, 20, TREES),
    "few": (350, 50, 60, 500),  # about .8 nodes won by null features per feature
}
#: Loading of the common factor in the correlated tables: a mean squared correlation of .01.
LOADING = 1 / 3
#: Constants that concern correlated features, and few.
CONCERNED = {
    "correlated": (
        "CORRELATED",
        "NO_EFFECT",
        "NO_EFFECT_CORRELATED",
        "MISFIT",
        "MISFIT_PER_RATIO",
        "LARGEST_MISFIT",
    ),
    "few": (
        "PSEUDO_COUNT",
        "BULK_FEATURES",
        "SATURATED",
        "SATURATED_COUPLING",
        "SPLICE_SIZE",
        "EXCESS_SIZE",
        "MISFIT",
        "TAIL_SHIFT",
    ),
}
CACHE = Path(__file__).parents[1] / "build" / "sensitivity"
#: What the rows of the unchanged constants are called.
NONE = "none"
MARKS = ("<!-- sensitivity: begin -->", "<!-- sensitivity: end -->")


MODELS = ("probes", "bagged")
#: Constant, factor, value and null model.
Variant = tuple[str, float, Any, str]


@dataclass(frozen=True)
class Constant:
    """One constant with its documentation."""

    value: Any
    reason: str
    unit: str
    set_on: str
    models: tuple[str, ...]

    def times(self, factor: float) -> Any:
        """The value halved or doubled; a probability has its odds halved or doubled."""
        if isinstance(self.value, tuple):
            return tuple(factor * x for x in self.value)
        if self.unit == "probability":
            odds = factor * self.value / (1 - self.value)
            return odds / (1 + odds)
        return round(factor * self.value) if isinstance(self.value, int) else factor * self.value


def documented() -> dict[str, Constant]:
    """The constants of the null models, by name, with the comments above them."""
    source = inspect.getsource(constants)
    found = {}
    for comment, name in re.findall(r"^((?:#: .+\n)+)([A-Z_]+) = ", source, re.M):
        *reason, tags = (line.removeprefix("#: ") for line in comment.splitlines())
        unit, set_on, models = tags.strip("[]").split("; ")
        value = getattr(constants, name)
        found[name] = Constant(value, " ".join(reason), unit, set_on, tuple(models.split(", ")))
    return found


@contextmanager
def changed(name: str, value: Any) -> Iterator[None]:
    """Give one constant another value for a while."""
    before = getattr(constants, name, None)
    if name != NONE:
        setattr(constants, name, value)
    try:
        yield
    finally:
        if name != NONE:
            setattr(constants, name, before)


def variants(data: str) -> list[Variant]:
    """The unchanged constants, and every variant of one that concerns the data."""
    found: list[Variant] = [(NONE, 1.0, None, kind) for kind in MODELS]
    for name, constant in documented().items():
        if name not in CONCERNED.get(data, (name,)):
            continue
        for factor in (0.5, 2.0):
            used = [kind for kind in MODELS if kind in constant.models]  # not those of groups
            found += [(name, factor, constant.times(factor), kind) for kind in used]
    return found


def fingerprint() -> str:
    """Hash of all values, by which rows of other constants are recognised."""
    values = {name: constant.value for name, constant in documented().items()}
    return hashlib.sha256(repr(values).encode()).hexdigest()[:8]


def tally_of(data: str, seed: int, folder: Path | None) -> nf.Tally:
    """The tally of one null data set, grown once."""
    path = CACHE / f"{data}-{seed}.npz"
    if path.exists():
        return nf.Tally.load(path)
    if data in TABLES:
        S, F, _, trees = TABLES[data]
        X, y, _ = nf.simulate.independent(S, F, n_relevant=0, seed=seed)
        if data == "correlated":
            shared = np.random.default_rng([seed, 1]).standard_normal((S, 1))
            X = X + LOADING * X.std() * shared
    else:
        assert folder is not None
        with np.load(folder / f"{data}.npz", allow_pickle=False) as file:
            X, y = file["X"], np.random.default_rng(seed).permutation(file["y"])
        trees = TREES
    how = paper_settings(X.shape[1]) | {"trees": trees, "seed": seed}
    tally = nf.grow(X, y, keep_trees=False, oob=False, n_jobs=1, **how).tally
    CACHE.mkdir(parents=True, exist_ok=True)
    tally.save(path)
    return tally


def run_piece(
    data: str, seed: int, missing: list[Variant], folder: Path | None
) -> list[dict[str, Any]]:
    """Features below each level for some variants of one data set."""
    tally = tally_of(data, seed, folder)
    rows = []
    for name, factor, value, kind in missing:
        with changed(name, value):
            null = nf.null(replace(tally), kind)  # the same tally has one null distribution
        p = randomised_pvalues(null, tally.counts, np.random.default_rng(seed))
        row = {"data": data, "seed": seed, "constant": name, "factor": factor, "null": kind}
        row |= {"features": len(p)} | {f"below {a:g}": int((p <= a).sum()) for a in ALPHAS}
        row |= {"p": hashlib.sha256(p.tobytes()).hexdigest()[:8], "constants": fingerprint()}
        rows.append(row)
    return rows


def run(folder: Path | None, jobs: int) -> None:
    """All variants that are not done."""
    keys = ("data", "seed", "constant", "factor", "null", "constants")
    records = Records("sensitivity", keys)
    done, now = records.done(), fingerprint()
    sizes = {data: table[2] for data, table in TABLES.items()}
    sizes |= dict.fromkeys(EXPRESSION if folder else (), PERMUTATIONS)
    work = []
    for data, size in sizes.items():
        for seed in range(FIRST_SEED, FIRST_SEED + size):
            missing = [
                v
                for v in variants(data)
                if (data, str(seed), v[0], str(v[1]), v[3], now) not in done
            ]
            if missing:
                work.append(joblib.delayed(run_piece)(data, seed, missing, folder))
    if work:
        found = joblib.Parallel(n_jobs=jobs, return_as="generator")(work)
        for _, rows in zip(with_progress(work, "data sets"), found, strict=True):
            records.add(rows)


def effects(rows: pd.DataFrame) -> pd.DataFrame:
    """Change of false positive rate ÷ level by each variant, and the noise of that ratio.

    A change is the mean over data sets of the difference to the unchanged constants, with the same
    tallies and random numbers. The noise is the standard error of the ratio with the unchanged
    constants, sd/√n over n data sets.
    """
    rows = rows[rows["constants"] == rows["constants"].iloc[-1]]  # of the last run
    source = rows["data"].where(rows["data"].isin(list(TABLES)), "expression")
    out = []
    for (source_, kind), part in rows.groupby([source, "null"]):
        at = part.set_index(["data", "seed"])
        base = at[at["constant"] == NONE]
        for (name, factor), own in at.groupby(["constant", "factor"], sort=False):
            row: dict[str, Any] = {"source": source_, "null": kind}
            row |= {"constant": name, "factor": factor, "data sets": len(own)}
            row["reached"] = bool((own["p"] != base["p"].reindex(own.index)).any())
            for alpha in ALPHAS:
                ratio, plain = (x[f"below {alpha:g}"] / x["features"] / alpha for x in (own, base))
                row[f"ratio {alpha:g}"] = ratio.mean()
                row[f"change {alpha:g}"] = (ratio - plain).mean()
                row[f"noise {alpha:g}"] = plain.std(ddof=1) / np.sqrt(len(plain))
            out.append(row)
    return pd.DataFrame(out)


SOURCES = {
    "expression": "expression data",
    "independent": "null tables",
    "correlated": "null tables, weakly correlated features",
    "few": "null tables, 50 features",
}


def report(rows: pd.DataFrame) -> str:
    """The tables of the study, in Markdown."""
    found = effects(rows)
    plain, moved = found[found["constant"] == NONE], found[found["constant"] != NONE]
    ratios, changes = [], []
    for source, label in SOURCES.items():
        for _, row in plain[plain["source"] == source].iterrows():
            start = {"data": label, "data sets": row["data sets"], "null model": row["null"]}
            cells = (f"{row[f'ratio {a:g}']:.2f} ± {row[f'noise {a:g}']:.2f}" for a in ALPHAS)
            ratios.append(start | {f"α = {a:g}": x for a, x in zip(ALPHAS, cells, strict=True)})
    for name, constant in documented().items():
        for kind in constant.models:
            own = moved[(moved["constant"] == name) & (moved["null"] == kind)]
            reached = [s for s in SOURCES if own["reached"][own["source"] == s].any()]
            for source in reached or [None]:
                start = {"constant": f"`{name}`", "null model": kind}
                start["data"] = SOURCES[source] if source else "none of these"
                at = own[own["source"] == source].set_index("factor")
                for factor, sign in ((0.5, "½"), (2.0, "2")):
                    for a in ALPHAS:
                        start[f"{sign}: α = {a:g}"] = _cell(at.loc[factor], a) if source else "–"
                changes.append(start)
    return markdown(pd.DataFrame(ratios)) + "\n\n" + markdown(pd.DataFrame(changes))


def _cell(row: pd.Series, alpha: float) -> str:
    change = row[f"change {alpha:g}"]
    text = f"{change:+.2f}".replace("-", "−")
    return f"**{text}**" if abs(change) > row[f"noise {alpha:g}"] else text


def with_tables(text: str) -> str:
    """The page with the tables of the present results between the marks."""
    before, rest = text.split(MARKS[0])
    tables = report(pd.read_csv(RESULTS / "sensitivity.csv"))
    return f"{before}{MARKS[0]}\n\n{tables}\n\n{MARKS[1]}{rest.split(MARKS[1])[1]}"


def main() -> None:
    """Run what is not done yet, and print the tables."""
    parser = argparse.ArgumentParser(description="Sensitivity to the constants of the null models.")
    parser.add_argument("--data", type=Path, help="folder with golub, singh, alon and khan (NPZ)")
    parser.add_argument("--page", type=Path, help="write the tables into this Markdown file")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    run(arguments.data, arguments.jobs)
    print(report(pd.read_csv(RESULTS / "sensitivity.csv")))
    if arguments.page:
        page = with_tables(arguments.page.read_text("utf-8"))
        arguments.page.write_text(page, "utf-8")


if __name__ == "__main__":
    main()
