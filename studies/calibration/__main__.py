"""Run the calibration study and write its page.

python -m studies.calibration [--thickness FILE] [--only PART ...] [--page FILE]

Finished data sets are kept in studies/results, so that an interrupted study resumes where it
stopped. `--only none` runs nothing and writes the page from what is there.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from studies.calibration import null_data, real, signal
from studies.calibration.page import page


def main() -> None:
    """Run what is not finished, then print the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--thickness", type=Path, help="NPZ of subjects x vertices (X, vertex)")
    parser.add_argument("--only", nargs="*", help="null signal sex permuted sklearn cortical none")
    parser.add_argument("--page", type=Path, help="write the page to this Markdown file")
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
    text = page()
    print(text)
    if arguments.page:
        arguments.page.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
