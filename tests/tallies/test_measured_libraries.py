"""Libraries whose measured false positive rates lie outside of their range say so in the result."""

from __future__ import annotations

import shutil
import warnings

import numpy as np
import pytest

import nullforest as nf
from studies import libraries, libraries_page
from studies.packages.r_packages import has_r_package

#: What the result says, by a part of the setting.
SENTENCES = {
    "ExtraSurvivalTrees": "grows with the number of trees",
    "extratrees": "grows with the number of trees",
    "columns in order": "This library splits the lowest column when gains tie|column number",
    "columns shuffled once": "This library splits the lowest column when gains tie|column number",
    "colsample_bylevel": "colsample_bylevel",
    "numbers, 25 shuffled": "fewer than 4 samples",
    "Spark ML RandomForestRegressor": "Spark",
    "ranger survival": "survival forests of R",
}
TABLE = libraries_page.rates()
OUTSIDE = [
    (row["library"], row["setting"]) for _, row in TABLE.iterrows() if libraries_page.outside(row)
]


@pytest.mark.parametrize(("name", "setting"), OUTSIDE)
def test_rates_outside_of_the_range_are_noted_in_the_result(name, setting, monkeypatch):
    if name == "Spark ML" and shutil.which("java") is None:
        pytest.skip("Spark needs Java; `make programs` installs it")
    if name in ("ranger", "randomForest") and not has_r_package(name):
        pytest.skip(f"needs R with {name}; `make programs` installs it")
    monkeypatch.setattr(libraries, "TREES", 50)
    rows = [one for one in libraries.LIBRARIES if (one.name, one.setting) == (name, setting)]
    library = rows[0]
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 100)), library.y(rng, 80)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the libraries, about names of columns
        tally = library.grow(X, y, 0)
    told = " ".join(nf.select(tally).notes)
    known = [words for part, words in SENTENCES.items() if part in f"{name} {setting}"]
    assert known, f"{name}, {setting}: no sentence is known for this setting"
    assert any(words in told for words in known[0].split("|")), told
