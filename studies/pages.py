"""Write every page and picture of the documentation that comes from results, without a study.

python -m studies.pages [--check]

`make pages` runs this. `--check` writes nothing and fails where a file is not current.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from reproduction import publishing as reproduction
from studies import (
    constants_page,
    correlated_features,
    large_page,
    libraries_page,
    method_page,
    power_page,
    sensitivity,
    speed_page,
    survival,
    tables_page,
    wrappers,
)
from studies.baselines import page as baselines
from studies.calibration import page as calibration
from studies.calibration.rates_picture import rates_picture
from studies.power_picture import power_picture
from studies.records import RESULTS

DOCS = Path(__file__).parents[1] / "docs"


def _filled(name: str, *fillers: Callable[[str], str]) -> Callable[[], str]:
    """The file itself, with its tables filled in."""

    def text() -> str:
        found = (DOCS / name).read_text("utf-8")
        for filler in fillers:
            found = filler(found)
        return found

    return text


#: Files of docs/, and what makes the text of each.
PAGES: dict[str, Callable[[], str]] = {
    "baselines.md": _filled("baselines.md", baselines.with_tables),
    "calibration.md": calibration.page,
    "constants.md": _filled("constants.md", constants_page.with_constants, sensitivity.with_tables),
    "figures/calibration.svg": lambda: rates_picture(calibration.all_tables()),
    "figures/power.svg": lambda: power_picture(pd.read_csv(RESULTS / "power_simulated.csv")),
    "genomics.md": _filled("genomics.md", large_page.with_genotypes),
    "large.md": _filled("large.md", large_page.with_tables),
    "libraries.md": _filled("libraries.md", libraries_page.with_tables),
    "method.md": _filled("method.md", method_page.with_tables),
    "null_bagged.md": _filled(
        "null_bagged.md", constants_page.with_constants, correlated_features.with_variances
    ),
    "null_probes.md": _filled(
        "null_probes.md", constants_page.with_constants, correlated_features.with_pools
    ),
    "null_shadows.md": _filled("null_shadows.md", constants_page.with_constants),
    "power.md": power_page.page,
    "report.md": _filled("report.md", large_page.with_report),
    "reproduction.md": reproduction.page,
    "speed.md": _filled("speed.md", speed_page.with_tables),
    "survival.md": _filled("survival.md", survival.with_tables),
    "tables.md": tables_page.page,
    "wrappers.md": _filled("wrappers.md", wrappers.with_tables),
}


def main() -> None:
    """Write what is not current, and name it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing")
    arguments = parser.parse_args()
    old = []
    for name, text in PAGES.items():
        path, made = DOCS / name, text()
        if not path.exists() or path.read_text("utf-8") != made:
            old.append(name)
            if not arguments.check:
                path.write_text(made, "utf-8")
    print("Not current: " + ", ".join(old) if old else "All pages are current.")
    if arguments.check and old:
        sys.exit(1)


if __name__ == "__main__":
    main()
