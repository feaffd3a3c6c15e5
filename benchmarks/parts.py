"""Times of single parts: each script keeps its own rows of benchmarks/results/parts.csv."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

import nullforest as nf

PATH = Path(__file__).parent / "results" / "parts.csv"


def keep(script: str, seconds: dict[str, float]) -> None:
    """Replace what a script has measured, part by part."""
    rows = pd.DataFrame({"script": script, "part": list(seconds), "seconds": seconds.values()})
    rows = rows.assign(
        seconds=rows["seconds"].map("{:.3g}".format).astype(float), version=nf.__version__
    )
    if PATH.exists():
        others = pd.read_csv(PATH)
        rows = pd.concat([others[others["script"] != script], rows])
    rows.sort_values("script", kind="stable").to_csv(PATH, index=False)
