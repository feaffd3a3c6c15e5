"""The report in a real browser says what Python says."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import nullforest as nf
from nullforest.selection.error_rates import ERROR_RATES


@pytest.fixture(scope="module")
def leukemia():
    data = nf.datasets.load_leukemia_sex()
    # Fewer trees than by default, so that the test is short; the answer is much the same.
    return data, nf.watch(
        data.data, data.target, error="fdr", trees=8000, feature_names=data.feature_names
    )


@pytest.fixture(scope="module")
def strata():
    """Continuous and few-level columns, which are tested in strata of their own."""
    rng = np.random.default_rng(4)
    X = np.hstack([rng.normal(size=(80, 150)), rng.binomial(2, 0.3, (80, 150))])
    y = np.arange(80) % 2
    X[:, :4] += 1.2 * y[:, None]
    X[:, 150:153] += y[:, None]
    return nf.select(nf.grow(X, y, trees=150, candidates=30).tally, error="fwer")


def _move(page, error, stop):
    page.locator(f"label:has(input[value={error}])").click()
    page.locator("#alpha").fill(str(stop))
    _next_frame(page)


def _next_frame(page):
    """Wait until what was asked for has been drawn."""
    page.evaluate(
        """() => new Promise((done) =>
            requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"""
    )


def _values(page):
    shown = ("alpha-shown", "selected", "threshold", "expected", "level")
    read = {name: page.locator(f"#{name}").get_attribute("data-value") for name in shown}
    return {name: float("nan" if value == "null" else value) for name, value in read.items()}


def _stops(page):
    return page.evaluate("window.report.data.slider.alpha")


def _download(page, path):
    with page.expect_download() as download:
        page.locator("#download").click()
    download.value.save_as(path)
    return pd.read_csv(
        path, dtype={"feature": str}, keep_default_na=False, float_precision="round_trip"
    )


def _assert_same_table(got, table):
    """Counts and p-values to the last bit; effect sizes have four digits in the page."""
    table, sizes = table.reset_index(names="column"), ["difference", "auc"]
    exact = [name for name in table if name not in sizes]
    pd.testing.assert_frame_equal(got[exact], table[exact], check_exact=True)
    assert got.columns.tolist() == table.columns.tolist()
    np.testing.assert_allclose(got[sizes].astype(float), table[sizes], rtol=1e-3)


def _assert_same_as_python(page, selection, stops, places):
    """Values, headline and table of the page against a selection at the same alpha."""
    for error in ERROR_RATES:
        for place in places:
            _move(page, error, place)
            there = nf.select(selection.tally, stops[place], error, selection.null)
            values = _values(page)
            assert values["alpha-shown"] == stops[place]
            assert values["selected"] == there.n_selected
            assert values["threshold"] == pytest.approx(there.threshold, nan_ok=True)
            assert page.locator("#threshold").inner_text() == there.own_thresholds()
            # The same sums in another order: a few hundred roundings at the most.
            assert values["level"] == pytest.approx(there.level, rel=1e-12)
            assert values["expected"] == pytest.approx(there.expected_false_positives, rel=1e-12)
            assert page.locator("#headline").inner_text() == f"{there.headline()}."
            names = page.locator("#rows td.name").all_inner_texts()
            assert names == there.selected[:25].tolist()
            q = page.evaluate(
                "Array.from(window.report.decider.tieOf, (k) => window.report.state.q[k])"
            )
            np.testing.assert_array_equal(q, there.qvalues)  # to the last bit


def test_slider_and_switch_give_what_python_gives(leukemia, open_page):
    data, selection = leukemia
    page = open_page(selection, X=data.data, y=data.target)
    assert _values(page)["selected"] == selection.n_selected
    assert page.locator("#moved").is_hidden()
    stops = _stops(page)
    asked = stops.index(0.05)
    _assert_same_as_python(page, selection, stops, [0, 23, asked, len(stops) - 1])
    assert page.locator("#moved").is_visible()
    page.locator("#back").click()
    assert page.locator("#headline").inner_text() == f"{selection.headline()}."
    # The keyboard moves it too, by one stop.
    page.locator("#alpha").press("ArrowLeft")
    _next_frame(page)
    assert page.locator("#alpha-shown").inner_text() == f"{stops[asked - 1]:g}"


def test_strata_have_p_values_of_their_own(strata, open_page):
    page = open_page(strata)
    assert page.locator("#strata").is_visible()
    assert np.isnan(strata.threshold)
    assert "selected above" not in page.locator("#histogram").inner_text()
    stops = _stops(page)
    _assert_same_as_python(page, strata, stops, [5, 30, stops.index(0.05), len(stops) - 2])


def test_features_with_shadows_have_thresholds_of_their_own(open_page):
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(80, 30)), np.arange(80) % 2
    X[:, 10:] = np.round(X[:, 10:])
    X[:, :3] += y[:, None]
    selection = nf.select(nf.grow(X, y, trees=400, shadows=6, keep_trees=False))
    page = open_page(selection, X=X, y=y)
    assert "tested against its own shadows" in page.locator("#strata").inner_text()
    stops = _stops(page)
    _assert_same_as_python(page, selection, stops, [20, stops.index(0.05), len(stops) - 2])


def test_the_table_is_sorted_searched_turned_and_taken_along(leukemia, open_page, tmp_path):
    data, selection = leukemia
    page = open_page(selection, X=data.data, y=data.target)
    names = page.locator("#rows td.name")
    table = selection.table
    chosen = table[table["selected"]]
    got = _download(page, tmp_path / "chosen.csv")
    _assert_same_table(got, chosen)

    page.locator("#only-selected").uncheck()
    assert names.all_inner_texts() == table["feature"][:25].tolist()
    assert page.locator("#shown").inner_text() == f"1–25 of {len(table)}"
    page.locator("#next").click()
    assert names.all_inner_texts() == table["feature"][25:50].tolist()
    got = _download(page, tmp_path / "all.csv")
    _assert_same_table(got, table)

    page.locator("[data-sort=count]").click()
    by_count = table.sort_values("count", ascending=False, kind="stable")
    assert names.all_inner_texts() == by_count["feature"][:25].tolist()
    page.locator("[data-sort=count]").click()
    by_count = table.sort_values("count", kind="stable")
    assert names.all_inner_texts() == by_count["feature"][:25].tolist()
    assert page.locator("th:has([data-sort=count])").get_attribute("aria-sort") == "ascending"

    page.locator("[data-sort=feature]").click()
    page.locator("#search").fill("388")
    matching = table[table["feature"].str.contains("388")]
    assert page.locator("#shown").inner_text().endswith(f"of {len(matching)}")
    shown = names.all_inner_texts()
    assert set(shown) <= set(matching["feature"])
    assert shown == sorted(shown, key=lambda name: int(name.split("_")[0]))
    page.locator("#search").fill("no such probe")
    assert page.locator("#shown").inner_text() == "no feature"
    assert page.locator("#download").is_disabled()


def test_the_figures_draw_the_numbers(leukemia, open_page):
    data, selection = leukemia
    page = open_page(selection, X=data.data, y=data.target)
    bins = page.evaluate("window.report.data.histogram.bins")
    bars = page.locator("#histogram g[aria-label=rect]")
    assert bars.nth(0).locator("rect").count() == sum(b["features"] > 0 for b in bins)
    orange = sum(b["features"] > 0 and b["low"] > selection.threshold for b in bins)
    assert bars.nth(1).locator("rect").count() == orange
    assert f"selected above {selection.threshold}" in page.locator("#histogram").inner_text()
    points = page.locator("#qq circle")
    assert points.count() == len(np.unique(selection.pvalues))
    assert page.locator("#qq circle[fill='#c2410c']").count() == len(
        np.unique(selection.pvalues[selection.support])
    )
    for figure, lines in (("oob", 1), ("stability", 2)):
        dots = page.locator(f"#{figure} circle")
        assert dots.count() == lines * len(selection.trajectory.trees)


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_screen(leukemia, open_page, width):
    data, selection = leukemia
    page = open_page(selection, X=data.data, y=data.target)
    page.set_viewport_size({"width": width, "height": 844})
    _next_frame(page)
    drawn, place = page.evaluate(
        "[...document.querySelectorAll('#histogram, #histogram svg')].map((e) => e.clientWidth)"
    )
    assert drawn == place  # drawn anew, as wide as the screen allows
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_print_shows_all_selected_features(open_page):
    counts = np.r_[np.full(60, 50), np.full(940, 2)]
    tally = nf.Tally.from_counts(counts, nodes_per_tree=[int(counts.sum())], n_samples=50)
    selection = nf.select(tally, alpha=0.001, null="paper")
    page = open_page(selection)
    assert page.locator("#rows tr").count() == 25
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator("#rows tr").count() == selection.n_selected == 60
    assert page.locator("#alpha").is_hidden()
    assert page.locator("#download").is_hidden()
    assert page.locator("#methods").is_visible()


def test_nothing_selected_and_odd_names(open_page, tmp_path):
    names = ['say "a, b"', "<b>bold</b>", "línea\n2", *[f"f{i}" for i in range(97)]]
    counts = np.arange(100) % 4
    tally = nf.Tally.from_counts(
        counts, nodes_per_tree=[int(counts.sum())], n_samples=50, feature_names=names
    )
    selection = nf.select(tally, alpha=1e-6, null="paper")
    page = open_page(selection)
    assert "Nothing was selected" in page.locator("#explanation").inner_text()
    assert page.locator("#shown").inner_text() == "no feature"
    assert page.locator("#trajectory").is_hidden()
    page.locator("#only-selected").uncheck()
    got = _download(page, tmp_path / "features.csv")
    assert sorted(got["feature"]) == sorted(names)


def test_a_hundred_thousand_features(open_page, tmp_path):
    rng = np.random.default_rng(7)
    F = 100_000
    counts = rng.negative_binomial(2, 0.3, F)
    counts[:200] += rng.integers(20, 3000, 200)
    names = [f"ENSG{i:011d}.{i % 9}" for i in rng.permutation(F)]
    tally = nf.Tally.from_counts(
        counts, nodes_per_tree=[int(counts.sum())], n_samples=100, feature_names=names
    )
    selection = nf.select(tally, error="fdr", null="paper")
    page = open_page(selection)
    assert (tmp_path / "report.html").stat().st_size < 3_000_000
    _move(page, "fwer", 20)
    there = nf.select(tally, _stops(page)[20], "fwer", selection.null)
    assert _values(page)["selected"] == there.n_selected
    assert page.locator("#rows td.name").all_inner_texts() == there.selected[:25].tolist()
