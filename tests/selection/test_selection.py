"""Selections: table, files, sentences, thresholds of strata."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

import nullforest as nf
from nullforest.selection.error_rates import ERROR_RATES


def forest_of(counts, trees=20, names=None):
    counts = np.asarray(counts)
    nodes = np.full(trees, counts.sum() // trees)
    nodes[: counts.sum() % trees] += 1
    return nf.Tally.from_counts(
        counts, nodes_per_tree=nodes, n_samples=50, candidates=5, feature_names=names
    )


NAMES = ["strong, one", "weak"] + [f"noise {i}" for i in range(98)]
COUNTS = np.r_[40, 22, np.arange(98) % 9]


def test_a_feature_is_selected_when_its_count_exceeds_the_threshold():
    for alpha in (0.2, 0.05, 0.001, 1e-9):
        s = nf.select(forest_of(COUNTS, names=NAMES), alpha, "fpr", "paper")
        assert (s.support == (s.threshold < COUNTS)).all()
        assert s.level <= alpha
        assert s.expected_false_positives == pytest.approx(100 * s.level)


@pytest.mark.parametrize("error", ["fdr", "fdr_by", "fwer"])
def test_other_rates_report_the_count_they_needed(error):
    s = nf.select(forest_of(COUNTS), 0.05, error, null="paper")
    assert s.n_selected >= 1
    assert (s.support == (s.threshold < COUNTS)).all()
    nothing = nf.select(forest_of(np.full(100, 5)), 0.05, error, null="paper")
    assert nothing.n_selected == 0
    raised = np.full(100, 5)
    raised[0] = nothing.threshold + 1
    # The threshold was found for 500 nodes; the raised count adds a few, so allow one more.
    again = nf.select(forest_of(raised), 0.05, error, null="paper")
    assert again.threshold <= nothing.threshold + 1


def test_the_table_is_sorted_and_keeps_names_and_columns():
    table = nf.select(forest_of(COUNTS, names=NAMES), null="paper").table
    assert list(table) == ["feature", "count", "expected_count", "p_value", "q_value", "selected"]
    assert table["feature"].tolist()[:2] == ["strong, one", "weak"]
    assert table["p_value"].is_monotonic_increasing
    assert (table["count"].to_numpy() == COUNTS[table.index]).all()
    assert table["expected_count"].iloc[0] == pytest.approx(COUNTS.sum() / 100)


def test_files_hold_what_the_selection_holds(tmp_path):
    s = nf.select(forest_of(COUNTS, names=NAMES), 0.01, "fdr", null="paper", seconds=1.5)
    s.to_csv(tmp_path / "t.csv")
    s.to_json(tmp_path / "t.json")
    frame = pd.read_csv(tmp_path / "t.csv", index_col="column")
    pd.testing.assert_frame_equal(frame, s.table, check_names=False, check_dtype=False)
    data = json.loads((tmp_path / "t.json").read_text())
    keys = "n_samples n_features trees nodes candidates draw null error alpha threshold"
    assert set(keys.split()) < set(data)
    assert data["selected"][0] == {
        "feature": "strong, one",
        "count": 40,
        "threshold": s.threshold,
        "p_value": s.pvalues[0],
        "q_value": s.qvalues[0],
    }
    assert data["seconds"] == 1.5


def test_the_repr_is_for_people():
    s = nf.select(forest_of(COUNTS, names=NAMES), 0.01, null="paper")
    assert f"{s.n_selected} of 100 features selected" in repr(s)
    assert "strong, one" in repr(s)


def test_nothing_selected_says_what_was_needed_and_what_would_help():
    counts = np.full(100, 6)  # even, so that half as many trees more are whole counts again
    counts[7] = 16
    s = nf.select(forest_of(counts), 0.01, "fdr", null="paper")
    words = s.explanation()
    assert "x7" in words
    assert f"a count above {s.threshold} was needed" in words
    trees = int(words.split(" trees would be enough")[0].split()[-1])
    factor = trees / 20
    # Check the promise with a forest that is really that much larger.
    longer = nf.select(
        forest_of(np.round(factor * counts).astype(int), trees), 0.01, "fdr", "paper"
    )
    assert longer.support[7]
    assert (
        "More trees alone"
        in nf.select(forest_of(np.full(100, 5)), 0.01, "fdr", null="paper").explanation()
    )


def test_the_explanation_honours_the_penalty_of_any_dependence():
    counts = np.full(100, 6)
    counts[7] = 16
    words = nf.select(forest_of(counts), 0.01, "fdr_by", null="paper").explanation()
    trees = int(words.split(" trees would be enough")[0].split()[-1])
    factor = trees / 20
    longer = np.round(factor * counts).astype(int)
    assert nf.select(forest_of(longer, trees), 0.01, "fdr_by", "paper").support[7]
    shorter = nf.select(forest_of(counts), 0.01, "fdr", null="paper").explanation()
    assert int(shorter.split(" trees would be enough")[0].split()[-1]) < trees


def test_the_expected_errors_are_said_for_every_error_rate():
    n = {error: nf.select(forest_of(COUNTS), 0.05, error, "paper") for error in ERROR_RATES}
    assert n["fdr"].expected_errors() == (
        f"At most {0.05 * n['fdr'].n_selected:.3g} false positives are expected among the "
        f"{n['fdr'].n_selected} selected features."
    )
    expected = f"{n['fpr'].expected_false_positives:.3g}"
    assert n["fpr"].expected_errors() == (
        f"At most {expected} false positives are expected, no fewer than are selected "
        f"({n['fpr'].n_selected}): all of them may be false."
    )
    assert "any false positive" in n["fwer"].expected_errors()
    for s in n.values():
        assert s.expected_errors() in repr(s)
    assert nf.select(forest_of(np.full(100, 5)), null="paper").expected_errors() == ""


@pytest.mark.parametrize("error", ["fpr", "fdr"])
def test_thresholds_hold_for_mid_p_values_too(error):
    for top in range(9, 25):
        counts = np.r_[top, np.arange(99) % 9]
        s = nf.select(forest_of(counts), 0.05, error, "paper", mid=True)
        assert not s.n_selected or (s.support == (s.threshold < counts)).all()


def test_the_table_on_disk_has_the_position_in_the_data(tmp_path):
    s = nf.select(forest_of(COUNTS), null="paper")
    for columns in (None, np.arange(100) + 2):
        replace(s, columns=columns).to_csv(tmp_path / "t.csv")
        written = pd.read_csv(tmp_path / "t.csv")
        if columns is None:
            assert "column" not in written
        else:
            np.testing.assert_array_equal(written["column"], s.table.index + 2)


def test_control_characters_in_names_are_not_printed():
    names = ["evil\x1b[2J\r", "line\nbreak", *[f"n{i}" for i in range(98)]]
    shown = nf.select(forest_of(COUNTS, names=names), null="paper")
    nothing = nf.select(forest_of(np.r_[6, np.full(99, 5)], names=names), null="paper")
    for text in (repr(shown), repr(nothing), shown.to_markdown()):
        assert "\x1b" not in text
        assert "\r" not in text
    assert shown.table["feature"].iloc[0] == names[0]


def test_a_forest_is_accepted_and_data_are_not():
    X = np.random.default_rng(0).normal(size=(40, 20))
    forest = nf.grow(X, X[:, 0] > 0, trees=20)
    np.testing.assert_array_equal(nf.select(forest).pvalues, nf.select(forest.tally).pvalues)
    with pytest.raises(nf.InputError, match=r"nf\.select\(nf\.grow\(X, y\)\) with data"):
        nf.select(X, X[:, 0] > 0)
    theirs = RandomForestClassifier(5, random_state=0).fit(X, X[:, 0] > 0)
    with pytest.raises(
        nf.InputError, match=r"nf\.select\(nf\.tally\(forest\)\) with a forest of sci"
    ):
        nf.select(theirs)


def test_the_note_on_the_papers_null_model_fits_every_interface():
    X = np.random.default_rng(0).normal(size=(40, 20))
    tally = nf.grow(X, X[:, 0] > 0, trees=20).tally
    (note,) = nf.select(tally, null="paper").notes
    assert note.endswith('The default (null="auto") accounts for it.')
    counts = nf.Tally.from_counts([3, 1], nodes_per_tree=[2, 2], candidates=2, n_samples=9)
    (note,) = nf.null(counts, "paper").notes
    assert "A forest grown by nullforest, with 2 trees and 2 candidates, has a null model" in note


def test_a_forest_of_leaves_selects_nothing():
    tally = nf.Tally.from_counts([0, 0, 0], nodes_per_tree=[0, 0], n_samples=5)
    s = nf.select(tally, null="paper")
    assert s.n_selected == 0
    assert (s.pvalues == 1).all()
    assert "Nothing was selected" in repr(s)


def test_the_note_on_extrapolation_is_for_the_runs_that_need_it():
    X, y, _ = nf.simulate.independent(100, 500, 5, 0.5)
    tally = nf.grow(X, y).tally
    assert nf.select(tally).notes == ()
    (note,) = nf.select(tally, 1e-7, "fpr").notes
    assert "extrapolated" in note
    assert "probes" not in note  # which neither the command nor ForestSelector can be told
