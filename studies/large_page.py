"""What was measured for the pages on large data, genes and the report, from its results."""

from __future__ import annotations

import csv

import pandas as pd

from benchmarks import extrapolate, genotypes
from studies import bins, kills, speed_page
from studies.markdown import filled
from studies.records import RESULTS


def rates_of_bins() -> str:
    """False positive rates with and without bins, and how many data sets they rest on."""
    frame = pd.read_csv(RESULTS / "bins.csv")
    number = frame.groupby(["samples", "features", "bins"])["seed"].nunique().min()
    return (
        f"Null data, default settings, two classes, {number} "
        f"data sets for each row; false positive rate divided by the level, ± its standard error "
        f"(`python -m studies.bins`):\n\n{bins.summary(frame)}"
    )


def with_tables(text: str) -> str:
    """The page on large data with its tables."""
    parts = {
        "kills": kills.sentence(pd.read_csv(RESULTS / "kills.csv")),
        "bins": rates_of_bins(),
        "clusters": "\n".join(extrapolate.clusters()),
        "large": "\n".join(extrapolate.large()),
        "extrapolation": "\n".join(extrapolate.extrapolation()),
    }
    return filled(text, parts)


def with_report(text: str) -> str:
    """The page on the report with the size of its file, and how long a browser takes."""
    most = pd.read_csv(speed_page.RESULTS / "report.csv").sort_values("features").iloc[-1]
    features, samples = (f"{most[name] // 1000:.0f} 000" for name in ("features", "samples"))
    part = (
        f"With {features} features, and the values of 200 of them in {samples} samples, the file "
        f"has {most['size_mb']:.1f} MB, opens in {most['opens_s']:.1f} s and follows the slider in "
        f"{most['move_median_ms']:.0f} ms (median; `python benchmarks/report.py`, two cores that "
        "were busy with other work)."
    )
    return filled(text, {"size": part})


def with_genotypes(text: str) -> str:
    """The page on genes with what was measured on genotypes."""
    with genotypes.RESULTS.open(encoding="utf-8") as file:
        return filled(text, {"genotypes": genotypes.sentence(list(csv.DictReader(file)))})
