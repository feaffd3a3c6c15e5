"""Plots draw the numbers of the selection: read back from what was drawn."""

from __future__ import annotations

import sys
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import same_color

import nullforest as nf
from nullforest._util.errors import MissingExtraError
from nullforest.report.plots import (
    CountsDisplay,
    ManhattanDisplay,
    StabilityDisplay,
    TrajectoryDisplay,
    VolcanoDisplay,
)
from nullforest.report.plots.display import OTHER, SELECTED


@pytest.fixture(scope="module")
def selection():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(80, 120)), np.arange(80) % 2
    X[:, [5, 50, 110]] += 1.5 * y[:, None]
    names = [f"gene {i}" for i in range(120)]
    return nf.watch(X, y, 0.05, "fdr", trees=120, candidates=20, feature_names=names, seed=2)


def _heights(bars):
    return np.array([bar.get_height() for bar in bars])


def _points(scatter):
    return np.asarray(scatter.get_offsets())


def test_the_counts_and_their_null(selection):
    display = selection.plot()
    assert isinstance(display, CountsDisplay)
    low = np.array([bar.get_x() for bar in display.bars_])
    high = low + [bar.get_width() for bar in display.bars_]
    for heights, counts in [
        (_heights(display.bars_), selection.counts),
        (_heights(display.selected_bars_), selection.counts[selection.support]),
    ]:
        naive = [int(np.sum((counts > a) & (counts < b))) for a, b in zip(low, high, strict=True)]
        np.testing.assert_array_equal(heights, naive)
        assert heights.sum() == len(counts)
    expected, edges, _ = display.null_.get_data()
    np.testing.assert_array_equal(edges % 1, 0.5)
    naive = [120 * selection.null.pmf(np.arange(a + 0.5, b)).sum() for a, b in pairwise(edges)]
    np.testing.assert_allclose(expected, naive, atol=2e-9)  # 1e-9 stands for less than that
    assert display.threshold_line_.get_xdata()[0] == selection.threshold + 0.5
    assert display.ax_.get_yscale() == "log"
    left, right = display.ax_.get_xlim()
    assert (left, right) == (-0.5, edges[-1])
    assert right > selection.counts.max()


def test_known_features_are_marked(selection):
    known = np.zeros(120, bool)
    known[[5, 7]] = True
    display = selection.plot(known=known, known_label="planted")
    assert _heights(display.known_bars_).sum() == 2
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert "planted" in labels
    with pytest.raises(nf.InputError, match="3 entries for 120"):
        selection.plot(known=[True] * 3)


def test_manhattan_by_column(selection):
    display = selection.plot("manhattan", named=2)
    assert isinstance(display, ManhattanDisplay)
    others, chosen = (_points(points) for points in display.points_)
    columns = np.flatnonzero(selection.support)
    np.testing.assert_array_equal(chosen[:, 0], columns)
    np.testing.assert_allclose(chosen[:, 1], -np.log10(selection.pvalues[columns]))
    np.testing.assert_array_equal(others[:, 0], np.flatnonzero(~selection.support))
    np.testing.assert_allclose(others[:, 1], -np.log10(selection.pvalues[~selection.support]))
    limit = display.limit_line_.get_ydata()[0]
    assert others[:, 1].max() < limit <= chosen[:, 1].min()
    assert [text.get_text() for text in display.names_] == selection.selected[:2].tolist()


def test_manhattan_by_group(selection):
    rng = np.random.default_rng(0)
    groups = np.repeat(["chr2", "chr1", "chrX"], 40)
    positions = rng.uniform(1e6, 2e6, 120)
    display = ManhattanDisplay.from_selection(selection, positions=positions, groups=groups)
    labels = [tick.get_text() for tick in display.ax_.get_xticklabels()]
    assert labels == ["chr2", "chr1", "chrX"]  # as they come
    ends = [display.positions[groups == g] for g in labels]
    for before, after in pairwise(ends):
        assert before.max() < after.min()
    for label, drawn in zip(labels, ends, strict=True):
        np.testing.assert_allclose(np.diff(drawn), np.diff(positions[groups == label]), atol=1e-6)
    assert sum(len(_points(points)) for points in display.points_) == 120
    with pytest.raises(nf.InputError, match="groups has 2 entries"):
        ManhattanDisplay.from_selection(selection, groups=["a", "b"])


