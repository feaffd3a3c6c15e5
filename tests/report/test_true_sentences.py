"""Every sentence about a selection is held against its table, by error rate and null model."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import nullforest as nf
from nullforest.report import render_markdown, summarize
from nullforest.selection.error_rates import ERROR_RATES

NUMBER = r"([-+.\de]+)"
EACH = rf"{NUMBER}(?: to {NUMBER} by (stratum|feature))?"
HEADLINE = re.compile(
    rf"(\d+) of (\d+) features selected at a (.+) of {NUMBER}: count above {EACH}, "
    rf"{EACH} expected under the null"
)
CITED = {
    "fpr": None,
    "fdr": "Benjamini and Hochberg, 1995",
    "fdr_by": "Benjamini and Yekutieli, 2001",
    "fwer": "Holm, 1979",
}
RATES = {
    "fpr": "a false positive rate of",
    "fdr": "a false discovery rate of",
    "fdr_by": "a false discovery rate, under any dependence, of",
    "fwer": "a family-wise error rate of",
}


@pytest.fixture(scope="module")
def nine_strata():
    """Columns of nine kinds, some of each related to the target."""
    rng = np.random.default_rng(0)
    S, each = 120, 60
    y = np.arange(S) % 2
    # Permutations of one column have the same ties, and so the same stratum.
    columns = [np.arange(S), *(np.arange(S) < number for number in (6, 18, 60))]
    columns += [np.repeat([0, 1, 2], parts) for parts in ((97, 22, 1), (30, 60, 30))]
    columns += [np.arange(S) % levels for levels in (5, 10, 20)]
    kinds = [rng.permuted(np.tile(c, (each, 1)), axis=1).T for c in columns]
    X = np.hstack(kinds).astype(float)
    for begin in range(0, X.shape[1], each):
        X[:, begin] = np.sort(X[:, begin])[np.argsort(np.argsort(y + 0.5 * rng.normal(size=S)))]
    tally = nf.grow(X, y, trees=3000, seed=1, keep_trees=False).tally
    strata = nf.select(tally).null.feature_strata
    assert len(np.unique(strata)) == 9
    return tally, X, y


@pytest.fixture(scope="module")
def with_shadows():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(90, 40)), np.arange(90) % 2
    X[:, 20:] = np.round(X[:, 20:])
    X[:, [0, 25]] += y[:, None]
    return nf.grow(X, y, trees=400, shadows=4, keep_trees=False).tally, X, y


@pytest.fixture(scope="module")
def with_blocks():
    rng = np.random.default_rng(4)
    site = np.repeat(["a", "b", "c"], 30)
    X, y = rng.normal(size=(90, 40)), np.arange(90) % 2
    X[:, 3] += 2 * y
    return nf.grow(X, y, trees=400, blocks=site, keep_trees=False).tally, X, y


@pytest.fixture(scope="module")
def survival():
    X, y, _ = nf.simulate.survival(120, 600, n_relevant=5, hazard_ratio=4.0)
    return nf.grow(X, y, trees=2000, keep_trees=False).tally, X, y


def _range_holds(low, high, values):
    """The printed number, or range, is that of the features to three digits."""
    shown = sorted({f"{values.min():.3g}", f"{values.max():.3g}"}, key=float)
    if values.dtype.kind in "iu":
        shown = sorted({str(values.min()), str(values.max())}, key=int)
    assert [part for part in (low, high) if part] == shown


def _assert_true(words, selection):
    """The sentence of the headline, wherever it stands, against the table."""
    table = selection.table
    n, F, rate, alpha, *numbers = HEADLINE.search(words).groups()
    assert int(n) == table["selected"].sum()
    assert int(F) == len(table)
    assert rate == ERROR_RATES[selection.error]
    assert float(alpha) == selection.alpha
    # The thresholds of the features say the same as the table, each in its own stratum.
    thresholds = selection.thresholds[table.index]
    np.testing.assert_array_equal(table["count"] > thresholds, table["selected"])
    _range_holds(numbers[0], numbers[1], selection.thresholds)
    _range_holds(numbers[3], numbers[4], table["expected_count"].to_numpy())


def _expected_false(selection):
    """Bound of the expected false positives, from the table and the null distribution alone."""
    if selection.error in ("fdr", "fdr_by"):
        return selection.alpha * selection.table["selected"].sum()
    strata = selection.null.feature_strata
    strata = np.zeros(len(selection.counts), int) if strata is None else strata
    total = 0.0
    for number in np.unique(strata):
        here = strata == number
        (threshold,) = set(selection.thresholds[here].tolist())
        total += here.sum() * float(selection.null.stratum(number).sf(threshold))
    return total


def _assert_expected_errors(words, selection):
    number = re.search(rf"[Aa]t most {NUMBER} false positives are expected", words)[1]
    assert number == f"{_expected_false(selection):.3g}"
    if selection.error == "fwer":
        assert f"is at most {selection.alpha:g}; at most" in words


@pytest.mark.parametrize("error", ERROR_RATES)
@pytest.mark.parametrize("run", ["nine_strata", "with_shadows", "with_blocks", "survival"])
def test_every_sentence_against_the_table(run, error, request, tmp_path):
    tally, X, y = request.getfixturevalue(run)
    selection = nf.select(tally, error=error)
    assert selection.n_selected
    facts = {"blocks": "site"} if run == "with_blocks" else {}
    summary = summarize(selection, facts, y=y)
    each = "stratum" if run in ("nine_strata", "survival") else "feature"
    for words in (selection.headline(), summary["headline"], repr(selection)):
        _assert_true(words, selection)
        if len(set(selection.thresholds)) > 1:
            assert f"by {each}" in words
    _assert_expected_errors(selection.expected_errors(), selection)

    # The methods section.
    methods = summary["methods"]
    table = selection.table
    n = table["selected"].sum()
    assert f"{n} {'feature was' if n == 1 else 'features were'} selected." in methods
    assert f"on {len(X)} samples and {X.shape[1]} features" in methods
    rate = f"{RATES[error]} {selection.alpha:g}"
    assert (f"{rate} ({CITED[error]})" if CITED[error] else f"{rate}, that is") in methods
    match = re.search(rf"counts above {EACH}, where {EACH} are expected under the null", methods)
    _range_holds(match[1], match[2], selection.thresholds)
    _range_holds(match[4], match[5], table["expected_count"].to_numpy())
    _assert_expected_errors(methods, selection)
    assert ("divided into 9 strata" in methods) == (run == "nine_strata")
    assert ("permuted as a whole within each site" in methods) == (run == "with_blocks")
    assert ("shadows" in methods) == (each == "feature")
    if run == "survival":
        assert "log-rank" in methods
        assert f"{y['event'].sum()} of {len(y)} samples had an event" in methods
    if CITED[error]:
        year = CITED[error][-4:]
        assert any(f"({year})" in reference for reference in summary["references"])

    # JSON and Markdown.
    selection.to_json(tmp_path / "s.json")
    record = json.loads((tmp_path / "s.json").read_text("utf-8"))
    common = len(set(selection.thresholds)) == 1
    assert record["threshold"] == (selection.thresholds[0] if common else None)
    assert record["expected_false_discoveries"] == pytest.approx(_expected_false(selection))
    for row in record["selected"]:
        number = table.index[table["feature"] == row["feature"]][0]
        assert row["threshold"] == selection.thresholds[number] < row["count"]
    assert sum(s["selected"] for s in record["strata"]) in (0, selection.n_selected)
    if run == "nine_strata":
        assert len(record["strata"]) == 9
        per_stratum = sum(s["expected_false_positives"] for s in record["strata"])
        assert per_stratum == pytest.approx(record["expected_false_positives"])
    _assert_true(render_markdown(summary).replace("\\", ""), selection)
    settings = summary["run"]
    low, _, high = settings["count to exceed"].removesuffix(f" by {each}").partition(" to ")
    _range_holds(low, high, selection.thresholds)


def test_the_terminal_says_the_same(nine_strata, capsys):
    from nullforest.cli.screen import Screen

    for error in ERROR_RATES:
        selection = nf.select(nine_strata[0], error=error)
        Screen().show(selection)
        said = capsys.readouterr().out.replace("\n", " ")
        _assert_true(said, selection)
        _assert_expected_errors(said, selection)


def test_one_threshold_is_named_as_one():
    X, y, _ = nf.simulate.independent(80, 600, 5, 0.7)
    selection = nf.select(nf.grow(X, y, trees=500))
    assert f"count above {selection.threshold}, " in selection.headline()
    assert "by stratum" not in selection.headline() + summarize(selection)["methods"]
