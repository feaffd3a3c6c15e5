"""Error rates and power of the wrappers, and calibration of group p-values.

python -m studies.wrappers [--only power null groups]

Runs what is not finished (rows are kept in studies/results), then writes the tables into
docs/wrappers.md, between its markers. `--only` without a name runs nothing. Forests have the
proportions of the paper, a fixed number of trees among them: the wrappers grow hundreds.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

import nullforest as nf
from nullforest.forest.settings import paper_settings
from nullforest.nulls.group_sums import group_null
from studies.markdown import filled, markdown
from studies.records import Records, with_progress

DOCS = Path(__file__).parent.parent / "docs" / "wrappers.md"
S, F, N, RELEVANCE, SEEDS = 150, 5_000, 50, 0.5, 20
RATES = (("fwer", 0.05), ("fdr", 0.05), ("fpr", 0.01))
PAIRS = 10
NULL_RUNS, NULL_S, NULL_F, NULL_TREES, NULL_PAIRS = 200, 100, 300, 300, 2
GROUP_SIZES = (1, 2, 3, 5, 8, 12, 20, 30, 50, 80)
GROUP_SEEDS, GROUP_F = 20, 1_000


#: Forests of the current data set: all wrappers begin with the same one.
_KNOWN: dict[tuple[bytes, bytes, int], nf.Selection] = {}


def wrappers(selector: Any, pairs: int) -> dict[str, Any]:
    """Every wrapper of a selector."""
    return {
        "knock-out": nf.wrappers.KnockOut(selector),
        "stability": nf.wrappers.StabilitySelection(selector, pairs=pairs),
        "backward": nf.wrappers.BackwardElimination(selector),
        "forward": nf.wrappers.ForwardSelection(selector),
    }


def power_piece(error: Any, alpha: float, seed: int) -> list[dict[str, Any]]:
    """One data set of the paper's generator, one forest and every wrapper at the same rate."""
    X, y, relevant = nf.simulate.independent(S, F, N, RELEVANCE, seed=seed)
    selector = nf.ForestSelector(alpha=alpha, error=error, random_state=seed, **paper_settings(F))
    methods = {"one forest": selector, **wrappers(selector, PAIRS)}
    rows = []
    for name, method in methods.items():
        if name != "one forest":
            method.set_params(random_state=seed)
        support = method.fit(X, y).get_support()
        rows.append(
            {
                "error": error,
                "alpha": alpha,
                "seed": seed,
                "method": name,
                "false": int((support & ~relevant).sum()),
                "missed": int((relevant & ~support).sum()),
            }
        )
    return rows


def bagged(X: Any, y: Any, seed: int) -> nf.Selection:
    """A forest without probes, tested with the bagged null model at a FWER of .05."""
    key = (X.tobytes(), y.tobytes(), seed)
    if key not in _KNOWN:
        how = paper_settings(NULL_F) | {"trees": NULL_TREES, "probes": 0, "seed": seed}
        forest = nf.grow(X, y, keep_trees=False, oob=False, **how)
        _KNOWN[key] = nf.select(forest.tally, 0.05, "fwer", "bagged")
    return _KNOWN[key]


def null_piece(seed: int) -> list[dict[str, Any]]:
    """One data set without any relevant feature."""
    rng = np.random.default_rng([seed, 1])
    X, y = rng.standard_normal((NULL_S, NULL_F)), rng.permutation(np.arange(NULL_S) % 2)
    rows = []
    _KNOWN.clear()
    for name, method in wrappers(bagged, NULL_PAIRS).items():
        support = method.set_params(random_state=seed).fit(X, y).get_support()
        rows.append({"seed": seed, "method": name, "selected": int(support.sum())})
    return rows


