"""The answer: its table, files, words, and the explanation when there is none."""

import json

import numpy as np
import pandas as pd
import pytest

import nullforest as nf


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
        s = nf.select(forest_of(COUNTS, names=NAMES), alpha, null="paper")
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
    trees = int(words.split(" trees would do")[0].split()[-1])
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


def test_a_forest_of_leaves_selects_nothing():
    tally = nf.Tally.from_counts([0, 0, 0], nodes_per_tree=[0, 0], n_samples=5)
    s = nf.select(tally, null="paper")
    assert s.n_selected == 0
    assert (s.pvalues == 1).all()
    assert "Nothing was selected" in repr(s)
