"""Run the calibration study and print every number with its standard error.

python -m studies.calibration [--thickness FILE] [--only PART ...]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

from studies.calibration import null_data, real, signal
from studies.calibration.tables import ratios, trend, wide
from studies.records import RESULTS

HEAD = """# Calibration

Every number here is printed by `make study-calibration` from the CSV files in `studies/results`,
which hold the seed of every data set and the version that made it. A ratio is the false positive
rate reached divided by the one asked for, from randomised p-values; ± is one standard error,
clustered by data set. `auto` is what `nf.select` does by default with forests grown here (probes).

"""


def main() -> None:
    """Run what is not done yet, then print all tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--thickness", type=Path, help="NPZ of subjects x vertices (X, vertex)")
    parser.add_argument("--only", nargs="*", help="null signal sex permuted sklearn cortical none")
    parser.add_argument("--page", type=Path, help="write the tables to this Markdown file")
    arguments = parser.parse_args()
    parts = {
        "null": null_data.run,
        "signal": signal.run,
        "sex": real.leukaemia_sex,
        "permuted": real.leukaemia_permuted,
        "sklearn": real.scikit_learn_forests,
    }
    if arguments.thickness:
        parts["cortical"] = lambda: real.cortical(arguments.thickness)
    for name, part in parts.items():
        if arguments.only is None or name in arguments.only:
            part()
    text = report()
    print(text)
    if arguments.page:
        arguments.page.write_text(HEAD + text + "\n")


def report() -> str:
    """All tables of the finished pieces, in Markdown."""
    out = []

    def rows_of(name: str) -> pd.DataFrame | None:
        path = RESULTS / f"{name}.csv"
        return pd.read_csv(path) if path.exists() else None

    if (rows := rows_of("calibration_null")) is not None:
        out.append("## Null data: rate reached ÷ rate asked for\n")
        out.append(wide(ratios(rows[rows["part"] == "all"], ["cell"]), "cell"))
        out.append("\n### SNPs by allele frequency\n")
        out.append(wide(ratios(rows[rows["cell"] == "SNPs"], ["part"]), "part"))
        out.append(
            "\n### Slope of log ratio on log trees\n\n"
            "All numbers of trees on the same data sets; errors by leaving out one at a time.\n"
        )
        out.append(
            trend(rows[rows["part"] == "all"], null_data.TREES).round(3).to_markdown(index=False)
        )
    if (rows := rows_of("calibration_signal")) is not None:
        found = signal.table(rows)
        out.append("\n## With relevant features: BH at 0.05\n")
        out.append(found.round(3).to_markdown(index=False))
        out += ["", *(f"- {line}" for line in signal.verdicts(found))]
    if (rows := rows_of("leukaemia_sex")) is not None:
        out.append("\n## Leukaemia, sex: selected and known at FDR 0.05\n")
        grouped = rows.groupby(["null", "trees", "draw"], sort=False)
        spread = grouped.agg(
            selected=("selected", lambda x: f"{x.min()}-{x.max()}"),
            known=("known", lambda x: f"{x.min()}-{x.max()}"),
        )
        out.append(spread.reset_index().to_markdown(index=False))
    if (rows := rows_of("leukaemia_permuted")) is not None:
        out.append("\n## Leukaemia, permuted labels\n")
        out.append(wide(ratios(rows.assign(cell="permuted"), ["cell"]), "cell"))
        once = rows.drop_duplicates(["permutation", "null"])
        any_found = (once["discoveries"] > 0).groupby(once["null"]).agg(["sum", "size"])
        out.append("\nRuns in which BH 0.05 selects anything:\n")
        out.append(any_found.to_markdown())
    if (rows := rows_of("scikit_learn")) is not None:
        out.append("\n## scikit-learn forests on null data\n")
        out.append(wide(ratios(rows, ["cell"]), "cell"))
    if (rows := rows_of("cortical")) is not None:
        out.append("\n## Cortical thickness with a real covariance\n")
        cell = rows["part"] + ", " + rows["share"].map("{:.0%}".format)
        rows = rows.assign(cell=cell + ", S = " + rows["S"].astype(str))
        out.append(wide(ratios(rows, ["cell"]), "cell"))
    return "\n".join(out)


if __name__ == "__main__":
    main()
