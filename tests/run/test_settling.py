"""The number of trees: found from tallies alone, so the same however the forest is grown."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import nullforest as nf
from nullforest.run.schedule import PILOT, Question, UntilSettled
from nullforest.selection.agreement import jaccard

LIGHT = {"keep_trees": False, "oob": False}


@pytest.fixture(scope="module")
def data():
    """Ten relevant features of 500, some of them weak, so that the first test is not enough."""
    X, y, _ = nf.simulate.independent(100, 500, n_relevant=10, relevance=0.4)
    return nf.RankTable(X), y


@pytest.fixture(scope="module")
def settled(data):
    return nf.grow(*data)


def interrupted_at(limit):
    """Raises, in place of a kill, once so many trees are done."""

    def progress(done, total):
        if done >= limit:
            raise InterruptedError

    return progress


def test_the_number_is_that_of_a_plain_loop(data, settled):
    pilot = nf.grow(*data, trees=PILOT, **LIGHT).tally
    nodes = pilot.n_nodes / PILOT
    trees = first = 20 * 500 / nodes  # a mean count of 20
    last = int(np.ceil(300 * 500 / nodes))
    tried = []
    while True:
        whole = min(round(trees), last)
        tried.append(whole)
        found = nf.select(nf.grow(*data, trees=whole, **LIGHT)).agreement
        if found.settled or whole == last:
            break
        trees *= np.sqrt(2)
    assert len(tried) > 1  # it is not at the first test that this one ends
    assert settled.n_trees == tried[-1]
    assert tried[0] == round(first)
    assert UntilSettled(Question()).tests(pilot)[: len(tried)] == tried
    assert UntilSettled(Question()).tests(pilot)[-1] == last


def test_the_forest_is_that_of_so_many_trees(data, settled):
    fixed = nf.grow(*data, trees=settled.n_trees)
    assert settled.tally == fixed.tally
    np.testing.assert_array_equal(settled.sums["oob_sum"], fixed.sums["oob_sum"])
    assert (settled.note, settled.stopped_early) == ("", False)
    assert settled.trees is None
    with pytest.raises(nf.InputError, match="keep_trees"):
        settled.predict(data[0].matrix)
    kept = nf.grow(*data, keep_trees=True)
    assert kept.tally == fixed.tally
    np.testing.assert_array_equal(kept.predict(data[0].matrix), fixed.predict(data[0].matrix))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_threads_do_not_change_the_number(data, settled, n_jobs):
    assert nf.grow(*data, n_jobs=n_jobs, **LIGHT).tally == settled.tally


@pytest.mark.parametrize("before", [30, 150, "first test", "between"])
def test_a_longer_forest_has_the_same_number(data, settled, before):
    tests = UntilSettled(Question()).tests(settled.tally)
    trees = {"first test": tests[0], "between": tests[0] + 7}.get(before, before)
    start = nf.grow(*data, trees=trees)
    more = nf.grow(*data, more=start)
    assert more.tally == settled.tally
    assert len(more.trees) == settled.n_trees  # kept, as those of the forest that it extends
    assert nf.grow(*data, more=more).tally == settled.tally  # it has settled already


def test_a_forest_that_is_larger_already_is_tested_as_it_is(data):
    large = nf.grow(*data, trees=500, **LIGHT)
    same = nf.grow(*data, more=large, max_trees=400)
    assert same.tally == large.tally
    assert "largest number of trees" in same.note


def test_a_resumed_forest_has_the_same_number(data, settled, tmp_path):
    part = nf.resume(*data, tmp_path, trees=150)
    assert part.n_trees == 150
    for limit in (170, 600, settled.n_trees - 50):
        with pytest.raises(InterruptedError):
            nf.resume(*data, tmp_path, progress=interrupted_at(limit), save_every=0.01)
    whole = nf.resume(*data, tmp_path)
    assert whole.tally == settled.tally
    np.testing.assert_array_equal(whole.sums["oob_sum"], settled.sums["oob_sum"])
    assert nf.resume(*data, tmp_path).tally == settled.tally  # nothing is left to grow


def test_a_resumed_forest_may_be_given_more_trees(data, settled, tmp_path):
    part = nf.resume(*data, tmp_path, max_trees=400)
    assert part.n_trees == 400
    assert "largest number of trees" in part.note
    assert nf.resume(*data, tmp_path).tally == settled.tally


def test_a_watched_forest_has_the_same_number(data, settled):
    watched = nf.watch(*data)
    assert watched.tally == settled.tally
    assert watched.agreement.settled
    tests = UntilSettled(Question()).tests(settled.tally)
    points = watched.trajectory.trees.tolist()
    assert points[points.index(tests[0]) :] == [n for n in tests if n <= settled.n_trees]
    # From the first hundred trees on, a factor of √2 apart.
    assert PILOT < points[0] <= PILOT * np.sqrt(2)


def test_the_largest_number_of_trees_ends_it(data):
    forest = nf.grow(*data, max_trees=400)
    assert forest.n_trees == 400
    assert not forest.stopped_early
    assert forest.tally == nf.grow(*data, trees=400).tally
    assert forest.note.startswith("The largest number of trees was reached before the selection")
    expected = nf.select(forest).agreement.expected
    assert f"Jaccard index of {expected:.2f}" in forest.note
    assert nf.watch(*data, max_trees=400).notes[-1] == forest.note
    few = nf.grow(*data, max_trees=7)
    assert few.n_trees == 7


@pytest.mark.parametrize("call", [nf.grow, nf.watch, nf.resume])
def test_a_largest_number_that_cannot_be_is_refused(data, call, tmp_path):
    arguments = (*data, tmp_path) if call is nf.resume else data
    with pytest.raises(nf.InputError, match='max_trees= is for trees="auto"'):
        call(*arguments, trees=50, max_trees=400)
    with pytest.raises(nf.InputError, match="max_trees = 0 must lie between 1 and"):
        call(*arguments, max_trees=0)
    with pytest.raises(nf.InputError, match=r"max_trees = 2\.5 must be a whole number"):
        call(*arguments, max_trees=2.5)


def test_the_end_of_the_time_ends_it(data, settled, tmp_path):
    forest = nf.grow(*data, max_seconds=0.0, n_jobs=1)
    assert forest.stopped_early
    tests = UntilSettled(Question()).tests(forest.tally)
    assert 1 <= forest.n_trees < tests[0]
    assert forest.tally == nf.grow(*data, trees=forest.n_trees).tally
    assert forest.note.startswith("The time was over ")
    assert nf.grow(*data, more=forest).tally == settled.tally
    watched = nf.watch(*data, max_seconds=0.0, n_jobs=1)
    assert watched.tally.n_trees < tests[0]
    assert watched.notes[-1].startswith("The time was over ")
    kept = nf.resume(*data, tmp_path, max_seconds=0.0, n_jobs=1)
    assert kept.stopped_early
    assert kept.n_trees < tests[0]
    assert nf.resume(*data, tmp_path).tally == settled.tally


def test_a_limit_of_an_earlier_call_does_not_end_this_one(data, settled):
    # With more trees than the first hundred, which are grown in any case.
    forest = nf.grow(*data, trees=150)
    forest.stopped_early = True
    assert nf.grow(*data, more=forest).tally == settled.tally


@pytest.mark.parametrize("call", [nf.watch, nf.resume])
def test_the_end_of_the_time_ends_a_forest_of_given_size(data, call, tmp_path):
    arguments = (*data, tmp_path) if call is nf.resume else data
    ended = call(*arguments, trees=2_000_000, max_seconds=0.3, n_jobs=1)
    trees = ended.tally.n_trees
    assert trees < 2_000_000
    said = ended.notes[-1] if call is nf.watch else ended.note
    assert said == f"Stopped by max_seconds after {trees} of 2000000 trees."
    assert ended.tally == nf.grow(*data, trees=trees).tally


def test_no_signal_ends_at_the_first_test():
    rng = np.random.default_rng(0)
    forest = nf.grow(rng.normal(size=(80, 200)), np.arange(80) % 2)
    assert forest.n_trees == UntilSettled(Question()).tests(forest.tally)[0]
    assert forest.note == ""
    assert nf.select(forest).n_selected == 0


@pytest.mark.parametrize("F", [1, 2, 12])
def test_a_table_of_few_columns_ends(F):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, F))
    forest = nf.grow(X, X[:, 0] > 0)
    assert PILOT <= forest.n_trees <= max(PILOT, 300 * forest.tally.n_columns)


def test_the_settled_forests_of_other_seeds_agree(data):
    found = [nf.select(nf.grow(*data, seed=seed, **LIGHT)) for seed in range(4)]
    # .9 is expected; two of about ten features differ by one in .1.
    index = [jaccard(a.support, b.support) for a, b in combinations(found, 2)]
    assert np.mean(index) >= 0.8
    changed = nf.select(nf.grow(*data, trees=4 * found[0].tally.n_trees, **LIGHT)).n_selected
    # 5 %, or less than one feature.
    assert abs(changed - found[0].n_selected) <= 1


def test_the_selector_and_the_selection_have_the_same_number(data, settled):
    X, y = np.asarray(data[0].matrix), data[1]
    fitted = nf.ForestSelector(random_state=0).fit(X, y)
    assert fitted.tally_ == settled.tally
    np.testing.assert_array_equal(fitted.get_support(), nf.select(settled).support)
    limited = nf.ForestSelector(random_state=0, max_trees=300).fit(X, y)
    assert limited.tally_.n_trees == 300
    # Another error rate has another number of trees.
    strict = nf.ForestSelector(random_state=0, alpha=1e-4, error="fwer").fit(X, y)
    rule = nf.watch(X, y, 1e-4, "fwer")
    assert strict.tally_ == rule.tally


def test_progress_tells_the_trees_of_the_next_test(data, settled):
    told = []
    nf.grow(*data, progress=lambda done, total: told.append((done, total)))
    tests = UntilSettled(Question()).tests(settled.tally)
    assert [n for n in tests if n <= settled.n_trees] == sorted({total for _, total in told})
    assert told[-1] == (settled.n_trees, settled.n_trees)