def group_piece(seed: int) -> list[dict[str, Any]]:
    """Randomised p-values of groups of many sizes, on data without any relevant feature."""
    rng = np.random.default_rng([seed, 2])
    X, y = rng.standard_normal((100, GROUP_F)), rng.permutation(np.arange(100) % 2)
    how = paper_settings(GROUP_F)
    tally = nf.grow(X, y, seed=seed, keep_trees=False, oob=False, **how).tally
    sizes = np.tile(GROUP_SIZES, GROUP_F // sum(GROUP_SIZES))
    members = np.split(rng.permutation(GROUP_F)[: sizes.sum()], np.cumsum(sizes)[:-1])
    rows = []
    for kind in ("probes", "bagged", "paper"):
        single = nf.null(tally, kind)
        for features in members:
            null, count = group_null(single, features), int(tally.counts[features].sum())
            p = float(null.sf(count)) + rng.random() * float(null.pmf(count))
            rows.append({"seed": seed, "null": kind, "size": len(features), "p": p})
    return rows


def run(only: list[str] | None) -> None:
    """Run the pieces that are not finished."""
    power = Records("wrappers_power", ("error", "alpha", "seed"))
    nothing = Records("wrappers_null", ("seed",))
    groups = Records("wrappers_groups", ("seed",))
    parts: dict[str, tuple[Records, Any, list[tuple[Any, ...]]]] = {
        "groups": (groups, group_piece, [(seed,) for seed in range(GROUP_SEEDS)]),
        "power": (power, power_piece, [(*r, seed) for seed in range(SEEDS) for r in RATES]),
        "null": (nothing, null_piece, [(seed,) for seed in range(NULL_RUNS)]),
    }
    for name, (records, piece, keys) in parts.items():
        if only is None or name in only:
            done = records.done()
            left = [key for key in keys if tuple(map(str, key)) not in done]
            for key in with_progress(left, name):
                records.add(piece(*key))


def power_table(rows: pd.DataFrame) -> pd.DataFrame:
    """False negative and false positive rates with their standard errors."""
    rows = rows.assign(FNR=rows["missed"] / N, FPR=rows["false"] / (F - N))
    lines = []
    for (error, alpha, method), part in rows.groupby(["error", "alpha", "method"], sort=False):
        line = {"error rate": error, "α": f"{alpha:g}", "method": method}
        line |= {
            rate: f"{part[rate].mean():.4f} ± {part[rate].sem():.4f}" for rate in ("FNR", "FPR")
        }
        lines.append(
            line | {"false features": f"{part['false'].mean():.2f}", "data sets": len(part)}
        )
    return pd.DataFrame(lines)


def null_table(rows: pd.DataFrame) -> pd.DataFrame:
    """Data sets in which anything was selected, and the quantile of the binomial distribution."""
    runs = rows["seed"].nunique()
    found = (rows["selected"] > 0).groupby(rows["method"], sort=False).sum()
    return pd.DataFrame(
        {
            "method": found.index,
            "data sets with a selected feature": found.to_numpy(),
            "data sets": runs,
            "expected at .05": round(0.05 * runs),
            "95 % quantile of Bin(data sets, .05)": int(stats.binom.ppf(0.95, runs, 0.05)),
        }
    )


def group_table(rows: pd.DataFrame) -> pd.DataFrame:
    """Kolmogorov-Smirnov distance of the p-values from the uniform distribution, and its bound."""
    lines = []
    for kind, own in rows.groupby("null", sort=False):
        for name, part in [("all", own), *own.groupby("size")]:
            n = len(part)
            lines.append(
                {
                    "null model": kind,
                    "features per group": name,
                    "groups": n,
                    "KS distance": stats.kstest(part["p"], "uniform").statistic,
                    # Dvoretzky-Kiefer-Wolfowitz: exceeded with probability .001 at most
                    "bound": np.sqrt(np.log(2 / 0.001) / (2 * n)),
                    "share of p-values below .05": (part["p"] < 0.05).mean(),
                }
            )
    return pd.DataFrame(lines)


TABLES = {
    "wrappers_power": power_table,
    "wrappers_null": null_table,
    "wrappers_groups": group_table,
}


def with_tables(text: str) -> str:
    """The page with every table between its markers."""
    rows = {name: Records(name, ("seed",)).frame() for name in TABLES}
    made = {n: markdown(make(rows[n]), ".3f") for n, make in TABLES.items() if len(rows[n])}
    return filled(text, made)


def main() -> None:
    """Run, then write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", help="power, null, groups; nothing: only write")
    run(parser.parse_args().only)
    text = with_tables(DOCS.read_text("utf-8"))
    DOCS.write_text(text, "utf-8")
    print(text)


if __name__ == "__main__":
    main()
