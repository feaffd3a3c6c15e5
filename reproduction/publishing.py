"""Publication of the reproduction at the paper's own sizes: tables, figures, docs/reproduction.md.

Tables and figures are copied to studies/results/reproduction; the page is written from them.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd

from reproduction.reproducing import experiments
from reproduction.verdict import Facts, verdict

ROOT = Path(__file__).parents[1]
PUBLISHED = ROOT / "studies" / "results" / "reproduction"
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
ls micaopen/surfstat/surfstat_tutorial/thickness/*_lh2fsaverage5_20.mgh > maps.txt
python -m reproduction cortical --maps maps.txt
python -m reproduction cortical --maps mine.npz     # X: people × vertices; vertex: their numbers
python -m reproduction cortical                     # simulated smooth fields on fsaverage5
```

`--maps` also takes GIFTI, MGH and CIFTI files; maps of your own are brought to fsaverage5 by
FreeSurfer's `mris_preproc --target fsaverage5 --hemi lh --meas thickness`.
"""


def publish(folder: Path) -> None:
    """Copy the tables and figures of finished experiments, and write the page from them."""
    PUBLISHED.mkdir(parents=True, exist_ok=True)
    for path in [folder / "facts.json", *folder.glob("*.csv"), *folder.glob("*.png")]:
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
