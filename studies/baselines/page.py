"""The tables of the page on published tests, from the results of `studies.baselines`."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from studies.markdown import filled, markdown
from studies.records import RESULTS

PAGE = Path(__file__).parents[2] / "docs" / "baselines.md"


def _read(name: str) -> pd.DataFrame:
    return pd.read_csv(RESULTS / f"baselines_{name}.csv")


def _seconds(value: float) -> str:
    return f"{value:.2g}"


def _with_error(table: pd.DataFrame, name: str, digits: int) -> pd.Series:
    shown = zip(table[name], table[f"{name}_se"], strict=True)
    return pd.Series([f"{x:.{digits}f} ({e:.{digits}f})" for x, e in shown], index=table.index)


def simulated(error: str) -> str:
    """Methods at one error rate, on data with relevant features."""
    table = _read("simulated")
    table = table[(table["error"] == error) & (table["relevant"] > 0)]
    shown = {
        "method": table["method"],
        "selected": table["selected"].map("{:.1f}".format),
        "FPR": _with_error(table, "fpr", 4),
        "FDR": _with_error(table, "fdr", 3),
        "power": _with_error(table, "power", 3),
        "seconds": table["seconds"].map(_seconds),
        "forests": table["forests"].map("{:g}".format),
    }
    return markdown(pd.DataFrame(shown))


def leukaemia() -> str:
    """Methods on the leukaemia data."""
    table = _read("leukaemia")
    shown = table[["method", "selected"]].assign(
        **{"of them known": table["known"]},
        seconds=table["seconds"].map(_seconds),
        forests=table["forests"].map("{:g}".format),
    )
    return markdown(shown)


def packages() -> str:
    """Tests of this package beside those of others."""
    table = _read("packages")
    shown = {
        "implemented here": table["ours"].map("`{}`".format),
        "selected": table["selected"].map("{:g}".format),
        "seconds": table["seconds"].map(_seconds),
        "other package": table["other"].map("`{}`".format),
        "its selected": table["other_selected"].map("{:g}".format),
        "its seconds": table["other_seconds"].map(_seconds),
        "selected by both": table["both"].map("{:g}".format),
    }
    return markdown(pd.DataFrame(shown))


def ztest() -> str:
    """Breiman and Cutler's test by trees and samples."""
    table = _read("ztest").drop(columns=["data_sets", "seed", "version"])
    names = {"fpr": "false positive rate", "fpr_se": "standard error"}
    return markdown(table.rename(columns=names), ".2f")


def audit(data: str) -> str:
    """False positive rates of the null models on permuted labels of one data set."""
    table = _read("audit")
    table = table[table["data"] == data]
    limits = zip(table["low"], table["high"], strict=True)
    discoveries = zip(table["runs_with_discovery"], table["runs"], strict=True)
    shown = {
        "null model": table["null"],
        "α": table["alpha"].map("{:g}".format),
        "false positive rate": table["reached"].map("{:.3g}".format),
        "95 % confidence interval": [f"{low:.3g}–{high:.3g}" for low, high in limits],
        "rate ÷ α": table["ratio"].map("{:.2f}".format),
        "data sets with a discovery at FDR .05": [f"{n} of {of}" for n, of in discoveries],
    }
    return markdown(pd.DataFrame(shown))


def with_tables(text: str) -> str:
    """The page with every table between its marks."""
    parts = {
        "z-test": ztest(),
        "simulated, fpr": simulated("fpr"),
        "simulated, fdr": simulated("fdr"),
        "leukaemia": leukaemia(),
        "packages": packages(),
        "audit, leukaemia": audit("leukaemia"),
        "audit, golub": audit("golub"),
    }
    return filled(text, parts)
