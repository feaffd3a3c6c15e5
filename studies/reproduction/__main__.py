"""Reproduce the paper at its own sizes and write the verdict.

python -m studies.reproduction [--maps FILE] [--jobs J] [--finished] [--page]

Finished runs are kept in runs/reproduction, so that interrupted work resumes where it stopped.
Tables and figures are copied to studies/results/reproduction; the verdict, docs/reproduction.md, is
written from them. `--page` only writes the verdict.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd

from nullforest.evaluation.paper import experiments
from nullforest.evaluation.paper.verdict import Facts, verdict
from studies.records import RESULTS

ROOT = Path(__file__).parents[2]
RUNS = ROOT / "runs" / "reproduction"
PUBLISHED = RESULTS / "reproduction"
PAGE = ROOT / "docs" / "reproduction.md"
#: Where the page finds the figures.
FIGURES = "../studies/results/reproduction/"

MAPS = """
## Where the cortical maps come from

The paper's maps (OASIS, 315 people) are not public. These are thickness maps of 295 people on
fsaverage5, left hemisphere, from the SurfStat tutorial of
[MICA-MNI/micaopen](https://github.com/MICA-MNI/micaopen) (commit a53773b, folder
`surfstat/surfstat_tutorial/thickness`, files `*_lh2fsaverage5_20.mgh`), probably of the ABIDE I
study (CC BY-NC-SA). The licence excludes commercial use, so they are not part of this package.

Two things were done to them. The 888 vertices of the medial wall, where the thickness does not
vary, were left out; 9 354 of 10 242 remain. The maps are published with 20 mm smoothing; it was
undone to about the 5 mm of the paper, and components that could not be recovered were filled with
Gaussian noise. This second step cannot be repeated from this repository, so the numbers of the
cortical experiment can be compared, but not reproduced digit by digit.

To run the experiment on the maps as they are published (20 mm, stronger correlations), on your own,
or without maps:

```console
pip install 'nullforest[neuro]'
cd surfstat/surfstat_tutorial/thickness && ls *_lh2fsaverage5_20.mgh > maps.txt
nullforest reproduce cortical --maps maps.txt
nullforest reproduce cortical --maps mine.npz     # X: people × vertices; vertex: their numbers
nullforest reproduce cortical                     # simulated smooth fields on fsaverage5
```

`--maps` also takes GIFTI, MGH and CIFTI files; maps of your own are brought to fsaverage5 by
FreeSurfer's `mris_preproc --target fsaverage5 --hemi lh --meas thickness`.
"""


def main() -> None:
    """Run what is not finished, then publish."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--maps", help="maps of cortical thickness; simulated fields if not given")
    parser.add_argument("--jobs", default="-1", help="cores to use; -1 for all")
    parser.add_argument("--finished", action="store_true", help="compute nothing")
    parser.add_argument("--page", action="store_true", help="only write the page from the tables")
    arguments = parser.parse_args()
    if not arguments.page:
        command = [sys.executable, "-m", "nullforest", "reproduce"]
        command += ["--out", str(RUNS), "--jobs", arguments.jobs]
        command += ["--maps", arguments.maps] if arguments.maps else []
        command += ["--finished"] if arguments.finished else []
        subprocess.run(command, check=True)
        PUBLISHED.mkdir(parents=True, exist_ok=True)
        for path in [RUNS / "facts.json", *RUNS.glob("*.csv"), *RUNS.glob("*.png")]:
            shutil.copyfile(path, PUBLISHED / path.name)
    PAGE.write_text(page(), "utf-8")


def page() -> str:
    """The verdict, from the published tables."""
    facts = Facts(**json.loads((PUBLISHED / "facts.json").read_text("utf-8")))
    finished = {}
    for experiment in experiments(list(facts.runs)):
        name = experiment.name
        table = pd.read_csv(PUBLISHED / f"{name}.csv", float_precision="round_trip")
        finished[name] = experiment.finished(table, facts.runs[name])
    return verdict(finished, facts, FIGURES) + MAPS


if __name__ == "__main__":
    main()