def test_volcano(selection):
    display = selection.plot("volcano", named=3)
    assert isinstance(display, VolcanoDisplay)
    chosen = _points(display.selected_points_)
    here = selection.support
    effect = selection.counts[here] / selection.null.expected_counts()[here]
    np.testing.assert_allclose(chosen[:, 0], effect)
    np.testing.assert_allclose(chosen[:, 1], -np.log10(selection.pvalues[here]))
    others = _points(display.points_)
    assert len(others) == 120 - selection.n_selected
    assert others[:, 0].min() > 0  # features that were never chosen are on the log scale too
    assert display.ax_.get_xscale() == "log"
    assert len(display.names_) == min(3, selection.n_selected)


def test_stability_paths_and_courses(selection):
    trajectory = selection.trajectory
    path, course = selection.plot("stability"), selection.plot("trajectory")
    assert isinstance(path, StabilityDisplay)
    assert isinstance(course, TrajectoryDisplay)
    for display, values in ((path, -np.log10(trajectory.adjusted)), (course, trajectory.counts)):
        assert len(display.lines_) == len(trajectory.followed)
        for i, line in enumerate(display.lines_):
            np.testing.assert_array_equal(line.get_xdata(), trajectory.trees)
            np.testing.assert_allclose(line.get_ydata(), values[:, i], atol=1e-12)
            color = SELECTED if selection.support[trajectory.followed[i]] else OTHER
            assert same_color(line.get_color(), color)
    assert path.limit_line_.get_ydata()[0] == pytest.approx(-np.log10(0.05))
    np.testing.assert_array_equal(course.threshold_line_.get_ydata(), trajectory.thresholds)
    np.testing.assert_allclose(course.null_line_.get_ydata(), trajectory.expected)


def test_a_plot_goes_where_it_is_told(selection):
    figure, (left, right) = plt.subplots(1, 2)
    display = selection.plot("counts", ax=right)
    assert display.ax_ is right
    assert display.figure_ is figure
    assert not left.has_data()
    again = display.plot(left)
    assert again is display
    assert display.ax_ is left


def test_what_cannot_be_drawn_is_said(selection, monkeypatch):
    with pytest.raises(nf.InputError, match="no plot 'pie'; choose one of counts, manhattan"):
        selection.plot("pie")
    plain = nf.select(selection.tally)
    with pytest.raises(nf.InputError, match=r"nullforest\.watch"):
        plain.plot("trajectory")
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingExtraError, match=r"nullforest\[plot\]"):
        plain.plot()


def test_nothing_selected_is_drawn_too():
    tally = nf.Tally.from_counts(np.arange(40) % 3, nodes_per_tree=[39], n_samples=20)
    selection = nf.select(tally, alpha=1e-5, error="fwer", null="paper")
    assert selection.n_selected == 0
    for kind in ("counts", "manhattan", "volcano"):
        display = selection.plot(kind)
        assert display.ax_.has_data()


@pytest.mark.parametrize("kind", ["classes", "numbers", "survival"])
def test_small_multiples_draw_every_kind_of_target(kind):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(70, 600))
    X[0, 0] = np.nan
    y = {"classes": X[:, 1] > 0, "numbers": X[:, 1] + 0.1 * rng.normal(size=70)}.get(kind)
    if kind == "survival":
        times = rng.exponential(np.exp(-X[:, 1]))
        y = np.array([(True, t) for t in times], [("event", bool), ("time", float)])
    selection = nf.select(nf.grow(X, y, trees=200))
    display = selection.plot("features", X=X, y=y, number=5, columns=2)
    assert display.names == selection.table["feature"].head(5).tolist()
    assert [ax.get_title() for ax in display.axes_] == display.names
    np.testing.assert_array_equal(display.values[0], X[:, selection.table.index[0]])
    if kind == "classes":
        assert [t.get_text() for t in display.ax_.get_xticklabels()] == ["False", "True"]


def test_the_heat_map_puts_correlated_features_side_by_side():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(80, 600)), np.arange(80) % 2
    X[:, :3] += 2 * y[:, None]
    X[:, 5] = X[:, 0] + 0.01 * rng.normal(size=80)
    selection = nf.select(nf.grow(X, y, trees=2000, keep_trees=False))
    display = selection.plot("correlation", X=X)
    assert set(display.names) == set(selection.selected)
    a, b = (display.names.index(name) for name in ("x0", "x5"))
    assert abs(a - b) == 1
    assert display.cluster[a] == display.cluster[b]
    np.testing.assert_allclose(display.image_.get_array(), display.correlation)
    with pytest.raises(nf.InputError, match="give the data"):
        selection.plot("correlation")
    with pytest.raises(nf.InputError, match="give the same data"):
        selection.plot("features", X=X[:, :5], y=y)
