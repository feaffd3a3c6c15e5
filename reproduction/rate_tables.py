"""Tables of the experiments: rates at the thresholds of the null models, or at every threshold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reproduction.experiment import STRATEGY, Parameters, Results
from reproduction.outcomes import NULLS, Outcome, read_outcomes
from reproduction.stop_rules import StopRule
from reproduction.store import Cell

#: The levels of the paper's figures; its printed tables have others.
ALPHAS = (0.01, 0.001)
#: A rate, computed from an outcome and a threshold.
Rate = Callable[[Outcome, float], float]
RATES: dict[str, Rate] = {"fpr": Outcome.false_positive_rate, "fnr": Outcome.false_negative_rate}


def setting(p: Parameters, names: Sequence[str]) -> dict[str, Any]:
    """Columns that name a setting: parameters, strategy, stop rule, source of cortical maps."""
    columns = {
        **p,
        "strategy": STRATEGY[p["draw"]],
        "rule": str(StopRule(p["min_leaf"], p["max_depth"], p["min_split"])),
        "source": Path(p["source"]).name if p.get("source") else "embedded",
    }
    return {name: columns[name] for name in names}


def rate_row(
    cell: Cell,
    names: Sequence[str],
    tested: Parameters,
    at: Sequence[tuple[Outcome, float]],
    rates: Mapping[str, Rate],
) -> dict[str, Any]:
    """A row: the setting, how it was tested, and each rate with its deviation between runs.

    `at` are the outcomes of the runs, each with its threshold.
    """
    row = {**setting(cell.parameters, names), **tested}
    for name, rate in rates.items():
        values = [rate(outcome, threshold) for outcome, threshold in at]
        row[name] = round(float(np.mean(values)), 6)
        row[f"{name}_sd"] = round(float(np.std(values, ddof=1)), 6)
    return {**row, "runs": len(at)}


def rate_table(results: Results, names: Sequence[str], rates: Mapping[str, Rate]) -> pd.DataFrame:
    """Rates at the threshold of every null model and alpha, one row per setting and threshold."""
    rows = []
    for (cell, records), kind, alpha in product(results, NULLS, ALPHAS):
        at = [(outcome, outcome.threshold(kind, alpha)) for outcome in read_outcomes(records)]
        rows.append(rate_row(cell, names, {"null": kind, "alpha": alpha}, at, rates))
    return pd.DataFrame(rows)


def curve_table(results: Results, names: Sequence[str]) -> pd.DataFrame:
    """Observed false positive rate and the tail of every null model at each threshold."""
    parts = []
    for cell, records in results:
        outcomes = read_outcomes(records)
        length = max(len(o.tails[kind]) for o in outcomes for kind in NULLS)
        observed = np.array([o.curve(length) for o in outcomes]).T.copy()  # a row per threshold
        for kind in NULLS:
            model = np.array([o.tail(kind, length) for o in outcomes]).T.copy()
            columns = {
                **setting(cell.parameters, names),
                "nodes_per_tree": np.mean([o.nodes_per_tree for o in outcomes]),
                "null": kind,
                "threshold": range(length),
                "observed": observed.mean(axis=1),
                "observed_sd": observed.std(axis=1, ddof=1),
                "model": model.mean(axis=1),
                "gap_se": (observed - model).std(axis=1, ddof=1) / np.sqrt(len(outcomes)),
                "runs": len(outcomes),
            }
            parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)
