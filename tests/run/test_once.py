"""What decides an answer is made once in a run: target, settings, ranks, correlation, effects."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import nullforest as nf
from nullforest.cli.app import app

#: What is made once: module and function.
ONCE = {
    ("data/targets.py", "as_target"),
    ("forest/settings.py", "ForestSettings.__post_init__"),
    ("forest/settings.py", "ForestSettings.resolved"),
    ("data/rank_table.py", "RankTable.__init__"),
    ("data/ranks.py", "mean_r2"),
}
BASE = Path(nf.__file__).parent


@pytest.fixture(scope="module")
def data():
    """With 600 features there are virtual probes, whose null needs the correlation."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 600)), np.arange(80) % 2
    X[:, :3] += 1.2 * y[:, None]
    return X, y


def calls_of(way):
    """How often each function of the package is called."""
    calls = Counter()

    def count(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(BASE)):
            place = Path(code.co_filename).relative_to(BASE).as_posix()
            calls[place, getattr(code, "co_qualname", code.co_name)] += 1

    earlier = sys.getprofile()
    sys.setprofile(count)
    try:
        way()
    finally:
        sys.setprofile(earlier)
    return calls


@pytest.mark.parametrize("trees", ["60", "auto"])
@pytest.mark.parametrize("way", ["answer", "selector", "command", "report", "watch", "resume"])
def test_the_data_are_looked_at_once(way, trees, data, tmp_path):
    X, y = data
    number = {"trees": 60} if trees == "60" else {"max_trees": 3000}
    if way in ("command", "report"):
        table = tmp_path / "t.csv"
        head = ",".join([*(f"g{i}" for i in range(600)), "ill"])
        np.savetxt(table, np.c_[X, y], "%.4f", ",", header=head, comments="")
        words = ["select", table, "--target", "ill", "--jobs", 1]
        words += [word for n, v in number.items() for word in (f"--{n.replace('_', '-')}", v)]
        words += ["--report", tmp_path / "r.html"] if way == "report" else []

    def run():
        if way == "answer":
            nf.select(nf.grow(X, y, n_jobs=1, **number))
        elif way == "selector":
            nf.ForestSelector(n_jobs=1, **number).fit(X, y)
        elif way == "watch":
            nf.watch(X, y, n_jobs=1, **number)
        elif way == "resume":
            nf.resume(X, y, tmp_path / "run", n_jobs=1, **number)
        else:
            done = CliRunner().invoke(app, [str(word) for word in words])
            assert done.exit_code == 0, done.output

    calls = calls_of(run)
    names = {name for _, name in ONCE}
    assert {key: n for key, n in calls.items() if key[1] in names} == dict.fromkeys(ONCE, 1)
    assert sum(n for (_, name), n in calls.items() if name == "effect_sizes") <= 1
