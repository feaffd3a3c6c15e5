"""The picture of the calibration page: every setting of every null model as a dot."""

from __future__ import annotations

import pandas as pd

from studies.pictures import Dot, Panel, picture

TICKS = {0.1: "0.1", 1.0: "1", 10.0: "10", 100.0: "100", 1000.0: "1000"}


def rates_picture(tables: dict[tuple[str, str], pd.DataFrame]) -> str:
    """Ratios of all settings at .05 and .001, by kind of data and null model."""
    rows = {"/".join(key): _words(*key) for key in tables}
    panels = []
    for alpha in (0.05, 0.001):
        dots = [
            Dot("/".join(key), "setting", ratio)
            for key, table in tables.items()
            for ratio in table.loc[table["alpha"] == alpha, "ratio"]
        ]
        panels.append(Panel(f"level α = {alpha:g}", TICKS, dots, aim=1.0, logarithmic=True))
    return picture("False positive rate divided by the level, per setting", rows, panels)


def _words(data: str, model: str) -> str:
    for long, short in SHORT.items():
        data, model = data.replace(long, short), model.replace(long, short)
    return f"{model}: {data}"


#: Rows are short on a picture; the table below it has the same in full.
SHORT = {
    "default (`auto`)": "default",
    " null model": "",
    "independent null features, forest grown here": "independent features",
    "independent null features, scikit-learn forest": "scikit-learn forest",
    "leukaemia expression with permuted labels, forest grown here": "permuted leukaemia data",
    "simulated cortical maps, vertices": "cortical maps,",
    "within 40 mm of the region, outside it": "within 40 mm of the region",
}
