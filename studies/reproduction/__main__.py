"""Reproduce the paper at its own sizes and write the verdict.

python -m studies.reproduction [--maps FILE] [--jobs J] [--finished]

Finished runs are kept in runs/reproduction, so that interrupted work goes on where it ended. The
tables and figures land in studies/results/reproduction, the verdict in docs/reproduction.md.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from studies.records import RESULTS

ROOT = Path(__file__).parents[2]
RUNS = ROOT / "runs" / "reproduction"


def main() -> None:
    """Run what is not done yet, then publish."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--maps", help="maps of cortical thickness; smooth fields if not given")
    parser.add_argument("--jobs", default="-1", help="cores to use; -1 for all")
    parser.add_argument("--finished", action="store_true", help="compute nothing")
    arguments = parser.parse_args()
    command = [sys.executable, "-m", "nullforest", "reproduce"]
    command += ["--out", str(RUNS), "--jobs", arguments.jobs]
    command += ["--maps", arguments.maps] if arguments.maps else []
    command += ["--finished"] if arguments.finished else []
    subprocess.run(command, check=True)
    publish()


def publish() -> None:
    """Copy tables and figures beside the other results, and the verdict to the documentation."""
    target = RESULTS / "reproduction"
    target.mkdir(parents=True, exist_ok=True)
    for path in [*RUNS.glob("*.csv"), *RUNS.glob("*.png")]:
        shutil.copyfile(path, target / path.name)
    text = (RUNS / "reproduction.md").read_text("utf-8")
    (ROOT / "docs" / "reproduction.md").write_text(
        text.replace("](", "](../studies/results/reproduction/"), "utf-8"
    )


if __name__ == "__main__":
    main()
