"""Correlated features: against correlations computed pair by pair."""

import numpy as np
import pandas as pd
import pytest

import nullforest as nf
from naive.sums import rank_correlation
from nullforest.features import correlated
from nullforest.features.ranks import standard_ranks


def test_correlated_features_are_those_of_a_plain_search(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 40))
    X[:, 20:30] = np.exp(X[:, :10]) + 0.5 * rng.normal(size=(30, 10))
    X[:, 35] = rng.integers(3, size=30)  # ties
    X[:, 36] = -X[:, 35]
    X[:, 39] = 1.0  # constant: correlated with nothing
    monkeypatch.setattr(correlated, "_BLOCK", 30 * 7)  # several blocks
    chosen = [3, 5, 35, 39]
    found = nf.find_correlated(X, chosen, 0.5)
    expected = {
        (f, g): r
        for f in (3, 5, 35)
        for g in range(39)
        if f != g and abs(r := rank_correlation(X[:, f], X[:, g])) >= 0.5
    }
    got = dict(
        zip(
            zip(found["column"], found["correlated_column"], strict=True),
            found["correlation"],
            strict=True,
        )
    )
    assert got.keys() == expected.keys()
    assert all(got[pair] == pytest.approx(expected[pair]) for pair in expected)
    strength = found[found["column"] == 3]["correlation"].abs()
    assert strength.is_monotonic_decreasing


def test_a_selection_brings_names_and_p_values():
    X, y, _ = nf.simulate.independent(80, 50, 2, 0.7)
    X[:, 0] = X[:, 49]
    frame = pd.DataFrame(X, columns=[f"gene {i}" for i in range(50)])
    selection = nf.select(nf.grow(frame, y, trees=200).tally, error="fwer", null="bagged")
    found = nf.find_correlated(frame, selection)
    row = found[found["feature"] == "gene 49"].iloc[0]
    assert row["correlated_feature"] == "gene 0"
    assert row["p_value"] == selection.pvalues[0]
    assert len(nf.find_correlated(X, np.zeros(50, bool))) == 0


def test_missing_values_carry_no_information():
    X = np.array([[1.0, 5.0], [2.0, np.nan], [3.0, 7.0], [4.0, 9.0]])
    ranks = standard_ranks(X)
    assert ranks[1, 1] == 0.0
    assert np.allclose(np.square(ranks).sum(axis=0), 1.0)


@pytest.mark.parametrize(
    ("features", "level", "words"),
    [([50], 0.8, "0 to 49"), ([0.5], 0.8, "by number"), ([1], 1.5, "level"), ([True], 0.8, "mask")],
)
def test_bad_input_is_refused(features, level, words):
    with pytest.raises(nf.InputError, match=words):
        nf.find_correlated(np.zeros((4, 50)), features, level)
