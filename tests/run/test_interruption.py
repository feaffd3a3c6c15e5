"""Growth that is watched, stopped and resumed: progress, limits of time, Ctrl-C, more trees."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import nullforest as nf
from nullforest.data.rank_table import RankTable


@pytest.fixture
def data():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(70, 40))
    return X, (X[:, 3] + rng.normal(size=70) > 0).astype(int)


def assert_same(a, b):
    assert a.tally == b.tally
    for name, array in a.trees.arrays.items():
        np.testing.assert_array_equal(array, b.trees.arrays[name])
    np.testing.assert_array_equal(a.oob_prediction, b.oob_prediction)
    np.testing.assert_array_equal(a.gini_importance, b.gini_importance)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"replace": True, "class_weight": "balanced"},
        {"criterion": "variance", "draw": "tree", "candidates": 5},
        {"criterion": "entropy", "pool": 20, "candidates": 5, "seed": 9, "first_tree": 100},
    ],
    ids=["plain", "weights", "numbers", "pools"],
)
def test_going_on_twice_equals_one_longer_run(data, settings):
    whole = nf.grow(*data, trees=30, **settings)
    weights = {k: v for k, v in settings.items() if k == "class_weight"}
    forest = nf.grow(*data, trees=7, **settings)
    forest = nf.grow(*data, trees=13, more=forest, **weights)
    assert_same(nf.grow(*data, trees=10, more=forest, **weights), whole)


def test_a_forest_without_trees_goes_on_by_its_tally(data):
    start = nf.grow(*data, trees=5, keep_trees=False, oob=False)
    longer = nf.grow(*data, trees=15, more=start)
    assert longer.trees is None
    assert longer.tally == nf.grow(*data, trees=20).tally


def test_a_budget_that_ran_out_can_be_taken_up_again(data):
    start = nf.grow(*data, trees=10**6, max_seconds=1e-6)
    assert start.stopped_early
    assert f"after {start.n_trees} of 1000000 trees" in start.note
    assert 1 <= start.n_trees < 10**6
    whole = nf.grow(*data, trees=start.n_trees + 10)
    assert_same(nf.grow(*data, trees=10, more=start), whole)


def test_the_first_tree_is_grown_whatever_the_clock_says(data):
    table = RankTable(data[0])
    first = nf.grow(table, data[1], trees=1)
    for _ in range(30):  # the clock races with the threads: try it often
        forest = nf.grow(table, data[1], trees=10**6, max_seconds=0.0)
        assert forest.n_trees >= 1
        assert forest.tally.nodes_per_tree[0] == first.tally.nodes_per_tree[0]


def test_a_budget_that_suffices_changes_nothing(data):
    forest = nf.grow(*data, trees=10, max_seconds=3600)
    assert not forest.stopped_early
    assert forest.note == ""
    assert_same(forest, nf.grow(*data, trees=10))


def test_progress_only_grows(data):
    seen = []
    nf.grow(*data, trees=3000, probes=0, progress=lambda done, total: seen.append((done, total)))
    done = [d for d, _ in seen]
    assert done == sorted(done)
    assert {total for _, total in seen} == {3000}
    assert seen[-1] == (3000, 3000)


#: Grows for hours, unless it is stopped; says when it has begun, and what stopped it.
GROWING = """
import numpy as np, nullforest as nf
X = np.random.default_rng(0).normal(size=({samples}, {features}))
polls = []
begin = lambda done, total: polls.append(done) or (len(polls) == 1 and print("begun", flush=True))
try:
    nf.grow(X, np.arange({samples}) % 2, trees=10**8, candidates={candidates}, progress=begin)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
#: Sorts one long column again and again, for minutes; memory is touched as the table grows.
RANKING = """
import numpy as np
from nullforest.data.rank_table import RankTable
X = np.broadcast_to(np.random.default_rng(0).normal(size=({samples}, 1)), ({samples}, {features}))
print("begun", flush=True)
try:
    RankTable(X)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.parametrize(
    ("code", "shape"),
    [
        (GROWING, {"samples": 60, "features": 50, "candidates": 5}),
        (GROWING, {"samples": 4000, "features": 300, "candidates": 300}),
        (RANKING, {"samples": 2**20, "features": 2000}),
    ],
    ids=["many small trees", "few large trees", "ranking"],
)
def test_ctrl_c_stops_the_work(code, shape):
    # The engine looks for signals ten times a second. A test must not look at the clock, so it
    # waits for the end of a run that would take minutes or hours.
    child = subprocess.Popen(
        [sys.executable, "-c", code.format(**shape)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout.readline().strip() == "begun"
        time.sleep(0.5)  # let it go deep into the engine; earlier or later makes no difference
        child.send_signal(signal.SIGINT)
        rest, _ = child.communicate(timeout=60)
    finally:
        child.kill()
        child.wait()
    assert rest.strip() == "interrupted"
    assert child.returncode == 0
