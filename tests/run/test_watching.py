"""A watched forest is the same forest, and its trajectory is that of its first trees."""

from __future__ import annotations

import numpy as np
import pytest

import nullforest as nf
from nullforest.report.cautions import cautions
from nullforest.run.schedule import FixedNumber


def _data(signal=1.5, seed=0, n=70):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 60)), np.arange(n) % 2
    X[:, :3] += signal * y[:, None]
    return X, y


def test_a_watched_forest_is_the_same_forest():
    X, y = _data()
    settings = {"trees": 90, "candidates": 12, "seed": 4}
    watched = nf.watch(X, y, 0.05, "fdr", **settings)
    plain = nf.grow(X, y, **settings)
    assert watched.tally == plain.tally
    selection = nf.select(plain.tally, 0.05, "fdr")
    np.testing.assert_array_equal(watched.pvalues, selection.pvalues)
    assert watched.trajectory.oob_errors[-1] == pytest.approx(1 - plain.oob_score)


def test_each_point_is_that_of_a_shorter_forest():
    X, y = _data()
    watched = nf.watch(X, y, 0.05, "fdr", trees=90, candidates=12)
    trajectory = watched.trajectory
    for i in (3, 8, len(trajectory.trees) - 1):
        forest = nf.grow(X, y, trees=int(trajectory.trees[i]), candidates=12)
        there = nf.select(forest.tally, 0.05, "fdr")
        np.testing.assert_array_equal(trajectory.selected[i], np.flatnonzero(there.support))
        np.testing.assert_array_equal(trajectory.counts[i], there.counts[trajectory.followed])
        np.testing.assert_allclose(
            trajectory.adjusted[i], there.qvalues[trajectory.followed], rtol=1e-6
        )
        assert trajectory.thresholds[i] == there.threshold
        assert trajectory.expected[i] == pytest.approx(there.null.mean)
        assert trajectory.oob_errors[i] == pytest.approx(1 - forest.oob_score)
    last = set(trajectory.selected[-1])
    naive = [len(last & set(s)) / max(1, len(last | set(s))) for s in trajectory.selected]
    np.testing.assert_allclose(trajectory.agreement, naive)


def test_points_are_few_and_end_with_the_forest():
    for trees in (1, 2, 7, 1000, 12345):
        points = FixedNumber(None, trees, watched=True).points(None)
        assert points == sorted(set(points))
        assert points[-1] == trees
        assert len(points) <= 16


def test_progress_counts_all_trees():
    X, y = _data()
    seen = []
    nf.watch(X, y, trees=64, candidates=8, progress=lambda done, total: seen.append((done, total)))
    assert {total for _, total in seen} == {64}
    assert seen[-1] == (64, 64)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


@pytest.mark.parametrize("task", ["classes", "rare class", "numbers"])
def test_a_forest_without_signal_is_told_from_one_with(task):
    X, y = _data(signal=2.5, n=120)
    rng = np.random.default_rng(3)
    if task == "rare class":
        y = (np.arange(120) < 15).astype(int)
        X[:, :3] = rng.normal(size=(120, 3)) + 2.5 * y[:, None]
    elif task == "numbers":
        y = X[:, :3].sum(axis=1)
    settings = {"trees": 100, "candidates": 15, "error": "fdr", "probes": 200}
    found = nf.watch(X, y, **settings)
    lost = nf.watch(X, rng.permutation(y), **settings)
    assert found.trajectory.better_than_guessing is True
    assert lost.trajectory.better_than_guessing is False
    assert any("finds no signal" in words for words in cautions(lost))
    assert not any("finds no signal" in words for words in cautions(found))


def test_no_sample_left_out_means_no_error():
    X, y = _data()
    trajectory = nf.watch(X, y, trees=20, candidates=8, samples=1.0).trajectory
    assert np.isnan(trajectory.oob_errors).all()
    assert trajectory.better_than_guessing is None


def test_trees_must_be_a_number():
    with pytest.raises(nf.InputError, match="whole number"):
        nf.watch(*_data(), trees="many")


def test_an_error_at_a_point_ends_the_growth():
    done = []
    with pytest.raises(nf.InputError, match="no probes"):
        nf.watch(
            *_data(), null="probes", probes=0, trees=200, progress=lambda now, _: done.append(now)
        )
    assert max(done) < 20  # the first of 16 points


@pytest.mark.parametrize("null", ["probes", "bagged", "paper"])
@pytest.mark.parametrize("settings", [{}, {"draw": "tree"}, {"min_leaf": 34}, {"max_depth": 1}])
def test_the_smallest_forests_have_a_trajectory(null, settings):
    X, y = _data()
    selection = nf.watch(X, y, null=null, trees=3, candidates=6, probes=60, **settings)
    assert selection.trajectory.trees.tolist() == [1, 2, 3]
