"""Tables of the method page, from the same results as the pages of the studies.

A table stands between `<!-- table: NAME -->` and `<!-- table: end -->`.
"""

from __future__ import annotations

import re

import pandas as pd

from studies import power_page
from studies.calibration import page as calibration
from studies.calibration.tables import ranges
from studies.markdown import markdown
from studies.records import RESULTS
from studies.tables import rates


def error_rates() -> str:
    """Smallest and largest ratio over the settings, by kind of data, for every null model."""
    lines = [
        ranges(table, "setting").assign(data=data, model=model)
        for (data, model), table in calibration.all_tables().items()
    ]
    table = pd.concat(lines).rename(columns={"model": "null model"})
    return markdown(table[["data", "null model", *table.columns[:-2]]])


def small_tables() -> str:
    """Ratios of the shadow null model with permuted labels."""
    return markdown(rates("tables_permuted", ["data"]))


def simulated() -> str:
    """Power and false discovery proportion on the paper's generator."""
    rows = []
    table = pd.read_csv(RESULTS / "power_simulated.csv")
    for (share, relevance), own in table[table["share"] > 0].groupby(["share", "relevance"]):
        row: dict[str, object] = {"relevant": f"{share:.0%}", "ρ": f"{relevance:g}"}
        for test, column in (("nullforest", ""), ("Wilcoxon", "_univariate")):
            selected, false = own[f"selected{column}"], own[f"false{column}"]
            proportion = false / selected.clip(lower=1)
            row[f"{test}: power"] = f"{((selected - false) / own['relevant']).mean():.3f}"
            row[f"{test}: FDP"] = f"{proportion.mean():.3f} ± {proportion.sem():.3f}"
        rows.append(row | {"data sets": len(own)})
    return markdown(pd.DataFrame(rows))


def worst() -> str:
    """The worst setting of the defaults, as a sentence."""
    found = calibration.worst_default()
    return f"{found[0].upper()}{found[1:]}."


TABLES = {
    "error rates": error_rates,
    "small tables": small_tables,
    "simulated": simulated,
    "real data": lambda: f"{power_page.short_table()}\n\n{power_page.DATA}",
    "worst": worst,
}


def with_tables(text: str) -> str:
    """The page with tables of the present results between the marks."""

    def table(found: re.Match[str]) -> str:
        return f"<!-- table: {found[1]} -->\n\n{TABLES[found[1]]()}\n\n<!-- table: end -->"

    pattern = r"<!-- table: (?!end)(.+?) -->.*?<!-- table: end -->"
    return re.sub(pattern, table, text, flags=re.S)
